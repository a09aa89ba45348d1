"""What encloses and what launched each row."""

from __future__ import annotations

import pandas as pd

from nbprof.analysis.kernels import kernels
from nbprof.analysis.operators import operators
from nbprof.structure.calltree import call_tree
from tests.frames import kernel, launch, make_events, op, region


def test_nothing_has_an_empty_tree(no_events: pd.DataFrame) -> None:
    tree = call_tree(no_events)
    assert len(tree.operator) == len(tree.launch) == len(tree.entry) == 0
    assert (tree.conflicts, tree.crossings) == (0, 0)


def test_positions_of_enclosing_rows() -> None:
    events = make_events(
        kernel("k", 60, 5, 3),  # 0: launched by 4
        op("mm", 10, 20),  # 1: in 2, in the region 5
        op("linear", 0, 50),  # 2
        launch(12, 10, 8),  # 3: in 1
        op("cuLaunchKernel", 14, 2, category="cuda_driver", correlation=3),  # 4: in 3, so its operator is 1
        region("r", 5, 30),  # 5: in 6
        region("s", 0, 50),  # 6
        op("mm", 10, 5, tid="2"),  # 7: another thread
        kernel("lost", 70, 5, 99),  # 8: no launch
    )
    tree = call_tree(events)
    assert tree.parent.tolist() == [-1, 2, -1, 1, 3, -1, -1, -1, -1]
    assert tree.operator.tolist() == [1, 2, -1, 1, 1, -1, -1, -1, -1]
    assert tree.launch.tolist() == [4, -1, -1, -1, -1, -1, -1, -1, -1]
    assert tree.entry.tolist() == [5, 5, 6, 5, 5, 6, -1, -1, -1]


def test_one_tree_serves_all_tables_and_the_events_stay_as_they_are() -> None:
    events = make_events(region("r", 0, 50), op("mm", 0, 10), launch(2, 2, 1), kernel("k", 20, 5, 1))
    before = events.copy(deep=True)
    tree = call_tree(events)
    pd.testing.assert_frame_equal(operators(events, tree=tree), operators(events))
    pd.testing.assert_frame_equal(kernels(events, tree=tree), kernels(events))
    pd.testing.assert_frame_equal(events, before)
