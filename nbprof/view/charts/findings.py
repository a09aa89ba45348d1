"""The table `findings` -> horizontal bars of the time that each could give back.

In: findings. Out: Axes with one bar a finding, coloured by its severity, the most promising at the top.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from nbprof.view.charts.bars import Bars, horizontal
from nbprof.view.charts.canvas import GREY, ORANGE, ROSE, SAND
from nbprof.view.quantities import cut_note, duration, is_missing

COLORS = {"high": ROSE, "medium": ORANGE, "low": SAND}


def findings(table: pd.DataFrame, *, top: int = 20, ax: Axes | None = None) -> Axes:
    """Bars of the `top` findings by `could_save_us`, an upper bound; those without one come last, and say so.

    The bounds overlap: what two findings could give back is not the sum of both.
    """
    shown = table.sort_values("could_save_us", ascending=False, kind="stable").head(top)
    noted = zip(shown["could_save_us"], shown["severity"], strict=True)
    bars = Bars(
        names=shown["finding"].tolist(),
        times=shown["could_save_us"].fillna(0.0).tolist(),
        notes=[f"{'no estimate' if is_missing(time) else duration(time)}, {severity}" for time, severity in noted],
        axis="time that it could give back, at most",
        title=cut_note(len(shown), len(table), "finding"),
    )
    return horizontal(bars, ax, color=[COLORS.get(severity, GREY) for severity in shown["severity"]])
