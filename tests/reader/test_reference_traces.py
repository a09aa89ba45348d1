"""Eight recorded traces against values that were worked out independently with integer arithmetic."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nbprof import intervals
from nbprof.analysis import kernels, operators, steps, timeline
from nbprof.reader import export_chrome, read_events, select
from nbprof.schema import DEVICE_CATEGORIES, TABLES
from nbprof.structure.launches import launch_positions
from nbprof.structure.masks import value_mask
from nbprof.structure.nesting import crossing_stretches
from tests.references import Reference
from tests.same import assert_same_events


def us(value_ns: int) -> float:
    return round(value_ns / 1000, 3)


def test_events_by_phase_and_category(reference: Reference) -> None:
    events, metadata = reference.events, reference.metadata
    expected = reference.plain
    by_phase = {phase: count for phase, count in expected["events_by_ph"].items() if phase != "M"}
    assert events["ph"].value_counts().to_dict() == by_phase
    complete = events[events["ph"] == "X"]
    counts = {category: count for category, count in complete["category"].value_counts().items() if count}
    by_category = dict(expected["complete_events_by_cat"])
    # Step markers that stand among the operators (2021) are annotations here and operators there.
    moved = by_category.get("cpu_op", 0) - counts.get("cpu_op", 0)
    assert moved == (0 if "cpu_op" in expected["complete_events_by_cat_raw"] else len(expected["steps"]))
    by_category["cpu_op"] -= moved
    if moved:
        by_category["user_annotation"] = by_category.get("user_annotation", 0) + moved
    assert counts == by_category
    assert metadata.problems == ()
    assert metadata.text_bytes == expected["bytes_json"]
    assert metadata.bytes == expected["bytes_gz"]


def test_columns_are_those_of_the_schema(reference: Reference) -> None:
    events = reference.events
    columns = TABLES["events"]
    assert list(events.columns)[: len(columns)] == [column.name for column in columns]
    for column in columns:
        if column.name != "args":
            assert str(events[column.name].dtype) == column.dtype
    assert events["in_region"].all()


@pytest.mark.parametrize("group", ["all", "kernel", "gpu_memcpy", "gpu_memset"])
def test_sums_and_unions_of_device_events(reference: Reference, group: str) -> None:
    events = reference.events
    expected = reference.plain["gpu"][group]
    some = events[value_mask(events["category"], DEVICE_CATEGORIES if group == "all" else {group})]
    starts = some["ts_ns"].to_numpy()
    durations = some["dur_ns"].to_numpy(dtype="int64")
    assert len(some) == expected["count"]
    assert us(int(durations.sum())) == expected["sum_dur_us"]
    assert int((durations == 0).sum()) == expected["zero_dur"]
    assert us(intervals.total(intervals.union((starts, starts + durations)))) == expected["union_us"]


def test_spans_and_the_first_time(reference: Reference) -> None:
    events, metadata = reference.events, reference.metadata
    expected = reference.plain
    device = events[value_mask(events["category"], DEVICE_CATEGORIES)]
    assert us(_span(device)) == expected["gpu"]["span_us"]
    complete = events[(events["ph"] == "X").to_numpy()]
    assert us(_span(complete[complete["category"] != "Trace"])) == expected["span"]["complete_excl_Trace_us"]
    assert us(_span(complete)) == expected["span"]["complete_all_us"]
    assert us(_span(events)) == expected["span"]["all_but_metadata_us"]
    first = int(complete.loc[complete["category"] != "Trace", "ts_ns"].min()) + metadata.start_ns
    # baseTimeNanoseconds, where there is one, is a whole number of seconds in these files.
    assert first % 10**9 == int(Decimal(expected["span"]["first_ts_us"]) * 1000) % 10**9


def _span(events: pd.DataFrame) -> int:
    ends = events["ts_ns"] + events["dur_ns"].fillna(0)
    return int(ends.max() - events["ts_ns"].min())


def test_device_events_find_their_launches(reference: Reference) -> None:
    events = reference.events
    expected = reference.plain["launch"]
    launches = launch_positions(events)
    linked = np.flatnonzero(launches >= 0)
    assert len(linked) == expected["gpu_events_linked"]
    device = int(value_mask(events["category"], DEVICE_CATEGORIES).sum())
    assert device - len(linked) == expected["gpu_events_unlinked"]
    assert len(np.unique(launches[linked])) == expected["runtime_calls_that_launched"]
    starts = events["ts_ns"].to_numpy()
    delays = starts[linked] - starts[launches[linked]]
    assert us(int(delays.min())) == expected["start_to_start"]["min_us"]
    assert us(int(delays.max())) == expected["start_to_start"]["max_us"]


def test_events_by_device_and_stream(reference: Reference) -> None:
    events = reference.events
    device = events[value_mask(events["category"], DEVICE_CATEGORIES)]
    counts = {tuple(map(int, key)): len(rows) for key, rows in device.groupby(["device", "stream"])}
    assert counts == {(int(row["device"]), int(row["stream"])): row["count"] for row in reference.plain["streams"]}


def test_a_step_selects_what_it_launched(reference: Reference) -> None:
    events = reference.events
    for row in reference.plain["steps"]:
        number = int(row["name"].partition("#")[2])
        part = select(events, step=number)
        assert int(value_mask(part["category"], DEVICE_CATEGORIES).sum()) == row["gpu_events_launched_inside"]
        operators = part[(part["category"] == "cpu_op").to_numpy()]
        assert len(operators) == row["cpu_ops_started_inside"]


def test_an_exported_trace_reads_as_the_same_events(reference: Reference, tmp_path: Path) -> None:
    events, metadata = reference.events, reference.metadata
    again, said = read_events(export_chrome(events, metadata, tmp_path / "whole.json"))
    assert_same_events((again, said), (events, metadata))
    unlike = {"source": "", "bytes": 0, "text_bytes": 0}
    assert replace(said, **unlike) == replace(metadata, **unlike)


def test_an_exported_part_reads_as_the_same_events(reference: Reference, tmp_path: Path) -> None:
    events, metadata = reference.events, reference.metadata
    middle = float(events["ts_ns"].iloc[len(events) // 2]) / 1000
    for asked in ({"time": (middle, middle + 10_000)}, {"step": steps(events)["step"].iloc[-1]}):
        part = select(events, **asked)
        assert 0 < len(part) <= len(events)
        again = read_events(export_chrome(part, metadata, tmp_path / "part.json.gz"))
        assert_same_events(again, (part, metadata))


# These need shapes and types, or what is known of a launch.
FROM_ARGUMENTS = {"flops", "moved_bytes", "tflops", "gbs", "tensor_core_eligible"}
FROM_ARGUMENTS |= {"blocks_per_sm", "occupancy", "grid", "block"}


def test_times_are_the_same_from_a_file_without_arguments(reference: Reference, tmp_path: Path) -> None:
    path = export_chrome(reference.events, reference.metadata, tmp_path / "bare.json", with_args=False)
    again, _ = read_events(path)
    for table in (operators, kernels, timeline, steps):
        bare, whole = table(again), table(reference.events)
        kept = [column for column in whole if column not in FROM_ARGUMENTS]
        pd.testing.assert_frame_equal(bare[kept], whole[kept])


def test_no_exported_call_crosses_another_on_its_row(reference: Reference, tmp_path: Path) -> None:
    rows = json.loads(export_chrome(reference.events, reference.metadata, tmp_path / "t.json").read_text())[
        "traceEvents"
    ]
    calls = pd.DataFrame([row for row in rows if row["ph"] == "X"])[["pid", "tid", "ts", "dur"]]
    threads = calls.groupby(["pid", "tid"]).ngroup().to_numpy(np.int64)
    starts, lasting = (np.rint(calls[name].to_numpy() * 1000).astype(np.int64) for name in ("ts", "dur"))
    assert crossing_stretches(threads, starts, starts + lasting) == []
