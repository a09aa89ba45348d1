"""Which rows of the events the tables count, and their times as plain arrays.

In: an events frame. Out: masks and integer nanoseconds, one for each row.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nbprof.analysis.nesting import Integers
from nbprof.schema import DEVICE_CATEGORIES, FX_MARKER, REGION_MARKER, STEP_MARKER

Mask = NDArray[np.bool_]

MARKERS = (REGION_MARKER, FX_MARKER, STEP_MARKER)
"""Names that mark a range of the run: in old traces, and from fast record functions, they come as operators."""

MISPLACED_NS = 3_600 * 10**9
"""A device event of no length this long before all others is a dropped record, not work."""


@dataclass(frozen=True)
class Times:
    """Start and end of each row; `complete` rows are calls that count, `known` those with a usable duration too."""

    starts: Integers
    ends: Integers
    complete: Mask
    known: Mask

    @property
    def durations(self) -> Integers:
        return self.ends - self.starts


def times(events: pd.DataFrame) -> Times:
    """Times of all rows; where a duration is missing or negative, `end` is `start` and the row is not `known`."""
    starts = events["ts_ns"].to_numpy(np.int64)
    durations = events["dur_ns"].to_numpy(dtype="int64", na_value=-1)
    complete: Mask = value_mask(events["ph"], ["X"]) & events["in_region"].to_numpy(bool) & ~misplaced(events)
    return Times(starts, starts + np.maximum(durations, 0), complete, complete & (durations >= 0))


def misplaced(events: pd.DataFrame) -> Mask:
    """Dropped device records, written with dur 0 and a time that means 0: an hour or more before the first row that lasts.

    The reader leaves out those with ts 0 in the file; where the file has a base time, they come as times far below 0.
    """
    starts = events["ts_ns"].to_numpy(np.int64)
    durations = events["dur_ns"].to_numpy(dtype="int64", na_value=-1)
    lasting = starts[durations > 0]
    if not len(lasting):
        return np.zeros(len(starts), bool)
    dropped: Mask = (
        (durations == 0) & value_mask(events["category"], DEVICE_CATEGORIES) & (starts < lasting.min() - MISPLACED_NS)
    )
    return dropped


def value_mask(column: pd.Series, values: Iterable[str]) -> Mask:
    """Rows of a categorical column with one of the values; looks at the categories once, not at each row."""
    wanted = np.append(column.cat.categories.isin(list(values)), False)  # the code -1 (NA) reads the last entry
    return np.asarray(wanted[column.cat.codes.to_numpy()], bool)


def prefix_mask(names: pd.Series, prefixes: tuple[str, ...]) -> Mask:
    """Rows of a categorical column whose text starts with one of the prefixes."""
    wanted = [str(name).startswith(prefixes) for name in names.cat.categories]
    return np.asarray(np.array([*wanted, False])[names.cat.codes.to_numpy()], bool)


def thread_codes(events: pd.DataFrame) -> Integers:
    """One small number, from 0, for each pid and tid that occur together."""
    pids, tids = (events[side].cat.codes.to_numpy().astype(np.int64) for side in ("pid", "tid"))
    codes, _ = pd.factorize(pids * (tids.max(initial=0) + 2) + tids)
    return np.asarray(codes, np.int64)


def microseconds(nanoseconds: Integers) -> NDArray[np.float64]:
    """For the tables: the one place where times become floats."""
    return nanoseconds / 1_000.0


def shares(parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each part of their sum, NaN left aside; 0 where nothing is there to share."""
    whole = float(np.nansum(parts))
    return parts / whole if whole > 0 else np.zeros(len(parts))
