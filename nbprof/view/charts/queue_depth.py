"""The table `queue_depth` -> how much work waited on each stream over time.

In: queue_depth. Out: Axes with one step line a stream.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from nbprof.view.charts.canvas import PALETTE
from nbprof.view.charts.lines import Line, Lines, Numbers, stepped
from nbprof.view.quantities import cut_note, literal


def queue_depth(table: pd.DataFrame, *, top: int = 5, ax: Axes | None = None) -> Axes:
    """Device events launched and not yet started, on the `top` streams by time-weighted mean, which the legend gives."""
    top = min(top, len(PALETTE))
    ordered = table.sort_values("ts_us", kind="stable")
    several = table["device"].nunique(dropna=False) > 1
    found = []
    for (device, stream), rows in ordered.groupby(["device", "stream"], dropna=False):
        times, depths = rows["ts_us"].to_numpy(), rows["depth"].to_numpy(dtype="float64")
        name = f"{f'device {literal(device)}, ' if several else ''}stream {literal(stream)}"
        found.append((_mean(times, depths), name, times, depths))
    found.sort(key=lambda each: -each[0])
    lines = [
        Line(f"{name}: mean {mean:,.1f}", color, times, depths)
        for (mean, name, times, depths), color in zip(found[:top], PALETTE, strict=False)
    ]
    note = cut_note(len(lines), len(found), "stream")
    return stepped(Lines(lines, "launched, not yet started", f"Queue of device events: {note}"), ax)


def _mean(times: Numbers, depths: Numbers) -> float:
    """The mean depth, each weighted by how long it held; 0 where no time passed."""
    span = float(times[-1] - times[0])
    return float(np.sum(depths[:-1] * np.diff(times))) / span if span else 0.0
