"""Timeline by step and by region: the same parts, over all devices."""

from __future__ import annotations

import pandas as pd

from nbprof.view import charts

PARTS = ["computation_us", "exposed_comm_us", "exposed_memory_us", "idle_us", "span_us", "busy_us"]


def by(key: str, *rows: tuple[object, int]) -> pd.DataFrame:
    """Spans of 100 us on a device, 60 of them busy with computation."""
    keys = pd.DataFrame(list(rows), columns=[key, "device"])
    return keys.assign(**dict(zip(PARTS, (60.0, 0.0, 0.0, 40.0, 100.0, 60.0), strict=True)))


def test_steps_stand_as_columns_over_all_devices() -> None:
    ax = charts.timeline(by("step", *((step, device) for device in (0, 1) for step in range(60))), most=50)
    computation, idle = ax.collections
    # Two devices: 120 us of computation, 80 idle on top.
    assert [path.vertices[:, 1].max() for path in computation.get_paths()] == [120.0] * 50
    assert [path.vertices[:, 1].max() for path in idle.get_paths()] == [200.0] * 50
    assert ax.get_title(loc="left") == "first 50 of 60 steps, busy 60 % of the span"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("step", "span of the device events, µs")


def test_regions_lie_as_rows_in_the_order_of_the_table() -> None:
    ax = charts.timeline(by("region", ("z", 0), ("a", 0), ("$m_n$", 0)))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["region z", "region a", "region $m_n$"]
    assert ax.get_title(loc="left") == "3 regions, busy 60 % of the span"
