"""The innermost open row of each thread at every moment."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from nbprof import intervals
from nbprof.structure.nesting import nested_rows
from nbprof.structure.stretches import Stretches, stretches
from nbprof.structure.threads import thread_codes
from nbprof.structure.times import times
from tests.frames import make_events, op


def stretches_of(events: pd.DataFrame) -> Stretches:
    when, threads = times(events), thread_codes(events)
    parent, _ = nested_rows(np.arange(len(events)), threads, when.starts, when.ends)
    return stretches(np.arange(len(events)), parent, threads, when)


def test_no_rows_make_no_stretches(no_events: pd.DataFrame) -> None:
    found = stretches_of(no_events)
    assert not len(found.rows)
    assert not len(found.own_times(0))


def test_a_stretch_ends_where_another_row_becomes_the_innermost() -> None:
    # Row 0 [0,10) holds row 1 [2,5); a hole; row 2 [20,21), row 3 of no length, and thread 2 with row 4 [3,4).
    events = make_events(op("a", 0, 10), op("b", 2, 3), op("c", 20, 1), op("d", 7, 0), op("e", 3, 1, "2"))
    found = stretches_of(events)
    assert found.threads.tolist() == [0, 0, 0, 0, 0, 0, 1]
    assert (found.starts // 1000).tolist() == [0, 2, 5, 7, 10, 20, 3]
    assert (found.ends // 1000).tolist() == [2, 5, 7, 10, 20, 21, 4]
    assert found.rows.tolist() == [0, 1, 0, 0, -1, 2, 4]
    assert (found.own_times(5) // 1000).tolist() == [7, 3, 1, 0, 1]
    assert found.of_thread(1) == slice(6, 7)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 20), st.sampled_from("12")), min_size=1, max_size=8))
def test_times_sum_to_what_is_covered_also_where_rows_cross(spans: list[tuple[int, int, str]]) -> None:
    events = make_events(*(op("f", *span) for span in spans))
    found, when, threads = stretches_of(events), times(events), thread_codes(events)
    covered = [
        intervals.total(intervals.union((when.starts[threads == thread], when.ends[threads == thread])))
        for thread in np.unique(threads)
    ]
    own = found.own_times(len(events))
    assert own.sum() == sum(covered)
    assert (own <= when.durations).all()
    for row, start, end in zip(found.rows, found.starts, found.ends, strict=True):
        assert row < 0 or (when.starts[row] <= start and end <= when.ends[row])


def test_of_equal_rows_the_first_given_is_outside() -> None:
    assert stretches_of(make_events(op("a", 0, 5), op("b", 0, 5))).rows.tolist() == [1]
