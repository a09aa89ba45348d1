"""Between which rows nothing runs.

In: rows and the lane (device, stream) that each is on. Out: the gaps of each lane.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbprof.structure.masks import Integers
from nbprof.structure.nesting import outer_first
from nbprof.structure.times import Times

BEFORE_ALL, AFTER_ALL = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def gaps_between(rows: Integers, lanes: Integers, when: Times) -> pd.DataFrame:
    """`lane start end before after`, in nanoseconds and rows, by lane and time.

    A gap ends where a row starts (`after`) and all rows of its lane that started before have ended, the last of them
    `before`. What lies before the first row of a lane and after its last end is a gap without bound, next to row -1.
    """
    order = outer_first(lanes, when.starts[rows], when.ends[rows])
    rows, lanes = rows[order], lanes[order]
    latest = rows[_last_to_end(lanes, when.ends[rows])]
    first = np.diff(lanes, prepend=-1) > 0
    last = np.roll(first, -1)
    before = np.concatenate((np.where(first, -1, np.roll(latest, 1)), latest[last]))
    after = np.concatenate((rows, np.full(last.sum(), -1)))
    frame = pd.DataFrame(
        {
            "lane": np.concatenate((lanes, lanes[last])),
            "start": np.where(before >= 0, when.ends[before], BEFORE_ALL),
            "end": np.where(after >= 0, when.starts[after], AFTER_ALL),
            "before": before,
            "after": after,
        }
    )
    return frame[frame["end"] > frame["start"]].sort_values(["lane", "start"], ignore_index=True)


def _last_to_end(lanes: Integers, ends: Integers) -> Integers:
    """For each place the place, among those of its lane so far, with the latest end; lanes ascend."""
    # A running maximum that starts anew in each lane: ranks instead of times, so that no product overflows.
    by_end = np.argsort(ends, kind="stable")
    ranks = np.empty(len(ends), np.int64)
    ranks[by_end] = np.arange(len(ends))
    highest = np.maximum.accumulate(lanes * len(ends) + ranks) % max(len(ends), 1)
    last: Integers = by_end[highest]
    return last
