"""Interval arithmetic on columns of integer nanoseconds (or any integers), without loops.

In: pairs of int64 arrays, starts and ends, of half-open intervals [start, end). Out: the same. A *union* is such a pair
that is sorted, with pieces that neither overlap nor touch nor are empty; all but `union` itself take unions.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Intervals: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]

_LOWEST = np.iinfo(np.int64).min
_HIGHEST = np.iinfo(np.int64).max


def none() -> Intervals:
    """The union of nothing."""
    return np.empty(0, np.int64), np.empty(0, np.int64)


def union(a: Intervals) -> Intervals:
    """What at least one interval covers. Empty and negative intervals cover nothing; touching ones become one."""
    starts, ends = _arrays(a)
    some = ends > starts
    starts, ends = starts[some], ends[some]
    if not len(starts):
        return none()
    order = np.argsort(starts, kind="stable")
    starts = starts[order]
    reach = np.maximum.accumulate(ends[order])
    # A piece begins where everything before has ended: the running maximum matters, not the last end.
    first = np.flatnonzero(np.concatenate(([True], starts[1:] > reach[:-1])))
    last = np.append(first[1:] - 1, len(starts) - 1)
    return starts[first], reach[last]


def intersect(a: Intervals, b: Intervals) -> Intervals:
    """What both unions cover."""
    (a_starts, a_ends), (b_starts, b_ends) = _arrays(a), _arrays(b)
    lowest = np.searchsorted(b_ends, a_starts, side="right")
    counts = np.maximum(np.searchsorted(b_starts, a_ends, side="left") - lowest, 0)
    of_a = np.repeat(np.arange(len(a_starts)), counts)
    within = np.arange(len(of_a)) - np.repeat(np.cumsum(counts) - counts, counts)
    of_b = lowest[of_a] + within
    return np.maximum(a_starts[of_a], b_starts[of_b]), np.minimum(a_ends[of_a], b_ends[of_b])


def subtract(a: Intervals, b: Intervals) -> Intervals:
    """What union `a` covers and union `b` does not."""
    return intersect(a, gaps(b, (_LOWEST, _HIGHEST)))


def gaps(a: Intervals, span: tuple[int, int]) -> Intervals:
    """What the union leaves open in [span[0], span[1])."""
    starts, ends = _arrays(a)
    lower = np.clip(np.concatenate(([_LOWEST], ends)), *span)
    upper = np.clip(np.concatenate((starts, [_HIGHEST])), *span)
    open_ = upper > lower
    return lower[open_], upper[open_]


def total(a: Intervals) -> int:
    """Summed length: of a union, the time it covers."""
    starts, ends = _arrays(a)
    return int((ends - starts).sum())


def locate(a: Intervals, points: ArrayLike) -> NDArray[np.int64]:
    """For each point the position of the union's piece that holds it (its start, not its end), or -1."""
    starts, ends = _arrays(a)
    at = np.asarray(points, np.int64)
    piece = np.searchsorted(starts, at, side="right").astype(np.int64) - 1
    if not len(starts):
        return piece
    found: NDArray[np.int64] = np.where((piece >= 0) & (at < ends[piece]), piece, -1)
    return found


def overlap(a: Intervals, windows: Intervals) -> NDArray[np.int64]:
    """For each window how much of it the union covers; windows may be in any order and overlap each other."""
    starts, ends = _arrays(windows)
    lengths: NDArray[np.int64] = np.maximum(_covered_before(a, ends) - _covered_before(a, starts), 0)
    return lengths


def _covered_before(a: Intervals, points: NDArray[np.int64]) -> NDArray[np.int64]:
    starts, ends = _arrays(a)
    sums = np.concatenate(([0], np.cumsum(ends - starts)))
    begun = np.searchsorted(starts, points, side="left")
    latest = np.concatenate(([_LOWEST], ends))[begun]
    still_open = np.where(latest > points, latest - points, 0)
    covered: NDArray[np.int64] = sums[begun] - still_open
    return covered


def _arrays(a: Intervals) -> Intervals:
    starts, ends = (np.asarray(side, np.int64) for side in a)
    return starts, ends
