"""The table `timeline` -> what each device did with its time.

In: devices, by step or by region where the table is so. Out: Axes with one bar a device (step, region), whose
parts add up to its span.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from nbprof.view.charts.bars import Part, Stacks, stacked
from nbprof.view.charts.canvas import GREEN, INDIGO, INK, ORANGE
from nbprof.view.quantities import cut_note, literal, share

PARTS = (
    ("computation_us", "computation", GREEN, 1.0),
    ("exposed_comm_us", "exposed communication", ORANGE, 1.0),
    ("exposed_memory_us", "exposed copies", INDIGO, 1.0),
    ("idle_us", "idle", INK, 0.28),
)
"""Column, name, colour and opacity; computation + exposed communication + exposed copies + idle = span."""
_COLUMNS = [*(column for column, *_ in PARTS), "span_us", "busy_us"]


def timeline(table: pd.DataFrame, *, most: int = 48, ax: Axes | None = None) -> Axes:
    """A bar from the first to the last event for each of the first `most` devices: computation, exposed parts, idle.

    A table by step or by region gives a bar for each of those, over all devices.
    """
    key = next((name for name in ("step", "region") if name in table), "device")
    sums = table.groupby(key, observed=True, dropna=False, sort=key != "region")[_COLUMNS].sum()
    shown = sums.head(most)
    span = float(sums["span_us"].sum())
    busy = share(float(sums["busy_us"].sum()) / span if span else 0.0)
    return stacked(
        Stacks(
            parts=[Part(name, color, shown[column].tolist(), alpha) for column, name, color, alpha in PARTS],
            places=[literal(place) for place in shown.index],
            axis="span of the device events",
            places_axis=key,
            title=f"{cut_note(len(shown), len(sums), key, kept='first')}, busy {busy} of the span",
        ),
        ax,
        rows=None if key == "step" else True,
    )
