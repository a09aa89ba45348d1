"""The table `launches` -> how long device events waited after their launch.

In: launches. Out: Axes with a histogram of delays on a logarithmic axis.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from nbprof.view.charts.canvas import (
    BLUE,
    INK,
    ORANGE,
    axes,
    drawable,
    fit,
    legend,
    legend_room,
    log_ticks,
    look,
    nothing,
    range_ticks,
)
from nbprof.view.quantities import counted, duration, share, unit_for

_LOWEST = -1
"""Power of ten, in microseconds, of the least lower end of the axis; shorter delays count in the first bin."""
_BINS = 8
"""Bins for each power of ten."""
_NAMES = ("others", "shorter than launch")


def launches(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Launches by delay, from the end of the call to the start of the device event, short device events apart.

    A line stands at the median. Delays under 0.1 us count in the first bin.
    """
    own = ax is None
    known = table[table["delay_us"].notna()]
    delays, short = known["delay_us"].to_numpy(dtype="float64"), known["is_short"].to_numpy(dtype=bool)
    title = counted(len(known), "launch", "launches")
    with look():
        ax = axes(ax, 2.5)
        if known.empty:
            return nothing(ax, f"{title}: nothing to draw")
        first, last = (int(np.floor(np.log10(max(end, 10.0**_LOWEST)))) for end in (delays.min(), delays.max()))
        last += 1
        edges = np.logspace(first, last, (last - first) * _BINS + 1)
        clipped = np.maximum(delays, edges[0])
        others, both = (np.histogram(clipped[kept], edges)[0] for kept in (~short, np.ones_like(short)))
        handles = [
            ax.stairs(others, edges, fill=True, color=BLUE, gid=_NAMES[0]),
            ax.stairs(both, edges, baseline=others, fill=True, color=ORANGE, gid=_NAMES[1]),
        ]
        median = float(np.median(delays))
        ax.axvline(max(median, edges[0]), color=INK, linewidth=0.9, linestyle="--")
        log_ticks(ax, first, last, _power)
        range_ticks(ax, 0.0, float(both.max()), along="y", count=4, whole=True)
        ax.set_ylim(0, both.max() * 1.06)
        ax.set_xlabel("delay between launch and start")
        ax.set_ylabel("launches")
        ax.set_title(drawable(f"{title}: median delay {duration(median)}, {share(float(short.mean()))} short"))
        legend(ax, handles[::-1], _NAMES[::-1])
        if own:
            fit(ax, ax.get_yticklabels(), right=legend_room(_NAMES), beside=0.2)
    return ax


def _power(microseconds: float) -> str:
    unit = unit_for(microseconds)
    least = "≤" if microseconds <= 10.0**_LOWEST else ""
    return f"{least}{microseconds / unit.microseconds:,.12g} {unit.label}"
