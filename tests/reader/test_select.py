"""Subsets by region, step and time; and the trace that is written of one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from nbprof.errors import TraceWriteError
from nbprof.markers import encode_name
from nbprof.metadata import CaptureInfo, TraceMetadata
from nbprof.reader import export_chrome, read_events, select
from nbprof.schema import REGION_MARKER, empty

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
    # [35, 37) touches step 2 (30 to 60) and the kernel (33 to 37); the flow at 33 has no length.
    assert names(select(events, time=(35, 37))) == ["ProfilerStep#2", "kernel of a"]
    assert "ac2g" in names(select(events, time=(33, 34)))
    assert len(select(events, time=(float("-inf"), float("inf")))) == len(events)
    assert names(select(events, region="a", time=(0, 7))) == [f"{REGION_MARKER}a", "op in a"]


def test_all_of_it_when_nothing_is_asked_for(trace: tuple[pd.DataFrame, TraceMetadata]) -> None:
    assert len(select(trace[0])) == len(trace[0])


def test_what_is_not_there_is_named_with_what_is(trace: tuple[pd.DataFrame, TraceMetadata]) -> None:
    events, _ = trace
    with pytest.raises(ValueError, match=r"no region 'aa'\. Did you mean 'a'"):
        select(events, region="aa")
    with pytest.raises(ValueError, match=r"no step '9'.* It has: 1, 2"):
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


@pytest.mark.parametrize("file", ["part.json", "part.json.gz", "new folder/part.json"])
def test_a_written_trace_reads_as_the_same(
    trace: tuple[pd.DataFrame, TraceMetadata], tmp_path: Path, file: str
) -> None:
    events, metadata = trace
    path = export_chrome(events, metadata, tmp_path / file)
    again, said = read_events(path)
    for column in events.columns:
        assert again[column].astype(object).tolist() == events[column].astype(object).tolist()
    assert (said.start_ns, said.devices, said.distributed, said.capture, said.other) == (
        metadata.start_ns,
        metadata.devices,
        metadata.distributed,
        metadata.capture,
        metadata.other,
    )
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_what_is_written_is_plain_chrome_json(trace: tuple[pd.DataFrame, TraceMetadata], tmp_path: Path) -> None:
    events, metadata = trace
    path = export_chrome(select(events, region="a"), metadata, tmp_path / "part.json")
    written = json.loads(path.read_text())
    assert written["traceEvents"][3] == {
        "ph": "X",
        "name": "kernel of a",
        "ts": 33.0,
        "cat": "kernel",
        "pid": 0,
        "tid": 7,
        "dur": 4.0,
        "args": {"correlation": 1, "device": 0, "stream": 7},
    }


def test_no_events_make_a_valid_file(trace: tuple[pd.DataFrame, TraceMetadata], tmp_path: Path) -> None:
    path = export_chrome(trace[0].iloc[:0], trace[1], tmp_path / "none.json")
    assert json.loads(path.read_text())["traceEvents"] == []
    assert len(read_events(path)[0]) == 0


def test_a_place_that_cannot_be_written_is_one_clear_error(
    trace: tuple[pd.DataFrame, TraceMetadata], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(TraceWriteError, match=r"part\.json"):
        export_chrome(*trace, tmp_path / "file" / "part.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(TraceWriteError, match=r"folder\.json"):
        export_chrome(*trace, tmp_path / "folder.json")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder.json"]


def test_numbers_that_json_does_not_know_are_neither_kept_nor_written(tmp_path: Path) -> None:
    text = b'{"x": NaN, "y": [Infinity, 1], "z": 1e400, "traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 1}]}'
    events, metadata = read_events(text)
    assert metadata.other == {"x": None, "y": [None, 1], "z": "1e400"}
    assert [(problem.kind, problem.is_mended) for problem in metadata.problems] == [
        ("a number that JSON does not know", True)
    ]
    path = export_chrome(events, metadata, tmp_path / "t.json")
    assert json.loads(path.read_text(), parse_constant=pytest.fail)["x"] is None
    with pytest.raises(ValueError, match="JSON"):
        export_chrome(events, replace(metadata, other={"x": float("nan")}), tmp_path / "none.json")
    assert [entry.name for entry in tmp_path.iterdir()] == ["t.json"]
