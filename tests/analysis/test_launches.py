"""From launch to device event, and what waits in between."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbprof import schema
from nbprof.analysis.launches import launches, mean_queue_depth, queue_depth
from nbprof.structure.calltree import call_tree
from tests.frames import kernel, launch, make_events, memory, op, row
from tests.references import Reference


def test_nothing_and_a_trace_without_a_device_give_empty_tables(no_events: pd.DataFrame) -> None:
    for events in (no_events, make_events(op("mm", 0, 10), launch(1, 2, 3))):
        for name, function in (("launches", launches), ("queue_depth", queue_depth)):
            table = function(events)
            assert table.empty
            assert table.dtypes.astype(str).equals(schema.empty(name).dtypes.astype(str))
        assert mean_queue_depth(queue_depth(events)).empty


def test_one_row_a_device_event_with_its_launch() -> None:
    # The call [10,15) launches k [40,50): delay 25. The copy begins at 21, inside its call [20,24): no delay.
    table = launches(
        make_events(
            kernel("k", 40, 10, 1),
            memory("Memcpy HtoD", 21, 2, 2, stream=8, device=1),
            launch(20, 4, 2) | {"name": "hipMemcpyAsync"},
            launch(10, 5, 1),
        )
    )
    assert table.drop(columns=["queue_depth", "kernel_start_us"]).to_numpy().tolist() == [
        ["cudaLaunchKernel", "k", 1, 5, 25, 10, 7, 0, 10, False],
        ["hipMemcpyAsync", "Memcpy HtoD", 2, 4, 0, 2, 8, 1, 20, True],
    ]
    assert table["kernel_start_us"].tolist() == [40, 21]


def test_a_graph_launch_has_a_row_for_each_of_its_events_and_so_do_driver_launches() -> None:
    rows = [kernel("g", start, 5, 1) for start in (20, 30, 40)]
    driver = launch(50, 3, 2, category="cuda_driver") | {"name": "cuLaunchKernel"}
    table = launches(make_events(launch(10, 5, 1) | {"name": "cudaGraphLaunch"}, *rows, driver, kernel("t", 60, 5, 2)))
    assert table["name"].tolist() == ["cudaGraphLaunch"] * 3 + ["cuLaunchKernel"]
    assert table["delay_us"].tolist() == [5, 15, 25, 7]


def test_what_is_not_linked_is_left_out() -> None:
    # Correlation 0 joins nothing; 4 has no call, 5 no device event.
    events = make_events(launch(0, 5, 0), kernel("k_lost1", 10, 10, 0), kernel("k_lost2", 20, 15, 4), launch(30, 5, 5))
    assert launches(events).empty
    assert queue_depth(events).empty


def test_a_call_without_a_duration_has_no_times_of_its_own() -> None:
    found = row(launches(make_events(launch(0, None, 1), kernel("k", 10, 5, 1))))  # type: ignore[arg-type]
    assert np.isnan([found["launch_us"], found["delay_us"]]).all()
    assert (found["kernel_us"], found["is_short"]) == (5, False)


def queue_events(*extra: dict[str, Any]) -> pd.DataFrame:
    """Launches at 0, 10 and 20 of kernels at 10, 30 and 40 on stream 7."""
    return make_events(
        launch(0, 5, 1), launch(10, 5, 2), launch(20, 5, 3),
        kernel("a", 10, 20, 1), kernel("b", 30, 10, 2), kernel("c", 40, 10, 3), *extra,
    )  # fmt: skip


def test_the_queue_grows_with_launches_and_shrinks_with_starts() -> None:
    # At 10 the launch of b comes before the start of a.
    table = queue_depth(queue_events())
    assert table["ts_us"].tolist() == [0, 10, 10, 20, 30, 40]
    assert table["depth"].tolist() == [1, 2, 1, 2, 1, 0]
    assert launches(queue_events())["queue_depth"].tolist() == [1, 2, 2]


def test_the_mean_depth_is_over_time() -> None:
    # Depth 1 in [0,10), 1 in [10,20), 2 in [20,30), 1 in [30,40): 50 / 40.
    assert mean_queue_depth(queue_depth(queue_events())).to_dict() == {(0, 7): 1.25}


def test_streams_and_devices_have_their_own_queues() -> None:
    other = [launch(1, 2, 4), kernel("d", 21, 5, 4, stream=8), launch(2, 2, 5), kernel("e", 12, 5, 5, device=1)]
    table = queue_depth(queue_events(*other))
    assert table.groupby(["device", "stream"])["depth"].max().to_dict() == {(0, 7): 2, (0, 8): 1, (1, 7): 1}
    assert mean_queue_depth(table)[1, 7] == 1


def test_a_device_event_that_seems_to_start_before_its_launch_leaves_no_debt() -> None:
    table = queue_depth(make_events(launch(50, 5, 1), kernel("early", 40, 5, 1)))
    assert table[["ts_us", "depth"]].to_numpy().tolist() == [[50, 1], [50, 0]]


linked = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50), st.integers(7, 8)), max_size=8)


@settings(max_examples=25)
@given(linked)
def test_queues_end_empty_and_never_owe(pairs: list[tuple[int, int, int]]) -> None:
    rows = [launch(start, 2, number) for number, (start, _, _) in enumerate(pairs, 1)]
    rows += [kernel("k", at, 3, number, stream=stream) for number, (_, at, stream) in enumerate(pairs, 1)]
    events = make_events(*rows) if rows else schema.empty("events")
    table, calls = queue_depth(events), launches(events)
    assert len(calls) == len(pairs)
    assert len(table) == 2 * len(pairs)
    assert (table["depth"] >= 0).all()
    assert (table.groupby(["device", "stream"])["depth"].last() == 0).all()
    assert (calls["queue_depth"] >= 1).all()
    for _, call in calls.iterrows():
        queue = table[(table["stream"] == call["stream"]) & (table["ts_us"] == call["start_us"])]
        assert queue["depth"].max() == call["queue_depth"]


def statistics(values: pd.Series) -> dict[str, float]:
    return {
        "count": len(values), "mean_us": values.mean(), "median_us": values.median(), "min_us": values.min(),
        "max_us": values.max(), "p95_us": values.quantile(0.95), "sum_us": values.sum(),
    }  # fmt: skip


def test_launches_agree_with_plain_arithmetic(reference: Reference) -> None:
    tree = call_tree(reference.events)
    plain = reference.plain["launch"]
    table = launches(reference.events, tree=tree)
    calls = table.groupby(["start_us", "correlation", "name"], observed=True).size()
    assert len(table) == plain["gpu_events_linked"]
    assert int(tree.device.sum()) - len(table) == plain["gpu_events_unlinked"]
    assert (len(calls), calls.max()) == (plain["runtime_calls_that_launched"], plain["max_gpu_events_per_call"])
    from_start = table["kernel_start_us"] - table["start_us"]
    assert (from_start < 0).sum() == plain["negative_start_to_start"]
    for name, values in (
        ("start_to_start", from_start),
        ("end_to_start", from_start - table["launch_us"]),
        ("end_to_start_clipped0", table["delay_us"]),
    ):
        found = statistics(values)
        assert found.pop("sum_us") == pytest.approx(plain[name]["sum_us"], abs=0.002 * len(table))
        assert found == pytest.approx({key: plain[name][key] for key in found}, abs=0.002)


def test_queues_agree_with_plain_arithmetic(reference: Reference) -> None:
    table = queue_depth(reference.events)
    found = {
        str(stream): {"samples": len(own), "max": own.max(), "min": own.min(), "mean_over_samples": own.mean()}
        for stream, own in table.groupby("stream")["depth"]
    }
    assert set(found) == set(reference.plain["queue_length_by_stream"])
    for stream, plain in reference.plain["queue_length_by_stream"].items():
        assert found[stream] == pytest.approx(plain, abs=1e-6)
