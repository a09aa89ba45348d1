"""Values that hold until they change -> step lines over time, on one pair of axes.

In: times in microseconds and values. Out: Axes; of a long line only what a pixel can show, its peaks included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from nbprof.view.charts.canvas import axes, drawable, fit, legend, legend_room, look, nothing, range_ticks
from nbprof.view.quantities import literal, unit_for

Numbers: TypeAlias = NDArray[np.float64]

HEIGHT = 2.6
MOST = 750
"""Buckets of time into which a long line falls: about one for each pixel of the picture."""
_LEGEND_LIMIT = 32


@dataclass(frozen=True)
class Line:
    """One line: from each of `times` (microseconds, in order) on, it has the value of the same row."""

    name: str
    color: str
    times: Numbers
    values: Numbers
    style: str = "-"


@dataclass(frozen=True)
class Lines:
    """What a chart of step lines shows; the `axis` of values is written in a unit that is `factor` of theirs.

    `peak` is a time, a value and what to say of it.
    """

    lines: Sequence[Line]
    axis: str
    title: str
    factor: float = 1.0
    peak: tuple[float, float, str] | None = None


def stepped(chart: Lines, ax: Axes | None = None) -> Axes:
    """Step lines from the first change to the last, each held to the end, with a legend on the right."""
    own = ax is None
    lines = [line for line in chart.lines if len(line.times)]
    with look():
        ax = axes(ax, HEIGHT)
        if not lines:
            return nothing(ax, f"{chart.title}: nothing to draw")
        first = min(float(line.times[0]) for line in lines)
        last = max(first + 1.0, *(float(line.times[-1]) for line in lines))
        low = min(0.0, *(float(line.values.min()) for line in lines))
        top = max(float(line.values.max()) for line in lines) or chart.factor
        handles = [_draw(ax, line, last) for line in lines]
        unit = unit_for(last)
        range_ticks(ax, first, last, unit.microseconds)
        range_ticks(ax, low, top, chart.factor, along="y", count=4, whole=chart.factor == 1.0)
        ax.set_xlim(first, last)
        ax.set_ylim(low * 1.06, top * (1.22 if chart.peak else 1.06))
        if chart.peak:
            _mark(ax, *chart.peak)
        ax.set_xlabel(f"time in the trace, {unit.label}")
        ax.set_ylabel(chart.axis)
        ax.set_title(drawable(chart.title))
        names = [line.name for line in lines]
        legend(ax, handles, names, _LEGEND_LIMIT)
        if own:
            fit(ax, ax.get_yticklabels(), right=legend_room(names, _LEGEND_LIMIT), beside=0.2)
    return ax


def thinned(times: Numbers, values: Numbers, most: int = MOST) -> tuple[Numbers, Numbers]:
    """The line with at most four points in each of `most` equal spans of time: its first, last, lowest and highest."""
    if len(times) <= 4 * most:
        return times, values
    spans = np.floor((times - times[0]) * (most / ((times[-1] - times[0]) or 1.0))).astype("int64")
    starts = np.flatnonzero(np.diff(spans, prepend=-1))
    bounds = zip(starts, np.append(starts[1:], len(times)), strict=True)
    parts = [(start, end, values[start:end]) for start, end in bounds]
    kept = np.unique([(start, start + part.argmin(), start + part.argmax(), end - 1) for start, end, part in parts])
    return times[kept], values[kept]


def _draw(ax: Axes, line: Line, last: float) -> object:
    times, values = thinned(line.times, line.values)
    (drawn,) = ax.plot(
        np.append(times, last),
        np.append(values, values[-1]),
        drawstyle="steps-post",
        color=line.color,
        linestyle=line.style,
        linewidth=1.1,
        marker="",
        gid=literal(line.name),
    )
    return drawn


def _mark(ax: Axes, time: float, value: float, text: str) -> None:
    """A dot on the peak, a thin line up from it, and its text above all lines, on the side where there is room."""
    low, high = ax.get_xlim()
    right = time > (low + high) / 2
    color = ax.xaxis.label.get_color()
    ax.plot([time], [value], marker="o", markersize=4, color=color, linestyle="")
    ax.vlines([time], value, ax.get_ylim()[1], color=color, linewidth=0.6)
    ax.text(
        time,
        0.995,
        f"{drawable(text)} " if right else f" {drawable(text)}",
        transform=ax.get_xaxis_transform(),
        ha="right" if right else "left",
        va="top",
        fontsize=8,
        parse_math=False,
    )
