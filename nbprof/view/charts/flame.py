"""The table `flame` -> where the time went, by who called whom.

In: flame. Out: Axes with one box a frame, under the frame that called it; as wide as its time.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from nbprof.structure.masks import Integers
from nbprof.view.charts.bars import Numbers
from nbprof.view.charts.boxes import OTHER, Boxes, Kind, Rows, in_rows, kind_codes
from nbprof.view.charts.canvas import BLUE, GREEN, GREY, INDIGO, ROSE, SAND, SKY
from nbprof.view.quantities import counted, cut_note

KINDS = (
    Kind("region", SKY),
    Kind("module", INDIGO),
    Kind("python", ROSE),
    Kind("operator", BLUE),
    Kind("runtime", SAND),
    Kind("device", GREEN),
    Kind("annotation", GREY),
    OTHER,
)


def flame(table: pd.DataFrame, *, deepest: int = 32, ax: Axes | None = None) -> Axes:
    """Boxes as wide as `total_us`, the outermost frames on top, those inside from the left in the order of the table.

    Levels below the first `deepest` and frames narrower than a pixel are left out; the title counts them.
    """
    levels = int(table["depth"].max()) + 1 if len(table) else 0
    depths, totals = table["depth"].to_numpy(np.int64), table["total_us"].to_numpy(np.float64)
    lefts = _lefts(depths, totals)
    boxes = Boxes(lefts, totals, depths, kind_codes(table["kind"], KINDS), table["name"].to_numpy(object))
    note = f", {cut_note(deepest, levels, 'level', kept='first')}" if levels > deepest else ""
    return in_rows(
        Rows(
            boxes=boxes.only(depths < deepest),
            kinds=KINDS,
            places=(),
            count=min(levels, deepest),
            span=(0.0, float((lefts + totals).max(initial=0.0))),
            axis="time, what a frame calls included",
            title=f"{counted(len(table), 'frame')}{note}",
            noun="frames",
            merges=False,
        ),
        ax,
    )


def _lefts(depths: Integers, totals: Numbers) -> Numbers:
    """Where each box begins: at its caller's left, after the siblings before it; rows in the order of a tree."""
    lefts = np.zeros(len(depths) + 1)
    above = np.empty(0, np.int64)
    for depth in np.unique(depths):
        here = np.flatnonzero(depths == depth)
        # Each one's caller is the last row before it that is one level up; -1, at the top, reads the last entry, 0.
        callers = np.append(above, -1)[np.searchsorted(above, here) - 1]
        before = pd.Series(totals[here]).groupby(callers).cumsum().to_numpy(np.float64) - totals[here]
        lefts[here] = lefts[callers] + before
        above = here
    return lefts[:-1]
