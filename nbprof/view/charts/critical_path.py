"""The table `critical_path` -> what the run waited for, moment by moment and in all.

In: critical_path. Out: Axes with one row a thread or stream, and a bar of each kind's share of the path below them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from nbprof.structure.masks import Integers
from nbprof.view.charts.boxes import OTHER, Boxes, Kind, Rows, in_rows, kind_codes
from nbprof.view.charts.canvas import BLUE, GREEN, INDIGO, INK, ORANGE, ROSE, SAND
from nbprof.view.quantities import counted, duration, literal, share

KINDS = (
    Kind("host", BLUE),
    Kind("launch", SAND),
    Kind("device", GREEN),
    Kind("communication", ORANGE),
    Kind("memory", INDIGO),
    Kind("sync", ROSE),
    Kind("wait", INK, 0.28),
    OTHER,
)


def critical_path(table: pd.DataFrame, *, most: int = 10, ax: Axes | None = None) -> Axes:
    """The parts of the path along time, in a row for each of the `most` places that it stays longest; and its kinds.

    The bar `by kind` has the path's length: all parts of a kind together.
    """
    places, rows = _places(table, most)
    starts, times = (table[column].to_numpy(np.float64) for column in ("start_us", "dur_us"))
    kinds = kind_codes(table["kind"], KINDS)
    sums = np.bincount(kinds, weights=times, minlength=len(KINDS))
    whole, start = float(times.sum()), float(starts.min()) if len(table) else 0.0
    present = np.flatnonzero(sums)
    shares = [share(part / whole) if whole else "" for part in sums]
    last = len(places) + 1
    boxes = Boxes(
        np.concatenate([starts, start + np.cumsum(sums[present]) - sums[present]]),
        np.concatenate([times, sums[present]]),
        np.concatenate([rows, np.full(len(present), last)]),
        np.concatenate([kinds, present]),
        np.array([*table["name"], *(shares[place] for place in present)], object),
    )
    end = max(float((starts + times).max(initial=start)), start + whole)
    return in_rows(
        Rows(
            boxes=boxes,
            kinds=[replace(kind, name=f"{kind.name}, {part}") for kind, part in zip(KINDS, shares, strict=True)],
            places=[*enumerate(places), (last, "by kind")],
            count=last + 1,
            span=(start, end),
            axis="time in the trace",
            title=f"Critical path: {duration(whole)} in {counted(len(table), 'part')}",
            noun="parts",
        ),
        ax,
    )


def _places(table: pd.DataFrame, most: int) -> tuple[list[str], Integers]:
    """The names of the rows, in the order in which the path comes to them, and the row of each part of it.

    What is on no thread or stream has a row named after its kind.
    """
    names = table["place"].astype(object).fillna(table["kind"].astype(object)).map(literal)
    longest = table["dur_us"].groupby(names).sum().nlargest(most).index
    found = names[names.isin(longest)].drop_duplicates().tolist()
    rows = pd.Index(found, dtype=object).get_indexer(pd.Index(names, dtype=object)).astype(np.int64)
    others = names.nunique() - len(found)
    if others:
        found.append(f"other places ({others})")
    return found, np.where(rows >= 0, rows, len(found) - 1)
