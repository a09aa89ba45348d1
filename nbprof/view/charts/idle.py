"""The tables `idle_summary` and `idle` -> why the devices were idle, and when for longest.

In: idle_summary with timeline, or idle. Out: Axes with a staircase from span to busy, or one bar a gap.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from nbprof.view.charts.bars import Bars, horizontal
from nbprof.view.charts.canvas import GREEN, GREY, INDIGO, INK, ORANGE, ROSE, SAND, SKY, label
from nbprof.view.quantities import counted, cut_note, duration, literal, share

COLORS = {
    "host": ORANGE,
    "launch_latency": SAND,
    "dependency": INDIGO,
    "unknown": GREY,
    "head": SKY,
    "tail": ROSE,
}


def idle(table: pd.DataFrame, timeline: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """A staircase of `idle_summary`: from the devices' span down to the time they were busy, a step for each reason.

    The bars are sums over the devices of `timeline`.
    """
    span, busy = float(timeline["span_us"].sum()), float(timeline["busy_us"].sum())
    if not span:
        return horizontal(Bars([], [], [], "", "Idle time of 0 devices"), ax)
    totals = table.groupby("reason", observed=True)["total_us"].sum().sort_values(ascending=False, kind="stable")
    reasons = [str(reason) for reason in totals.index]
    times = [span, *(float(total) for total in totals), busy]
    left = span - totals.cumsum()
    devices = counted(len(timeline), "device")
    return horizontal(
        Bars(
            names=["span", *(f"idle: {_words(reason)}" for reason in reasons), "busy"],
            times=times,
            notes=[duration(span), *(f"{duration(time)}, {share(time / span)}" for time in times[1:])],
            axis="time from the first to the last device event",
            title=f"{devices}, idle {share(1 - busy / span)} of the span",
            starts=[0.0, *(float(start) for start in left), 0.0],
        ),
        ax,
        color=[INK, *(COLORS.get(reason, GREY) for reason in reasons), GREEN],
    )


def idle_gaps(table: pd.DataFrame, *, top: int = 20, ax: Axes | None = None) -> Axes:
    """Bars of the `top` longest gaps of `idle`: where each begins, its reason, and what the host did meanwhile."""
    shown = table.nlargest(top, "dur_us")
    several = table["device"].nunique(dropna=False) > 1
    names = [
        f"{f'device {literal(device)}, ' if several else ''}at {start / 1e3:,.3f} ms"
        for device, start in zip(shown["device"], shown["start_us"], strict=True)
    ]
    reasons = [str(reason) for reason in shown["reason"]]
    notes = [
        label(f"{duration(time)}, {_words(reason)}{'' if pd.isna(activity) else f': {activity}'}")
        for time, reason, activity in zip(shown["dur_us"], reasons, shown["host_activity"], strict=True)
    ]
    return horizontal(
        Bars(names, shown["dur_us"].tolist(), notes, "length of the gap", cut_note(len(shown), len(table), "idle gap")),
        ax,
        color=[COLORS.get(reason, GREY) for reason in reasons],
    )


def _words(reason: str) -> str:
    return reason.replace("_", " ")
