"""Calls, sums, extremes and spread of rows that share a group.

In: groups and the rows that count. Out: arrays with one entry for each group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nbprof.structure.masks import Integers
from nbprof.structure.times import Times, microseconds


@dataclass(frozen=True)
class GroupStatistics:
    """One entry a group: all its calls, those `known` (with a duration), and the sum of their durations.

    `times` are columns of these durations: mean, shortest, longest, percentiles and the standard deviation (of these
    calls, not of a population that they were drawn from); NaN where none is known.
    """

    calls: Integers
    known: Integers
    total_ns: Integers
    times: dict[str, NDArray[np.float64]]


def by_group(groups: Integers, count: int, rows: Integers, when: Times) -> GroupStatistics:
    """Statistics of the durations of `rows`, whose groups are 0 to count - 1."""
    known_rows = when.known[rows]
    measured, lengths = groups[known_rows], when.durations[rows[known_rows]]
    order = np.argsort(lengths, kind="stable")
    order = order[np.argsort(measured[order], kind="stable")]
    measured, lengths = measured[order], lengths[order]
    known = np.bincount(measured, minlength=count)
    total = sums_by_group(measured, lengths, count)
    mean = microseconds(total) / np.maximum(known, 1)
    squares = np.bincount(measured, (microseconds(lengths) - mean[measured]) ** 2, count)
    percentiles = {"min_us": 0, "max_us": 100, "p50_us": 50, "p95_us": 95}
    times = {
        "mean_us": mean,
        **{name: _percentile(lengths, known, percent) for name, percent in percentiles.items()},
        "std_us": np.sqrt(squares / np.maximum(known, 1)),
    }
    times = {name: np.where(known > 0, values, np.nan) for name, values in times.items()}
    return GroupStatistics(np.bincount(groups, minlength=count), known, total, times)


def _percentile(ascending: Integers, known: Integers, percent: int) -> NDArray[np.float64]:
    """Of the lengths of each group, which stand one group after the other; between two lengths on a straight line."""
    place = np.maximum(known - 1, 0) * percent
    lower = np.cumsum(known) - known + place // 100
    upper = lower + (place % 100 > 0)
    lengths = microseconds(np.append(ascending, 0))  # groups without a length read the last entry
    below, above = (lengths[np.minimum(at, len(ascending))] for at in (lower, upper))
    between: NDArray[np.float64] = below + (above - below) * (place % 100) / 100
    return between


def sums_by_group(groups: Integers, values: Integers, count: int) -> Integers:
    """Exact sums of the values of groups 0 to count - 1."""
    sums = np.zeros(count, np.int64)
    np.add.at(sums, groups, values)
    return sums


def shares(parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each part of their sum, NaN left aside; 0 where nothing is there to share."""
    whole = float(np.nansum(parts))
    return parts / whole if whole > 0 else np.zeros(len(parts))
