"""Lanes: what ran when, a lane for each thread and stream."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

from nbprof.view import charts
from tests.frames import kernel, launch, make_events, marker, memory, op, region
from tests.references import Reference
from tests.view.charts.test_flame import boxes

EVENTS = make_events(
    region("train", 0, 1000),
    op("aten::linear", 100, 400),
    op("aten::addmm", 150, 300),
    launch(200, 100, correlation=1),
    marker("step", 600, 200),
    op("backward", 500, 300, tid="2"),
    op("forward (module)", 100, 700, category="python_function"),
    kernel("gemm", 300, 500, correlation=1),
    kernel("ncclAllReduce", 850, 150, tid="stream 20", stream=20),
    memory("Memcpy HtoD", 50, 100),
)


def rows_of(ax: Axes) -> dict[str, list[tuple[float, int]]]:
    """Left edge and row of each box, by kind."""
    return {kind: [(left, row) for left, _, row in of_kind] for kind, of_kind in boxes(ax).items()}


def places(ax: Axes) -> dict[str, int]:
    return {text.get_text(): int(at) for text, at in zip(ax.get_yticklabels(), ax.get_yticks(), strict=True)}


def test_calls_lie_under_those_they_nest_in_and_each_stream_has_a_lane() -> None:
    ax = charts.lanes(EVENTS)
    # Thread 1 has four levels, rows 0 to 3; a row is free between lanes.
    assert places(ax) == {"thread 1": 0, "thread 2": 5, "device 0, stream 7": 7, "device 0, stream 20": 9}
    assert rows_of(ax) == {
        "region": [(0.0, 0)],
        "range": [(600.0, 1)],
        "operator": [(100.0, 1), (150.0, 2), (500.0, 5)],
        "runtime call": [(200.0, 3)],
        "kernel": [(300.0, 7)],
        "communication": [(850.0, 9)],
        "copy or fill": [(50.0, 7)],
        "bands": [(0.0, 0)],
    }
    assert ax.get_title(loc="left") == "4 lanes"


def test_a_region_is_a_band_down_its_lane_with_its_plain_name() -> None:
    ax = charts.lanes(EVENTS)
    (band,) = [drawn for drawn in ax.collections if drawn.get_gid() == "bands"]
    (path,) = band.get_paths()
    assert (path.vertices[:, 1].min(), path.vertices[:, 1].max()) == (-0.5, 3.5)
    assert "train" in {text.get_text() for text in ax.texts}


def test_a_window_shows_what_overlaps_it_cut_at_its_edges() -> None:
    ax = charts.lanes(EVENTS, time=(420.0, 480.0))
    assert ax.get_xlim() == (420.0, 480.0)
    # Open then: the region, linear, addmm (to 450) and gemm.
    assert rows_of(ax) == {
        "region": [(420.0, 0)],
        "operator": [(420.0, 1), (420.0, 2)],
        "kernel": [(420.0, 4)],
        "bands": [(420.0, 0)],
    }


def test_a_window_in_which_nothing_runs_says_so() -> None:
    ax = charts.lanes(EVENTS, time=(5000.0, 6000.0))
    assert [text.get_text() for text in ax.texts] == ["0 lanes: nothing to draw"]


def test_lanes_and_levels_beyond_the_limits_are_left_out_and_counted() -> None:
    ax = charts.lanes(EVENTS, most=1, deepest=2)
    assert list(places(ax)) == ["thread 1"]
    # addmm and the launch lie below linear.
    assert ax.get_title(loc="left") == "top 1 of 4 lanes; 2 calls below level 2 left out"


def test_threads_of_several_processes_are_told_apart() -> None:
    ax = charts.lanes(make_events(op("a", 0, 10), op("b", 0, 10, pid="2")))
    assert set(places(ax)) == {"1, thread 1", "2, thread 1"}


def test_calls_under_a_pixel_are_merged_into_a_picture_as_dark_as_they_are_dense() -> None:
    # 1,000 calls of 0.5 us in the first of 10 ms, one each us: half of each pixel there.
    short = [op("aten::add", place, 0.5) for place in range(1000)]
    ax = charts.lanes(make_events(*short, op("aten::mm", 9000, 1000)))
    assert ax.get_title(loc="left") == "1 lane; 1,000 calls under a pixel merged"
    (picture,) = ax.images
    opacity = np.asarray(picture.get_array())[0, :, 3]
    covered = np.flatnonzero(opacity)
    assert covered[0] == 0
    assert covered[-1] == pytest.approx(len(opacity) / 10, abs=1)
    assert opacity[covered[1:-1]] == pytest.approx(0.5, abs=0.05)


def test_what_a_gated_recording_does_not_count_is_not_drawn() -> None:
    ax = charts.lanes(make_events(op("in", 0, 10), op("out", 20, 10, in_region=False)))
    assert ax.get_xlim() == (0.0, 10.0)


def test_recorded_traces_draw_in_full_and_in_part(reference: Reference) -> None:
    events: pd.DataFrame = reference.events
    ax = charts.lanes(events)
    low, high = ax.get_xlim()
    charts.png(ax)
    middle = (low + high) / 2
    part = charts.lanes(events, time=(middle, middle + (high - low) / 100))
    assert part.get_xlim()[0] == middle
    charts.png(part)
