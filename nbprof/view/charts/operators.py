"""The table `operators` -> horizontal bars of those that took longest.

In: operators, and the column to rank them by. Out: Axes with one bar an operator, the longest at the top.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from nbprof.view.charts.canvas import BLUE, GREEN
from nbprof.view.charts.ranking import ranked

_AXES = {
    "host_self_us": "self time on the host",
    "host_total_us": "time on the host, nested calls included",
    "device_self_us": "time of the device work that it launched itself",
    "device_total_us": "time of the device work launched anywhere inside",
}


def operators(table: pd.DataFrame, *, top: int = 20, by: str | None = None, ax: Axes | None = None) -> Axes:
    """Bars of the `top` operators by the column `by` (one of the table's four summed times).

    Without `by`: the operators' device self time where there is any, else their host self time.
    """
    if by is None:
        by = "device_self_us" if table["device_self_us"].sum() > 0 else "host_self_us"
    if by not in _AXES:
        raise ValueError(f"by={by!r} is none of {', '.join(_AXES)}.")
    color = GREEN if by.startswith("device") else BLUE
    return ranked(table, by, ax, top=top, noun="operator", axis=_AXES[by], color=color)
