"""The table `memory` -> how much was allocated and reserved over time.

In: memory. Out: Axes with a step line of each device's allocated bytes, a dotted one of its reserved bytes.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from nbprof.view.charts.canvas import PALETTE, label
from nbprof.view.charts.lines import Line, Lines, stepped
from nbprof.view.quantities import MISSING, cut_note, duration, literal, size

_UNITS = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))
_COLUMNS = (("allocated_bytes", "allocated", "-"), ("reserved_bytes", "reserved", ":"))


def memory(table: pd.DataFrame, *, top: int = 3, ax: Axes | None = None) -> Axes:
    """Allocated (line) and reserved (dots) bytes over time, of the `top` devices that allocated most.

    The highest point of the allocated bytes is marked, with its time and the operator that allocated then.
    """
    known = table[table["allocated_bytes"].notna()].sort_values("ts_us", kind="stable")
    peaks = (
        known.groupby("device", observed=True, sort=False)["allocated_bytes"]
        .max()
        .sort_values(ascending=False, kind="stable")
    )
    shown = list(peaks.index[: min(top, len(PALETTE))])
    lines = [
        line
        for device, color in zip(shown, PALETTE, strict=False)
        for line in _lines(known[known["device"] == device], str(device), color)
    ]
    unit, factor = next((unit for unit in _UNITS if any(line.values.max() >= unit[1] for line in lines)), ("B", 1.0))
    return stepped(
        Lines(
            lines=lines,
            axis=f"memory, {unit}",
            title=f"Memory: {cut_note(len(shown), len(peaks), 'device')}",
            factor=factor,
            peak=_peak(known) if lines else None,
        ),
        ax,
    )


def _lines(rows: pd.DataFrame, device: str, color: str) -> list[Line]:
    lines = []
    for column, what, style in _COLUMNS:
        known = rows[rows[column].notna()]
        values = known[column].to_numpy(dtype="float64")
        if what == "allocated" or values.any():
            lines.append(Line(f"{device} {what}", color, known["ts_us"].to_numpy(), values, style))
    return lines


def _peak(rows: pd.DataFrame) -> tuple[float, float, str]:
    place = int(np.argmax(rows["allocated_bytes"].to_numpy(dtype="float64")))
    time, value = float(rows["ts_us"].iloc[place]), float(rows["allocated_bytes"].iloc[place])
    operator = literal(rows["operator"].iloc[place])
    where = "" if operator == MISSING else f", {label(operator, 30)}"
    return time, value, f"peak {size(value)} at {duration(time)}{where}"
