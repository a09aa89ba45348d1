"""Between which rows of a lane nothing runs."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from nbprof import intervals
from nbprof.analysis.gaps import AFTER_ALL, BEFORE_ALL, gaps_between
from nbprof.structure.times import times
from tests.frames import kernel, make_events


def gaps(*rows: tuple[int, int, int]) -> list[list[int]]:
    """Lane, start, end, before, after; rows are lane, start and end in microseconds."""
    events = make_events(*(kernel("k", start, end - start) for _, start, end in rows))
    lanes = np.array([lane for lane, _, _ in rows], np.int64)
    return gaps_between(np.arange(len(rows)), lanes, times(events)).to_numpy().tolist()


def test_no_rows_no_gaps(no_events: pd.DataFrame) -> None:
    none = np.empty(0, np.int64)
    table = gaps_between(none, none, times(no_events))
    assert table.empty
    assert list(table) == ["lane", "start", "end", "before", "after"]


def test_lanes_are_apart_and_open_at_both_ends() -> None:
    assert gaps((0, 0, 10), (1, 5, 7), (0, 15, 20)) == [
        [0, BEFORE_ALL, 0, -1, 0],
        [0, 10_000, 15_000, 0, 2],
        [0, 20_000, AFTER_ALL, 2, -1],
        [1, BEFORE_ALL, 5_000, -1, 1],
        [1, 7_000, AFTER_ALL, 1, -1],
    ]


def test_a_long_row_covers_what_begins_and_ends_inside_it() -> None:
    assert gaps((0, 0, 50), (0, 10, 20), (0, 60, 70))[1] == [0, 50_000, 60_000, 0, 2]


def test_a_row_of_no_length_divides_a_gap() -> None:
    assert gaps((0, 0, 10), (0, 20, 20), (0, 30, 40))[1:3] == [
        [0, 10_000, 20_000, 0, 1],
        [0, 20_000, 30_000, 1, 2],
    ]


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 50), st.integers(0, 20)), min_size=1, max_size=12))
def test_gaps_are_what_the_union_of_a_lane_leaves_open(rows: list[tuple[int, int, int]]) -> None:
    rows = [(lane, start, start + length) for lane, start, length in rows]
    found = gaps(*rows)
    for lane in {lane for lane, _, _ in rows}:
        own = np.array([row[1:] for row in rows if row[0] == lane]) * 1000
        span = int(own[:, 0].min()), int(own[:, 1].max())
        inner = [gap for gap in found if gap[0] == lane and gap[3] >= 0 and gap[4] >= 0]
        expected = intervals.gaps(intervals.union((own[:, 0], own[:, 1])), span)
        assert sum(gap[2] - gap[1] for gap in inner) == intervals.total(expected)
