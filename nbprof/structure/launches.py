"""Which runtime call launched which device event.

In: an events frame (its columns `category`, `correlation`, `ts_ns`). Out: row positions.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbprof.schema import DEVICE_CATEGORIES, RUNTIME_CATEGORIES
from nbprof.structure.masks import Integers, value_mask


def launch_positions(events: pd.DataFrame) -> Integers:
    """For every row the position of the row that launched it, or -1 (no device event, or no launch in the trace).

    A launch is the earliest runtime or driver call with the same correlation id (the first in the file among
    equals); an id of 0 or NA joins nothing. One call may have launched many device events (a graph).
    """
    launches = np.full(len(events), -1, np.int64)
    correlation = events["correlation"].to_numpy(dtype="int64", na_value=0)
    linked = correlation != 0
    device = np.flatnonzero(linked & value_mask(events["category"], DEVICE_CATEGORIES))
    runtime = np.flatnonzero(linked & value_mask(events["category"], RUNTIME_CATEGORIES))
    if not len(device) or not len(runtime):
        return launches
    starts = events["ts_ns"].to_numpy()[runtime]
    ids, first, found = _earliest(correlation[runtime], starts)
    at = np.minimum(np.searchsorted(ids, correlation[device]), len(ids) - 1)
    same = ids[at] == correlation[device]
    launches[device[same]] = runtime[found[first[at[same]]]]
    return launches


def _earliest(ids: Integers, starts: Integers) -> tuple[Integers, Integers, Integers]:
    """The distinct ids, the place of the earliest row of each in an order by (id, start, row), and that order."""
    order = np.lexsort((starts, ids))
    distinct, first = np.unique(ids[order], return_index=True)
    return distinct, first, order
