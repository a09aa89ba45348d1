"""Gaps of devices, streams and steps, and why they are there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbprof import schema
from nbprof.analysis.idle import idle, idle_summary
from nbprof.analysis.steps import steps
from nbprof.analysis.timeline import timeline
from nbprof.structure.calltree import call_tree
from tests.frames import kernel, launch, make_events, marker, memory, op
from tests.references import Reference

ON_DEVICE = ["kernel_us", "communication_us", "memcpy_us", "memset_us"]


def seen(table: pd.DataFrame, *columns: str) -> list[list[Any]]:
    """The columns as plain rows, missing values as None."""
    chosen = table[list(columns)].astype(object)
    return chosen.where(chosen.notna(), None).to_numpy().tolist()


@pytest.mark.parametrize("by", ["device", "stream", "step"])
def test_nothing_and_a_trace_without_a_device_have_no_gaps(by: Any, no_events: pd.DataFrame) -> None:
    for events in (no_events, make_events(op("mm", 0, 10), marker("ProfilerStep#1", 0, 10))):
        table = idle(events, by=by)
        assert table.empty
        expected = schema.empty("idle").dtypes.astype(str).to_dict()
        added = {"device": {}, "stream": {"stream": "Int64"}, "step": {"step": "int64"}}[by]
        assert table.dtypes.astype(str).to_dict() == expected | added
        assert idle_summary(events).dtypes.astype(str).equals(schema.empty("idle_summary").dtypes.astype(str))


def test_an_unknown_key_says_which_there_are() -> None:
    with pytest.raises(ValueError, match="by is 'device', 'stream' or 'step', not 'rank'"):
        idle(make_events(kernel("k", 0, 1)), by="rank")  # type: ignore[arg-type]


def test_each_reason() -> None:
    # a [0,10), b [14,20) queued at 5: 4 us. c [60,70), launched at 40, after b's end at 20: 40 us.
    # d [100,110) was queued at 61: 30 us. e [112,120) has no launch: 2 us.
    table = idle(
        make_events(
            launch(0, 1, 1), kernel("a", 0, 10, 1), launch(5, 1, 2), kernel("b", 14, 6, 2),
            launch(40, 5, 3), kernel("c", 60, 10, 3), launch(61, 1, 4), kernel("d", 100, 10, 4),
            kernel("e", 112, 8, 99),
        )
    )  # fmt: skip
    assert seen(table, "device", "start_us", "dur_us", "reason", "before", "after") == [
        [0, 10, 4, "launch_latency", "a", "b"],
        [0, 20, 40, "host", "b", "c"],
        [0, 70, 30, "dependency", "c", "d"],
        [0, 110, 2, "unknown", "d", "e"],
    ]


def test_a_launch_at_the_very_start_of_the_gap_was_queued() -> None:
    # k ends at 10, where the next launch begins: it is not after that; 29.999 us are short, 30 us are not.
    for start, reason in ((39.999, "launch_latency"), (40, "dependency")):
        table = idle(make_events(kernel("k", 0, 10), launch(10, 1, 2), kernel("k", start, 5, 2)))
        assert table["reason"].tolist() == [reason]


def test_the_event_that_ended_last_decides_where_a_gap_begins() -> None:
    # long [0,50) covers short [10,20): the gap is [50,60), after long.
    table = idle(make_events(kernel("long", 0, 50), kernel("short", 10, 10, stream=8), kernel("next", 60, 10)))
    assert seen(table, "start_us", "dur_us", "before") == [[50, 10, "long"]]


def test_streams_that_overlap_leave_no_gap_of_the_device_but_have_their_own() -> None:
    # Stream 7: [0,20) and [40,60): gap 20. Stream 8: [10,50) and [55,70): gap 5. Together they are always busy.
    events = make_events(
        kernel("a", 0, 20), kernel("b", 10, 40, stream=8), kernel("c", 40, 20), kernel("d", 55, 15, stream=8)
    )
    assert idle(events).empty
    assert seen(idle(events, by="stream"), "stream", "start_us", "dur_us") == [[7, 20, 20], [8, 50, 5]]


def test_copies_are_no_gaps_and_synchronisation_fills_none() -> None:
    # kernels [0,10) and [50,60), a copy [12,44): gaps 2 and 6.
    events = make_events(
        kernel("k", 0, 10),
        memory("Memcpy HtoD", 12, 32),
        kernel("k", 50, 10),
        kernel("Event Sync", 0, 60, category="cuda_sync"),
        kernel("ProfilerStep#1", 0, 60, category="gpu_user_annotation"),
    )
    assert idle(events)["dur_us"].tolist() == [2, 6]


def test_devices_have_their_own_gaps_and_events_that_name_none_too() -> None:
    rows = [kernel("k", start, 10, device=device) for device in (0, 1, None) for start in (0, 15 + (device or 0))]
    assert seen(idle(make_events(*rows)), "device", "dur_us") == [[0, 5], [1, 6], [None, 5]]


def test_only_events_that_count_make_gaps() -> None:
    events = make_events(kernel("k", 0, 10), kernel("k", 20, 10, in_region=False), kernel("k", 40, 10))
    assert seen(idle(events), "start_us", "dur_us") == [[10, 30]]


def test_the_launching_threads_largest_part_of_the_gap_is_named_where_it_launched_late() -> None:
    # Gap [10,100), launched at 90 on thread 1: there aten::mm from 80, python before; thread 2 is somebody else's.
    # Gap [110,112) was queued: whatever thread 1 does then is not the reason.
    events = make_events(
        kernel("a", 0, 10),
        op("aten::mm", 80, 40),
        launch(90, 5, 2),
        kernel("b", 100, 10, 2),
        op("other", 10, 90, tid="2"),
        launch(106, 2, 3),
        kernel("c", 112, 5, 3),
    )
    assert seen(idle(events), "reason", "host_activity") == [["host", "python"], ["launch_latency", None]]


def step_events() -> pd.DataFrame:
    """Steps 1 [0,100) and 2 [100,200).

    k1 [10,30) and k2 [50,60) are launched in step 1, k3 [120,150) in step 2: own windows [0,100) and [100,200).
    """
    return make_events(
        marker("ProfilerStep#1", 0, 100), marker("ProfilerStep#2", 100, 100),
        launch(5, 1, 1), kernel("k1", 10, 20, 1), launch(40, 1, 2), kernel("k2", 50, 10, 2),
        launch(110, 1, 3), kernel("k3", 120, 30, 3),
    )  # fmt: skip


def test_a_step_has_a_head_and_a_tail_and_what_lies_between() -> None:
    table = idle(step_events(), by="step")
    assert seen(table, "step", "start_us", "dur_us", "reason", "before", "after") == [
        [1, 0, 10, "head", None, "k1"],
        [1, 30, 20, "host", "k1", "k2"],
        [1, 60, 40, "tail", "k2", "k3"],
        [2, 100, 20, "head", "k2", "k3"],
        [2, 150, 50, "tail", "k3", None],
    ]


def test_a_step_in_which_the_device_does_nothing_is_all_head() -> None:
    events = make_events(
        *(marker(f"ProfilerStep#{step}", 100 * step, 100) for step in range(3)),
        kernel("k", 0, 100),
        kernel("k", 200, 100),
    )
    assert seen(idle(events, by="step"), "step", "start_us", "dur_us", "reason") == [[1, 100, 100, "head"]]


def test_a_step_without_time_of_its_own_has_no_gaps() -> None:
    # Step 0's kernel [100,500) outlasts step 1 [100,200): nothing is left for it.
    events = make_events(
        marker("ProfilerStep#0", 0, 100), launch(10, 5, 1), kernel("k", 100, 400, 1), marker("ProfilerStep#1", 100, 100)
    )
    assert seen(idle(events, by="step"), "step", "start_us", "dur_us") == [[0, 0, 100]]


def test_the_summary_counts_by_device_and_reason() -> None:
    # Device 0: latency 4 and 6, host 30. Device 1: unknown 5.
    events = make_events(
        launch(0, 1, 1), launch(1, 1, 2), launch(50, 1, 3),
        kernel("a", 10, 10), kernel("a", 24, 6, 1), kernel("a", 36, 4, 2), kernel("a", 70, 5, 3),
        kernel("b", 0, 5, device=1), kernel("b", 10, 5, device=1),
    )  # fmt: skip
    assert seen(idle_summary(events), "device", "reason", "gaps", "total_us", "mean_us", "share") == [
        [0, "host", 1, 30, 30, 0.75],
        [0, "launch_latency", 2, 10, 5, 0.25],
        [1, "unknown", 1, 5, 5, 1],
    ]


placed = st.tuples(st.integers(0, 60), st.integers(0, 20), st.integers(0, 6), st.integers(7, 8), st.integers(0, 1))
calls = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 5)), max_size=6)


@settings(max_examples=25)
@given(st.lists(placed, max_size=8), calls)
def test_gaps_sum_to_the_idle_time_of_devices_and_of_steps(device: list[Any], runtime: list[Any]) -> None:
    events = make_events(
        marker("ProfilerStep#0", 5, 20),
        marker("ProfilerStep#1", 30, 30),
        *(launch(ts, dur, number) for number, (ts, dur) in enumerate(runtime)),
        *(kernel("k", ts, dur, number, stream=stream, device=index) for ts, dur, number, stream, index in device),
    )
    lines, parts = timeline(events), steps(events)
    gaps = idle(events).groupby("device")["dur_us"].sum()
    assert np.allclose(gaps.reindex(lines["device"]).fillna(0), lines["idle_us"])
    for index in lines["device"]:
        one = events[(events["device"] == index) | events["device"].isna()].reset_index(drop=True)
        own = idle(one, by="step").groupby("step")["dur_us"].sum()
        parts = steps(one)
        assert np.allclose(own.reindex(parts["step"]).fillna(0), parts["wall_us"] - parts[ON_DEVICE].sum(axis=1))


def by_plain_reasons(gaps: pd.DataFrame) -> dict[str, float]:
    """Ours in the plain arithmetic's words: it tells what has no launch by its length, as if it had been queued."""
    queued = gaps["reason"].isin(["launch_latency", "dependency", "unknown"])
    groups = {
        "host_wait": gaps["reason"] == "host",
        "kernel_wait": queued & (gaps["dur_us"] < 30),
        "other": queued & (gaps["dur_us"] >= 30),
    }
    return {f"{name}_us": gaps["dur_us"][rows].sum() for name, rows in groups.items()} | {
        f"{name}_gaps": rows.sum() for name, rows in groups.items()
    }


