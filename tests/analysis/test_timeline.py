"""What each device did: parts that sum to the span."""

from __future__ import annotations

import pandas as pd

from nbprof import schema
from nbprof.analysis.timeline import timeline
from tests.frames import kernel, make_events, marker, memory, op

PARTS = ["computation_us", "exposed_comm_us", "exposed_memory_us", "idle_us"]


def test_nothing_and_a_trace_without_a_device_give_an_empty_table(no_events: pd.DataFrame) -> None:
    for events in (no_events, make_events(op("mm", 0, 10), marker("m", 0, 10))):
        table = timeline(events)
        assert table.empty
        assert table.dtypes.equals(schema.empty("timeline").dtypes)


def one(*rows: dict[str, object]) -> dict[str, float]:
    table = timeline(make_events(*rows))
    assert len(table) == 1
    found = dict(table.iloc[0])
    assert sum(found[part] for part in PARTS) == found["span_us"]
    return found


def test_communication_and_memory_count_where_nothing_hides_them() -> None:
    # compute [0,40), nccl [30,60), copy [35,70), fill [80,90): exposed comm [40,60), exposed memory [60,70) + [80,90).
    found = one(
        kernel("sgemm", 0, 40),
        kernel("ncclDevKernel_AllReduce", 30, 30, stream=20),
        memory("Memcpy DtoH", 35, 35, stream=21),
        memory("Memset (Device)", 80, 10),
    )
    assert found == {
        "device": 0,
        "span_us": 90,
        "computation_us": 40,
        "exposed_comm_us": 20,
        "exposed_memory_us": 20,
        "busy_us": 80,
        "idle_us": 10,
    }


def test_streams_that_overlap_are_busy_once() -> None:
    # 40 + 50 us of kernels on two streams within 70 us: busy 70, idle 0.
    found = one(kernel("k", 0, 40), kernel("k", 20, 50, stream=8))
    assert (found["busy_us"], found["idle_us"]) == (70, 0)


def test_copies_are_busy_and_synchronisation_is_nothing() -> None:
    # kernels [0,10) and [50,60), a copy [12,44): kernels 20 of 60, busy 52, gaps 2 and 6.
    found = one(
        kernel("k", 0, 10),
        memory("Memcpy HtoD", 12, 32),
        kernel("k", 50, 10),
        kernel("Event Sync", 0, 60, category="cuda_sync"),
    )
    assert (found["computation_us"], found["busy_us"], found["idle_us"]) == (20, 52, 8)


def test_annotations_on_the_device_and_the_traces_span_are_no_work() -> None:
    # kernels [35,55) and [65,85): busy 40.
    found = one(
        kernel("k", 35, 20),
        kernel("k", 65, 20),
        kernel("ProfilerStep#1", 35, 60, category="gpu_user_annotation"),
        op("PyTorch Profiler (0)", 0, 200, category="Trace", pid="Spans", tid="PyTorch Profiler"),
        op("Iteration Start: PyTorch Profiler", 0, None, category=None, ph="i", pid="Traces", tid=""),
    )
    assert (found["span_us"], found["busy_us"]) == (50, 40)


def test_a_dropped_record_does_not_stretch_the_span() -> None:
    # [0,40) and [60,100) from now, and one record with ts 0 and dur 0: span 100, busy 80, idle 20.
    now = 1_700_000_000_000_000
    found = one(kernel("gemm", now, 40), kernel("gemm", now + 60, 40), kernel("gemm", 0, 0))
    assert (found["span_us"], found["busy_us"], found["idle_us"]) == (100, 80, 20)


def test_one_row_a_device_and_one_for_events_that_name_none() -> None:
    table = timeline(make_events(kernel("k", 0, 10, device=1), kernel("k", 5, 10), kernel("k", 0, 3, device=None)))
    assert table["device"].isna().tolist() == [True, False, False]
    assert table["device"].tolist()[1:] == [0, 1]
    assert list(table["busy_us"]) == [3, 10, 10]
