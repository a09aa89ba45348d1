"""`Trace` and `load_trace`: tables, parts, files, and clear errors."""

from __future__ import annotations

import pickle
from pathlib import Path

import pandas as pd
import pytest

import nbprof
from nbprof import schema
from nbprof.metadata import CaptureInfo, TraceMetadata
from tests.frames import make_events, marker

CPU_TRACE = Path(__file__).parent / "data" / "region_torch213_cpu.json"


@pytest.fixture
def trace() -> nbprof.Trace:
    return nbprof.load_trace(CPU_TRACE)


@pytest.mark.parametrize("table", ["operators", "kernels", "timeline", "steps", "regions", "region_steps", "health"])
def test_every_table_has_the_columns_of_the_schema_also_when_it_is_empty(trace: nbprof.Trace, table: str) -> None:
    empty = nbprof.Trace(schema.empty("events"), trace.metadata)
    for one in (trace, empty):
        frame = getattr(one, table)()
        assert list(frame.columns)[: len(schema.names(table))] == schema.names(table)
        for column in schema.TABLES[table]:
            if column.dtype not in ("str", "object"):
                assert str(frame[column.name].dtype) == column.dtype


def test_a_part_is_a_trace_of_its_own(trace: nbprof.Trace) -> None:
    (region,) = trace.regions()["region"]
    part = trace.where(region=region)
    assert 0 < len(part) < len(trace)
    assert set(part.operators()["name"]) <= set(trace.operators()["name"])
    with pytest.raises(ValueError, match="no region 'nope'"):
        trace.where(region="nope")


def test_an_exported_part_reads_back_equal(trace: nbprof.Trace, tmp_path: Path) -> None:
    (region,) = trace.regions()["region"]
    path = trace.export_chrome(tmp_path / "part.json.gz", region=region)
    again = nbprof.load_trace(path)
    pd.testing.assert_frame_equal(again.operators(), trace.where(region=region).operators())
    assert again.metadata.capture == trace.metadata.capture


def test_reports_and_pages_are_written(trace: nbprof.Trace, tmp_path: Path) -> None:
    page = trace.to_html(tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!")
    assert "nbprof-report" in page
    assert "trace.operators()" in trace.report().text
    assert "nbprof.last.operators()" in trace.report(called="nbprof.last").text
    assert "aten::" in trace.to_markdown()


def test_a_trace_has_a_length_says_what_it_is_and_can_be_pickled(trace: nbprof.Trace) -> None:
    assert len(trace) == len(trace.events)
    assert f"{len(trace):,} events" in repr(trace)
    trace.operators()
    again = pickle.loads(pickle.dumps(trace))
    pd.testing.assert_frame_equal(again.operators(), trace.operators())


def test_a_missing_file_and_a_file_that_is_no_trace_are_clear_errors(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.json"):
        nbprof.load_trace(tmp_path / "nowhere.json")
    (tmp_path / "page.json").write_text("<html>")
    with pytest.raises(nbprof.TraceFormatError, match=r"page\.json"):
        nbprof.load_trace(tmp_path / "page.json")


@pytest.mark.parametrize("source", [None, 5, ["trace.json"]])
def test_what_is_no_source_is_a_clear_error(source: object) -> None:
    with pytest.raises(TypeError, match="read from a path, bytes or a file open in mode 'rb', not from"):
        nbprof.load_trace(source)  # type: ignore[arg-type]


def test_a_part_is_not_reported_as_short_of_the_plan(tmp_path: Path) -> None:
    # Three active steps recorded as planned, of which a part holds one; written and read again it does so too.
    capture = CaptureInfo("once", schedule={"wait": 1, "warmup": 1, "active": 3}, planned_steps=5, run_steps=5)
    events = make_events(*(marker(f"ProfilerStep#{n}", 100 * n, 90) for n in range(3)))
    whole = nbprof.Trace(events, TraceMetadata(source="t.json", capture=capture))
    for trace in (whole, whole.where(step=0), nbprof.load_trace(whole.export_chrome(tmp_path / "t.json", step=0))):
        health = trace.health().set_index("check")
        assert health.loc["steps", "status"] == "ok"
    assert whole.where(time=(0, 1000)).metadata.capture == capture
    short = nbprof.Trace(events.iloc[:1], whole.metadata)
    assert short.health().set_index("check").loc["steps", "status"] == "warning"
