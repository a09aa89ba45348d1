"""Calls, sums and extremes of rows that share a name.

In: the name column and the rows that count. Out: arrays with one entry for each name that occurs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nbprof.structure.masks import Integers
from nbprof.structure.times import Times, microseconds

_HIGHEST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class NameStatistics:
    """One entry a name, in the order of the names.

    Means and extremes are over the `known` calls (those with a duration), NaN where there are none.
    """

    names: pd.Categorical
    groups: Integers
    calls: Integers
    known: Integers
    total_ns: Integers
    mean_us: NDArray[np.float64]
    min_us: NDArray[np.float64]
    max_us: NDArray[np.float64]

    def sums(self, values: Integers) -> Integers:
        """Sum by name of values that stand for the rows."""
        return sums_by_group(self.groups, values, len(self.calls))


def by_name(names: pd.Series, rows: Integers, when: Times) -> NameStatistics:
    """Statistics of the durations of `rows`, by name."""
    codes = names.cat.codes.to_numpy()[rows].astype(np.int64)
    text = names.cat.categories.to_numpy(object)
    occurring = np.flatnonzero(np.bincount(codes, minlength=len(text)))
    occurring = occurring[np.argsort(text[occurring])]
    place = np.zeros(len(text), np.int64)
    place[occurring] = np.arange(len(occurring))
    groups, count = place[codes], len(occurring)
    known_rows = when.known[rows]
    durations = when.durations[rows]
    measured, lengths = groups[known_rows], durations[known_rows]
    known = np.bincount(measured, minlength=count)
    lowest, highest = np.full(count, _HIGHEST), np.full(count, -1)
    np.minimum.at(lowest, measured, lengths)
    np.maximum.at(highest, measured, lengths)
    total = sums_by_group(measured, lengths, count)
    return NameStatistics(
        names=pd.Categorical.from_codes(np.arange(count), categories=pd.Index(text[occurring])),
        groups=groups,
        calls=np.bincount(groups, minlength=count),
        known=known,
        total_ns=total,
        mean_us=_or_nan(known, microseconds(total) / np.maximum(known, 1)),
        min_us=_or_nan(known, microseconds(lowest)),
        max_us=_or_nan(known, microseconds(highest)),
    )


def sums_by_group(groups: Integers, values: Integers, count: int) -> Integers:
    """Exact sums of the values of groups 0 to count - 1."""
    sums = np.zeros(count, np.int64)
    np.add.at(sums, groups, values)
    return sums


def shares(parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each part of their sum, NaN left aside; 0 where nothing is there to share."""
    whole = float(np.nansum(parts))
    return parts / whole if whole > 0 else np.zeros(len(parts))


def _or_nan(known: Integers, values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(known > 0, values, np.nan)
