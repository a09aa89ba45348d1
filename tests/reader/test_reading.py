"""What the reader makes of sound traces: columns, times, categories, metadata, gating."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from nbprof.markers import encode_name
from nbprof.metadata import CaptureInfo, RegionCount, TraceMetadata
from nbprof.reader import export_chrome, read_events
from nbprof.schema import FX_MARKER, REGION_MARKER, TABLES

RECORDED = Path(__file__).parents[1] / "data" / "region_torch213_cpu.json"


def read(*events: dict[str, Any], **keys: Any) -> tuple[pd.DataFrame, TraceMetadata]:
    return read_events(json.dumps({"traceEvents": events, **keys}).encode())


def event(name: str, ts: float, dur: float | None = None, cat: str = "cpu_op", **more: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, **more}


def test_a_bare_list_from_before_kineto() -> None:
    rows = [
        {"name": "aten::mul", "ph": "X", "ts": 1.5, "dur": 60, "tid": 1, "pid": "CPU functions", "args": {}},
        {"name": "aten::mul", "ph": "X", "ts": 70, "dur": 1, "tid": 1, "pid": "CPU functions"},
        {"name": "aten::mul", "ph": "s", "ts": 1.5, "tid": 1, "pid": "CPU functions", "id": 3, "cat": "cpu_to_cuda"},
        {"name": "k_add", "ph": "X", "ts": 90, "dur": 9, "tid": 7, "pid": "CUDA functions"},
    ]
    events, metadata = read_events(json.dumps(rows).encode())
    assert events["category"].tolist() == ["cpu_op", "cpu_op", "cpu_to_cuda", "kernel"]
    assert events["pid"].tolist() == ["CPU functions"] * 3 + ["CUDA functions"]
    assert events["flow_id"].tolist() == [pd.NA, pd.NA, 3, pd.NA]
    assert events["device"].tolist() == [pd.NA, pd.NA, pd.NA, 0]
    assert metadata.other == {}


def test_older_categories_and_step_markers_among_operators() -> None:
    events, _ = read(
        event("ProfilerStep#5", 0, 9, "Operator", tid="1"),
        event("aten::mm", 1, 2, "Operator", tid="1"),
        event("cudaLaunchKernel", 2, 1, "Runtime", args={"correlation": 7, "external id": 4}),
        event("k", 5, 1, "Kernel", pid=0, tid="stream 7", args={"correlation": 7}),
        event("copy", 6, 1, "Memcpy", pid=0, tid="stream 7", args={"stream": "0x0", "device": 1}),
        event("fill", 7, 1, "Memset", pid=0, tid=20),
        {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 3, "args": {"Bytes": 64}},
    )
    assert events["category"].tolist() == [
        "user_annotation",
        "cpu_op",
        "cuda_runtime",
        "kernel",
        "gpu_memcpy",
        "gpu_memset",
        "cpu_instant_event",
    ]
    assert set(events["tid"].cat.categories) == {"1", "stream 7", "20"}  # 1 and "1" are one thread
    assert events["stream"].tolist() == [pd.NA, pd.NA, pd.NA, 7, 0, 20, pd.NA]
    assert events["device"].tolist() == [pd.NA, pd.NA, pd.NA, 0, 1, 0, pd.NA]
    assert events["external_id"].tolist() == [pd.NA, pd.NA, 4, *[pd.NA] * 4]
    assert events["bytes"].iloc[6] == 64


def test_metadata_on_either_side_and_rows_that_are_no_events() -> None:
    text = """{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "A"}], "traceEvents": [
     {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "python"}},
     {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 3, "dur": 9,
      "args": {"Seq": 1180591620717411303424, "External id": 18446744073709551615}},
     {"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 1, "ts": 20, "dur": 3,
      "args": {"Comms Id": 18446744073709551615, "Sequence number": 5}}],
     "distributedInfo": {"rank": 3, "world_size": 4}, "mine": {"huge": 1180591620717411303424}}"""
    events, metadata = read_events(text.encode())
    assert events["dur_ns"].tolist() == [9000, 3000]  # the last of two equal keys wins
    assert events["args"].tolist()[0]["Seq"] == 1180591620717411303424
    assert events["args"].tolist()[1]["Comms Id"] == 18446744073709551615
    assert events["external_id"].tolist() == [pd.NA, pd.NA]
    assert events["seq"].tolist() == [pd.NA, 5]
    assert metadata.devices == ({"id": 0, "name": "A"},)
    assert metadata.distributed == {"rank": 3, "world_size": 4}
    assert metadata.other == {"schemaVersion": 1, "mine": {"huge": 1180591620717411303424}}
    assert metadata.text_bytes == metadata.bytes == len(text)
    assert metadata.problems == ()


def test_nanoseconds_and_the_base() -> None:
    events, metadata = read_events(b"""{"baseTimeNanoseconds": 1790857026000000000, "traceEvents": [
     {"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 1, "ts": 5207429877042.500, "dur": 0.021},
     {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 5207429877042.476, "dur": 0.021}]}""")
    # b begins 24 ns after a, which lasts 21: a gap of 3. The earliest time is the zero, wherever it stands in the file.
    assert events["ts_ns"].tolist() == [24, 0]
    assert events["dur_ns"].tolist() == [21, 21]
    assert metadata.start_ns == 1796064455877042476


def test_epoch_microseconds_with_decimals() -> None:
    events, metadata = read_events(
        b'[{"ph": "X", "name": "a", "ts": 1623143089861123.456, "dur": "1.5"},'
        b' {"ph": "X", "name": "b", "ts": 1623143089861123.457, "dur": 2},'
        b' {"ph": "i", "name": "c", "ts": "1623143089861124"}]'
    )
    assert metadata.start_ns == 1623143089861123456
    assert events["ts_ns"].tolist() == [0, 1, 544]
    assert events["dur_ns"].tolist() == [1500, 2000, pd.NA]


def test_begin_and_end_and_missing_durations() -> None:
    def edge(phase: str, ts: int, tid: int = 1, **more: Any) -> dict[str, Any]:
        return {"ph": phase, "cat": "x", "pid": 1, "tid": tid, "ts": ts, **more}

    events, metadata = read(
        edge("B", 0, name="outer"),
        edge("B", 10, name="inner", args={"k": 1}),
        edge("E", 40),
        edge("E", 100),
        event("aten::ok", 5, 10),
        {"ph": "X", "cat": "cpu_op", "name": "no", "pid": 1, "tid": 1, "ts": 50},
        event("null", 60, None),
        edge("E", 7, tid=2),
        edge("B", 200, name="never"),
        {"ph": "X", "cat": "cpu_op", "name": "timeless", "pid": 1, "tid": 1, "dur": 3},
        event("backwards", 70, -5),
    )
    assert dict(zip(events["name"], events["dur_ns"], strict=True)) == {
        "outer": 100_000,
        "inner": 30_000,
        "aten::ok": 10_000,
        "no": pd.NA,
        "null": pd.NA,
        "never": pd.NA,
        "backwards": pd.NA,
    }
    assert events["ph"].tolist() == ["X", "X", "X", "X", "X", "B", "X"]
    assert events["args"].iloc[1] == {"k": 1}
    assert {problem.kind: problem.count for problem in metadata.problems} == {
        "event without a time": 1,
        "negative duration": 1,
        "end event that nothing began": 1,
        "begin event that never ends": 1,
    }


def test_lost_device_records_of_time_zero() -> None:
    def kernel(ts: float, dur: float) -> dict[str, Any]:
        return event("gemm", ts, dur, "kernel", pid=0, tid=7)

    events, metadata = read(kernel(1_000_000, 40), kernel(1_000_060, 40), kernel(0, 0))
    assert events["ts_ns"].tolist() == [0, 60_000]
    assert [(problem.kind, problem.count) for problem in metadata.problems] == [("device event with time zero", 1)]
    # Also with a duration where all else is hours later; in a trace that begins at zero it is an event like others.
    assert len(read(kernel(1e12, 40), kernel(0, 9))[0]) == 1
    assert len(read(kernel(0, 9), kernel(20, 40), event("op", 0, 0))[0]) == 3


def test_names_of_markers_are_decoded() -> None:
    name = 'größe "a"\\b\n100%'
    events, _ = read(
        event(REGION_MARKER + encode_name(name), 0, 1, "user_annotation"),
        event(FX_MARKER + encode_name("blöcke.0"), 0, 1),
        event("plain%41", 0, 1),
    )
    assert events["name"].tolist() == [REGION_MARKER + name, FX_MARKER + "blöcke.0", "plain%41"]
    assert events["category"].tolist() == ["user_annotation", "user_annotation", "cpu_op"]


def test_half_of_a_surrogate_pair_in_a_marker_is_shown_as_its_escape() -> None:
    events, _ = read(event(REGION_MARKER + encode_name("half \ud800"), 0, 1, "user_annotation"))
    assert events["name"].tolist() == [REGION_MARKER + "half \\ud800"]
    events["name"].str.upper()  # pandas' arrow strings refuse such halves


def gated(*events: dict[str, Any]) -> list[bool]:
    capture = CaptureInfo(kind="cell", label="a", gated=True).to_dict()
    frame, metadata = read(*events, nbprof=capture)
    assert metadata.capture == CaptureInfo(kind="cell", label="a", gated=True)
    flags: list[bool] = frame["in_region"].tolist()
    return flags


def test_a_gated_file_counts_what_lies_inside_regions() -> None:
    region = event(f"{REGION_MARKER}a", 10, 10, "user_annotation")
    other = event(f"{REGION_MARKER}b", 50, 10, "user_annotation", tid=2)
    rows = [
        (region, True),
        (event("before", 5, 2), False),
        (event("inside", 12, 2), True),
        (event("at its end", 20, 2), False),
        (other, True),
        (event("other marked thread, region a", 12, 2, tid=2), False),
        (event("its own region", 52, 2, tid=2), True),
        (event("autograd::engine::evaluate_function: MulBackward0", 12, 2, tid=3), True),
        (event("autograd in region b", 52, 2, tid=3), True),
        (event("autograd outside", 30, 2, tid=3), False),
        (event("a worker meanwhile", 12, 2, tid=4), False),
        (event("enter of the region", 9.9, 0.2, "python_function"), False),
        (event("exit of the region", 19.9, 0.2, "python_function"), False),
        (event("python inside", 11, 3, "python_function"), True),
        ({"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 15}, True),
        ({"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 25}, False),
        (event("launch inside", 18, 1, "cuda_runtime", args={"correlation": 1}), True),
        (event("launch outside", 22, 1, "cuda_runtime", args={"correlation": 2}), False),
        (event("runs later", 40, 1, "kernel", pid=0, tid=7, args={"correlation": 1}), True),
        (event("runs meanwhile", 15, 1, "kernel", pid=0, tid=7, args={"correlation": 2}), False),
        (event("unlinked", 15, 1, "kernel", pid=0, tid=7), False),
        (event(f"{REGION_MARKER}a", 24, 10, "gpu_user_annotation", pid=0, tid=7), False),
    ]
    assert gated(*[row for row, _ in rows]) == [inside for _, inside in rows]


def test_a_gated_file_without_regions_counts_nothing() -> None:
    assert gated(event("op", 0, 1)) == [False]
    assert gated() == []


def test_a_file_that_is_not_gated_counts_everything() -> None:
    frame, _ = read(event("op", 0, 1), nbprof=CaptureInfo(kind="once", label="x").to_dict())
    assert frame["in_region"].tolist() == [True]
    frame, metadata = read(event("op", 0, 1), nbprof=["of", "another", "tool"])
    assert metadata.capture is None
    assert [problem.kind for problem in metadata.problems] == ["recording facts that cannot be read"]


def test_facts_of_a_later_version_are_read_as_far_as_they_are_known() -> None:
    facts = CaptureInfo(kind="cell", label="a", gated=True, regions=(RegionCount("a", None, 1, 5.0),)).to_dict()
    facts["regions"][0]["colour"] = facts["mood"] = "new"
    events, metadata = read(event("op", 0, 1), nbprof=facts)
    assert metadata.capture == CaptureInfo(
        kind="cell", label="a", gated=True, regions=(RegionCount("a", None, 1, 5.0),)
    )
    assert events["in_region"].tolist() == [False]
    assert metadata.problems == ()


@pytest.mark.parametrize("wrong", [{"outcome": "weird"}, {"schedule": None}, {"regions": [{"region": "a"}]}])
def test_facts_of_another_kind_are_left_aside_and_gating_holds_if_they_say_so(wrong: dict[str, Any]) -> None:
    for gated, effect in ((True, "only what lies in regions counts"), (False, "unknown")):
        events, metadata = read(event("op", 0, 1), nbprof={"gated": gated, **wrong})
        assert metadata.capture is None
        assert events["in_region"].tolist() == [not gated]
        (problem,) = metadata.problems
        assert problem.kind == "recording facts that cannot be read"
        assert effect in problem.detail
        assert metadata.other == {"nbprof": {"gated": gated, **wrong}}


def test_a_recording_of_torch_2_13() -> None:
    events, metadata = read_events(RECORDED)
    # In the file: mul, then the region with linear, sum and backward, then add; each with its allocations.
    inside = events[events["in_region"]]
    outside = events[~events["in_region"]]
    assert metadata.capture is not None
    assert metadata.capture.label == "größe"
    assert f'{REGION_MARKER}größe "a"' in set(inside["name"])
    assert {"aten::linear", "aten::sum", "aten::add_"} <= set(inside["name"])
    assert {"aten::mul", "aten::add"} <= set(outside["name"])
    assert not {"aten::mul", "aten::linear"} <= set(inside["name"])
    assert (inside["name"] == "[memory]").any()
    assert (outside["name"] == "[memory]").any()
    for column in TABLES["events"]:
        if column.name != "args":
            assert str(events[column.name].dtype) == column.dtype


def test_progress_is_told_at_every_piece() -> None:
    text = json.dumps([event(f"aten::op{n}", n, 1) for n in range(40_000)]).encode()
    told: list[tuple[int, int | None, int]] = []
    read_events(text, progress=lambda done, total, count: told.append((done, total, count)))
    # 40,000 events of some 95 bytes: between 3.7 and 4 MB in pieces of a quarter.
    assert 14 <= len(told) <= 16
    assert told == sorted(told)
    assert told[-1] == (len(text), len(text), 40_000)


def test_the_order_is_that_of_the_file() -> None:
    frame, _ = read(event("late", 9, 1), event("early", 1, 1), event("late", 5, 1))
    assert frame["name"].tolist() == ["late", "early", "late"]


@pytest.mark.parametrize("base", ["12", 12, None, "soon", 1.5e400])
def test_an_odd_base_is_no_reason_to_fail(base: Any) -> None:
    text = json.dumps({"traceEvents": [event("a", 1, 1)], "baseTimeNanoseconds": base})
    assert read_events(text.encode())[1].start_ns == (1012 if str(base) == "12" else 1000)


def test_keys_of_another_kind_than_expected_stay_among_the_others() -> None:
    odd = {"deviceProperties": {"id": 0}, "distributedInfo": [3], "baseTimeNanoseconds": [1]}
    _, metadata = read(event("a", 1, 1), **odd)
    assert metadata.other == odd
    assert (metadata.devices, metadata.distributed, metadata.start_ns) == ((), {}, 1000)


@pytest.mark.parametrize("number", ["1e999", "9" * 5000])
def test_numbers_that_python_cannot_hold_stay_text_wherever_they_stand(number: str, tmp_path: Path) -> None:
    row = '{"ph": "%s", "cat": "cpu_op", "name": "%s", "pid": 1, "tid": 1, "ts": 1, "args": {"Input Dims": [[%s]], "n": %s}}'
    rows = ",".join(row % (*words, number, number) for words in (("M", "process_name"), ("X", "a")))
    events, metadata = read_events(b'{"traceEvents": [%s]}' % rows.encode())
    assert metadata.labels[0]["args"]["n"] == number
    assert events["args"].iloc[0] == {"Input Dims": [[number]], "n": number}
    assert events["shapes"].iloc[0] == f'[["{number}"]]'
    assert (
        read_events(export_chrome(events, metadata, tmp_path / "t.json"))[0]["shapes"].tolist()
        == events["shapes"].tolist()
    )


def test_a_call_has_the_arguments_of_its_begin_and_of_its_end() -> None:
    rows = [
        ("B", 1, {"a": 1, "b": 1}),
        ("B", 2, None),
        ("E", 3, {"c": 3}),
        ("E", 4, {"b": 2}),
        ("B", 5, {"d": 4}),
        ("E", 6, None),
    ]
    events, _ = read(*({"ph": ph, "name": "x", "pid": 1, "tid": 1, "ts": ts, "args": args} for ph, ts, args in rows))
    assert events["args"].tolist() == [{"a": 1, "b": 2}, {"c": 3}, {"d": 4}]
