"""Which events belong to the intervals of some markers: regions, steps, blocks.

In: an events frame and row positions of markers. Out: a mask of rows.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nbprof import intervals
from nbprof.reader.launches import category_mask, launch_positions
from nbprof.schema import ANNOTATION_CATEGORIES, DEVICE_CATEGORIES

AUTOGRAD_FRAME = "autograd::engine::evaluate_function"
"""Operators that only the backward engine opens."""


def marker_positions(events: pd.DataFrame, prefix: str) -> NDArray[np.int64]:
    """Rows of the host annotations whose name begins with `prefix`; their twins on device rows are none."""
    names = events["name"].cat
    named = np.append(names.categories.str.startswith(prefix).astype(bool), False)[names.codes.to_numpy()]
    lasting = events["dur_ns"].notna().to_numpy()
    return np.flatnonzero(named & lasting & category_mask(events, ANNOTATION_CATEGORIES))


def inside(
    events: pd.DataFrame, chosen: NDArray[np.int64], markers: NDArray[np.int64], *, is_backward_only: bool
) -> NDArray[np.bool_]:
    """Rows inside the `chosen` ones of all `markers` of their kind.

    Host events go by the markers of their own thread; on a thread that has none by the time of any chosen one, with
    `is_backward_only` just on those of autograd's engine. A Python call must lie wholly inside: the marker's own enter
    and exit straddle its edge. Device events go by their launch; without a launch in the trace they are outside.
    """
    starts = events["ts_ns"].to_numpy()
    ends = starts + events["dur_ns"].to_numpy(dtype="int64", na_value=0)
    whole = category_mask(events, {"python_function"})
    threads = thread_codes(events)
    mask = np.zeros(len(events), bool)
    for thread in np.unique(threads[markers]):
        here = np.flatnonzero(threads == thread)
        own = chosen[threads[chosen] == thread]
        mask[here] = _within(intervals.union((starts[own], ends[own])), starts[here], ends[here], whole[here])
    others = backward_threads(events, threads) if is_backward_only else threads
    elsewhere = np.flatnonzero(np.isin(threads, np.setdiff1d(others, threads[markers])))
    any_ = intervals.union((starts[chosen], ends[chosen]))
    mask[elsewhere] = _within(any_, starts[elsewhere], ends[elsewhere], whole[elsewhere])
    mask[chosen] = True
    device = np.flatnonzero(category_mask(events, DEVICE_CATEGORIES))
    launch = launch_positions(events)[device]
    mask[device] = (launch >= 0) & mask[launch]
    return mask


def backward_threads(events: pd.DataFrame, threads: NDArray[np.int64]) -> NDArray[np.int64]:
    """Codes of the threads on which autograd's engine runs backward work, for whichever thread asked for it."""
    names = events["name"].cat
    engine = np.array([*(str(name).startswith(AUTOGRAD_FRAME) for name in names.categories), False])
    return np.unique(threads[engine[names.codes.to_numpy()]])


def thread_codes(events: pd.DataFrame) -> NDArray[np.int64]:
    """One number for each pair of pid and tid."""
    pids, tids = events["pid"].cat, events["tid"].cat
    return (pids.codes.to_numpy().astype(np.int64) + 1) * (len(tids.categories) + 1) + tids.codes.to_numpy() + 1


def _within(
    union: intervals.Intervals, starts: NDArray[np.int64], ends: NDArray[np.int64], whole: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    piece = intervals.locate(union, starts)
    last = np.append(union[1], np.iinfo(np.int64).min)[piece]
    within: NDArray[np.bool_] = (piece >= 0) & (~whole | (ends <= last))
    return within
