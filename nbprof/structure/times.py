"""When each row happens, and which rows count.

In: an events frame. Out: `Times`, integer nanoseconds and masks, one entry a row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nbprof.schema import DEVICE_CATEGORIES
from nbprof.structure.masks import Integers, Mask, value_mask

MISPLACED_NS = 3_600 * 10**9
"""A device event of no length this long before all others is a dropped record, not work."""


@dataclass(frozen=True)
class Times:
    """Start and end of each row; where a duration is missing, the end is the start.

    `lasting` rows are calls with a duration, `complete` rows calls that the tables count, `known` are both.
    `misplaced` rows are dropped device records, written with duration 0 and a time that means 0: the reader leaves out
    those with ts 0 in the file; where the file has a base time, they come an hour or more before the first row that lasts.
    """

    starts: Integers
    ends: Integers
    lasting: Mask
    complete: Mask
    known: Mask
    misplaced: Mask

    @property
    def durations(self) -> Integers:
        return self.ends - self.starts


def times(events: pd.DataFrame) -> Times:
    """Times of all rows."""
    starts = events["ts_ns"].to_numpy(np.int64)
    durations = events["dur_ns"].to_numpy(dtype="int64", na_value=-1)
    calls = value_mask(events["ph"], {"X"})
    misplaced = _misplaced(events, starts, durations)
    complete = calls & events["in_region"].to_numpy(bool) & ~misplaced
    lasting = calls & (durations >= 0)
    return Times(starts, starts + np.maximum(durations, 0), lasting, complete, complete & lasting, misplaced)


def _misplaced(events: pd.DataFrame, starts: Integers, durations: Integers) -> Mask:
    long = durations > 0
    if not long.any():
        return np.zeros(len(starts), bool)
    long_before = starts < starts[long].min() - MISPLACED_NS
    dropped: Mask = long_before & (durations == 0) & value_mask(events["category"], DEVICE_CATEGORIES)
    return dropped


def microseconds(nanoseconds: Integers) -> NDArray[np.float64]:
    """For the tables, where times become floats."""
    return nanoseconds / 1_000.0
