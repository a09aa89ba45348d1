"""The critical path, on traces whose path is worked out beside them."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbprof import schema
from nbprof.analysis.critical_path import critical_path
from nbprof.structure.calltree import call_tree
from tests.frames import kernel, launch, make_events, memory, op, region
from tests.references import Reference

RUNTIME = {"category": "cuda_runtime"}


def path(*rows: dict[str, Any]) -> list[tuple[str, str, float, float]]:
    """Kind, name (`-` for none), start and end of each part."""
    table = critical_path(make_events(*rows))
    names = table["name"].astype(object).fillna("-")
    ends = table["start_us"] + table["dur_us"]
    return list(zip(table["kind"], names, table["start_us"], ends, strict=True))


def test_nothing_gives_an_empty_table_with_its_columns(no_events: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(critical_path(no_events), schema.empty("critical_path"))


def test_a_run_bound_by_the_device_goes_along_its_kernels() -> None:
    # The host has launched all by 35; k1 [20,60) began 5 after its launch, k2 and k3 follow at once or after 2.
    assert path(
        op("f", 0, 36),
        launch(10, 5, 1),
        launch(20, 5, 2),
        launch(30, 5, 3),
        kernel("k1", 20, 40, 1),
        kernel("k2", 60, 40, 2),
        memory("Memcpy DtoD", 102, 40, 3),
    ) == [
        ("host", "f", 0, 10),
        ("launch", "cudaLaunchKernel", 10, 15),
        ("wait", "-", 15, 20),
        ("device", "k1", 20, 60),
        ("device", "k2", 60, 100),
        ("wait", "-", 100, 102),
        ("memory", "Memcpy DtoD", 102, 142),
    ]


def test_a_run_bound_by_the_host_goes_along_its_thread_to_the_last_launch() -> None:
    # Each kernel is done long before the next is launched: only the last is on the path.
    # Between f [0,30) and g [40,70) nothing was recorded.
    assert path(
        op("f", 0, 30),
        launch(10, 5, 1),
        op("g", 40, 30),
        launch(50, 5, 2),
        kernel("k1", 16, 4, 1),
        kernel("k2", 57, 20, 2),
    ) == [
        ("host", "f", 0, 10),
        ("launch", "cudaLaunchKernel", 10, 15),
        ("host", "f", 15, 30),
        ("host", "-", 30, 40),
        ("host", "g", 40, 50),
        ("launch", "cudaLaunchKernel", 50, 55),
        ("wait", "-", 55, 57),
        ("device", "k2", 57, 77),
    ]


def test_a_call_that_waits_for_the_device_leads_to_what_it_waited_for() -> None:
    # item [20,110) waits from 30 to 105 for k1, which ended at 100; then the host goes on.
    assert path(
        op("f", 0, 15),
        launch(5, 5, 1),
        op("item", 20, 90),
        op("cudaStreamSynchronize", 30, 75, **RUNTIME),
        op("g", 110, 40),
        kernel("k1", 12, 88, 1),
    ) == [
        ("host", "f", 0, 5),
        ("launch", "cudaLaunchKernel", 5, 10),
        ("wait", "-", 10, 12),
        ("device", "k1", 12, 100),
        ("sync", "cudaStreamSynchronize", 100, 105),
        ("host", "item", 105, 110),
        ("host", "g", 110, 150),
    ]


def test_a_blocking_call_with_nothing_to_wait_for_stays_on_its_thread() -> None:
    assert path(
        op("f", 0, 40), launch(5, 5, 1), op("cudaDeviceSynchronize", 20, 10, **RUNTIME), kernel("k", 11, 5, 1)
    ) == [
        ("host", "f", 0, 5),
        ("launch", "cudaLaunchKernel", 5, 10),
        ("host", "f", 10, 20),
        ("sync", "cudaDeviceSynchronize", 20, 30),
        ("host", "f", 30, 40),
    ]


@pytest.mark.parametrize("known_by", ["call", "sync row"])
def test_a_stream_that_is_synchronised_is_the_one_waited_for(known_by: str) -> None:
    # Stream 7 is done at 60, stream 8 at 80 too, but the call waits for stream 7 only.
    called = {"stream": 7} if known_by == "call" else {"correlation": 9}
    rows = [
        op("f", 0, 100),
        launch(5, 5, 1),
        launch(12, 5, 2),
        op("cudaStreamSynchronize", 20, 70, **RUNTIME, **called),
        kernel("a", 20, 40, 1),
        kernel("b", 22, 58, 2, stream=8, tid="stream 8"),
    ]
    if known_by == "sync row":
        rows.append(kernel("Stream Sync", 20, 40, 9, category="cuda_sync"))
    assert ("device", "a", 20, 60) in path(*rows)
    assert ("sync", "cudaStreamSynchronize", 60, 90) in path(*rows)


def test_an_event_that_began_late_waited_for_another_stream() -> None:
    # The collective was queued at 20, on a stream that was free; it began at 101, right after a on stream 7.
    assert path(
        op("f", 0, 30),
        launch(5, 5, 1),
        launch(15, 5, 2),
        kernel("a", 12, 88, 1),
        kernel("ncclDevKernel_AllReduce", 101, 50, 2, stream=20, tid="stream 20"),
    ) == [
        ("host", "f", 0, 5),
        ("launch", "cudaLaunchKernel", 5, 10),
        ("wait", "-", 10, 12),
        ("device", "a", 12, 100),
        ("wait", "-", 100, 101),
        ("communication", "ncclDevKernel_AllReduce", 101, 151),
    ]


def test_threads_hand_over_where_one_runs_the_backward_of_the_other() -> None:
    # Thread 1: forward [0,20), pause, step [60,80). Thread 2 runs its backward [25,55). Thread 3 polls.
    assert path(
        op("aten::mm", 0, 20, seq=1, forward_thread=0),
        op("MmBackward0", 25, 30, "2", seq=1, forward_thread=1),
        op("poll", 10, 48, "3"),
        op("step", 60, 20),
    ) == [
        ("host", "aten::mm", 0, 20),
        ("wait", "-", 20, 25),
        ("host", "MmBackward0", 25, 55),
        ("wait", "-", 55, 60),
        ("host", "step", 60, 80),
    ]


def test_places_and_positions_name_the_rows() -> None:
    table = critical_path(make_events(op("f", 0, 20, "77"), launch(5, 5, 1, "77"), kernel("k", 30, 5, 1)))
    assert table["place"].astype(object).fillna("-").tolist() == [
        *["process 1 thread 77", "process 1 thread 77", "-", "device 0 stream 7"]
    ]
    assert table["position"].astype(object).fillna(-1).tolist() == [0, 1, -1, 2]


def test_a_device_event_without_a_launch_begins_the_path() -> None:
    assert path(op("f", 0, 5), kernel("k", 10, 20), kernel("l", 35, 5)) == [
        ("device", "k", 10, 30),
        ("wait", "-", 30, 35),
        ("device", "l", 35, 40),
    ]


def test_calls_outside_regions_of_a_gated_file_are_not_on_the_path() -> None:
    assert path(op("out", 0, 10, in_region=False), region("r", 20, 10), op("in", 20, 10)) == [("host", "in", 20, 30)]


moments = st.tuples(st.integers(0, 60), st.integers(0, 30))


@st.composite
def traces(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Operators (forward, backward), launches, blocking calls, device events that may begin before their launch."""
    threads = st.sampled_from("12")
    rows = [op("f", *draw(moments), draw(threads), seq=n, forward_thread=0) for n in range(draw(st.integers(0, 4)))]
    rows += [op("b", *draw(moments), draw(threads), seq=n, forward_thread=1) for n in range(draw(st.integers(0, 4)))]
    rows += [launch(*draw(moments), n + 1, draw(threads)) for n in range(draw(st.integers(0, 4)))]
    for _ in range(draw(st.integers(0, 3))):
        rows.append(
            op("cudaStreamSynchronize", *draw(moments), draw(threads), **RUNTIME, stream=draw(st.integers(7, 9)))
        )
    for _ in range(draw(st.integers(0, 6))):
        rows.append(kernel("k", *draw(moments), draw(st.integers(0, 5)), stream=draw(st.integers(7, 8))))
    return rows


