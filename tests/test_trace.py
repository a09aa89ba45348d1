"""`Trace` and `load_trace`: tables, parts, files, and clear errors."""

from __future__ import annotations

import copy
import json
import pickle
import sys
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nbprof
from nbprof import schema
from nbprof.metadata import CaptureInfo, TraceMetadata
from tests.frames import kernel, launch, make_events, marker, op

CPU_TRACE = Path(__file__).parent / "data" / "region_torch213_cpu.json"


@pytest.fixture
def trace() -> nbprof.Trace:
    return nbprof.load_trace(CPU_TRACE)


@pytest.mark.parametrize(
    "table", ["operators", "kernels", "timeline", "steps", "regions", "region_steps", "findings", "health"]
)
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


def test_a_trace_says_on_one_line_what_it_is() -> None:
    events = make_events(op("a", 10, 5), op("b", 1500, 2.5), op("c", 20, None))
    metadata = TraceMetadata("run.json", distributed={"rank": 3, "world_size": 8})
    # from 10 us to 1502.5 us
    assert repr(nbprof.Trace(events, metadata)) == "<nbprof.Trace of run.json: 3 events, 1.49 ms, rank 3 of 8>"
    assert repr(nbprof.Trace(events[:1], TraceMetadata("a\nb"))) == "<nbprof.Trace of a\\nb: 1 event, 5.00 µs>"
    named = TraceMetadata("run.json", capture=CaptureInfo(label="cell 3"))  # alone, so its rank says nothing
    assert repr(nbprof.Trace(events[:0], named)) == "<nbprof.Trace of cell 3: 0 events, 0 µs>"


def test_a_trace_can_be_pickled_and_copied_without_what_was_worked_out(trace: nbprof.Trace) -> None:
    assert len(trace) == len(trace.events)
    trace.fx = {"schema_version": 1}
    operators = trace.operators()
    pickled = pickle.loads(pickle.dumps(trace))
    for again in (pickled, copy.copy(trace), copy.deepcopy(trace)):
        assert set(vars(again)) == {"events", "metadata", "fx"}
        assert (again.metadata, again.fx) == (trace.metadata, trace.fx)
        assert again != trace  # one trace is equal to itself only
        pd.testing.assert_frame_equal(again.operators(), operators)
    deep = copy.deepcopy(trace)
    deep.events["name"] = "other"
    assert "other" not in set(trace.events["name"])


def test_slices_and_masks_are_parts(trace: nbprof.Trace) -> None:
    trace.fx = {"schema_version": 1}
    part = trace[10:20]
    pd.testing.assert_frame_equal(part.events, trace.events.iloc[10:20].reset_index(drop=True))
    assert part.fx is trace.fx
    mask = (trace.events["category"] == "cpu_op").to_numpy()
    for form in (mask, list(mask), pd.Series(mask), pd.array(mask)):
        assert len(trace[form]) == mask.sum()
    assert len(trace[trace.events["dur_ns"] > 0]) == (trace.events["dur_ns"] > 0).sum()  # NA is no
    assert len(trace[:]) == len(trace)
    pd.testing.assert_frame_equal(trace[::-1].events, trace.events)  # in the order of the file
    assert len(trace[5:5]) == 0
    assert trace[5:5].operators().empty


@pytest.mark.parametrize("key", [5, "name", [1, 2], None, (1, 2), 1.5])
def test_what_is_no_part_is_a_clear_error(trace: nbprof.Trace, key: object) -> None:
    with pytest.raises(TypeError, match=r"A part of a trace is trace\[100:200\] or trace\[mask\], not trace\["):
        trace[key]  # type: ignore[index]


def test_a_mask_of_another_length_and_iteration_are_refused(trace: nbprof.Trace) -> None:
    with pytest.raises(ValueError, match=r"The mask has 2 entries, the trace"):
        trace[[True, False]]
    with pytest.raises(ValueError, match=r"is it another trace's\?"):
        trace[10:][trace.events["category"] == "cpu_op"]  # pandas would go by labels, which a part has anew
    with pytest.raises(TypeError, match=r"Its single events are the rows of trace\.events"):
        list(trace)


def test_a_trace_from_parquet_gives_the_same_tables_and_report(trace: nbprof.Trace, tmp_path: Path) -> None:
    again = nbprof.load_trace(trace.to_parquet(tmp_path / "new" / "t.parquet"))
    for table in ("operators", "kernels", "timeline", "steps", "regions", "region_steps", "health"):
        pd.testing.assert_frame_equal(getattr(again, table)(), getattr(trace, table)())
    (region,) = trace.regions()["region"]
    pd.testing.assert_frame_equal(again.where(region=region).operators(), trace.where(region=region).operators())
    assert "aten::" in again.report().text
    exported = nbprof.load_trace(again.export_chrome(tmp_path / "again.json"))
    assert exported.events["args"].tolist() == trace.events["args"].tolist()


def test_parquet_without_pyarrow_says_what_to_install(
    trace: nbprof.Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "nbprof.reader.parquet", None)
    with pytest.raises(nbprof.TraceWriteError, match=r"Parquet takes pyarrow .*pip install nbprof\[parquet\]"):
        trace.to_parquet(tmp_path / "t.parquet")
    assert not list(tmp_path.iterdir())


