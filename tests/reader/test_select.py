"""Parts of a trace by region, step and time."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from nbprof.analysis import steps
from nbprof.markers import encode_name
from nbprof.metadata import CaptureInfo, TraceMetadata
from nbprof.reader import read_events, select
from nbprof.schema import REGION_MARKER, empty
from tests.frames import kernel, launch, make_events, marker, op, region

NAME = 'größe "q"\\%41'

BACKWARD = "autograd::engine::evaluate_function: MulBackward0"


def event(name: str, ts: float, dur: float, cat: str = "cpu_op", **more: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, **more}


@pytest.fixture
def trace() -> tuple[pd.DataFrame, TraceMetadata]:
    rows = [
        event("ProfilerStep#1", 0, 30, "user_annotation"),
        event("ProfilerStep#2", 30, 30, "user_annotation"),
        event(REGION_MARKER + "a", 5, 10, "user_annotation"),
        event(REGION_MARKER + encode_name(NAME), 40, 10, "user_annotation"),
        event("op in a", 6, 2),
        event("op between", 20, 2),
        event("op in the other", 41, 2, args={"k": [1, "é"]}),
        event("launch", 8, 1, "cuda_runtime", args={"correlation": 1}),
        event("kernel of a", 33, 4, "kernel", pid=0, tid=7, args={"correlation": 1, "device": 0, "stream": 7}),
        event(BACKWARD, 10, 2, tid=2),
        {"ph": "f", "id": 1, "bp": "e", "cat": "ac2g", "name": "ac2g", "pid": 0, "tid": 7, "ts": 33},
    ]
    capture = CaptureInfo(kind="cell", label="a").to_dict()
    keys = {"distributedInfo": {"rank": 1}, "deviceProperties": [{"id": 0}], "mine": "ü", "nbprof": capture}
    return read_events(json.dumps({"traceEvents": rows, "baseTimeNanoseconds": 5 * 10**18 // 3, **keys}).encode())


def names(events: pd.DataFrame) -> list[str]:
    return events["name"].astype("str").tolist()


def test_a_region_takes_its_host_events_and_what_they_launched(trace: tuple[pd.DataFrame, TraceMetadata]) -> None:
    events, _ = trace
    part = select(events, region="A")
    assert names(part) == [f"{REGION_MARKER}a", "op in a", "launch", "kernel of a", BACKWARD]
    assert part.index.tolist() == [0, 1, 2, 3, 4]
    assert names(select(events, region=NAME)) == [f"{REGION_MARKER}{NAME}", "op in the other"]
    assert len(select(events, region=["a", NAME])) == 7


def test_a_step_takes_the_kernels_that_it_launched(trace: tuple[pd.DataFrame, TraceMetadata]) -> None:
    events, _ = trace
    assert "kernel of a" in names(select(events, step=1))
    assert "kernel of a" not in names(select(events, step=2))
    assert len(select(events, step=[1, 2])) == len(events)


def test_time_takes_what_overlaps(trace: tuple[pd.DataFrame, TraceMetadata]) -> None:
    events, _ = trace
    # [35, 37) touches step 2 (30 to 60) and the kernel (33 to 37), whose flow has no start in this trace.
    assert names(select(events, time=(35, 37))) == ["ProfilerStep#2", "kernel of a"]
    assert "ac2g" not in names(select(events, time=(33, 34)))
    assert len(select(events, time=(float("-inf"), float("inf")))) == len(events)
    assert names(select(events, time=(None, 7))) == names(select(events, time=(float("-inf"), 7)))
    assert len(select(events, time=(None, None))) == len(events)
    assert names(select(events, region="a", time=(0, 7))) == [f"{REGION_MARKER}a", "op in a"]


def test_an_edge_takes_what_begins_at_the_start_and_not_what_begins_or_has_ended_at_an_end() -> None:
    # The window is [10, 20).
    rows = [
        op("ends at 10", 0, 10), op("reaches in", 0, 10.001), op("empty at 10", 10, 0), op("begins at 10", 10, 1),
        op("begins at 19.999", 19.999, 5), op("begins at 20", 20, 5), op("empty at 20", 20, 0), op("all around", 0, 99),
        op("instant at 10", 10, None, ph="i"), op("instant at 20", 20, None, ph="i"),
    ]  # fmt: skip
    assert names(select(make_events(*rows), time=(10, 20))) == [
        "reaches in", "empty at 10", "begins at 10", "begins at 19.999", "all around", "instant at 10",
    ]  # fmt: skip


def test_allocations_go_with_the_region_of_their_thread_and_time() -> None:
    allocation = {"ph": "i", "category": "cpu_instant_event"}
    rows = [
        region("a", 0, 10), op("[memory]", 5, None, **allocation), op("[memory]", 15, None, **allocation),
        op("[memory]", 5, None, "2", **allocation),
    ]  # fmt: skip
    assert select(make_events(*rows), region="a").index.tolist() == [0, 1]
    assert select(make_events(*rows), region="a")["ts_ns"].tolist() == [0, 5_000]


def test_nested_regions_are_in_the_outer_and_of_several_each_event_comes_once() -> None:
    rows = [region("a", 0, 50), region("b", 10, 20), op("x", 15, 5), op("y", 40, 5), region("c", 60, 9), op("z", 61, 2)]
    events = make_events(*rows)
    assert names(select(events, region="b")) == [f"{REGION_MARKER}b", "x"]
    assert len(select(events, region=["b", "a"])) == len(select(events, region="a")) == 4
    assert names(select(events, region=("b", "c"))) == [f"{REGION_MARKER}b", "x", f"{REGION_MARKER}c", "z"]
    assert names(select(events, region="a", time=(40, 41))) == [f"{REGION_MARKER}a", "y"]


def flow(phase: str, ts: float, number: int, **more: Any) -> dict[str, Any]:
    return op("ac2g", ts, None, **{"category": "ac2g", "ph": phase, "flow_id": number} | more)


def test_flows_go_with_the_launch_and_the_kernel_that_they_join() -> None:
    on_device = {"pid": "0", "tid": "stream 7"}
    rows = [
        region("a", 0, 10), launch(5, 2, 1), flow("s", 5, 1), launch(20, 2, 2), flow("s", 20, 2),
        kernel("k1", 30, 5, 1), flow("f", 30, 1, **on_device), kernel("k2", 40, 5, 2), flow("f", 40, 2, **on_device),
    ]  # fmt: skip
    events = make_events(*rows)
    assert select(events, region="a")["ts_ns"].tolist() == [0, 5_000, 5_000, 30_000, 30_000]
    assert select(events, region="a")["ph"].tolist() == ["X", "X", "s", "X", "f"]
    # The kernel lasts into the window, its flow's end at 30 does not; the launch is out, and so is the flow.
    assert names(select(events, time=(31, 32))) == ["k1"]
    # Both launches and k1 reach into this one, so that one flow is whole.
    assert select(events, time=(6, 31))["flow_id"].dropna().tolist() == [1, 1]


def test_without_the_profilers_steps_the_entries_of_regions_are_steps_as_in_the_table() -> None:
    rows = [region("a", 0, 10), op("x", 2, 2), op("between", 12, 2), region("a", 20, 10), op("y", 22, 2)]
    events = make_events(*rows)
    assert steps(events)["step"].tolist() == [0, 1]
    assert names(select(events, step=1)) == [f"{REGION_MARKER}a", "y"]
    with pytest.raises(ValueError, match=r"no step 2\. It has: 0, 1\."):
        select(events, step=2)


def test_without_steps_and_regions_all_of_it_is_step_0() -> None:
    events = make_events(op("x", 2, 2), kernel("k", 5, 1))
    assert steps(events)["step"].tolist() == [0]
    assert len(select(events, step=0)) == 2
    assert len(select(events, step=[])) == 0
    with pytest.raises(ValueError, match=r"no step 1\. It has: 0\."):
        select(events, step=1)


def test_what_no_table_counts_makes_no_step() -> None:
    events = make_events(marker("a range of another profiler", 2, 2, category=None))
    assert steps(events).empty
    with pytest.raises(ValueError, match=r"no step 0, and no steps at all"):
        select(events, step=0)


@pytest.mark.parametrize(
    "asked", [{"region": []}, {"step": []}, {"time": (500, 501)}, {"region": "a", "time": (45, 50)}]
)
def test_a_part_with_nothing_in_it_keeps_all_columns_and_types(
    trace: tuple[pd.DataFrame, TraceMetadata], asked: dict[str, Any]
) -> None:
    part = select(trace[0], **asked)
    assert len(part) == 0
    pd.testing.assert_series_equal(part.dtypes, trace[0].dtypes)
    assert len(steps(part)) == 0


def test_nothing_has_empty_parts(no_events: pd.DataFrame) -> None:
    assert len(select(no_events, region=[], step=[], time=(0, 1))) == 0


def test_steps_are_listed_in_the_order_of_their_numbers_and_not_all_of_five_hundred() -> None:
    events = make_events(*(marker(f"ProfilerStep#{number}", number * 10, 9) for number in range(500)))
    assert names(select(events, step=[2, 499])) == ["ProfilerStep#2", "ProfilerStep#499"]
    with pytest.raises(ValueError, match=r"It has: 0, 1, 2, .*, 18, 19 and 480 more\."):
        select(events, step=500)


def test_all_of_it_when_nothing_is_asked_for(trace: tuple[pd.DataFrame, TraceMetadata]) -> None:
    assert len(select(trace[0])) == len(trace[0])


def test_what_is_not_there_is_named_with_what_is(trace: tuple[pd.DataFrame, TraceMetadata]) -> None:
    events, _ = trace
    with pytest.raises(ValueError, match=r"no region 'aa'\. Did you mean 'a'"):
        select(events, region="aa")
    with pytest.raises(ValueError, match=r"no step 9.* It has: 1, 2"):
        select(events, step=9)
    with pytest.raises(ValueError, match="no region 'a', and no regions at all"):
        select(empty("events"), region="a")
    with pytest.raises(ValueError, match="no span"):
        select(events, time=(5, 5))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"time": 5}, "time=5 is no span: give .start, end. in microseconds"),
        ({"time": (1, 2, 3)}, r"time=\(1, 2, 3\) is no span"),
        ({"time": ("a", "b")}, "time=.* is no span"),
        ({"region": 3}, "region=3 names no region: give a name"),
        ({"region": ["a", None]}, "region=.* names no region"),
        ({"step": "x"}, "step='x' numbers no step: give a whole number"),
        ({"step": 1.5}, "step=1.5 numbers no step"),
        ({"step": [1, "2"]}, "step=.* numbers no step"),
    ],
)
def test_what_names_nothing_is_a_clear_error(
    trace: tuple[pd.DataFrame, TraceMetadata], asked: dict[str, Any], words: str
) -> None:
    with pytest.raises(TypeError, match=words):
        select(trace[0], **asked)
