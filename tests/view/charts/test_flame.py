"""Flame: boxes as wide as their time, under the frame that called them."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes

from nbprof.analysis.flame import flame as flame_table
from nbprof.view import charts
from tests.references import Reference
from tests.view.charts.columns import table

Box = tuple[float, float, int]


def boxes(ax: Axes) -> dict[str, list[Box]]:
    """Left, right and row of each box, by kind."""
    return {
        str(drawn.get_gid()): [
            (float(corners[:, 0].min()), float(corners[:, 0].max()), round(float(corners[:, 1].min()) + 0.5))
            for corners in (path.vertices for path in drawn.get_paths())
        ]
        for drawn in ax.collections
    }


def frames(*rows: tuple[str, str, float]) -> pd.DataFrame:
    """Rows of (stack, kind, time), in the order of a tree."""
    stacks, kinds, times = zip(*rows, strict=True)
    names = [stack.rpartition(";")[2] for stack in stacks]
    depths = [stack.count(";") for stack in stacks]
    return table("flame", stack=stacks, depth=depths, name=names, kind=kinds, total_us=times)


TREE = frames(
    ("train", "region", 600.0),
    ("train;linear", "operator", 400.0),
    ("train;linear;launch", "runtime", 100.0),
    ("train;add", "operator", 100.0),
    ("load", "annotation", 400.0),
    ("load;read", "python", 300.0),
)


def test_boxes_lie_under_their_callers_one_after_the_other() -> None:
    drawn = boxes(charts.flame(TREE))
    # A pixel is 1,000 / 464 us; wide boxes end half of one early.
    half = drawn["region"][0][1] - 600.0
    assert -1.5 < half < 0
    found = {kind: [(left, right - half, row) for left, right, row in of_kind] for kind, of_kind in drawn.items()}
    assert found == {
        "region": [(0.0, 600.0, 0)],
        "operator": [(0.0, pytest.approx(400.0), 1), (400.0, pytest.approx(500.0), 1)],
        "runtime": [(0.0, pytest.approx(100.0), 2)],
        "annotation": [(600.0, pytest.approx(1000.0), 0)],
        "python": [(600.0, pytest.approx(900.0), 1)],
    }


def test_names_stand_in_the_boxes_that_have_room_and_nowhere_else() -> None:
    ax = charts.flame(frames(("a very long name " * 20, "region", 970.0), ("narrow", "operator", 30.0)))
    (text,) = ax.texts
    assert text.get_gid() == "a very long name " * 20
    assert "…" in text.get_text()
    assert text.get_clip_box() is not None
    figure = ax.get_figure(root=True)
    figure.canvas.draw()
    left, right = ax.transData.transform([(0, 0), (970, 0)])[:, 0]
    assert left < text.get_window_extent().x0 < text.get_window_extent().x1 < right


def test_frames_under_a_pixel_and_levels_too_deep_are_left_out_and_counted() -> None:
    thin = [(f"thin {place}", "operator", 0.01) for place in range(7)]
    ax = charts.flame(frames(("wide", "region", 1000.0), *thin))
    assert sum(map(len, boxes(ax).values())) == 1
    assert ax.get_title(loc="left") == "8 frames; 7 frames under a pixel left out"
    stacks = [";".join(["f"] * (place + 1)) for place in range(5)]
    ax = charts.flame(frames(*((stack, "python", 10.0) for stack in stacks)), deepest=3)
    assert [row for _, _, row in boxes(ax)["python"]] == [0, 1, 2]
    assert ax.get_title(loc="left") == "5 frames, first 3 of 5 levels"


def test_a_kind_that_is_not_known_is_drawn_as_other() -> None:
    assert list(boxes(charts.flame(frames(("a", "planet", 10.0))))) == ["other"]


@settings(max_examples=15)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=4))
def test_boxes_never_overlap_and_fill_what_their_sum_fills(counts: list[int]) -> None:
    rows = []
    for root, count in enumerate(counts):
        rows.append((f"r{root}", "region", 100.0 * count))
        rows += [(f"r{root};c{child}", "operator", 100.0) for child in range(count)]
    drawn = boxes(charts.flame(frames(*rows)))
    for of_kind in drawn.values():
        lefts = [left for left, _, _ in sorted(of_kind)]
        assert all(right <= left for (_, right, _), left in zip(sorted(of_kind), lefts[1:], strict=False))
    assert sorted(left for left, _, _ in drawn["operator"]) == [100.0 * place for place in range(sum(counts))]


def test_the_flame_of_a_recorded_trace_draws(reference: Reference) -> None:
    made = flame_table(reference.events)
    ax = charts.flame(made)
    assert ax.get_xlim()[1] == pytest.approx(made.loc[made["depth"] == 0, "total_us"].sum())
    charts.png(ax)
