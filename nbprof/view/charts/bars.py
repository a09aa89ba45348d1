"""The two shapes that the charts are made of: labelled horizontal bars, and columns or rows stacked from parts.

In: names and microseconds. Out: artists on the given Axes. Every bar's full name is its `gid`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray

from nbprof.view.charts.canvas import (
    BLUE,
    INK,
    ROW,
    axes,
    drawable,
    fit,
    label,
    legend,
    legend_room,
    look,
    nothing,
    time_ticks,
)
from nbprof.view.quantities import Unit, literal, unit_for

Numbers: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Bars:
    """What a chart of horizontal bars shows: times in microseconds, `backs` as paler bars behind them.

    Each bar begins at its one of `starts`, where they are given, else at zero.
    """

    names: Sequence[object]
    times: Sequence[float]
    notes: Sequence[str]
    axis: str
    title: str
    backs: Sequence[float] = ()
    starts: Sequence[float] = ()


@dataclass(frozen=True)
class Part:
    """One part of every stack: its name, colour and microseconds by stack."""

    name: str
    color: str
    times: Sequence[float]
    alpha: float = 1.0


@dataclass(frozen=True)
class Stacks:
    """What a chart of stacked bars shows."""

    parts: Sequence[Part]
    places: Sequence[object]
    axis: str
    places_axis: str
    title: str


def horizontal(bars: Bars, ax: Axes | None = None, *, color: str | Sequence[str] = BLUE) -> Axes:
    """Horizontal bars, the first at the top, each with its name on the left and its note at its end.

    `color` is one for all, or one for each.
    """
    count = len(bars.names)
    own = ax is None
    with look():
        ax = axes(ax, 0.76 + ROW * max(count, 1))
        if not count:
            return nothing(ax, f"{bars.title}: nothing to draw")
        places = np.arange(count)
        starts = np.asarray(bars.starts or np.zeros(count))
        ends = starts + np.maximum(bars.times, bars.backs or bars.times)
        longest = max(float(ends.max()), 0.0)
        unit = unit_for(longest)
        if bars.backs:
            ax.barh(places, bars.backs, height=0.72, left=starts, color=color, alpha=0.28, linewidth=0)
        drawn = ax.barh(places, bars.times, height=0.72, left=starts, color=color, linewidth=0)
        for place, (patch, name) in enumerate(zip(drawn, bars.names, strict=True)):
            patch.set_gid(literal(name))
            ax.text(ends[place], place, f" {bars.notes[place]}", va="center", fontsize=8, parse_math=False)
        ax.set_yticks(places, [label(name) for name in bars.names], parse_math=False)
        ax.tick_params(axis="y", length=0, labelcolor=INK)
        time_ticks(ax, longest, unit)
        ax.set_ylim(count - 0.45, -0.55)
        ax.set_xlabel(f"{bars.axis}, {unit.label}")
        ax.set_title(drawable(bars.title))
        if own:
            fit(ax, ax.get_yticklabels())
        ax.set_xlim(0, longest / (1 - min(note_width(ax, bars.notes), 0.6)) or 1.0)
    return ax


def stacked(stacks: Stacks, ax: Axes | None = None, *, rows: bool | None = None) -> Axes:
    """One bar a place, stacked from the parts that are not zero everywhere, with a legend on the right.

    The bars lie as `rows` where there are at most four, else they stand as columns.
    """
    own = ax is None
    parts = [part for part in stacks.parts if np.any(np.asarray(part.times, dtype=float) > 0)]
    lying = len(stacks.places) <= 4 if rows is None else rows
    with look():
        ax = axes(ax, max(0.86 + 0.3 * len(stacks.places), 0.3 + 0.2 * len(parts)) if lying else 2.5)
        if not parts:
            return nothing(ax, f"{stacks.title}: nothing to draw")
        heights = [np.nan_to_num(np.asarray(part.times, dtype=float)) for part in parts]
        handles = _stack(ax, parts, heights, lying)
        largest = float(np.sum(heights, axis=0).max())
        (_rows if lying else _columns)(ax, stacks, largest, unit_for(largest))
        ax.set_title(drawable(stacks.title))
        order = slice(None) if lying else slice(None, None, -1)
        legend(ax, handles[order], [part.name for part in parts[order]])
        if own:
            fit(
                ax,
                ax.get_yticklabels(),
                right=legend_room([part.name for part in parts]),
                beside=0.0 if lying else 0.2,
            )
    return ax


def _stack(ax: Axes, parts: list[Part], heights: list[Numbers], lying: bool) -> list[PolyCollection]:
    """One collection for each part: hundreds of single patches would take longer than all the rest."""
    places = np.arange(len(heights[0]))
    low, high = places - 0.36, places + 0.36
    floor = np.zeros(len(places))
    handles = []
    for part, height in zip(parts, heights, strict=True):
        top = floor + height
        across = np.column_stack([low, high, high, low])
        along = np.column_stack([floor, floor, top, top])
        corners = np.stack([along, across] if lying else [across, along], axis=-1)
        bars = PolyCollection(list(corners), facecolors=part.color, alpha=part.alpha, linewidths=0, snap=True)
        bars.set_gid(literal(part.name))
        ax.add_collection(bars, autolim=False)
        handles.append(bars)
        floor = top
    return handles


def _rows(ax: Axes, stacks: Stacks, largest: float, unit: Unit) -> None:
    count = len(stacks.places)
    names = [label(f"{stacks.places_axis} {place}", 24) for place in stacks.places]
    ax.set_yticks(range(count), names, parse_math=False)
    ax.tick_params(axis="y", length=0, labelcolor=INK)
    ax.set_ylim(count - 0.45, -0.55)
    time_ticks(ax, largest, unit)
    ax.set_xlim(0, largest)
    ax.set_xlabel(f"{stacks.axis}, {unit.label}")


def _columns(ax: Axes, stacks: Stacks, largest: float, unit: Unit, most: int = 12) -> None:
    count = len(stacks.places)
    shown = range(0, count, -(-count // most))
    ax.set_xticks(list(shown), [label(str(stacks.places[place]), 12) for place in shown], parse_math=False)
    ax.tick_params(axis="x", length=0, labelcolor=INK)
    ax.set_xlim(-0.6, count - 0.4)
    time_ticks(ax, largest, unit, along="y", count=4)
    ax.set_ylim(0, largest * 1.06)
    ax.set_xlabel(stacks.places_axis)
    ax.set_ylabel(f"{stacks.axis}, {unit.label}")


def note_width(ax: Axes, notes: Sequence[str]) -> float:
    """The part of the axes' width that the longest note takes, by its number of characters."""
    width = ax.get_position().width * cast(Figure, ax.get_figure(root=True)).get_figwidth()
    return 0.068 * (max(map(len, notes)) + 1) / width
