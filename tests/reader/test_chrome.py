"""A written trace: what stands in the file, that it reads back as the same, and what is there after a failure."""

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
from nbprof.reader import export_chrome, occurring_labels, read_events, select
from nbprof.schema import REGION_MARKER, empty
from nbprof.trace import Trace, load_trace
from tests.frames import kernel, make_events, op
from tests.same import assert_same_events

NAME = 'größe "q"\\%41'
BASE_NS = 5 * 10**18 // 3
JOINS = ["flow_id", "correlation", "external_id", "stream", "device", "seq", "forward_thread"]


def event(name: str, ts: float, dur: float, cat: str = "cpu_op", **more: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, **more}


def on_device(name: str, ts: float, dur: float, correlation: int) -> dict[str, Any]:
    args = {"correlation": correlation, "device": 0, "stream": 7, "grid": [1, 2, 3]}
    return event(name, ts, dur, "kernel", pid=0, tid=7, args=args)


def label(key: str, pid: int, tid: int, **args: Any) -> dict[str, Any]:
    return {"name": key, "ph": "M", "ts": 0.5, "pid": pid, "tid": tid, "args": args}


LABELS = (
    label("process_name", 1, 0, name="python"),
    label("process_name", 5, 0, name="idle"),
    label("thread_name", 0, 7, name="stream 7 "),
    label("thread_sort_index", 0, 7, sort_index=7),
)
ROWS = [
    event(REGION_MARKER + "a", 5.001, 10, "user_annotation"),
    event(REGION_MARKER + encode_name(NAME), 40, 10, "user_annotation"),
    event("aten::mm", 6, 2, args={"k": [1, "é", None], "Sequence number": 3, "Fwd thread id": 0, "External id": 4}),
    event("cudaLaunchKernel", 7, 1, "cuda_runtime", args={"correlation": 9, "External id": 4}),
    on_device("gemm", 20, 10, 9),
    on_device("overlaps gemm", 28.5, 4, 10),
    {"ph": "s", "id": 9, "cat": "ac2g", "name": "ac2g", "pid": 1, "tid": 1, "ts": 7},
    {"ph": "f", "id": 9, "bp": "e", "cat": "ac2g", "name": "ac2g", "pid": 0, "tid": 7, "ts": 20},
    {"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": 9, "args": {"Bytes": -4}},
    {"ph": "B", "name": "begun", "pid": 1, "tid": "main", "ts": 1},
    {"ph": "E", "pid": 1, "tid": "main", "ts": 2.25},
    {"ph": "C", "name": "neither process nor thread", "ts": 3, "args": {"value": 1}},
    {"cat": "no phase", "name": "x", "pid": "Spans", "tid": "07", "ts": 4},
]
KEYS = {
    "schemaVersion": 1,
    "distributedInfo": {"rank": 1, "world_size": 2},
    "deviceProperties": [{"id": 0, "big": 2**70}],
    "mine": {"ü": [1.5, None]},
    "nbprof": json.loads(json.dumps(CaptureInfo(kind="cell", label="a").to_dict())),
}


@pytest.fixture
def trace() -> tuple[pd.DataFrame, TraceMetadata]:
    whole = {"traceEvents": [*LABELS, *ROWS], "baseTimeNanoseconds": BASE_NS, **KEYS}
    return read_events(json.dumps(whole).encode())


