"""What each device did: parts that sum to the span."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbprof import schema
from nbprof.analysis.steps import steps
from nbprof.analysis.timeline import timeline
from tests.frames import kernel, launch, make_events, marker, memory, op, region
from tests.references import Reference

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


def step_events(*more: dict[str, object]) -> pd.DataFrame:
    """Step 1 launches a [10,30) and b [50,60), step 2 launches c [55,90); d [200,210) was launched before both."""
    return make_events(
        marker("ProfilerStep#1", 0, 40), marker("ProfilerStep#2", 40, 100),
        launch(5, 1, 1), kernel("a", 10, 20, 1), launch(30, 1, 2), kernel("nccl", 50, 10, 2),
        launch(45, 1, 3), kernel("c", 55, 35, 3, stream=8), kernel("d", 200, 10, 99), *more,
    )  # fmt: skip


@pytest.mark.parametrize("by", ["step", "region"])
def test_without_a_device_there_is_nothing_to_divide(by: Any, no_events: pd.DataFrame) -> None:
    for events in (no_events, make_events(marker("ProfilerStep#1", 0, 10), region("train", 0, 10), op("mm", 0, 10))):
        table = timeline(events, by=by)
        assert table.empty
        assert table.columns.tolist() == [*schema.names("timeline"), by]


def test_an_unknown_key_says_which_there_are() -> None:
    with pytest.raises(ValueError, match="by is 'device', 'step' or 'region', not 'rank'"):
        timeline(make_events(kernel("k", 0, 1)), by="rank")  # type: ignore[arg-type]


def test_steps_have_what_they_launched_wherever_it_runs() -> None:
    # Step 1: [10,30) compute and [50,60) communication in a span of 50, idle 20: c runs beside, but isn't its own.
    table = timeline(step_events(), by="step").set_index("step")
    assert table.loc[1, ["span_us", "computation_us", "exposed_comm_us", "busy_us", "idle_us"]].tolist() == [
        50, 20, 10, 30, 20,
    ]  # fmt: skip
    assert table.loc[2, ["span_us", "busy_us", "idle_us"]].tolist() == [35, 35, 0]


def test_steps_are_told_apart_by_device() -> None:
    table = timeline(step_events(launch(46, 1, 4), kernel("e", 60, 5, 4, device=1)), by="step")
    assert table[["device", "step", "busy_us"]].to_numpy().tolist() == [[0, 1, 30], [0, 2, 35], [1, 2, 5]]


def test_an_event_counts_for_every_region_around_its_launch_and_once_for_each() -> None:
    # attention, in train, is entered once more inside itself: k [20,30) is train's and attention's, m [50,60) train's.
    table = timeline(
        make_events(
            region("train", 0, 100), region("attention", 5, 30), region("attention", 6, 20),
            launch(10, 1, 1), kernel("k", 20, 10, 1), launch(40, 1, 2), kernel("m", 50, 10, 2),
            kernel("elsewhere", 70, 10, 99),
        ),
        by="region",
    )  # fmt: skip
    assert table[["region", "span_us", "busy_us", "idle_us"]].to_numpy().tolist() == [
        ["attention", 10, 10, 0],
        ["train", 40, 20, 20],
    ]


made = st.tuples(
    st.sampled_from(["gemm", "nccl", "memset", "copy"]),
    *(st.integers(0, 60), st.integers(0, 20), st.integers(0, 4), st.integers(7, 8), st.integers(0, 1)),
)


@settings(max_examples=25)
@given(st.lists(made, min_size=1, max_size=8), st.lists(st.integers(0, 80), min_size=4, max_size=4))
def test_the_parts_sum_to_the_span_in_every_row(device: list[Any], launched: list[int]) -> None:
    events = make_events(
        *(marker(f"ProfilerStep#{step}", 30 * step, 25) for step in range(3)),
        *(region(name, ts, 30) for name, ts in (("outer", 0), ("inner", 10), ("outer", 50))),
        *(launch(ts, 2, number) for number, ts in enumerate(launched, 1)),
        *(
            (memory if name in ("memset", "copy") else kernel)(name, ts, dur, number, stream=stream, device=index)
            for name, ts, dur, number, stream, index in device
        ),
    )
    for by in ("device", "step", "region"):
        table = timeline(events, by=by)  # type: ignore[arg-type]
        assert (table[PARTS] >= 0).all(axis=None)
        assert np.allclose(table[PARTS].sum(axis=1), table["span_us"])
        assert np.allclose(table["busy_us"] + table["idle_us"], table["span_us"])


def test_steps_of_real_traces_are_as_busy_as_the_steps_table_says(reference: Reference) -> None:
    table = timeline(reference.events, by="step")
    assert np.allclose(table[PARTS].sum(axis=1), table["span_us"], atol=1e-6, rtol=0)
    busy = table.groupby("step")["busy_us"].sum()
    known = steps(reference.events).set_index("step")["device_busy_us"]
    assert np.allclose(busy.reindex(known.index).fillna(0), known, atol=1e-6, rtol=0)
