"""The table `operators` -> how near each operator comes to what the device can do.

In: operators whose FLOPs and bytes are known, and the device's limits where the caller knows them. Out: Axes with
arithmetic intensity against TFLOP/s, both logarithmic.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from nbprof.view.charts.canvas import (
    GREY,
    INK,
    PALETTE,
    axes,
    drawable,
    fit,
    legend,
    legend_room,
    log_ticks,
    look,
    nothing,
)
from nbprof.view.quantities import counted, literal, share

_LARGEST = 420.0
"""Area of the bubble of an operator that takes all of the time, in square points."""
_SMALLEST = 12.0
_LEGEND_LIMIT = 32


def roofline(
    table: pd.DataFrame,
    *,
    peak_tflops: float | None = None,
    peak_gbs: float | None = None,
    top: int = 7,
    ax: Axes | None = None,
) -> Axes:
    """Operators by FLOPs a byte and TFLOP/s, with bubbles as large as their share of the time of all that are shown.

    The time is the operator's on the device, on a host alone its own. An operator that leaves over half of it to others
    inside is left out: they are there themselves. The `top` by time have a colour and a name. The
    roof is min(`peak_tflops`, intensity x `peak_gbs`), as far as it is given (Williams et al., 2009).
    """
    own = ax is None
    points = _points(table)
    title = f"Roofline: {len(points):,} of {counted(len(table), 'operator')}, those with known work"
    with look():
        ax = axes(ax, 3.4)
        if points.empty:
            return nothing(ax, f"{title}: nothing to draw")
        handles, names = _bubbles(ax, points, min(top, len(PALETTE)))
        first, last = _powers(points["intensity"])
        low, high = _powers(np.append(points["tflops"], [peak_tflops] if peak_tflops else []))
        log_ticks(ax, first, last, _plain)
        log_ticks(ax, low, high, _plain, along="y")
        if peak_tflops or peak_gbs:
            handles.append(_roof(ax, peak_tflops or np.inf, peak_gbs or np.inf))
            names.append(_limits(peak_tflops, peak_gbs))
        ax.set_xlabel("arithmetic intensity, FLOP/byte")
        ax.set_ylabel("TFLOP/s")
        ax.set_title(drawable(title))
        legend(ax, handles, names, _LEGEND_LIMIT)
        if own:
            fit(ax, ax.get_yticklabels(), right=legend_room(names, _LEGEND_LIMIT), beside=0.2)
    return ax


def _points(table: pd.DataFrame) -> pd.DataFrame:
    """Name, intensity, TFLOP/s and share of the time, longest first."""
    place = "device" if table["device_total_us"].sum() > 0 else "host"
    names = ("flops", "moved_bytes", f"{place}_total_us", f"{place}_self_us")
    columns = [table[name].to_numpy(dtype="float64", na_value=np.nan) for name in names]
    leads = columns[3] >= columns[2] / 2
    kept = np.flatnonzero(np.all([leads, *(column > 0 for column in columns)], axis=0))
    order = kept[np.argsort(-columns[2][kept], kind="stable")]
    flops, moved, times, _ = (column[order] for column in columns)
    return pd.DataFrame(
        {
            "name": table["name"].astype(object).to_numpy()[order],
            "intensity": flops / moved,
            "tflops": flops / times / 1e6,
            "share": times / times.sum(),
        }
    )


def _bubbles(ax: Axes, points: pd.DataFrame, top: int) -> tuple[list[Line2D], list[str]]:
    parts = [(points.iloc[[place]], PALETTE[place]) for place in range(min(top, len(points)))]
    names = [
        f"{literal(name)}, {share(part)}"
        for name, part in zip(points["name"][:top], points["share"][:top], strict=True)
    ]
    if len(points) > top:
        parts.append((points[top:], GREY))
        names.append(f"other operators ({len(points) - top})")
    handles = []
    for depth, ((part, color), name) in enumerate(zip(parts, names, strict=True)):
        areas = np.maximum(part["share"] * _LARGEST, _SMALLEST)
        # The smaller ones lie in front: a large bubble would hide them.
        ax.scatter(
            part["intensity"],
            part["tflops"],
            areas,
            color,
            alpha=0.75,
            linewidths=0,
            zorder=3 + depth,
            gid=literal(name),
        )
        handles.append(Line2D([], [], color=color, marker="o", markersize=5, linestyle=""))
    return handles, names


def _roof(ax: Axes, peak_tflops: float, peak_gbs: float) -> Line2D:
    limits = ax.get_ylim()
    intensity = np.geomspace(*ax.get_xlim(), 400)
    (roof,) = ax.plot(intensity, np.minimum(peak_tflops, intensity * peak_gbs / 1e3), color=INK, linewidth=1.1)
    ax.set_ylim(limits)
    return roof


def _limits(peak_tflops: float | None, peak_gbs: float | None) -> str:
    limits = ((peak_tflops, "TFLOP/s"), (peak_gbs, "GB/s"))
    return "roof: " + ", ".join(f"{limit:,.6g} {unit}" for limit, unit in limits if limit)


def _powers(values: object) -> tuple[int, int]:
    """The powers of ten around `values`, with room for a bubble."""
    powers = np.log10(np.asarray(values, dtype="float64"))
    return int(np.floor(powers.min() - 0.15)), int(np.ceil(powers.max() + 0.15))


def _plain(value: float) -> str:
    return f"{value:,.12g}"
