"""Launches: a histogram of delays that counts each launch once."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes

from nbprof.view import charts


def table(*rows: tuple[float | None, bool]) -> pd.DataFrame:
    frame = pd.DataFrame(list(rows), columns=["delay_us", "is_short"])
    return frame.astype({"delay_us": "float64", "is_short": "bool"})


def counts(ax: Axes) -> dict[str, float]:
    """How many launches each part of the histogram holds."""
    found = {}
    for part in ax.patches:
        values, _, baseline = part.get_data()
        found[str(part.get_gid())] = float(np.sum(values - (0 if baseline is None else baseline)))
    return found


def test_short_device_events_stand_apart_and_the_median_is_said() -> None:
    ax = charts.launches(table((0.0, True), (8.0, False), (20.0, False), (4000.0, False), (None, False)))
    assert counts(ax) == {"others": 3.0, "shorter than launch": 1.0}
    # The row without a delay is left out: the median of 0, 8, 20, 4000 is 14.
    assert ax.get_title(loc="left") == "4 launches: median delay 14.0 µs, 25 % short"
    assert ax.get_xlabel() == "delay between launch and start"
    assert [label.get_text() for label in ax.get_xticklabels()] == [
        "≤0.1 µs",
        "1 µs",
        "10 µs",
        "100 µs",
        "1 ms",
        "10 ms",
    ]


def test_the_axis_begins_at_the_power_of_ten_under_the_shortest_delay() -> None:
    ax = charts.launches(table((30_000.0, False), (40_000.0, True)))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["10 ms", "100 ms"]


@settings(max_examples=20)
@given(st.lists(st.tuples(st.floats(0, 1e8), st.booleans()), min_size=1, max_size=30))
def test_every_launch_is_in_one_bin(rows: list[tuple[float, bool]]) -> None:
    found = counts(charts.launches(table(*rows)))
    short = sum(is_short for _, is_short in rows)
    assert found == {"others": len(rows) - short, "shorter than launch": short}