def test_reasons_agree_with_plain_arithmetic(reference: Reference) -> None:
    tree = call_tree(reference.events)
    gaps = idle(reference.events, tree=tree)
    assert by_plain_reasons(gaps) == pytest.approx(reference.plain["idle_reasons_device"], abs=0.002 * len(gaps))
    streams = idle(reference.events, tree=tree, by="stream")
    for plain in reference.plain["idle_reasons_by_stream"]:
        own = streams[(streams["device"] == int(plain["device"])) & (streams["stream"] == int(plain["stream"]))]
        found = by_plain_reasons(own) | {"total_idle_us": own["dur_us"].sum()}
        expected = {name: value for name, value in plain.items() if name not in ("device", "stream")}
        assert found == pytest.approx(expected, abs=0.002 * max(len(own), 1))
        streams = streams.drop(own.index)
    assert streams.empty


def test_launch_latency_is_short_and_dependency_is_not(reference: Reference) -> None:
    lengths = idle(reference.events, by="stream").groupby("reason", observed=False)["dur_us"].agg(["min", "max"])
    assert not lengths["max"]["launch_latency"] >= 30
    assert not lengths["min"]["dependency"] < 30


def test_gaps_sum_to_the_timelines_idle_time_and_to_what_steps_leave(reference: Reference) -> None:
    tree = call_tree(reference.events)
    gaps, lines = idle(reference.events, tree=tree), timeline(reference.events, tree=tree)
    assert gaps["dur_us"].sum() == pytest.approx(lines["idle_us"].sum(), abs=1e-6 * len(gaps))
    own = idle(reference.events, tree=tree, by="step").groupby("step")["dur_us"].sum()
    parts = steps(reference.events, tree=tree)
    left = parts["wall_us"] - parts[ON_DEVICE].sum(axis=1)
    assert np.allclose(own.reindex(parts["step"]).fillna(0), left, atol=1e-3, rtol=0)


def test_the_summary_is_the_sum_of_the_gaps(reference: Reference) -> None:
    gaps, summary = idle(reference.events), idle_summary(reference.events)
    assert summary["gaps"].sum() == len(gaps)
    assert summary["total_us"].sum() == pytest.approx(gaps["dur_us"].sum())
    assert summary.groupby("device")["share"].sum().tolist() == pytest.approx([1] * summary["device"].nunique())
