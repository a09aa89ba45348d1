"""Parents by nesting: by hand, and against the plain rule on random rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nbprof.structure.nesting import crossing_stretches, nesting

US = 1_000


def parents(*rows: tuple[int, int], threads: list[int] | None = None, unit: int = US) -> tuple[list[int], int]:
    """Rows of (start, end) in microseconds -> parents and conflicts."""
    starts, ends = (np.array([row[side] for row in rows], np.int64) * unit for side in (0, 1))
    codes = np.zeros(len(rows), np.int64) if threads is None else np.array(threads, np.int64)
    found = nesting(codes, starts, ends)
    return found.parents.tolist(), found.conflicts


def test_nothing_has_no_parents() -> None:
    assert parents() == ([], 0)


def test_the_innermost_enclosing_row_is_the_parent() -> None:
    # 0 [0,100) holds 1 [10,50) and 4 [60,70); 1 holds 2 [10,20) and 3 [20,50); 5 [100,110) stands alone.
    rows = [(0, 100), (10, 50), (10, 20), (20, 50), (60, 70), (100, 110)]
    assert parents(*rows) == ([-1, 0, 1, 1, 0, -1], 0)


def test_order_in_the_file_does_not_matter_where_intervals_differ() -> None:
    # The same as above, backwards: row i is now row 5 - i.
    rows = [(100, 110), (60, 70), (20, 50), (10, 20), (10, 50), (0, 100)]
    assert parents(*rows) == ([-1, 5, 4, 4, 5, -1], 0)


def test_of_two_equal_intervals_the_first_in_the_file_is_the_parent() -> None:
    assert parents((0, 10), (0, 10), (0, 10)) == ([-1, 0, 1], 0)


def test_threads_do_not_mix() -> None:
    # [10,20) is inside [0,100) in time, but on another thread.
    assert parents((0, 100), (10, 20), (10, 20), threads=[0, 1, 0]) == ([-1, -1, 0], 0)


def test_a_child_that_outlives_its_parent_by_less_than_a_microsecond_is_nested() -> None:
    # 1 ends 999 ns after 0; 2 starts in that overhang and is no child of it.
    rows = [(0, 10_000), (5_000, 10_999), (10_100, 10_200)]
    assert parents(*rows, unit=1) == ([-1, 0, -1], 0)


def test_a_child_that_outlives_its_parent_by_a_microsecond_is_a_conflict() -> None:
    # 2 [5,11) starts in 1 [0,10) and ends a whole microsecond later; 0 [0,100) holds both.
    assert parents((0, 100), (0, 10), (5, 11)) == ([-1, 0, 0], 1)


def test_what_begins_while_two_rows_cross_belongs_to_the_one_begun_last() -> None:
    # 0 [0,100) and 1 [50,150) cross. 2 [60,70) is in both, 3 [110,120) only in 1, 4 [10,20) only in 0.
    assert parents((0, 100), (50, 150), (60, 70), (110, 120), (10, 20)) == ([-1, -1, 1, 1, 0], 1)


def test_a_row_of_no_length_is_inside_what_is_open_at_its_start() -> None:
    # 2 [10,10) is at the end of 0 and the start of 1; 3 [20,20) is where all have ended.
    assert parents((0, 10), (10, 20), (10, 10), (20, 20)) == ([-1, -1, 1, -1], 0)


def plain_parents(rows: list[tuple[int, int, int]]) -> list[int]:
    """The rule word by word: walk all earlier rows, latest first, for one that is open and holds this one."""
    order = sorted(range(len(rows)), key=lambda row: (rows[row][0], rows[row][1], -rows[row][2], row))
    found = [-1] * len(rows)
    for place, row in enumerate(order):
        thread, start, length = rows[row]
        for other in reversed(order[:place]):
            o_thread, o_start, o_length = rows[other]
            is_open = o_thread == thread and o_start + max(o_length, 1) > start
            if is_open and start + length <= o_start + o_length:
                found[row] = other
                break
    return found


# Times are whole microseconds, so that no overhang is tolerated and the plain rule has no exception.
some_rows = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 12), st.integers(1, 12)), max_size=14)


@given(some_rows)
def test_any_rows_have_the_parents_of_the_plain_rule(rows: list[tuple[int, int, int]]) -> None:
    spans = [(start, start + length) for _, start, length in rows]
    assert parents(*spans, threads=[thread for thread, _, _ in rows])[0] == plain_parents(rows)


@st.composite
def nested_rows(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Rows that nest, by splitting an interval again and again."""
    rows = [(0, 64)]
    for _ in range(draw(st.integers(0, 12))):
        start, end = draw(st.sampled_from(rows))
        if end - start >= 2:
            middle = draw(st.integers(start + 1, end - 1))
            rows.append((start, middle) if draw(st.booleans()) else (middle, end))
    crossing = {b for a in rows for b in rows if a[0] < b[0] < a[1] < b[1]}
    return [row for row in rows if row not in crossing]


@given(nested_rows())
def test_rows_that_nest_have_no_conflicts_and_lie_inside_their_parents(rows: list[tuple[int, int]]) -> None:
    found, conflicts = parents(*rows)
    assert conflicts == 0
    for row, parent in enumerate(found):
        assert parent < 0 or (rows[parent][0] <= rows[row][0] and rows[row][1] <= rows[parent][1])
    assert found == plain_parents([(0, start, end - start) for start, end in rows])


def stretches(*rows: tuple[int, int, int]) -> list[list[int]]:
    """Rows of (thread, start, end) in nanoseconds."""
    columns = (np.array([row[place] for row in rows], np.int64) for place in range(3))
    return [found.tolist() for found in crossing_stretches(*columns)]


def test_nothing_and_what_nests_to_the_nanosecond_cross_nowhere() -> None:
    assert stretches() == []
    assert stretches((0, 0, 10), (0, 2, 10), (0, 10, 20), (0, 10, 10), (1, 5, 15), (0, 2, 10)) == []


def test_rows_that_cross_by_a_nanosecond_come_with_all_that_are_open_meanwhile_and_no_others() -> None:
    # On thread 1, [10,20) holds the start of [15,21), which holds [20,21); [0,5) and [21,30) stand apart.
    rows = [(1, 15, 21), (1, 10, 20), (0, 0, 30), (1, 0, 5), (1, 20, 21), (1, 21, 30)]
    assert stretches(*rows) == [[1, 0, 4]]


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 12), st.integers(0, 8)), max_size=9))
def test_a_thread_has_stretches_just_where_two_of_its_rows_cross(spans: list[tuple[int, int, int]]) -> None:
    rows = [(thread, start, start + length) for thread, start, length in spans]
    crossing = {
        thread
        for thread, start, end in rows
        for other, begin, stop in rows
        if thread == other and start < begin < end < stop
    }
    assert {rows[found[0]][0] for found in stretches(*rows)} == crossing
