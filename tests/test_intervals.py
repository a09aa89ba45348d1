"""Interval arithmetic against sets of covered integers, and its identities."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nbprof import intervals
from nbprof.intervals import Intervals

POINTS = range(-5, 60)
pairs = st.lists(st.tuples(st.integers(0, 40), st.integers(-3, 12)), max_size=12)


def make(rows: list[tuple[int, int]]) -> Intervals:
    starts = np.array([start for start, _ in rows], np.int64)
    return starts, starts + np.array([length for _, length in rows], np.int64)


def covered(a: Intervals) -> set[int]:
    return {point for start, end in zip(*a, strict=True) for point in range(start, end)}


def listed(a: Intervals) -> list[tuple[int, int]]:
    return [(int(start), int(end)) for start, end in zip(*a, strict=True)]


def test_union_joins_overlapping_touching_and_nested_intervals() -> None:
    # [0,10) holds [2,4); [10,12) touches it; [20,21) stands alone; [30,30) and [40,39) cover nothing.
    rows = [(20, 1), (0, 10), (2, 2), (10, 2), (30, 0), (40, -1)]
    assert listed(intervals.union(make(rows))) == [(0, 12), (20, 21)]


def test_union_uses_the_running_maximum_of_ends() -> None:
    # [1,2) ends before [5,6) begins, but [0,10) is still open: one piece.
    assert listed(intervals.union(make([(0, 10), (1, 1), (5, 1)]))) == [(0, 10)]


def test_nothing_stays_nothing() -> None:
    nothing = intervals.none()
    some = make([(0, 5)])
    assert listed(intervals.union(nothing)) == []
    assert listed(intervals.intersect(nothing, some)) == listed(intervals.intersect(some, nothing)) == []
    assert listed(intervals.subtract(nothing, some)) == []
    assert listed(intervals.subtract(some, nothing)) == [(0, 5)]
    assert listed(intervals.gaps(nothing, (3, 9))) == [(3, 9)]
    assert intervals.total(nothing) == 0
    assert intervals.locate(nothing, [0, 1]).tolist() == [-1, -1]
    assert intervals.overlap(nothing, some).tolist() == [0]


def test_gaps_between_pieces_and_inside_a_span() -> None:
    a = make([(10, 5), (20, 5)])
    assert listed(intervals.gaps(a, (0, 22))) == [(0, 10), (15, 20)]
    assert listed(intervals.gaps(a, (12, 30))) == [(15, 20), (25, 30)]


def test_epoch_nanoseconds_stay_exact() -> None:
    base = 1_796_064_455_877_042_476
    a = intervals.union((np.array([base, base + 24]), np.array([base + 21, base + 30])))
    assert listed(intervals.gaps(a, (base, base + 24))) == [(base + 21, base + 24)]


def test_a_piece_holds_its_start_and_not_its_end() -> None:
    a = make([(10, 5), (20, 5)])
    assert intervals.locate(a, [9, 10, 14, 15, 24, 25]).tolist() == [-1, 0, 0, -1, 1, -1]


@given(pairs)
def test_union_covers_the_same_points_sorted_and_disjoint(rows: list[tuple[int, int]]) -> None:
    a = make(rows)
    joined = intervals.union(a)
    assert covered(joined) == covered(a)
    assert (joined[0] < joined[1]).all()
    assert (joined[1][:-1] < joined[0][1:]).all()
    assert intervals.total(joined) == len(covered(a))


@given(pairs, pairs)
def test_intersect_and_subtract_agree_with_sets(first: list[tuple[int, int]], second: list[tuple[int, int]]) -> None:
    a, b = intervals.union(make(first)), intervals.union(make(second))
    both, only = intervals.intersect(a, b), intervals.subtract(a, b)
    assert covered(both) == covered(a) & covered(b)
    assert covered(only) == covered(a) - covered(b)
    assert intervals.total(both) + intervals.total(only) == intervals.total(a)
    for result in (both, only):
        assert listed(result) == listed(intervals.union(result))


@given(pairs, st.integers(0, 50), st.integers(0, 20))
def test_a_span_is_its_covered_part_and_its_gaps(rows: list[tuple[int, int]], start: int, length: int) -> None:
    a = intervals.union(make(rows))
    span = (start, start + length)
    window = make([(start, length)])
    assert covered(intervals.gaps(a, span)) == covered(window) - covered(a)
    assert intervals.overlap(a, window)[0] + intervals.total(intervals.gaps(a, span)) == length


@given(pairs)
def test_locate_agrees_with_sets(rows: list[tuple[int, int]]) -> None:
    a = intervals.union(make(rows))
    points = [point for point, inside in zip(POINTS, intervals.locate(a, list(POINTS)) >= 0, strict=True) if inside]
    assert set(points) == covered(a)


@given(pairs, pairs)
def test_overlap_is_the_covered_length_of_a_window(rows: list[tuple[int, int]], asked: list[tuple[int, int]]) -> None:
    a, windows = intervals.union(make(rows)), make(asked)
    expected = [len(covered(a) & set(range(start, end))) for start, end in listed(windows)]
    assert intervals.overlap(a, windows).tolist() == expected
