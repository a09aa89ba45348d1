"""Time by operator, on frames whose numbers are worked out beside them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nbprof import schema
from nbprof.analysis.operators import operators
from nbprof.structure.calltree import call_tree
from tests.frames import kernel, launch, make_events, memory, op, region, row


def test_nothing_gives_an_empty_table_with_its_columns(no_events: pd.DataFrame) -> None:
    table = operators(no_events)
    assert table.empty
    assert list(table.columns) == schema.names("operators")
    assert table.dtypes.equals(schema.empty("operators").dtypes)


def test_total_and_self_with_nested_operators_and_runtime_calls() -> None:
    # linear [0,100) holds addmm [10,70) and a runtime call [80,85): self 100 - 60 - 5 = 35.
    # addmm holds runtime calls [20,30) and, across it, [25,40): their union is 20, self 60 - 20 = 40.
    events = make_events(
        op("linear", 0, 100),
        op("addmm", 10, 60),
        launch(20, 10, 1),
        launch(25, 15, 2),
        launch(80, 5, 3),
    )
    table = operators(events)
    assert list(table["name"]) == ["addmm", "linear"]  # no device: by host_self_us
    assert list(table["host_total_us"]) == [60, 100]
    assert list(table["host_self_us"]) == [40, 35]
    assert list(table["share"]) == pytest.approx([40 / 75, 35 / 75])


def test_a_runtime_call_inside_a_runtime_call_is_subtracted_once() -> None:
    # cudaLaunchKernel [10,40) holds the driver's cuLaunchKernel [15,30): mm keeps 50 - 30 = 20.
    events = make_events(
        op("mm", 0, 50), launch(10, 30, 1), op("cuLaunchKernel", 15, 15, category="cuda_driver", correlation=2)
    )
    assert row(operators(events), name="mm")["host_self_us"] == 20


def test_device_time_goes_by_launch_to_the_innermost_operator_and_to_all_around_it() -> None:
    # k1 (7) is launched in addmm, k2 (9) in linear itself, k3 (4) by a driver call inside a runtime call of addmm.
    events = make_events(
        op("linear", 0, 100),
        op("addmm", 10, 60),
        launch(20, 10, 1),
        launch(80, 5, 2),
        launch(40, 10, 9),
        op("cuLaunchKernel", 42, 3, category="cuda_driver", correlation=3),
        kernel("k1", 200, 7, 1),
        kernel("k2", 210, 9, 2),
        kernel("k3", 220, 4, 3),
    )
    table = operators(events)
    assert row(table, name="linear")["device_total_us"] == 20
    assert row(table, name="linear")["device_self_us"] == 9
    assert row(table, name="addmm")["device_total_us"] == 11
    assert row(table, name="addmm")["device_self_us"] == 11
    assert list(table["share"]) == pytest.approx([11 / 20, 9 / 20])  # of device_self_us, since there is a device


def test_one_graph_launch_owns_all_its_device_events() -> None:
    events = make_events(
        op("replay", 0, 20),
        launch(5, 10, 1),
        *(kernel(f"k{i}", 30 + 10 * i, 5, 1) for i in range(3)),
    )
    assert row(operators(events), name="replay")["device_self_us"] == 15


def test_a_launch_on_another_thread_belongs_to_no_operator_of_this_one() -> None:
    events = make_events(op("mm", 0, 50, "1"), launch(10, 5, 1, tid="2"), kernel("k", 60, 5, 1))
    assert row(operators(events), name="mm")["device_total_us"] == 0


def test_rows_outside_regions_do_not_count_where_the_file_is_gated() -> None:
    events = make_events(
        op("mm", 0, 10), op("mm", 20, 10, in_region=False), launch(2, 1, 1), kernel("k", 30, 5, 1, in_region=False)
    )
    assert row(operators(events), name="mm")["calls"] == 1
    assert row(operators(events), name="mm")["device_total_us"] == 0


def test_flows_and_instants_are_no_calls_and_pids_may_be_text() -> None:
    # A bare list of the old exporter: mul 40 + 21, add 5, k_add 9 launched in add; s and f rows are flows.
    on = {"pid": "CPU functions"}
    events = make_events(
        op("aten::mul", 0, 40, **on),
        op("aten::mul", 50, 21, **on),
        op("aten::add", 80, 5, **on),
        launch(81, 2, 4, **on),
        kernel("k_add", 90, 9, 4, pid="CUDA functions"),
        op("aten::mul", 52, None, ph="s", **on),
        op("aten::mul", 90, None, ph="f", **on),
    )
    table = operators(events)
    assert row(table, name="aten::mul")["calls"] == 2
    assert row(table, name="aten::mul")["host_total_us"] == 61
    assert row(table, name="aten::add")["device_self_us"] == 9
    assert len(table) == 2


def test_calls_without_duration_are_listed_and_stay_out_of_sums_and_means() -> None:
    # outer 100 holds inner 30 and ok 10; lost has no duration at all, half has one call with and one without.
    events = make_events(
        op("outer", 0, 100), op("inner", 10, 30), op("ok", 50, 10), op("lost", 70, None), op("half", 80, 8),
        op("half", 95, None),
    )  # fmt: skip
    table = operators(events)
    assert row(table, name="outer")["host_self_us"] == 52  # 100 - 30 - 10 - 8
    assert row(table, name="inner")["host_total_us"] == 30
    assert row(table, name="lost")["calls"] == 1
    assert pd.isna(row(table, name="lost")["host_total_us"])
    assert pd.isna(row(table, name="lost")["mean_us"])
    assert row(table, name="half")["calls"] == 2
    assert row(table, name="half")["mean_us"] == 8
    assert row(table, name="half")["min_us"] == 8
    assert table["share"].sum() == pytest.approx(1)


def test_a_trace_without_a_device_has_operators_and_no_device_time() -> None:
    # linear 50 + 60 holds addmm 40 + 50; relu 10. Self: linear 20, addmm 90, relu 10.
    events = make_events(
        op("linear", 5, 50), op("addmm", 10, 40), op("linear", 105, 60), op("addmm", 110, 50), op("relu", 180, 10)
    )
    table = operators(events)
    assert list(table["name"]) == ["addmm", "linear", "relu"]
    assert list(table["calls"]) == [2, 2, 1]
    assert list(table["host_total_us"]) == [90, 110, 10]
    assert list(table["host_self_us"]) == [90, 20, 10]
    assert (table["device_total_us"] == 0).all()


def test_kernels_without_launches_belong_to_no_operator() -> None:
    # mm launches k_mm (20); relu's launch (correlation 2) has no kernel; k_lost1 has no launch, k_lost2 the
    # correlation 0, which joins nothing, though a runtime call carries it too.
    events = make_events(
        op("aten::mm", 0, 10),
        launch(2, 3, 1),
        op("aten::relu", 20, 10),
        launch(22, 3, 2),
        launch(26, 1, 0),
        kernel("k_mm", 40, 20, 1),
        kernel("k_lost1", 70, 10, 99),
        kernel("k_lost2", 90, 15, 0),
    )
    table = operators(events)
    assert row(table, name="aten::mm")["device_total_us"] == 20
    assert row(table, name="aten::relu")["device_total_us"] == 0
    assert table["device_self_us"].sum() == 20


def test_same_named_nested_operators_both_count_in_total_and_once_in_self() -> None:
    # outer [0,300) holds linear [0,100) and [150,200), which hold addmm 50 and 30, the first with copy_ 10 inside.
    # foo [400,500) holds foo [420,460): total 140 as in torch, self 100. Self: 150 + 70 + 70 + 10 + 100 = 400.
    events = make_events(
        op("outer", 0, 300),
        op("linear", 0, 100),
        op("addmm", 10, 50),
        op("copy_", 20, 10),
        op("linear", 150, 50),
        op("addmm", 160, 30),
        op("foo", 400, 100),
        op("foo", 420, 40),
    )
    table = operators(events).set_index("name")
    assert table["host_total_us"].to_dict() == {"outer": 300, "linear": 150, "addmm": 80, "copy_": 10, "foo": 140}
    assert table["host_self_us"].to_dict() == {"outer": 150, "linear": 70, "addmm": 70, "copy_": 10, "foo": 100}
    assert table["host_self_us"].sum() == 400
    assert table.loc["foo", "calls"] == 2
    pd.testing.assert_frame_equal(operators(events), operators(events, tree=call_tree(events)))


def test_device_time_of_same_named_nested_operators_counts_in_both_totals() -> None:
    events = make_events(op("foo", 0, 100), op("foo", 20, 40), launch(30, 5, 1), kernel("k", 200, 6, 1))
    found = row(operators(events), name="foo")
    assert (found["device_total_us"], found["device_self_us"]) == (12, 6)


def test_copies_and_fills_count_as_device_time() -> None:
    events = make_events(
        op("to", 0, 10), launch(1, 2, 1), launch(5, 2, 2), memory("Memcpy HtoD", 20, 3, 1), memory("Memset", 30, 4, 2)
    )
    assert row(operators(events), name="to")["device_self_us"] == 7


def test_regions_around_operators_change_nothing() -> None:
    events = make_events(region("r", 0, 100), op("mm", 10, 20), region("s", 40, 20), op("mm", 45, 10))
    found = row(operators(events), name="mm")
    assert (found["calls"], found["host_total_us"], found["host_self_us"]) == (2, 30, 30)


def test_the_spread_of_a_calls_host_time() -> None:
    # 10, 20, 30, 60: median 25, the 95th percentile 0.85 of the way from 30 to 60. Mean 30, squares 400, 100, 0, 900.
    table = operators(
        make_events(*(op("mm", 100 * at, dur) for at, dur in enumerate([30, 10, 60, 20])), op("a", 900, 7))
    )
    found = row(table, name="mm")
    assert (found["p50_us"], found["p95_us"]) == pytest.approx((25, 55.5))
    assert found["std_us"] == pytest.approx(np.sqrt(350))
    alone = row(table, name="a")
    assert (alone["p50_us"], alone["p95_us"], alone["std_us"]) == (7, 7, 0)
    lost = row(operators(make_events(op("mm", 0, None))), name="mm")
    assert pd.isna([lost["p50_us"], lost["p95_us"], lost["std_us"]]).all()
