"""The table `kernels` -> horizontal bars of those that took longest.

In: kernels. Out: Axes with one bar a kernel, the longest at the top.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from nbprof.view.charts.canvas import GREEN
from nbprof.view.charts.ranking import ranked


def kernels(table: pd.DataFrame, *, top: int = 20, ax: Axes | None = None) -> Axes:
    """Bars of the `top` kernels by summed time, with their share of all kernel time."""
    return ranked(table, "total_us", ax, top=top, noun="kernel", axis="time on the device", color=GREEN)
