"""Blocks of memory, and the operators that asked for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbprof import schema
from nbprof.analysis.allocations import allocations, memory_operators
from nbprof.analysis.memory import memory
from nbprof.reader import read_events
from tests.frames import allocator, make_events, op, row
from tests.references import read_reference


def test_nothing_and_a_trace_without_allocators_give_empty_tables(no_events: pd.DataFrame) -> None:
    for name, made in (("allocations", allocations), ("memory_operators", memory_operators)):
        for events in (no_events, make_events(op("mm", 0, 10))):
            table = made(events)
            assert table.empty
            assert list(table.columns) == schema.names(name)
            assert table.dtypes.astype(str).equals(schema.empty(name).dtypes.astype(str))


def test_an_allocation_ends_with_the_next_release_at_its_address_on_its_device() -> None:
    table = allocations(
        make_events(
            op("empty", 0, 5),
            allocator(0, 8, 1),
            allocator(1, 4, 1, device_id=1),
            allocator(6, -8, 1),
            allocator(7, 16, 1),
            allocator(9, -16, 1),
        )
    )
    assert table["device"].tolist() == ["cuda:0", "cuda:1", "cuda:0"]
    assert table["bytes"].tolist() == [8, 4, 16]
    assert table["start_us"].tolist() == [0, 1, 7]
    assert table["end_us"].tolist()[::2] == [6, 9]
    assert table["end_us"].isna().tolist() == [False, True, False]
    assert table["operator"].tolist()[:2] == ["empty", "empty"]
    assert table["operator"].isna().tolist() == [False, False, True]


def test_a_release_of_what_is_older_than_the_recording_has_no_start() -> None:
    # Block 1 (100 bytes) is older; the sums -100 + 60 + 30 begin at 100, and the peak is at 90, at the end.
    table = allocations(make_events(allocator(5, -100, 1), allocator(6, 60, 1), allocator(7, 30, 2)))
    old, *_ = table.to_dict("records")
    assert pd.isna(old["start_us"])
    assert pd.isna(old["operator"])
    assert (old["end_us"], old["bytes"]) == (5, 100)
    assert table["at_peak"].tolist() == [False, True, True]


def test_the_peak_is_held_by_what_is_allocated_and_not_yet_released_there() -> None:
    # 10, 30, 25, 35 and 5 bytes: the peak is at 3 us. Block 3 came and went before, block 5 comes at the peak itself.
    events = make_events(
        allocator(0, 10, 1), allocator(1, 20, 2), allocator(2, -5, 9), allocator(3, 10, 5), allocator(4, -20, 2)
    )
    table = allocations(events)
    assert table.loc[table["at_peak"], "bytes"].tolist() == [10, 20, 10]


def test_an_address_that_is_given_out_again_without_a_release_ends_the_block_before() -> None:
    table = allocations(make_events(allocator(0, 8, 1), allocator(5, 16, 1)))
    assert table["end_us"].tolist()[0] == 5
    assert table["at_peak"].tolist() == [False, True]


def test_traces_without_addresses_have_no_blocks_but_bytes_by_operator() -> None:
    events = make_events(op("empty", 0, 5), allocator(1, 8), allocator(2, 8), allocator(9, -8))
    assert allocations(events).empty
    table = memory_operators(events)
    empty = row(table, operator="empty")
    assert (empty["allocations"], empty["gross_bytes"], empty["net_bytes"]) == (2, 16, 16)
    assert table["peak_bytes"].isna().all()


def test_operators_count_what_they_allocate_and_release_themselves() -> None:
    # mm holds empty. empty allocates 8 + 4, mm releases 8 and allocates 2: gross 2, net -6. Sums 8, 12, 4, 6: the peak
    # is at 12, both blocks of empty's.
    table = memory_operators(
        make_events(
            op("mm", 0, 20),
            op("empty", 5, 5),
            allocator(6, 8, 1),
            allocator(7, 4, 2),
            allocator(12, -8, 1),
            allocator(13, 2, 3),
            allocator(30, -4, 2),
        )
    )
    columns = ["allocations", "gross_bytes", "net_bytes", "peak_bytes"]
    assert table["operator"].tolist()[:2] == ["empty", "mm"]
    assert table[columns].to_numpy().tolist() == [[2, 12, 12, 12], [1, 2, -6, 0], [0, 0, -4, 0]]
    assert row(table, operator=None)["net_bytes"] == -4


def test_of_blocks_across_a_regions_edge_both_ends_are_told() -> None:
    # Of 1 the release lies inside, of 2 the allocation, of 3 neither.
    outside: dict[str, Any] = {"in_region": False}
    events = make_events(
        allocator(0, 8, 1, **outside),
        allocator(1, 9, 3, **outside),
        allocator(5, -8, 1),
        allocator(6, 4, 2),
        allocator(9, -4, 2, **outside),
    )
    table = allocations(events)
    assert table[["start_us", "end_us"]].to_numpy().tolist() == [[0, 5], [6, 9]]
    assert memory_operators(events)["gross_bytes"].sum() == 4


@pytest.mark.parametrize("name", ["tl_h100_bert_small", "kineto_v100_resnet50_w0"])
def test_operators_agree_with_the_tensorboard_plugin(traces: Path, name: str) -> None:
    reference = read_reference(traces, name)
    table = memory_operators(reference.events)
    plugin = json.loads((traces / f"{name}.tb_plugin.json").read_text())["memory_statistics_top10_by_device"]
    assert plugin
    for device, statistics in plugin.items():
        ours = table[table["device"] == device.lower().replace("gpu", "cuda:")].set_index("operator")
        for operator, (net, gross, count, *_) in statistics["rows"].items():
            if operator in ours.index or count or net:
                found = ours.loc[operator]
                assert (found["net_bytes"], found["gross_bytes"], found["allocations"]) == (net, gross, count), operator


def test_net_bytes_agree_with_torchs_summary(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    model, inputs = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU()), torch.randn(8, 16)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profiler:
        model(inputs).sum().backward()
    profiler.export_chrome_trace(str(tmp_path / "trace.json"))
    table = memory_operators(read_events(tmp_path / "trace.json")[0])
    assert (table["device"] == "cpu").all()
    # torch counts what lies outside of all operators under the name of the instants.
    ours = dict(zip(table["operator"].astype(object).fillna("[memory]"), table["net_bytes"], strict=True))
    theirs = {row.key: row.self_cpu_memory_usage for row in profiler.key_averages()}
    assert len(ours) > 4
    assert ours == {name: theirs[name] for name in ours}
    assert not any(size for name, size in theirs.items() if name not in ours)


def test_the_peak_of_a_recorded_trace_is_made_of_its_blocks(traces: Path) -> None:
    reference = read_reference(traces, "tl_h100_bert_small")
    table = allocations(reference.events)
    plain = {device["device_id"]: device for device in reference.plain["memory"]}
    assert table["start_us"].notna().all()
    for device, key in (("cuda:0", "0"), ("cpu", "-1")):
        held = table.loc[(table["device"] == device) & table["at_peak"], "bytes"].sum()
        assert held == plain[key]["peak_running_sum_bytes"]


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Blocks at a few addresses of two devices, some held from before; each moment has one event."""
    times = iter(draw(st.permutations(range(40))))
    rows = []
    for address in range(draw(st.integers(0, 5))):
        place: dict[str, Any] = {"device_id": draw(st.integers(0, 1))}
        size = draw(st.integers(1, 9))
        moments = sorted(next(times) for _ in range(draw(st.integers(0, 6))))
        older = draw(st.booleans())
        rows += [
            allocator(ts, -size if (nth + older) % 2 else size, address, **place) for nth, ts in enumerate(moments)
        ]
    return rows


@given(histories())
def test_blocks_at_the_peak_sum_to_it(rows: list[dict[str, Any]]) -> None:
    events = make_events(*rows) if rows else schema.empty("events")
    curve, blocks, operators = memory(events), allocations(events), memory_operators(events)
    assert len(blocks) == (curve["bytes"] > 0).sum() + blocks["start_us"].isna().sum()
    assert operators["net_bytes"].sum() == curve["bytes"].sum()
    assert operators["gross_bytes"].sum() == blocks.loc[blocks["start_us"].notna(), "bytes"].sum()
    assert (curve["allocated_bytes"] >= 0).all()
    for device in curve["device"].unique():
        sums = curve.loc[curve["device"] == device, "bytes"].cumsum()
        here = blocks[blocks["device"] == device]
        older = here.loc[here["start_us"].isna(), "bytes"].sum()
        assert here.loc[here["at_peak"], "bytes"].sum() == older + sums.max()
