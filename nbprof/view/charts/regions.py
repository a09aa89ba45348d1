"""The tables `regions` and `region_steps` -> where the time of the regions went.

In: regions, or regions by step. Out: Axes with one bar a region, or one column a step, stacked from the regions.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from nbprof.view.charts.bars import Part, Stacks, stacked
from nbprof.view.charts.canvas import GREY, PALETTE
from nbprof.view.charts.ranking import ranked
from nbprof.view.quantities import cut_note, literal


def regions(table: pd.DataFrame, *, top: int = 12, ax: Axes | None = None) -> Axes:
    """Bars of the `top` regions by their self time, the time with nested regions as a paler bar behind."""
    axis = "self time; pale: with nested regions"
    return ranked(table, "self_us", ax, top=top, noun="region", axis=axis, names="region", behind="wall_us")


def regions_by_step(table: pd.DataFrame, *, most: int = 48, top: int = 6, ax: Axes | None = None) -> Axes:
    """Columns of the first `most` steps, stacked from the self time of the `top` regions and of the rest.

    `table` has the columns `step`, `region` and `self_us`; several rows for a pair are summed.
    """
    names = [literal(name) for name in table["region"]]
    plain = table.assign(region=names)
    grid = plain.pivot_table(index="step", columns="region", values="self_us", aggfunc="sum", fill_value=0.0)
    shown = grid.head(most)
    order = list(shown.sum().sort_values(ascending=False).index)
    kept, rest = order[:top], order[top:]
    parts = [
        Part(str(name), color, shown[name].tolist()) for name, color in zip(kept, PALETTE[: len(kept)], strict=True)
    ]
    if rest:
        parts.append(Part(f"other regions ({len(rest)})", GREY, shown[rest].sum(axis=1).tolist()))
    note = cut_note(len(shown), len(grid), "step", kept="first")
    return stacked(
        Stacks(
            parts=parts,
            places=shown.index.tolist(),
            axis="self time",
            places_axis="step",
            title=f"Regions by step: {note}",
        ),
        ax,
    )
