"""Allocated and reserved memory over time."""

from __future__ import annotations

import pandas as pd
import pytest

from nbprof import schema
from nbprof.analysis.memory import memory
from tests.frames import allocator, make_events, op
from tests.references import Reference


def test_nothing_and_a_trace_without_allocators_give_an_empty_table(no_events: pd.DataFrame) -> None:
    for events in (no_events, make_events(op("mm", 0, 10))):
        table = memory(events)
        assert table.empty
        assert list(table.columns) == schema.names("memory")
        assert table.dtypes.astype(str).equals(schema.empty("memory").dtypes.astype(str))


def test_totals_are_the_allocators_own_in_order_of_time() -> None:
    table = memory(
        make_events(
            allocator(20, -100, 1, allocated_bytes=900, reserved_bytes=2000),
            allocator(10, 100, 1, allocated_bytes=1000, reserved_bytes=2000),
        )
    )
    assert table["ts_us"].tolist() == [10, 20]
    assert table["bytes"].tolist() == [100, -100]
    assert table["allocated_bytes"].tolist() == [1000, 900]
    assert table["reserved_bytes"].tolist() == [2000, 2000]


def test_without_totals_each_device_has_its_running_sum_and_nothing_is_reserved() -> None:
    table = memory(make_events(allocator(0, 8), allocator(1, 5, device_id=1), allocator(2, 8), allocator(3, -8)))
    assert table["device"].tolist() == ["cuda:0", "cuda:1", "cuda:0", "cuda:0"]
    assert table["allocated_bytes"].tolist() == [8, 5, 16, 8]
    assert table["reserved_bytes"].isna().all()


def test_memory_from_before_the_recording_never_draws_the_sum_below_zero() -> None:
    # The sums -100, -50, -70 start at 100, which is the least that was there.
    table = memory(make_events(allocator(0, -100), allocator(1, 50), allocator(2, -20)))
    assert table["allocated_bytes"].tolist() == [0, 50, 30]


@pytest.mark.parametrize(
    ("kind", "index", "expected"),
    [(0, -1, "cpu"), (1, 3, "cuda:3"), (6, 0, "cuda:0"), (13, 0, "mps:0"), (99, 0, "type99:0")],
)
def test_devices_are_called_as_in_torch(kind: int, index: int, expected: str) -> None:
    assert memory(make_events(allocator(0, 8, device_type=kind, device_id=index)))["device"].tolist() == [expected]


def test_a_device_that_the_trace_does_not_name_is_missing() -> None:
    table = memory(make_events(allocator(0, 8, device_type=None, device_id=None), allocator(1, 8), allocator(2, 4)))
    assert table["device"].isna().tolist() == [True, False, False]
    assert table["allocated_bytes"].tolist() == [8, 8, 12]


def test_the_innermost_operator_around_it_is_named() -> None:
    table = memory(
        make_events(
            op("zero", 0, 30),
            op("empty", 10, 10),
            *(allocator(ts, 8, tid=t) for ts, t in [(5, "1"), (15, "1"), (15, "2")]),
        )
    )
    assert table["operator"].tolist()[:2] == ["zero", "empty"]
    assert table["operator"].isna().tolist() == [False, False, True]
    assert table["operator"].cat.categories.tolist() == ["empty", "zero"]


def test_a_length_that_another_writer_gave_them_means_nothing() -> None:
    # torch's Python writer makes them calls (ph X) with some duration.
    call = {"ph": "X", "dur": 500}
    table = memory(make_events(allocator(0, 8, 1) | call, allocator(10, -8, 1) | call))
    assert table["allocated_bytes"].tolist() == [8, 0]
    assert table["operator"].isna().all()


def test_rows_outside_regions_do_not_count_but_what_they_allocated_stays() -> None:
    table = memory(
        make_events(allocator(0, 100, in_region=False), allocator(5, 8), allocator(9, -100, in_region=False))
    )
    assert table["ts_us"].tolist() == [5]
    assert table["allocated_bytes"].tolist() == [108]


def test_recorded_traces_agree_with_plain_arithmetic(reference: Reference) -> None:
    table = memory(reference.events)
    names = {("0", "-1"): "cpu", ("1", "0"): "cuda:0"}
    plain = {names[device["device_type"], device["device_id"]]: device for device in reference.plain["memory"]}
    assert set(table["device"].unique()) == set(plain)
    for name, expected in plain.items():
        ours = table[table["device"] == name]
        sizes, total, reserved = ours["bytes"], ours["allocated_bytes"], ours["reserved_bytes"]
        assert ours["ts_us"].is_monotonic_increasing
        assert len(ours) == expected["events"]
        assert ((sizes > 0).sum(), (sizes < 0).sum()) == (expected["allocs"], expected["frees"])
        assert sizes.clip(lower=0).sum() == expected["alloc_bytes"]
        assert sizes.clip(upper=0).sum() == expected["free_bytes"]
        assert sizes.sum() == expected["net_bytes"]
        assert sizes.cumsum().max() == expected["peak_running_sum_bytes"]
        assert sizes.cumsum().clip(upper=0).min() == expected["min_running_sum_bytes"]
        if expected["peak_total_allocated"] is None:
            assert total.max() == expected["peak_running_sum_bytes"] - expected["min_running_sum_bytes"]
            assert reserved.isna().all()
            continue
        assert total.max() == expected["peak_total_allocated"]
        assert total.iloc[[0, -1]].tolist() == [expected["first_total_allocated"], expected["last_total_allocated"]]
        assert reserved.max() == expected["peak_total_reserved"]
