"""The table `comparison` -> what became slower and what faster.

In: comparison. Out: Axes with one bar a name, to the right where b takes longer, to the left where it takes less.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from nbprof.view.charts.bars import Numbers, note_width
from nbprof.view.charts.canvas import BLUE, INK, ORANGE, ROW, axes, drawable, fit, label, look, nothing, range_ticks
from nbprof.view.quantities import counted, cut_note, duration, is_missing, literal, unit_for


def comparison(table: pd.DataFrame, *, top: int = 20, ax: Axes | None = None) -> Axes:
    """Bars of the `top` names by how far `difference_us` is from zero, from what b loses most to what it gains most.

    What has not changed is left out. Hatched: only one of the two has it.
    """
    furthest = table["difference_us"].abs().nlargest(top).loc[lambda change: change > 0].index
    shown = table.loc[furthest].sort_values("difference_us", ascending=False, kind="stable")
    differences = shown["difference_us"].to_numpy(np.float64)
    title = cut_note(len(shown), len(table), "name")
    own = ax is None
    with look():
        ax = axes(ax, 0.76 + ROW * max(len(shown), 1))
        if not len(shown):
            return nothing(
                ax, f"{counted(len(table), 'name')}: {'nothing has changed' if len(table) else 'nothing to draw'}"
            )
        _draw(ax, shown, differences)
        ax.set_yticks(range(len(shown)), [label(name) for name in shown["name"]], parse_math=False)
        ax.tick_params(axis="y", length=0, labelcolor=INK)
        ax.set_ylim(len(shown) - 0.45, -0.55)
        ax.set_title(drawable(title))
        if own:
            fit(ax, ax.get_yticklabels())
        _scale(ax, differences, _write_notes(ax, shown, differences))
    return ax


def _draw(ax: Axes, shown: pd.DataFrame, differences: Numbers) -> None:
    colors = np.where(differences > 0, ORANGE, BLUE).tolist()
    bars = ax.barh(range(len(shown)), differences, height=0.72, color=colors, linewidth=0)
    for bar, name, only in zip(bars, shown["name"], shown["only_in"], strict=True):
        bar.set_gid(literal(name))
        if not pd.isna(only):
            bar.set_hatch("////")
    ax.axvline(0, color=INK, linewidth=0.6)


def _write_notes(ax: Axes, shown: pd.DataFrame, differences: Numbers) -> list[str]:
    """What each bar says, across zero from it, where the bar itself takes no room."""
    notes = []
    for place, (difference, ratio, only) in enumerate(zip(differences, shown["ratio"], shown["only_in"], strict=True)):
        sign = "+" if difference > 0 else "−" if difference < 0 else ""
        times = "" if is_missing(ratio) else f", ×{ratio:.3g}"
        notes.append(f" {sign}{duration(abs(difference))}{times if pd.isna(only) else f', only in {only}'} ")
        side = "left" if difference < 0 else "right"
        ax.text(0, place, notes[-1], va="center", ha=side, fontsize=8, parse_math=False)
    return notes


def _scale(ax: Axes, differences: Numbers, notes: Sequence[str]) -> None:
    """Limits that hold the bars and, across zero from them, their notes."""
    low, high = max(-differences.min(), 0.0), max(differences.max(), 0.0)
    room = min(note_width(ax, notes), 0.45)
    left, right = room * bool((differences >= 0).any()), room * bool((differences < 0).any())
    # On each side the longer of bar and note; notes take a part of the whole width.
    width = max(low + high, high / (1 - left), low / (1 - right)) or 1.0
    start = max(low, left * width)
    unit = unit_for(max(high, low))
    range_ticks(ax, -low, high, unit.microseconds)
    ax.set_xlim(-start, width - start)
    ax.set_xlabel(f"difference, b less a, {unit.label}; hatched: only in one")
