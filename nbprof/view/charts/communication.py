"""The table `communication` -> how much of the time of each kind of collective was hidden behind computation.

In: communication. Out: Axes with one bar a kind: its exposed time, its whole time paler behind, its bus bandwidth.
"""

from __future__ import annotations

from typing import Literal

import pandas as pd
from matplotlib.axes import Axes

from nbprof.view.charts.bars import Bars, horizontal
from nbprof.view.charts.canvas import ORANGE
from nbprof.view.quantities import counted, cut_note, duration, is_missing


def communication(
    table: pd.DataFrame,
    *,
    by: Literal["collective", "group", "name"] = "collective",
    top: int = 20,
    ax: Axes | None = None,
) -> Axes:
    """Bars of exposed time by `by`, the time that computation hides paler behind; longest first.

    The bus bandwidth of a bar is the mean of its rows that know theirs, weighted by their time.
    """
    if by not in ("collective", "group", "name"):
        raise ValueError(f"by={by!r} is none of collective, group, name.")
    known = table["bus_gbps"].notna()
    weighed = table.assign(moved=table["bus_gbps"] * table["dur_us"], timed=table["dur_us"].where(known))
    sums = weighed.groupby(by, observed=True, dropna=False)[["dur_us", "exposed_us", "moved", "timed"]].sum()
    shown = sums.nlargest(top, "dur_us")
    rates = shown["moved"] / shown["timed"]
    notes = [
        f"{duration(exposed)} of {duration(time)}{'' if is_missing(rate) else f', bus {rate:,.1f} GB/s'}"
        for exposed, time, rate in zip(shown["exposed_us"], shown["dur_us"], rates, strict=True)
    ]
    return horizontal(
        Bars(
            names=shown.index.tolist(),
            times=shown["exposed_us"].tolist(),
            notes=notes,
            axis="exposed time; pale: hidden behind computation",
            title=f"{counted(len(table), 'call')}: {cut_note(len(shown), len(sums), by)}",
            backs=shown["dur_us"].tolist(),
        ),
        ax,
        color=ORANGE,
    )
