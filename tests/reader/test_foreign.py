"""Chrome traces of other makers, and of other devices: each opens with what it has."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from nbprof import analysis
from nbprof.metadata import TraceMetadata
from nbprof.reader import read_events


def read(text: str) -> tuple[pd.DataFrame, TraceMetadata]:
    return read_events(text.encode())


def call(name: str, category: str, ts: float, dur: float, **more: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur} | more


def test_viztracer() -> None:
    events, metadata = read(
        """{"traceEvents": [
        {"ph": "M", "pid": 9, "tid": 9, "name": "process_name", "args": {"name": "MainProcess"}},
        {"pid": 9, "tid": 9, "ts": 26737352290.712, "ph": "X", "cat": "fee", "dur": 0.16, "name": "_thread.get_ident"},
        {"pid": 9, "tid": 9, "ts": 26737352290.452, "ph": "X", "cat": "fee", "dur": 0.811, "name": "f (/a/b.py:3)"},
        {"pid": 9, "tid": 9, "ts": 26737352291.0, "ph": "i", "cat": "instant", "name": "open", "args": {"args": ["x"]}},
        {"pid": 9, "tid": 9, "ts": 26737352292.0, "ph": "C", "name": "garbage collection", "args": {"collecting": 0}}
        ], "viztracer_metadata": {"version": "1.1.1"}, "file_info": {"files": {}, "functions": {}}}"""
    )
    assert events["name"].tolist() == ["_thread.get_ident", "f (/a/b.py:3)", "open", "garbage collection"]
    assert events["ts_ns"].tolist() == [260, 0, 548, 1548]
    assert events["dur_ns"].tolist() == [160, 811, pd.NA, pd.NA]
    assert events["args"].tolist() == [{}, {}, {"args": ["x"]}, {"collecting": 0}]
    assert metadata.start_ns == 26_737_352_290_452
    assert metadata.labels[0]["args"] == {"name": "MainProcess"}
    assert (list(metadata.other), metadata.problems) == (["viztracer_metadata", "file_info"], ())


def test_chromium() -> None:
    events, metadata = read(
        """[{"pid":7,"tid":3,"ts":100,"ph":"B","cat":"toplevel,ipc","name":"Task","args":{"src":"a.cc"},"tts":5},
        {"pid":7,"tid":3,"ts":101,"ph":"X","cat":"cc","name":"Draw","dur":4,"tdur":3,"tts":6,"args":{}},
        {"pid":7,"tid":3,"ts":110,"ph":"E","cat":"toplevel,ipc","name":"Task","args":{},"tts":9},
        {"pid":7,"tid":3,"ts":102,"ph":"b","cat":"blink","name":"Load","id":"0x1f","args":{}},
        {"pid":7,"tid":4,"ts":109,"ph":"e","cat":"blink","name":"Load","id":"0x1f","args":{}},
        {"pid":7,"tid":3,"ts":103,"ph":"C","cat":"gpu","name":"memory","args":{"bytes":64}},
        {"pid":7,"tid":3,"ts":104,"ph":"N","cat":"v8","name":"Isolate","id":"0x2a","args":{}},
        {"pid":7,"tid":3,"ts":105,"ph":"P","cat":"v8","name":"sample","args":{}},
        {"pid":7,"tid":3,"ts":106,"ph":"I","cat":"blink","name":"mark","s":"t","args":{}},
        {"pid":7,"tid":3,"ts":107,"ph":"R","cat":"blink","name":"navigationStart","args":{}},
        {"pid":7,"tid":3,"ts":0,"ph":"M","cat":"__metadata","name":"thread_name","args":{"name":"CrMain"}}]"""
    )
    assert events["ph"].tolist() == ["X", "X", "b", "e", "C", "N", "P", "I", "R"]  # B and E are one
    assert events["dur_ns"].tolist() == [10_000, 4_000, *[pd.NA] * 7]
    assert events["category"].iloc[0] == "toplevel,ipc"
    assert events["flow_id"].tolist() == [pd.NA, pd.NA, 0x1F, 0x1F, pd.NA, 0x2A, *[pd.NA] * 3]
    assert events["args"].iloc[0] == {"src": "a.cc"}
    assert (len(metadata.labels), metadata.problems) == (1, ())


def test_system_traces_beside_the_events_stay_text() -> None:
    events, metadata = read(
        """{"traceEvents":[{"pid":7,"tid":3,"ts":1,"ph":"X","cat":"cc","name":"Draw","dur":4,"args":{}}],
        "controllerTraceDataKey":"systraceController","systemTraceEvents":"# tracer: nop\\n  a-1 [000] 5.1: x: {\\n",
        "stackFrames":{"5":{"name":"main","category":"a.so"}},"samples":[{"cpu":0,"sf":5,"ts":1.5,"weight":1}]}"""
    )
    assert len(events) == 1
    assert list(metadata.other) == ["controllerTraceDataKey", "systemTraceEvents", "stackFrames", "samples"]
    assert metadata.other["systemTraceEvents"] == "# tracer: nop\n  a-1 [000] 5.1: x: {\n"
    assert metadata.problems == ()


def test_perfetto_export() -> None:
    events, metadata = read(
        """{"traceEvents":[{"args":{"debug":{"depth":2}},"bind_id":"0x1","cat":"a","dur":12,"flow_out":true,"name":"f",
        "ph":"X","pid":4,"tdur":9,"tid":5,"ts":1700000000000001,"tts":3},
        {"args":{},"cat":"a","id2":{"local":"0x7"},"name":"load","ph":"b","pid":4,"tid":5,"ts":1700000000000003,"use_async_tts":1},
        {"args":{},"cat":"a","id2":{"local":"0x7"},"name":"load","ph":"e","pid":4,"tid":5,"ts":1700000000000009},
        {"args":{},"cat":"a","name":"tick","ph":"I","pid":4,"s":"g","tid":0,"ts":1700000000000004},
        {"args":{"v":1.5},"cat":"a","name":"load","ph":"C","pid":4,"ts":1700000000000005},
        {"args":{"name":"app"},"cat":"__metadata","name":"process_name","ph":"M","pid":4,"tid":0}],
        "displayTimeUnit":"ns","metadata":{"perfetto":{"version":"v50"}}}"""
    )
    assert events["ph"].tolist() == ["X", "b", "e", "I", "C"]
    assert events["ts_ns"].tolist() == [0, 2000, 8000, 3000, 4000]
    assert metadata.start_ns == 1_700_000_000_000_001_000
    assert events["tid"].isna().tolist() == [False, False, False, False, True]
    assert events["args"].iloc[0] == {"debug": {"depth": 2}}
    assert (len(metadata.labels), metadata.problems) == (1, ())


def test_a_list_that_never_closes_is_what_its_makers_allow() -> None:
    events, metadata = read('[\n{"name": "a", "ph": "X", "ts": 1, "dur": 2, "pid": 1, "tid": 1},\n')
    assert events["dur_ns"].tolist() == [2000]
    assert [problem.kind for problem in metadata.problems] == ["cut off"]


def test_tensorflow_and_jax() -> None:
    events, metadata = read(
        """{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[
        {"args":{"name":"/host:CPU"},"name":"process_name","ph":"M","pid":701},
        {"args":{"sort_index":701},"name":"process_sort_index","ph":"M","pid":701},
        {"args":{"hlo_op":"fusion.3"},"dur":1.25,"name":"fusion.3","ph":"X","pid":1,"tid":8,"ts":10.5},{}]}"""
    )
    assert events[["name", "ts_ns", "dur_ns"]].values.tolist() == [["fusion.3", 0, 1250]]
    assert len(metadata.labels) == 2
    assert metadata.other["displayTimeUnit"] == "ns"
    assert [problem.kind for problem in metadata.problems] == ["event without a time"]


@pytest.mark.parametrize(
    ("launch", "runtime", "kernel"),
    [
        ("cudaLaunchKernel", "cuda_runtime", "kernel"),
        ("hipLaunchKernel", "cuda_runtime", "kernel"),
        ("cuLaunchKernel", "cuda_driver", "kernel"),
        ("mtiaLaunch", "mtia_runtime", "mtia_ccp_events"),
        ("piEnqueueKernelLaunch", "xpu_runtime", "kernel"),
        ("launch", "privateuse1_runtime", "privateuse1_kernel"),
        ("cudaLaunchKernel", "Runtime", "Kernel"),  # 2021
    ],
)
def test_devices_of_all_makers(launch: str, runtime: str, kernel: str) -> None:
    rows = [
        call("aten::mm", "cpu_op", 0, 10),
        call(launch, runtime, 2, 3, args={"correlation": 5}),
        call("k", kernel, 20, 7, pid=0, tid=3, args={"correlation": 5, "device": 0, "stream": 3}),
    ]
    events, _ = read(json.dumps({"traceEvents": rows}))
    assert events["device"].tolist() == [pd.NA, pd.NA, 0]
    assert analysis.operators(events)["device_total_us"].tolist() == [7.0]
    assert analysis.timeline(events)["span_us"].tolist() == [7.0]


def test_a_device_alone_and_a_host_alone() -> None:
    device, _ = read(json.dumps([call("k", "kernel", 5, 2, pid=0, tid=7, args={"device": 0, "stream": 7})]))
    assert analysis.kernels(device)["total_us"].tolist() == [2.0]
    assert len(analysis.operators(device)) == 0
    host, _ = read(json.dumps([call("aten::mm", "cpu_op", 5, 2)]))
    assert analysis.operators(host)["host_total_us"].tolist() == [2.0]
    assert len(analysis.kernels(host)) == len(analysis.timeline(host)) == 0
