"""A table -> horizontal bars of its largest rows: what the charts of operators, kernels and regions have in common.

In: a table, and which of its columns give names and times. Out: Axes, the largest at the top, the cut in the title.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from nbprof.view.charts.bars import Bars, horizontal
from nbprof.view.charts.canvas import BLUE
from nbprof.view.quantities import cut_note, duration, share


def ranked(
    table: pd.DataFrame,
    by: str,
    ax: Axes | None,
    *,
    top: int,
    noun: str,
    axis: str,
    names: str = "name",
    behind: str | None = None,
    color: str = BLUE,
) -> Axes:
    """Bars of the `top` rows by the column `by`, each with its time and its share of the column's sum; no NA.

    `behind` names a column of longer times, drawn paler behind; the notes then say how much of it each time is.
    """
    shown = table[table[by].notna()].nlargest(top, by)
    times = [float(time) for time in shown[by]]
    backs = [] if behind is None else [float(time) for time in shown[behind]]
    whole = float(table[by].sum())
    notes = (
        [_of(*pair) for pair in zip(times, backs, strict=True)] if backs else [_share(time, whole) for time in times]
    )
    title = cut_note(len(shown), len(table), noun)
    return horizontal(Bars(shown[names].tolist(), times, notes, axis, title, backs), ax, color=color)


def _share(time: float, whole: float) -> str:
    return f"{duration(time)}, {share(time / whole)}" if whole else duration(time)


def _of(time: float, longer: float) -> str:
    return duration(time) if time >= longer * 0.999 else f"{duration(time)} of {duration(longer)}"
