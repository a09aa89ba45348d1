"""Lengths of unions by group, against sets of covered integers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nbprof.structure.coverage import covered


def lengths(rows: list[tuple[int, int, int]], count: int) -> list[int]:
    groups, starts, ends = (np.array([row[side] for row in rows], np.int64) for side in range(3))
    return covered(groups, starts, ends, count).tolist()


def test_overlap_counts_once_in_a_group_and_groups_do_not_mix() -> None:
    # Group 0: [0,10) and [5,15) cover 15, [20,22) 2 more. Group 2: [0,10) holds [2,4), [5,6) and touches [10,12): 12.
    rows = [(0, 0, 10), (0, 5, 15), (0, 20, 22), (2, 0, 10), (2, 2, 4), (2, 5, 6), (2, 10, 12)]
    assert lengths(rows, 3) == [17, 0, 12]


def test_nothing_covers_nothing() -> None:
    assert lengths([], 2) == [0, 0]


def test_negative_intervals_cover_nothing() -> None:
    assert lengths([(0, 10, 5)], 1) == [0]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30), st.integers(0, 12)), max_size=20))
def test_any_rows(rows: list[tuple[int, int, int]]) -> None:
    spans = [(group, start, start + length) for group, start, length in rows]
    points = [{point for group, start, end in spans if group == g for point in range(start, end)} for g in range(4)]
    assert lengths(spans, 4) == [len(covered_points) for covered_points in points]
