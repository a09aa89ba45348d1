"""Sums of what is on operators and inside them."""

from __future__ import annotations

import numpy as np
import pytest

from nbprof.analysis.inside import Inside, subtree_sums
from nbprof.structure.calltree import call_tree
from nbprof.structure.grouping import Groups
from tests.frames import launch, make_events, op


def inside() -> Inside:
    """a [0,100) holds b [10,60), which holds c [20,30) and a launch; d [200,250) stands apart. Groups: a b, c d."""
    tree = call_tree(make_events(op("a", 0, 100), op("b", 10, 50), op("c", 20, 10), launch(40, 5, 1), op("d", 200, 50)))
    groups = Groups(of_row=np.array([0, 0, 1, 1]), first=np.array([0, 2]))
    return Inside(tree, rows=np.array([0, 1, 2, 4]), groups=groups, time_ns=tree.times.durations)


def test_each_value_counts_for_all_operators_around_it() -> None:
    assert subtree_sums(np.array([1, 0, 4, 0, 2]), inside().tree).tolist() == [5, 4, 4, 0, 2]


def test_sums_by_group() -> None:
    # Of rows: 1, 10, 100, 1000. Inside: a 111, b 110, c 100, d 1000.
    assert inside().sums(np.array([1, 10, 100, 0, 1000])).tolist() == [221, 1100]
    assert inside().sums_of_rows(np.array([1, 10, 100, 1000])).tolist() == [11, 1100]
    assert inside().some(np.array([False, False, False, False, True])).tolist() == [False, True]


def test_rates_are_of_the_rows_that_hold_something_known() -> None:
    # Only c's 100 is known: it stands in a (100 us), b (50 us) and c (10 us); d is left out.
    sums, rates = inside().sums_and_rates(np.array([np.nan, np.nan, 100, np.nan, np.nan]))
    assert sums.tolist() == [200, 100]
    assert rates.tolist() == pytest.approx([200 / 150_000, 100 / 10_000])
    none = inside().sums_and_rates(np.full(5, np.nan))
    assert np.isnan(none).all()
