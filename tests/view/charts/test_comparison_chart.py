"""Comparison: slower to the right, faster to the left, only in one hatched."""

from __future__ import annotations

import pytest
from matplotlib.colors import to_hex

from nbprof.view import charts
from nbprof.view.charts.canvas import BLUE, ORANGE
from tests.view.charts.columns import table

COMPARISON = table(
    "comparison",
    name=["same", "faster", "gone", "slower", "new"],
    difference_us=[0.0, -200.0, -50.0, 300.0, 100.0],
    ratio=[1.0, 0.5, 0.0, 2.5, None],
    only_in=[None, None, "a", None, "b"],
)


def test_bars_run_from_the_largest_loss_to_the_largest_gain() -> None:
    ax = charts.comparison(COMPARISON)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["slower", "new", "gone", "faster"]
    assert [bar.get_width() for bar in ax.patches] == [300.0, 100.0, -50.0, -200.0]
    colors = [to_hex(bar.get_facecolor()) for bar in ax.patches]
    assert (colors[0], colors[-1]) == (ORANGE, BLUE)
    assert [text.get_text().strip() for text in ax.texts] == [
        "+300 µs, ×2.5",
        "+100 µs, only in b",
        "−50.0 µs, only in a",
        "−200 µs, ×0.5",
    ]


def test_where_nothing_has_changed_it_says_so() -> None:
    ax = charts.comparison(table("comparison", name=["same"], difference_us=[0.0], ratio=[1.0]))
    assert [text.get_text() for text in ax.texts] == ["1 name: nothing has changed"]


def test_only_what_one_of_both_lacks_is_hatched() -> None:
    hatches = {str(bar.get_gid()): bar.get_hatch() for bar in charts.comparison(COMPARISON).patches}
    assert {name for name, hatch in hatches.items() if hatch} == {"gone", "new"}


def test_the_furthest_from_zero_are_kept_whatever_their_sign() -> None:
    ax = charts.comparison(COMPARISON, top=2)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["slower", "faster"]
    assert ax.get_title(loc="left") == "top 2 of 5 names"


@pytest.mark.parametrize("differences", [[5.0, 3.0], [-5.0, -3.0], [5.0, -5.0]])
def test_the_limits_hold_zero_all_bars_and_their_notes(differences: list[float]) -> None:
    ax = charts.comparison(table("comparison", name=["a", "b"], difference_us=differences, ratio=[1.5, 0.5]))
    low, high = ax.get_xlim()
    assert low <= min(0.0, *differences)
    assert high >= max(0.0, *differences)
    ax.get_figure(root=True).canvas.draw()
    for text in ax.texts:
        box = text.get_window_extent()
        assert ax.bbox.x0 - 1 <= box.x0 and box.x1 <= ax.bbox.x1 + 1
