"""The table `timeline` -> what each device did with its time.

In: devices. Out: Axes with one bar a device, whose parts add up to its span.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from nbprof.view.charts.bars import Part, Stacks, stacked
from nbprof.view.charts.canvas import GREEN, INDIGO, INK, ORANGE
from nbprof.view.quantities import counted, share

PARTS = (
    ("computation_us", "computation", GREEN, 1.0),
    ("exposed_comm_us", "exposed communication", ORANGE, 1.0),
    ("exposed_memory_us", "exposed copies", INDIGO, 1.0),
    ("idle_us", "idle", INK, 0.28),
)
"""Column, name, colour and opacity; computation + exposed communication + exposed copies + idle = span."""


def timeline(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """A bar for each device, from its first to its last event: computation, exposed parts, idle."""
    span = float(table["span_us"].sum())
    busy = share(float(table["busy_us"].sum()) / span if span else 0.0)
    return stacked(
        Stacks(
            parts=[Part(name, color, table[column].tolist(), alpha) for column, name, color, alpha in PARTS],
            places=table["device"].tolist(),
            axis="time from the first to the last device event",
            places_axis="device",
            title=f"{counted(len(table), 'device')}, busy {busy} of the span",
        ),
        ax,
        rows=True,
    )
