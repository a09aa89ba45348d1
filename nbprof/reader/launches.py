"""Which runtime call launched which device event.

In: an events frame (its columns `category`, `correlation`, `ts_ns`). Out: row positions.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nbprof.schema import DEVICE_CATEGORIES, RUNTIME_CATEGORIES


def launch_positions(events: pd.DataFrame) -> NDArray[np.int64]:
    """For every row the position of the row that launched it, or -1 (no device event, or no launch in the trace).

    A launch is the earliest runtime or driver call with the same correlation id (the first in the file among
    equals); an id of 0 or NA joins nothing. One call may have launched many device events (a graph).
    """
    launches = np.full(len(events), -1, np.int64)
    correlation = events["correlation"].to_numpy(dtype="int64", na_value=0)
    linked = correlation != 0
    device = np.flatnonzero(linked & category_mask(events, DEVICE_CATEGORIES))
    runtime = np.flatnonzero(linked & category_mask(events, RUNTIME_CATEGORIES))
    if not len(device) or not len(runtime):
        return launches
    starts = events["ts_ns"].to_numpy()[runtime]
    ids, first, found = _earliest(correlation[runtime], starts)
    at = np.minimum(np.searchsorted(ids, correlation[device]), len(ids) - 1)
    same = ids[at] == correlation[device]
    launches[device[same]] = runtime[found[first[at[same]]]]
    return launches


def category_mask(events: pd.DataFrame, categories: Iterable[str]) -> NDArray[np.bool_]:
    """Which rows are of one of the categories; looks at the list of categories once, not at each row."""
    column = events["category"].cat
    wanted = np.append(column.categories.isin(list(categories)), False)  # the code -1 (NA) reads the last entry
    mask: NDArray[np.bool_] = wanted[column.codes.to_numpy()]
    return mask


def _earliest(
    ids: NDArray[np.int64], starts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The distinct ids, the place of the earliest row of each in an order by (id, start, row), and that order."""
    order = np.lexsort((starts, ids))
    distinct, first = np.unique(ids[order], return_index=True)
    return distinct, first, order
