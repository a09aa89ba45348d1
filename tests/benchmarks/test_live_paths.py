"""The check of what arrives exactly tells a way that loses nothing from one that loses all but names."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.live_paths import exactness


def test_nothing_is_lost_on_nbprofs_own_way(tmp_path: Path) -> None:
    exact = exactness("plain", tmp_path)
    assert exact["names"]
    assert exact["times"]
    assert len(exact["args"]) == exact["of"] > 3


def test_sums_have_names_but_neither_times_nor_arguments(tmp_path: Path) -> None:
    assert exactness("averages", tmp_path) == {"names": True, "times": False, "args": [], "of": 8}
