"""The shape of a tree of calls: a row for each place in it, the name indented, with a bar for the host and the device.

In: names, depths and microseconds. Out: artists on the given Axes. Every bar's full name is its `gid`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from nbprof.view.charts.bars import note_width
from nbprof.view.charts.canvas import INK, ROW, axes, drawable, fit, label, legend, look, nothing, time_ticks
from nbprof.view.quantities import cut_note, duration, literal, unit_for

_DEEPEST_INDENT = 8
_LABEL_LIMIT = 28


@dataclass(frozen=True)
class Series:
    """One bar of every row: what it is, its colour, and the table's columns that give its length and its solid part."""

    name: str
    color: str
    total: str
    own: str


def indented(
    table: pd.DataFrame, names: str, series: Sequence[Series], *, top: int, noun: str, axis: str, ax: Axes | None
) -> Axes:
    """The `top` rows by their longest bar, in the order of the tree; each bar paler where it is not the row's own."""
    longest = table[[one.total for one in series]].max(axis=1)
    shown = table.loc[longest.nlargest(top).index.sort_values()]
    drawn = [one for one in series if shown[one.total].sum() > 0]
    title = cut_note(len(shown), len(table), noun)
    own = ax is None
    with look():
        ax = axes(ax, 0.76 + ROW * max(len(shown), 1))
        if not drawn:
            return nothing(ax, f"{title}: nothing to draw")
        handles = [_bars(ax, shown, names, drawn, place) for place in range(len(drawn))]
        most = float(longest.max())
        notes = [", ".join(map(duration, row)) for row in shown[[one.total for one in drawn]].to_numpy()]
        for place, (note, end) in enumerate(zip(notes, longest[shown.index].fillna(0), strict=True)):
            ax.text(end, place, f" {note}", va="center", fontsize=8, parse_math=False)
        _name_rows(ax, shown, names)
        time_ticks(ax, most, unit_for(most), count=3)
        ax.set_ylim(len(shown) - 0.45, -0.55)
        ax.set_xlabel(f"{axis}, {unit_for(most).label}")
        ax.set_title(drawable(title))
        if own:
            fit(ax, ax.get_yticklabels(), right=0.12 if len(drawn) == 1 else 0.95)
        _align_left(ax)
        ax.set_xlim(0, most / (1 - min(note_width(ax, notes), 0.6)))
        if len(drawn) > 1:
            legend(ax, handles, [one.name for one in drawn])
    return ax


def _bars(ax: Axes, shown: pd.DataFrame, names: str, drawn: Sequence[Series], place: int) -> Patch:
    """The bars of the series at `place`, under those of the ones before it; returns one for the legend."""
    one, height = drawn[place], 0.76 / len(drawn)
    places = np.arange(len(shown)) + (place - (len(drawn) - 1) / 2) * height
    ax.barh(places, shown[one.total].fillna(0), height=height * 0.9, color=one.color, alpha=0.28, linewidth=0)
    bars = ax.barh(places, shown[one.own].fillna(0), height=height * 0.9, color=one.color, linewidth=0)
    for bar, name in zip(bars, shown[names], strict=True):
        bar.set_gid(literal(name))
    return Patch(color=one.color, linewidth=0)


def _name_rows(ax: Axes, shown: pd.DataFrame, names: str) -> None:
    indents = 2 * shown["depth"].clip(upper=_DEEPEST_INDENT)
    labels = [
        " " * indent + label(name, _LABEL_LIMIT - indent // 2)
        for indent, name in zip(indents, shown[names], strict=True)
    ]
    ax.set_yticks(range(len(shown)), labels, parse_math=False)
    ax.tick_params(axis="y", length=0, labelcolor=INK)


def _align_left(ax: Axes) -> None:
    """Tick labels hang from the axis; these stand at one edge, so that the indents show."""
    figure = cast(Figure, ax.get_figure(root=True))
    labels = ax.get_yticklabels()
    widest = max(text.get_window_extent().width for text in labels) * 72 / figure.dpi
    for text in labels:
        text.set_horizontalalignment("left")
    ax.tick_params(axis="y", pad=widest + 3)
