"""What is open on a thread at a point of time."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nbprof.structure.calltree import call_tree
from nbprof.structure.points import innermost_around
from tests.frames import allocator, make_events, op


def around(*rows: dict[str, object]) -> list[int]:
    events = make_events(*rows)
    tree = call_tree(events)
    points = np.flatnonzero(events["name"] == "[memory]")
    found = innermost_around(points, np.flatnonzero(tree.operators), tree.operator, events, tree.times)
    return [int(row) for row in found]


def test_nothing_is_around_nothing() -> None:
    assert around(op("a", 0, 10)) == []
    assert around(allocator(5, 8)) == [-1]


def test_the_innermost_that_has_begun_and_not_ended_is_around_a_point() -> None:
    # a [0,20) holds b [5,10). At 5 b has begun, at 10 it has ended, at 20 a has.
    ops = op("a", 0, 20), op("b", 5, 5)
    assert around(*ops, *(allocator(ts, 8) for ts in (-1, 0, 4, 5, 9, 10, 19, 20))) == [-1, 0, 0, 1, 1, 0, 0, -1]


def test_points_at_one_place_are_in_the_same_holder_and_not_in_each_other() -> None:
    assert around(op("a", 0, 20), allocator(5, 8), allocator(5, 8), allocator(5, 8)) == [0, 0, 0]


def test_other_threads_and_processes_hold_nothing() -> None:
    assert around(op("a", 0, 20), op("b", 0, 20, "2", pid="2"), allocator(5, 8, tid="2")) == [-1]


@given(st.lists(st.tuples(st.integers(0, 15), st.integers(1, 4)), unique=True), st.lists(st.integers(0, 70)))
def test_where_operators_nest_the_shortest_around_a_point_is_the_innermost(
    places: list[tuple[int, int]], times: list[int]
) -> None:
    # Intervals of length 4, 16 or 64 that begin at multiples of their length either nest or stand apart.
    spans = sorted({(place * 4**power % 64, 4**power) for place, power in places})
    found = around(*(op("a", *span) for span in spans), *(allocator(ts, 8) for ts in times))
    for ts, row in zip(times, found, strict=True):
        holding = [(length, -start) for start, length in spans if start <= ts < start + length]
        assert (spans[row] if row >= 0 else None) == ((-min(holding)[1], min(holding)[0]) if holding else None)
