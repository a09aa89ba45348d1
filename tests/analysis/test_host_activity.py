"""What a thread was doing in a stretch of time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from nbprof.analysis.host_activity import host_activity
from nbprof.structure.calltree import call_tree
from tests.frames import launch, make_events, marker, op

LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def during(start: int, end: int, *rows: dict[str, Any], of: int = 0) -> Any:
    """What the thread of row `of` was doing from start to end, in microseconds."""
    events = make_events(*rows)
    stretch = np.array([start * 1000]), np.array([end * 1000])
    return host_activity(events, call_tree(events), np.array([of]), stretch)[0]


def test_no_stretches_no_words(no_events: pd.DataFrame) -> None:
    none = np.empty(0, np.int64)
    assert list(host_activity(no_events, call_tree(no_events), none, (none, none))) == []


def test_a_stretch_of_no_row_is_unknown() -> None:
    assert pd.isna(during(0, 10, op("mm", 0, 10), of=-1))


def test_the_innermost_operator_counts() -> None:
    # linear [0,100) with addmm [10,90) inside: in [0,100) addmm has 80, in [0,15) linear has 10 of 15.
    rows = op("linear", 0, 100), op("addmm", 10, 80)
    assert during(0, 100, *rows) == "addmm"
    assert during(0, 15, *rows) == "linear"


def test_calls_of_one_name_count_together() -> None:
    # python has 12 in one piece, mul 7 + 7, all in [0,26).
    assert during(0, 26, op("mul", 0, 7), op("mul", 19, 7)) == "mul"


def test_where_nothing_is_open_it_is_python() -> None:
    # Before the first, between and after the last operator of the thread; the other thread's mm doesn't count.
    rows = op("a", 10, 10), op("b", 30, 10), op("mm", 0, 100, tid="2")
    assert [during(*stretch, *rows) for stretch in ((0, 9), (21, 29), (50, 60))] == ["python"] * 3


def test_after_an_inner_operator_the_outer_one_goes_on() -> None:
    assert during(20, 40, op("outer", 0, 50), op("inner", 10, 10)) == "outer"


def test_a_call_that_waits_for_the_device_counts_and_one_that_launches_does_not() -> None:
    wait = op("cudaStreamSynchronize", 10, 80, category="cuda_runtime")
    assert during(0, 100, op("aten::item", 0, 100), wait) == "cudaStreamSynchronize"
    assert during(0, 100, op("aten::item", 0, 100), launch(10, 80, 1)) == "aten::item"


def test_data_loading_is_one_activity_whatever_runs_inside() -> None:
    inside = [op("aten::stack", 5, 40), op("aten::copy_", 50, 45)]
    assert during(0, 100, marker(LOADER, 0, 100), *inside) == "data loading"
    assert during(0, 100, op(LOADER, 0, 100), *inside) == "data loading"  # an operator in traces of 2021


def test_operators_that_cross_are_open_as_long_as_they_last() -> None:
    # a [0,100) and b [50,150): b goes on where a has ended.
    assert during(100, 150, op("a", 0, 100), op("b", 50, 100)) == "b"


def test_an_operator_of_no_length_and_one_called_python_do_no_harm() -> None:
    assert during(0, 10, op("mm", 5, 0), op("python", 20, 5)) == "python"
