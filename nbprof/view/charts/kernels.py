"""The table `kernels` -> horizontal bars of those that took longest, or of their classes.

In: kernels. Out: Axes with one bar a kernel or class, the longest at the top.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from nbprof.view.charts.canvas import GREEN
from nbprof.view.charts.ranking import ranked


def kernels(table: pd.DataFrame, *, top: int = 20, ax: Axes | None = None) -> Axes:
    """Bars of the `top` kernels by summed time, with their share of all kernel time."""
    return ranked(table, "total_us", ax, top=top, noun="kernel", axis="time on the device", color=GREEN)


def kernel_classes(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Bars of the classes of kernels by summed time, with their share of all kernel time."""
    sums = table.groupby("kernel_class", observed=True, dropna=False)["total_us"].sum().reset_index()
    axis = "time on the device"
    return ranked(sums, "total_us", ax, top=20, noun="kernel kind", axis=axis, names="kernel_class", color=GREEN)
