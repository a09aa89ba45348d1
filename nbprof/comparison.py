"""Two traces, or two parts of one, side by side.

In: two traces. Out: a `Comparison`: tables of what changed, and a sentence that says what takes longer and why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from nbprof import analysis
from nbprof.trace import Trace
from nbprof.view.quantities import MISSING, counted, duration, literal, share, shorten

_NAMED = 3
"""So many rows does the summary name, fewer where these explain `_MOST` of what changed."""
_MOST = 0.8
_LEAST = 0.05
"""What moved by less than this share of the whole's change explains nothing."""


@dataclass(frozen=True, repr=False)
class Comparison:
    """What changed from trace `a` to trace `b`, in tables with the columns of `comparison`, largest change first.

    Tables hold sums over each trace. Of what ran for another number of steps, compare parts:
    `nbprof.compare(a.where(step=[1, 2]), b.where(step=[1, 2]))`.
    """

    a: Trace
    b: Trace

    def operators(self, *, by: str | Sequence[str] = "name", time: str | None = None) -> pd.DataFrame:
        """By operator; `by=("name", "shape")` by shape too, whatever their order.

        `time` is a column of the table `operators`; left out, it is `device_self_us` where both traces have device
        events, else `host_self_us`.
        """
        keys = sorted([by] if isinstance(by, str) else by, key=lambda key: key != "name")  # else in their order
        a, b = (trace.operators(by=keys) for trace in (self.a, self.b))
        on_device = a["device_self_us"].any() and b["device_self_us"].any()
        time = time or ("device_self_us" if on_device else "host_self_us")
        return analysis.compare_tables(a, b, key=keys, time=time)

    def kernels(self) -> pd.DataFrame:
        """By kernel."""
        return analysis.compare_tables(self.a.kernels(), self.b.kernels(), time="total_us")

    def regions(self, *, time: str = "self_us") -> pd.DataFrame:
        """By region and the region around it; `time` is a column of the table `regions`."""
        return analysis.compare_tables(self.a.regions(), self.b.regions(), key=("region", "parent"), time=time)

    def steps(self) -> pd.DataFrame:
        """By place in the order of steps, from 0, whatever their numbers; the time is `wall_us`."""
        a, b = (trace.steps().rename_axis("place").reset_index() for trace in (self.a, self.b))
        return analysis.compare_tables(a, b, key="place", calls=None, time="wall_us")

    def timeline(self) -> pd.DataFrame:
        """By part of the devices' timelines, summed over devices: the differences sum to that of the spans."""
        parts = ("computation_us", "exposed_comm_us", "exposed_memory_us", "idle_us")
        a, b = (_long(trace.timeline(), parts) for trace in (self.a, self.b))
        return analysis.compare_tables(a, b, key="part", calls=None, time="time_us")

    @property
    def summary(self) -> str:
        """What takes longer or shorter, by how much, and the few rows that explain most of it, all by step."""
        a, b = self.a.steps(), self.b.steps()
        if a.empty or b.empty:
            return "Nothing to compare: a trace without work."
        time_a, time_b = a["wall_us"].mean(), b["wall_us"].mean()
        sentences = [_opening(time_a, time_b, len(a), len(b))]
        parts = [name for name in a.columns if name in _PARTS]
        spent = [_long(table[parts].mean().to_frame().T, parts) for table in (a, b)]
        where = analysis.compare_tables(*spent, key="part", calls=None, time="time_us")
        sentences += _reasons("By what ran", where, time_b - time_a)
        return " ".join([*sentences, *self._rows_behind(len(a), len(b), time_b - time_a)])

    def _rows_behind(self, steps_a: int, steps_b: int, change: float) -> list[str]:
        noun, time, a, b = "kernels", "total_us", self.a.kernels(), self.b.kernels()
        if a.empty or b.empty:
            noun, time, a, b = "operators", "host_self_us", self.a.operators(), self.b.operators()
        by_step = [table.assign(by_step_us=table[time] / steps) for table, steps in ((a, steps_a), (b, steps_b))]
        return _reasons(f"By {noun}", analysis.compare_tables(*by_step, time="by_step_us"), change)

    def __repr__(self) -> str:
        return f"<nbprof.Comparison: {self.summary}>"


_PARTS = {
    "kernel_us": "computation kernels",
    "communication_us": "communication",
    "memcpy_us": "copies",
    "memset_us": "fills",
    "runtime_us": "runtime calls",
    "dataloader_us": "data loading",
    "cpu_op_us": "operators on the host",
    "other_us": "other",
}


def compare(a: Trace, b: Trace) -> Comparison:
    """Two traces, or two parts of one, side by side: `compare(trace.where(step=[1, 2]), trace.where(step=[5, 6]))`.

    Raises TypeError for what is no trace.
    """
    for one in (a, b):
        if not isinstance(one, Trace):
            raise TypeError(
                f"compare takes two traces, not {type(one).__name__}: open files with nbprof.load_trace(path)."
            )
    return Comparison(a, b)


def _long(table: pd.DataFrame, parts: Sequence[str]) -> pd.DataFrame:
    """One row for each part, named in words."""
    long = table.melt(value_vars=list(parts), var_name="part", value_name="time_us")
    words = {part: _PARTS.get(part, part.removesuffix("_us")) for part in parts}
    return long.assign(part=long["part"].map(words).astype("category"))


def _opening(time_a: float, time_b: float, steps_a: int, steps_b: int) -> str:
    times = f"{duration(time_b)} a step ({counted(steps_b, 'step')}), a {duration(time_a)} ({counted(steps_a, 'step')})"
    if time_a == time_b:
        return f"b takes {times}: no change."
    change = share(abs(time_b / time_a - 1)) if time_a else MISSING
    return f"b takes {times}: {change} {'longer' if time_b > time_a else 'less'}."


def _reasons(label: str, table: pd.DataFrame, change: float) -> list[str]:
    """The largest rows that moved the way the whole did."""
    same_way = table["difference_us"] * change > _LEAST * change**2
    moved = table[same_way].head(_NAMED)
    enough = moved["explains"].cumsum().shift(fill_value=0.0) < _MOST
    named = [
        f"{shorten(literal(name), 60)} {_signed(difference)}"
        for name, difference in zip(moved["name"][enough], moved["difference_us"][enough], strict=True)
    ]
    return [f"{label}: {', '.join(named)}."] if named else []


def _signed(microseconds: float) -> str:
    return ("+" if microseconds > 0 else "-") + duration(abs(microseconds))
