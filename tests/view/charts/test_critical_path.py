"""The critical path: its parts along time, and what each kind adds up to."""

from __future__ import annotations

import pytest

from nbprof.view import charts
from tests.view.charts.columns import table
from tests.view.charts.test_flame import boxes

PATH = table(
    "critical_path",
    start_us=[1000.0, 1100.0, 1150.0, 1550.0, 1600.0],
    dur_us=[100.0, 50.0, 400.0, 50.0, 400.0],
    kind=["host", "launch", "device", "wait", "device"],
    name=["aten::mm", "cudaLaunchKernel", "gemm", None, "relu"],
    place=["thread 1", "thread 1", "stream 7", "stream 7", "stream 7"],
)


def test_parts_lie_along_time_in_the_rows_of_their_places_and_sums_below() -> None:
    ax = charts.critical_path(PATH)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["thread 1", "stream 7", "by kind"]
    found = {kind: [(left, row) for left, _, row in of_kind] for kind, of_kind in boxes(ax).items()}
    # Of 1,000 us: host 100, launch 50, device 800, wait 50; one after the other in row 3, from 1,000 us on.
    assert found == {
        "host, 10 %": [(1000.0, 0), (1000.0, 3)],
        "launch, 5.0 %": [(1100.0, 0), (1100.0, 3)],
        "device, 80 %": [(1150.0, 1), (1600.0, 1), (1150.0, 3)],
        "wait, 5.0 %": [(1550.0, 1), (1950.0, 3)],
    }
    assert ax.get_xlim() == (1000.0, 2000.0)
    assert ax.get_title(loc="left") == "Critical path: 1.00 ms in 5 parts"


def test_places_beyond_the_limit_share_a_row() -> None:
    ax = charts.critical_path(PATH, most=1)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["stream 7", "other places (1)", "by kind"]
    assert [row for _, _, row in boxes(ax)["host, 10 %"]] == [1, 3]


def test_a_part_without_a_place_has_a_row_named_after_its_kind() -> None:
    path = table("critical_path", start_us=[0.0], dur_us=[5.0], kind=["wait"], name=[None], place=[None])
    ax = charts.critical_path(path)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["wait", "by kind"]


def test_a_path_of_no_length_says_so() -> None:
    path = table("critical_path", start_us=[3.0], dur_us=[0.0], kind=["host"], name=["a"], place=["b"])
    (text,) = charts.critical_path(path).texts
    assert text.get_text() == "Critical path: 0 µs in 1 part: nothing to draw"


def test_many_short_parts_are_merged() -> None:
    count = 5000
    path = table(
        "critical_path",
        start_us=[float(place) for place in range(count)],
        dur_us=[1.0] * count,
        kind=["host", "device"] * (count // 2),
        name=["a"] * count,
        place=["t"] * count,
    )
    ax = charts.critical_path(path)
    assert ax.get_title(loc="left").endswith("in 5,000 parts; 5,000 parts under a pixel merged")
    assert {kind: len(of_kind) for kind, of_kind in boxes(ax).items()} == {"host, 50 %": 1, "device, 50 %": 1}
    assert boxes(ax)["device, 50 %"][0][0] == pytest.approx(2500.0)
