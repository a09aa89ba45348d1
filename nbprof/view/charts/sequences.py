"""The table `sequences` -> horizontal bars of the chains of kernels that took longest.

In: sequences. Out: Axes with one bar a chain, the longest at the top.
"""

from __future__ import annotations

import re

import pandas as pd
from matplotlib.axes import Axes

from nbprof.structure.threads import ENGINE_FRAME
from nbprof.view.charts.bars import Bars, horizontal
from nbprof.view.charts.canvas import GREEN
from nbprof.view.quantities import counted, cut_note, duration, literal, share

_AROUND = re.compile(r"^void |\(anonymous namespace\)::|[<(].*")
"""What stands around the bare name of a kernel, but for its namespaces."""


def sequences(table: pd.DataFrame, *, top: int = 20, ax: Axes | None = None) -> Axes:
    """Bars of the `top` chains by summed kernel time, the idle time between their kernels paler behind it.

    Each chain is named by its operator, the number of its kernels and their bare names; its bar's `gid` by all in full.
    """
    shown = table.nlargest(top, "total_us")
    named = list(zip(shown["operator"], shown["kernels"], shown["sequence"], strict=True))
    noted = zip(shown["total_us"], shown["share"], shown["calls"], strict=True)
    bars = Bars(
        names=[
            f"{_bare_operator(operator)} ({count}): {_bare_kernels(sequence)}" for operator, count, sequence in named
        ],
        times=shown["total_us"].tolist(),
        notes=[f"{duration(time)}, {share(part)}, {counted(calls, 'run')}" for time, part, calls in noted],
        axis="device time; pale: idle between kernels",
        title=cut_note(len(shown), len(table), "chain"),
        backs=(shown["total_us"] + shown["gap_us"].fillna(0)).tolist(),
    )
    ax = horizontal(bars, ax, color=GREEN)
    for bar, (operator, _, sequence) in zip(ax.patches[-len(shown) :], named, strict=False):
        bar.set_gid(f"{literal(operator)}: {literal(sequence)}")
    return ax


def _bare_operator(operator: object) -> str:
    return literal(operator).removeprefix(f"{ENGINE_FRAME}: ")


def _bare_kernels(sequence: object) -> str:
    kernels = literal(sequence).split(" -> ")
    return " → ".join(_AROUND.sub("", kernel).rpartition("::")[2].strip() or kernel for kernel in kernels)
