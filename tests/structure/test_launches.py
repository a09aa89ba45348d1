"""The join of device events with the calls that launched them."""

from __future__ import annotations

import pandas as pd

from nbprof import schema
from nbprof.structure.launches import launch_positions


def events(*rows: tuple[str, int | None, int]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["category", "correlation", "ts_ns"])
    return frame.astype({"category": "category", "correlation": "Int64", "ts_ns": "int64"})


def test_a_device_event_finds_its_call_wherever_it_stands_in_the_file() -> None:
    frame = events(("kernel", 7, 50), ("cpu_op", 7, 1), ("cuda_runtime", 7, 10), ("gpu_memcpy", 8, 60))
    assert launch_positions(frame).tolist() == [2, -1, -1, -1]


def test_the_earliest_of_several_calls_wins_and_the_first_in_the_file_among_equals() -> None:
    # Correlation 3: calls at 30 (row 0), 20 (row 1) and 20 (row 2): row 1. One call launches both kernels.
    frame = events(
        ("cuda_runtime", 3, 30), ("cuda_driver", 3, 20), ("cuda_runtime", 3, 20), ("kernel", 3, 40), ("kernel", 3, 45)
    )
    assert launch_positions(frame).tolist() == [-1, -1, -1, 1, 1]


def test_correlation_zero_or_missing_joins_nothing() -> None:
    frame = events(
        ("cuda_runtime", 0, 1), ("kernel", 0, 2), ("cuda_runtime", None, 3), ("kernel", None, 4), ("kernel", 5, 1)
    )
    assert launch_positions(frame).tolist() == [-1] * 5


def test_no_events_and_events_without_device() -> None:
    assert launch_positions(schema.empty("events")).tolist() == []
    assert launch_positions(events(("cpu_op", None, 1))).tolist() == [-1]
