"""Health: one row a check, and the faults that make numbers wrong."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from nbprof import schema
from nbprof.analysis.health import health
from nbprof.metadata import CaptureInfo, ReadProblem, TraceMetadata
from tests.frames import kernel, launch, make_events, marker, op, region, row

PLAIN = TraceMetadata(source="trace.json")


def check(name: str, *rows: dict[str, Any], metadata: TraceMetadata = PLAIN) -> tuple[str, float, str]:
    found = row(health(make_events(*rows), metadata), check=name)
    return found["status"], found["figure"], found["detail"]


def test_nothing_is_a_warning_and_the_table_has_its_columns(no_events: pd.DataFrame) -> None:
    table = health(no_events, PLAIN)
    assert list(table.columns) == schema.names("health")
    assert row(table, check="events")["status"] == "warning"
    assert set(table["status"]) == {"ok", "warning"}
    assert table["check"].is_unique


def test_a_sound_trace_has_a_row_for_each_check_and_all_are_ok(no_events: pd.DataFrame) -> None:
    table = health(make_events(region("r", 0, 50), op("mm", 0, 10), launch(2, 2, 1), kernel("k", 20, 5, 1)), PLAIN)
    assert set(table["status"]) == {"ok"}
    assert table["check"].tolist() == health(no_events, PLAIN)["check"].tolist()
    assert (table["detail"].str.len() > 10).all()


def test_what_the_reader_left_out_is_a_warning_and_what_it_mended_a_note() -> None:
    left_out = ReadProblem("begin event that never ends", 2, None, "kept without a duration")
    mended = ReadProblem("comma too many", 3, 4711, "repaired in {...}", is_mended=True)
    metadata = TraceMetadata(source="trace.json", problems=(left_out, mended))
    assert check("reading: begin event that never ends", op("mm", 0, 10), metadata=metadata) == (
        "warning", 2, "2 found: kept without a duration.",
    )  # fmt: skip
    status, figure, detail = check("reading: comma too many", op("mm", 0, 10), metadata=metadata)
    assert (status, figure) == ("note", 3)
    assert "byte 4711" in detail


@pytest.mark.parametrize(
    ("planned", "run", "windows", "status"),
    [(5, 5, 1, "ok"), (5, 2, 0, "warning"), (5, 0, 0, "warning"), (None, None, 3, "ok"), (6, 6, 1, "warning")],
)
def test_planned_against_recorded_steps(planned: int | None, run: int | None, windows: int, status: str) -> None:
    schedule = {"wait": 1, "warmup": 3, "active": 1 if planned == 5 else 2}
    capture = CaptureInfo("once", "f(x)", planned_steps=planned, run_steps=run, schedule=schedule)
    rows = [marker(f"ProfilerStep#{n}", 100 * n, 90) for n in range(windows)] or [op("mm", 0, 10)]
    found = check("steps", *rows, metadata=TraceMetadata(source="t", capture=capture))
    assert found[0] == status
    if status == "warning" and run != planned:
        assert f"{run} of {planned} planned steps" in found[2]


def test_code_that_ended_early_is_a_warning() -> None:
    capture = CaptureInfo("cell", "region train", outcome="interrupted", error="KeyboardInterrupt")
    status, _, detail = check("recording", op("mm", 0, 10), metadata=TraceMetadata(source="t", capture=capture))
    assert status == "warning"
    assert "interrupted (KeyboardInterrupt)" in detail
    capture = CaptureInfo("cell", "region train")
    assert check("recording", op("mm", 0, 10), metadata=TraceMetadata(source="t", capture=capture))[0] == "ok"


def test_device_events_without_launch_say_how_much_they_are() -> None:
    # k_lost1 10 and k_lost2 15 of 45 us have no launch.
    rows = [
        op("aten::mm", 0, 10),
        launch(2, 3, 1),
        launch(22, 3, 0),
        kernel("k_mm", 40, 20, 1),
        kernel("k_lost1", 70, 10, 99),
        kernel("k_lost2", 90, 15, 0),
    ]
    status, figure, detail = check("device events without launch", *rows)
    assert (status, figure) == ("warning", 2)
    assert "0.025 ms, 55.6% of device time" in detail


def test_device_events_without_launch_are_told_of_where_only_regions_count() -> None:
    rows = [region("r", 0, 10), launch(1, 2, 1), kernel("k", 5, 10, 1), kernel("lost", 20, 10, 99, in_region=False)]
    status, figure, detail = check("device events without launch", *rows)
    assert (status, figure) == ("warning", 1)
    assert "50.0% of device time" in detail
    assert "count nowhere" in detail


def test_a_little_device_time_without_launch_is_a_note() -> None:
    rows = [launch(0, 5, 1), kernel("k", 10, 97, 1), kernel("k", 200, 3, 99)]
    assert check("device events without launch", *rows)[0] == "note"


def test_launches_without_device_events_are_noted_where_there_is_a_device() -> None:
    # relu's launch has no kernel. A host-side copy and a query launch nothing.
    rows = [
        launch(0, 5, 1),
        launch(10, 5, 2),
        op("cudaMemcpyAsync", 20, 5, category="cuda_runtime", correlation=3),
        op("cudaEventQuery", 30, 1, category="cuda_runtime", correlation=4),
        kernel("k", 40, 5, 1),
    ]
    assert check("launches without device events", *rows)[:2] == ("note", 1)
    assert check("launches without device events", *rows[:-1])[:2] == ("ok", 0)


def test_a_kernel_before_its_launch_is_a_warning() -> None:
    assert check("device events before their launch", launch(50, 5, 1), kernel("k", 40, 5, 1))[:2] == ("warning", 1)


def test_operators_that_cross_are_conflicts() -> None:
    assert check("nesting", op("a", 0, 100), op("b", 50, 100))[:2] == ("warning", 1)


def test_regions_that_cross_are_noted() -> None:
    # a [0,100) and b [50,150), as two coroutines enter them: neither is inside the other.
    assert check("regions", region("a", 0, 100), region("b", 50, 100))[:2] == ("note", 1)
    assert check("nesting", region("a", 0, 100), region("b", 50, 100))[0] == "ok"


def test_a_dropped_record_is_reported() -> None:
    # A record that the tracer dropped stands at 0 with no length, in days of 1.7e15 us.
    now = 1_700_000_000_000_000
    assert check("event times", kernel("gemm", now, 40), kernel("gemm", 0, 0))[:2] == ("warning", 1)


def test_a_kernel_of_no_length_among_others_is_sound() -> None:
    assert check("event times", op("mm", 0, 5), kernel("k", 10, 0), kernel("k", 20, 5))[0] == "ok"


def test_a_duration_that_swallows_the_next_events_of_its_stream_names_kernel_and_stream() -> None:
    # A 10, B 3,000,000, C 10, D 10 on stream 7.
    rows = [kernel("A", 0, 10), kernel("B", 10, 3_000_000), kernel("C", 20, 10), kernel("D", 30, 10)]
    status, figure, detail = check("overrunning durations", *rows)
    assert (status, figure) == ("warning", 1)
    assert "B on stream 7" in detail


def test_kernels_that_overlap_a_little_on_a_stream_are_noted_and_other_streams_do_not_matter() -> None:
    assert check("overrunning durations", kernel("a", 0, 10), kernel("b", 9, 10))[:2] == ("note", 1)
    assert check("overrunning durations", kernel("a", 0, 90), kernel("b", 9, 10, stream=8))[0] == "ok"


def test_calls_without_duration_are_counted() -> None:
    # a and b have no duration, c has one.
    assert check("durations", op("a", 0, None), op("b", 5, None), op("c", 9, 1))[:2] == ("warning", 2)


def test_a_gated_trace_in_which_nothing_counts_says_so() -> None:
    status, _, detail = check("events", op("a", 0, 5, in_region=False))
    assert status == "warning"
    assert "inside a region" in detail
