"""Communication: exposed of all time, and bus bandwidth, by kind."""

from __future__ import annotations

import pandas as pd
import pytest

from nbprof.view import charts

CALLS = pd.DataFrame(
    [
        ("k1", "allreduce", "dp", 100.0, 40.0, 200.0),
        ("k2", "allreduce", "dp", 300.0, 60.0, 100.0),
        ("k3", "broadcast", "tp", 50.0, 50.0, None),
    ],
    columns=["name", "collective", "group", "dur_us", "exposed_us", "bus_gbps"],
)


def notes(table: pd.DataFrame, **options: str) -> list[str]:
    return [text.get_text() for text in charts.communication(table, **options).texts]


def test_bars_show_exposed_before_all_time_with_the_mean_bus_bandwidth() -> None:
    ax = charts.communication(CALLS)
    assert [bar.get_width() for bar in ax.patches] == [400.0, 50.0, 100.0, 50.0]
    # Weighted by time: (200 x 100 + 100 x 300) / 400 = 125; the broadcast doesn't know its bandwidth.
    assert notes(CALLS) == [" 100 µs of 400 µs, bus 125.0 GB/s", " 50.0 µs of 50.0 µs"]
    assert ax.get_title(loc="left") == "3 calls: 2 collectives"
    assert ax.get_xlabel() == "exposed time; pale: hidden behind computation, µs"


def test_a_row_without_bandwidth_does_not_count_in_the_mean() -> None:
    half = CALLS.assign(bus_gbps=[200.0, None, None])
    assert notes(half)[0] == " 100 µs of 400 µs, bus 200.0 GB/s"


def test_calls_are_grouped_as_asked_and_the_cut_is_said() -> None:
    assert notes(CALLS, by="group") == [" 100 µs of 400 µs, bus 125.0 GB/s", " 50.0 µs of 50.0 µs"]
    assert charts.communication(CALLS, by="name", top=2).get_title(loc="left") == "3 calls: top 2 of 3 names"
    with pytest.raises(ValueError, match="by='rank' is none of collective, group, name"):
        charts.communication(CALLS, by="rank")
