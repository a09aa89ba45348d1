"""The table `steps` -> what ran in each step.

In: steps. Out: Axes with one column a step (a row, where there are few), stacked from its parts.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from nbprof.view.charts.bars import Part, Stacks, stacked
from nbprof.view.charts.canvas import BLUE, GREEN, GREY, INDIGO, ORANGE, ROSE, SAND, SKY
from nbprof.view.quantities import cut_note

PARTS = (
    ("kernel_us", "kernels", GREEN),
    ("communication_us", "communication", ORANGE),
    ("memcpy_us", "copies", INDIGO),
    ("memset_us", "fills", SKY),
    ("runtime_us", "runtime calls", SAND),
    ("dataloader_us", "data loading", ROSE),
    ("cpu_op_us", "operators", BLUE),
    ("other_us", "other", GREY),
)
"""Column, name and colour of a step's parts, from the bottom of the stack to its top."""


def steps(table: pd.DataFrame, *, most: int = 48, ax: Axes | None = None) -> Axes:
    """Columns of the first `most` steps; the parts of a step sum to its wall time."""
    shown = table.head(most)
    return stacked(
        Stacks(
            parts=[Part(name, color, shown[column].tolist()) for column, name, color in PARTS],
            places=shown["step"].tolist(),
            axis="wall time",
            places_axis="step",
            title=f"What ran in each step: {cut_note(len(shown), len(table), 'step', kept='first')}",
        ),
        ax,
    )
