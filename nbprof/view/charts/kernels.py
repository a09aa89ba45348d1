"""The table `kernels` -> horizontal bars of those that took longest."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from nbprof.view.charts.bars import Bars, horizontal
from nbprof.view.charts.canvas import GREEN
from nbprof.view.quantities import cut_note, duration, share


def kernels(table: pd.DataFrame, *, top: int = 20, ax: Axes | None = None) -> Axes:
    """Bars of the `top` kernels by summed time, with their share of all kernel time."""
    shown = table.nlargest(top, "total_us")
    times = [float(time) for time in shown["total_us"]]
    shares = [float(fraction) for fraction in shown["share"]]
    return horizontal(
        Bars(
            names=list(shown["name"]),
            times=times,
            notes=[f"{duration(time)}, {share(part)}" for time, part in zip(times, shares, strict=True)],
            axis="time on the device",
            title=cut_note(len(shown), len(table), "kernel"),
        ),
        ax,
        color=GREEN,
    )