def written(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


@pytest.mark.parametrize("file", ["part.json", "part.json.gz", "new folder/part.json"])
def test_a_written_trace_reads_as_the_same(
    trace: tuple[pd.DataFrame, TraceMetadata], tmp_path: Path, file: str
) -> None:
    path = export_chrome(*trace, tmp_path / file)
    events, metadata = read_events(path)
    assert_same_events((events, metadata), trace)
    assert metadata.start_ns == trace[1].start_ns
    unlike = {"source": "", "bytes": 0, "text_bytes": 0}
    assert replace(metadata, **unlike) == replace(trace[1], **unlike)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_written_part_reads_as_the_part_at_the_same_absolute_times(
    trace: tuple[pd.DataFrame, TraceMetadata], tmp_path: Path
) -> None:
    part = select(trace[0], time=(5, 25))
    again = read_events(export_chrome(part, trace[1], tmp_path / "part.json"))
    assert len(part) == 7
    assert_same_events(again, (part, trace[1]))


def test_what_is_written_is_plain_chrome_json(trace: tuple[pd.DataFrame, TraceMetadata], tmp_path: Path) -> None:
    path = export_chrome(*trace, tmp_path / "part.json")
    file = written(path)
    # The first event is the one begun at 1 us, which is 0 in the file.
    assert file["baseTimeNanoseconds"] == BASE_NS + 1000
    assert {key: file[key] for key in KEYS} == KEYS
    rows = {row["name"]: row for row in file["traceEvents"][len(LABELS) :]}
    assert rows["gemm"] == on_device("gemm", 19.0, 10.0, 9)
    assert rows["begun"] == {"ph": "X", "name": "begun", "pid": 1, "tid": "main", "ts": 0.0, "dur": 1.25}
    assert rows["[memory]"]["s"] == "t"
    assert (rows["x"]["pid"], rows["x"]["tid"]) == ("Spans", "07")
    assert '"ts": 4.001, "dur": 10.000' in path.read_text()


def test_labels_come_first_and_a_part_has_those_of_what_it_holds(
    trace: tuple[pd.DataFrame, TraceMetadata], tmp_path: Path
) -> None:
    events, metadata = trace
    assert tuple(written(export_chrome(*trace, tmp_path / "whole.json"))["traceEvents"][: len(LABELS)]) == LABELS
    part = events.iloc[2:4]
    named = replace(metadata, labels=occurring_labels(metadata.labels, part))
    assert read_events(export_chrome(part, named, tmp_path / "part.json"))[1].labels == (LABELS[0],)


def test_a_trace_writes_the_part_that_was_asked_for_with_its_labels_alone(
    trace: tuple[pd.DataFrame, TraceMetadata], tmp_path: Path
) -> None:
    whole = Trace(*trace)
    path = whole.export_chrome(tmp_path / "part.json.gz", region="a", time=(0, 10), with_args=False)
    again = load_trace(path)
    assert again.events["name"].tolist() == [f"{REGION_MARKER}a", "aten::mm", "cudaLaunchKernel", "[memory]"]
    assert again.metadata.labels == (LABELS[0],)
    assert again.events["args"].tolist()[0] == {}
    assert load_trace(whole.export_chrome(tmp_path / "whole.json")).metadata.labels == LABELS


def test_flows_are_whole_and_end_where_what_they_bind_to_starts(
    trace: tuple[pd.DataFrame, TraceMetadata], tmp_path: Path
) -> None:
    ends = [
        row for row in written(export_chrome(*trace, tmp_path / "t.json"))["traceEvents"] if row.get("ph") in {"s", "f"}
    ]
    assert ends == [
        {"ph": "s", "cat": "ac2g", "name": "ac2g", "pid": 1, "tid": 1, "ts": 6.0, "id": 9},
        {"ph": "f", "bp": "e", "cat": "ac2g", "name": "ac2g", "pid": 0, "tid": 7, "ts": 19.0, "id": 9},
    ]


def test_calls_that_cross_stand_on_lanes_in_the_file_and_nowhere_else(
    trace: tuple[pd.DataFrame, TraceMetadata], tmp_path: Path
) -> None:
    file = written(export_chrome(*trace, tmp_path / "t.json"))
    assert file["nbprofLanes"] == [[0, 8, 7]]
    assert [row["tid"] for row in file["traceEvents"] if row["name"] == "overlaps gemm"] == [8]
    name, place = (row for row in file["traceEvents"] if row.get("ph") == "M" and row["tid"] == 8)
    assert name["args"] == {"name": "stream 7 (lane 2)"}
    assert place["args"] == {"sort_index": 7.5}
    metadata = read_events(tmp_path / "t.json")[1]
    assert metadata.labels == LABELS
    assert "nbprofLanes" not in metadata.other


@pytest.mark.parametrize("said", [5, [[0, 8]], {"a": 1}])
def test_what_a_file_says_of_lanes_without_sense_is_kept_as_any_other_key(said: object, tmp_path: Path) -> None:
    events, metadata = read_events(json.dumps({"nbprofLanes": said, "traceEvents": ROWS[:3]}).encode())
    assert metadata.other == {"nbprofLanes": said}
    assert written(export_chrome(events, metadata, tmp_path / "t.json"))["nbprofLanes"] == said


def test_without_arguments_those_are_left_that_join_events(
    trace: tuple[pd.DataFrame, TraceMetadata], tmp_path: Path
) -> None:
    path = export_chrome(*trace, tmp_path / "t.json", with_args=False)
    rows = {row["name"]: row for row in written(path)["traceEvents"][len(LABELS) :]}
    assert rows["aten::mm"]["args"] == {"External id": 4, "Sequence number": 3, "Fwd thread id": 0}
    assert rows["gemm"]["args"] == {"correlation": 9, "stream": 7, "device": 0}
    assert "args" not in rows["[memory]"]
    events, metadata = read_events(path)
    assert metadata.other == trace[1].other
    pd.testing.assert_frame_equal(events[JOINS], trace[0][JOINS])


def test_a_device_event_at_the_very_start_is_no_lost_record_when_it_is_read_again(tmp_path: Path) -> None:
    events = make_events(kernel("k", 0, 0, 1), op("x", 5, 1))
    again, metadata = read_events(export_chrome(events, TraceMetadata("t", start_ns=7_000), tmp_path / "t.json"))
    assert metadata.problems == ()
    assert metadata.start_ns == 7_000
    assert again["ts_ns"].tolist() == [0, 5_000]


@pytest.mark.parametrize("ns", [0, 1, 999, 1_000, 10**15 + 7, 2**62 - 1])
def test_times_are_exact_to_the_nanosecond_and_whatever_their_size(ns: int, tmp_path: Path) -> None:
    events = make_events(op("first", 0, 0), op("x", 0, 0)).assign(
        ts_ns=[0, ns], dur_ns=pd.array([0, ns], dtype="Int64")
    )
    again, _ = read_events(export_chrome(events, TraceMetadata("t"), tmp_path / "t.json"))
    assert again["ts_ns"].tolist() == again["dur_ns"].tolist() == [0, ns]


def test_times_before_zero_are_written_as_such(tmp_path: Path) -> None:
    events = make_events(op("x", -1.5, 1), op("y", -0.001, 0), op("z", 0, 1))
    path = export_chrome(events, TraceMetadata("t", start_ns=10_000), tmp_path / "t.json")
    assert [row["ts"] for row in written(path)["traceEvents"]] == [-1.5, -0.001, 0.0]
    again, metadata = read_events(path)
    assert (again["ts_ns"] + metadata.start_ns).tolist() == [8_500, 9_999, 10_000]


def test_arguments_of_frames_made_by_hand_are_written_too(tmp_path: Path) -> None:
    events = make_events(op("x", 0, 1, args={"k": [1, "é"]}), op("y", 2, 1))
    rows = written(export_chrome(events, TraceMetadata("t"), tmp_path / "t.json"))["traceEvents"]
    assert [row.get("args") for row in rows] == [{"k": [1, "é"]}, None]


def test_words_of_any_script_stand_in_the_file_as_they_are(tmp_path: Path) -> None:
    # Perfetto stops at a name with a quote in it and an escaped pair of surrogates.
    name = 'größe "\U0001f600" \\ \n\x00'
    again, _ = read_events(export_chrome(make_events(op(name, 0, 1)), TraceMetadata("t"), tmp_path / "t.json"))
    assert again["name"].tolist() == [name]
    assert 'größe \\"\U0001f600\\" \\\\ \\n\\u0000' in (tmp_path / "t.json").read_text(encoding="utf-8")


def test_no_events_make_a_valid_file(trace: tuple[pd.DataFrame, TraceMetadata], tmp_path: Path) -> None:
    for with_args in (True, False):
        path = export_chrome(empty("events"), TraceMetadata("t"), tmp_path / "none.json", with_args=with_args)
        assert written(path) == {"baseTimeNanoseconds": 0, "traceEvents": []}
        assert len(read_events(path)[0]) == 0
    events, metadata = read_events(export_chrome(trace[0].iloc[:0], trace[1], tmp_path / "labels.json"))
    assert len(events) == 0
    assert metadata.labels == LABELS


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
