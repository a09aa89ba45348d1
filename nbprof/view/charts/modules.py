"""The tables `modules` and `regions` -> where the time went, as a tree.

In: modules, or regions. Out: Axes with one row a place in the tree, in its order: a bar for host and device.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from nbprof.view.charts.canvas import BLUE, GREEN
from nbprof.view.charts.trees import Series, indented


def modules(table: pd.DataFrame, *, top: int = 30, ax: Axes | None = None) -> Axes:
    """Bars of the `top` modules by their time on the host or the device; pale: in modules called inside."""
    series = (
        Series("host", BLUE, "host_total_us", "host_self_us"),
        Series("device", GREEN, "device_total_us", "device_self_us"),
    )
    axis = "time; pale: in modules called inside"
    return indented(table, "module", series, top=top, noun="module", axis=axis, ax=ax)


def region_tree(table: pd.DataFrame, *, top: int = 30, ax: Axes | None = None) -> Axes:
    """Bars of the `top` regions by their wall time, pale: in nested regions; and the time of their device events."""
    series = (
        Series("wall", BLUE, "wall_us", "self_us"),
        Series("device", GREEN, "device_us", "device_us"),
    )
    axis = "time; pale: in nested regions"
    return indented(table, "region", series, top=top, noun="region", axis=axis, ax=ax)
