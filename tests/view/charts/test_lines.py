"""Step lines: what thinning keeps, and the edges of the picture."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nbprof.view.charts.lines import Line, Lines, stepped, thinned


def test_a_short_line_is_kept_whole() -> None:
    times, values = np.arange(8.0), np.arange(8.0)
    assert thinned(times, values, 2)[0] is times


def test_a_span_keeps_its_first_last_lowest_and_highest() -> None:
    # Two spans of six: 0..5 and 6..11 (11 itself falls into a third).
    values = np.array([5, 1, 6, 9, 6, 5, 4, 4, 8, 0, 3, 2], dtype="float64")
    times, kept = thinned(np.arange(12.0), values, 2)
    assert times.tolist() == [0, 1, 3, 5, 6, 8, 9, 10, 11]
    assert kept.tolist() == [5, 1, 9, 5, 4, 8, 0, 3, 2]


@given(
    st.lists(st.tuples(st.integers(0, 1000), st.integers(-5, 50)), min_size=1, max_size=200),
    st.integers(1, 20),
)
def test_thinning_keeps_the_ends_and_the_extremes_and_stays_small(rows: list[tuple[int, int]], most: int) -> None:
    times, values = (np.array(column, dtype="float64") for column in zip(*sorted(rows), strict=True))
    few_times, few = thinned(times, values, most)
    assert (few_times[0], few_times[-1]) == (times[0], times[-1])
    assert (few[0], few[-1]) == (values[0], values[-1])
    assert (few.min(), few.max()) == (values.min(), values.max())
    assert len(few) <= 4 * (most + 1)
    assert np.all(np.diff(few_times) >= 0)


def test_a_million_changes_become_few_points_with_the_peak_among_them() -> None:
    values = np.tile([1.0, 2.0], 500_000)
    values[654_321] = 99.0
    ax = stepped(Lines([Line("a", "#3b7dd8", np.arange(1e6), values)], "depth", "one line"))
    (drawn,) = ax.lines
    assert len(drawn.get_xdata()) < 4_000
    assert max(drawn.get_ydata()) == 99.0


def test_each_line_is_held_to_the_end_of_the_longest() -> None:
    early = Line("early", "#3b7dd8", np.array([10.0, 20.0]), np.array([1.0, 3.0]))
    late = Line("late", "#e8871e", np.array([15.0, 2_000.0]), np.array([0.0, 1.0]))
    ax = stepped(Lines([early, late], "depth", "two lines"))
    assert [line.get_xdata().tolist() for line in ax.lines] == [[10.0, 20.0, 2_000.0], [15.0, 2_000.0, 2_000.0]]
    assert [line.get_ydata().tolist() for line in ax.lines] == [[1.0, 3.0, 3.0], [0.0, 1.0, 1.0]]
    assert ax.get_xlim() == (10.0, 2_000.0)
    assert ax.get_xlabel() == "time in the trace, ms"


def test_values_below_zero_are_inside_the_picture() -> None:
    ax = stepped(Lines([Line("a", "#3b7dd8", np.array([0.0, 1.0]), np.array([-5.0, 5.0]))], "depth", "one line"))
    assert ax.get_ylim()[0] < -5.0


def test_ticks_far_from_zero_differ_from_each_other() -> None:
    line = Line("a", "#3b7dd8", np.array([43_000_000.0, 43_000_066.0]), np.array([1.0, 2.0]))
    texts = [label.get_text() for label in stepped(Lines([line], "depth", "one line")).get_xticklabels()]
    assert len(set(texts)) == len(texts) > 2