def test_the_fx_file_beside_goes_with_the_trace_and_its_parts(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(CPU_TRACE.read_bytes())
    assert nbprof.load_trace(path).fx is None
    payload = {"schema_version": 1, "scopes": []}
    (tmp_path / "run.json.fx.json").write_text(json.dumps(payload))
    trace = nbprof.load_trace(path)
    assert trace.fx == payload == nbprof.load_fx(tmp_path / "run.json.fx.json")
    assert trace.where(time=(0, 100)).fx == trace[:3].fx == payload
    (tmp_path / "elsewhere").mkdir()
    assert nbprof.load_trace(trace.to_parquet(tmp_path / "elsewhere" / "t.parquet")).fx == payload


def test_a_broken_fx_file_beside_is_told_and_hides_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(CPU_TRACE.read_bytes())
    (tmp_path / "run.json.fx.json").write_text("{")
    trace = nbprof.load_trace(path)
    assert trace.fx is None
    assert len(trace) == len(nbprof.load_trace(CPU_TRACE))
    health = trace.health().set_index("check")
    assert health.loc["reading: FX file that cannot be read", "status"] == "warning"


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


def test_parts_of_one_trace_combine_in_the_order_of_the_file(trace: nbprof.Trace) -> None:
    first, second, mixed = trace[10:30], trace[20:40], trace[-5:]
    pd.testing.assert_frame_equal((first & second).events, trace[20:30].events)
    pd.testing.assert_frame_equal((second | first).events, trace[10:40].events)
    pd.testing.assert_frame_equal((first - second).events, trace[10:20].events)
    pd.testing.assert_frame_equal((trace - first - mixed).events, (trace[:10] | trace[30:-5]).events)
    pd.testing.assert_frame_equal((trace[10:][5:] & first[1:]).events, trace[15:30].events)  # parts of parts
    assert len(first & trace[40:]) == 0
    assert (first & trace[40:]).operators().empty
    assert (first | second).fx is trace.fx


ROWS = st.lists(st.integers(0, 5), unique=True)


@given(ROWS, ROWS)
def test_parts_combine_as_sets_of_rows_do(first: list[int], second: list[int]) -> None:
    events = make_events(*(op(f"op {n}", n, 1) for n in range(6)))
    trace = nbprof.Trace(events, TraceMetadata("run.json"))
    a, b = (trace[[n in rows for n in range(6)]] for rows in (first, second))
    names = {sign: part.events["name"].tolist() for sign, part in (("&", a & b), ("|", a | b), ("-", a - b))}
    x, y = set(first), set(second)
    assert names == {
        sign: [f"op {n}" for n in sorted(rows)] for sign, rows in (("&", x & y), ("|", x | y), ("-", x - y))
    }


def test_any_table_of_a_combined_part_is_that_of_the_same_rows(trace: nbprof.Trace) -> None:
    (region,) = trace.regions()["region"]
    inside, outside = trace.where(region=region), trace - trace.where(region=region)
    assert (len(outside), len(inside & outside)) == (len(trace) - len(inside), 0)
    again = inside | outside
    assert again.metadata == trace.metadata  # all of it: the plan counts again
    for table in ("operators", "timeline", "steps", "regions", "health"):
        pd.testing.assert_frame_equal(getattr(again, table)(), getattr(trace, table)())


def test_parts_of_different_traces_do_not_combine(trace: nbprof.Trace) -> None:
    other = nbprof.load_trace(CPU_TRACE)
    for stranger in (other[:5], other, copy.copy(trace), pickle.loads(pickle.dumps(trace[:5]))):
        with pytest.raises(ValueError, match=r"Only parts of one trace .*Cut both from the same one"):
            trace[:5] | stranger
    with pytest.raises(TypeError, match="unsupported operand"):
        trace & [True]  # type: ignore[operator]


def test_a_copy_of_a_part_does_not_carry_the_whole(trace: nbprof.Trace) -> None:
    part = trace[:3]
    assert len(pickle.dumps(part)) < len(pickle.dumps(trace))
    for again in (copy.copy(part), copy.deepcopy(part), pickle.loads(pickle.dumps(part))):
        assert set(vars(again)) == {"events", "metadata", "fx"}
        pd.testing.assert_frame_equal(again.events, part.events)


def test_a_step_is_the_same_in_a_part_as_in_the_whole() -> None:
    # The host of step 2 begins at 10, while the kernel of step 1 runs until 60: its own window is [60, 80).
    rows = [marker("ProfilerStep#1", 0, 10), launch(2, 2, 1), kernel("k", 5, 55, correlation=1)]
    rows += [marker("ProfilerStep#2", 10, 10), launch(12, 2, 2), kernel("k", 60, 20, correlation=2)]
    trace = nbprof.Trace(make_events(*rows), TraceMetadata("run.json"))
    whole = trace.steps().set_index("step")["wall_us"]
    assert whole.to_dict() == {1: 60.0, 2: 20.0}
    for step in (1, 2):
        assert trace.where(step=step).steps()["wall_us"].tolist() == [whole[step]]