@settings(max_examples=60, deadline=None)
@given(traces())
def test_parts_follow_each_other_up_to_the_last_end(rows: list[dict[str, Any]]) -> None:
    events = make_events(*rows)
    table = critical_path(events)
    starts, ends = table["start_us"].to_numpy(), (table["start_us"] + table["dur_us"]).to_numpy()
    assert (starts[1:] == ends[:-1]).all()
    assert (table["dur_us"] > 0).all()
    if len(table):
        work = [row for row in rows if row.get("category") != "cuda_runtime"]
        assert ends[-1] == max(row["ts"] + row["dur"] for row in work)
        assert starts[0] >= min(row["ts"] for row in rows)


def test_the_path_of_a_recorded_trace_has_no_holes(reference: Reference) -> None:
    tree = call_tree(reference.events)
    table = critical_path(reference.events, tree=tree)
    starts = (table["start_us"] * 1000).round().to_numpy()
    ends = ((table["start_us"] + table["dur_us"]) * 1000).round().to_numpy()
    assert (starts[1:] == ends[:-1]).all()
    assert (table["dur_us"] > 0).all()
    named = table[table["position"].notna()]
    names = reference.events["name"].astype(str).to_numpy()[named["position"].to_numpy(int)]
    assert (named["name"].astype(str) == names).all()
    # No part is longer than what it stands for.
    durations = reference.events["dur_ns"].to_numpy(dtype="int64", na_value=0)[named["position"].to_numpy(int)]
    assert (named["dur_us"] * 1000 <= durations + 0.5).all()
