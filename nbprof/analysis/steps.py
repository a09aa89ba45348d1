"""Where the time of each step went.

In: events. Out: the table `steps`, and the windows it rests on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from nbprof import intervals
from nbprof.analysis.activity import activities, union_of
from nbprof.intervals import Intervals
from nbprof.schema import conform, empty
from nbprof.structure.calltree import CallTree, call_tree
from nbprof.structure.coverage import covered
from nbprof.structure.masks import Integers
from nbprof.structure.openings import step_markers, working_rows
from nbprof.structure.times import microseconds


@dataclass(frozen=True)
class StepWindows:
    """Host windows of the steps, in order of time, and their numbers."""

    numbers: Integers
    starts: Integers
    ends: Integers

    def at(self, times: Integers) -> Integers:
        """Place of the window that holds each time (of several the last begun), or -1."""
        place = np.searchsorted(self.starts, times, side="right") - 1
        inside = (place >= 0) & (times < np.append(self.ends, 0)[place])
        return np.where(inside, place, -1)


def steps(events: pd.DataFrame, *, tree: CallTree | None = None) -> pd.DataFrame:
    """One row a step; its parts sum to `wall_us` to the nanosecond.

    Steps are the `ProfilerStep#N` windows on the host, or, where there are none, one for each outermost region entry,
    or the whole span as step 0. A step's own window reaches from max(its host start, the end of the step before) to
    max(its host end, the end of the last device event launched inside it). Its parts divide that window by what runs
    in it, in this order: computation kernels, communication, copies, fills, runtime calls, data loading, operators,
    the rest. `device_busy_us` is the union of the device events launched inside the host window, not clipped.
    """
    tree = call_tree(events) if tree is None else tree
    windows = step_windows(events, tree)
    count = len(windows.numbers)
    if not count:
        return empty("steps")
    launched, step = launched_in(windows, tree)
    starts, ends = tree.times.starts[launched], tree.times.ends[launched]
    own = own_windows(windows, tree)
    parts = _parts(events, tree, own)
    table = pd.DataFrame(
        {
            "step": windows.numbers,
            "start_us": microseconds(own[0]),
            "host_wall_us": microseconds(windows.ends - windows.starts),
            "wall_us": microseconds(own[1] - own[0]),
            **{f"{kind}_us": microseconds(length) for kind, length in parts.items()},
            "device_busy_us": microseconds(covered(step, starts, ends, count)),
        }
    )
    return conform(table, "steps")


def step_windows(events: pd.DataFrame, tree: CallTree) -> StepWindows:
    """The windows that `steps` divides."""
    numbers, rows = step_markers(events, tree.times, tree.markers[tree.entry[tree.markers] < 0])
    if len(rows):
        return StepWindows(numbers, tree.times.starts[rows], tree.times.ends[rows])
    work = working_rows(events, tree.times)
    if not work.any():
        return StepWindows(*np.empty((3, 0), np.int64))
    return StepWindows(np.zeros(1, np.int64), tree.times.starts[work].min()[None], tree.times.ends[work].max()[None])


def launched_in(windows: StepWindows, tree: CallTree) -> tuple[Integers, Integers]:
    """The device events launched in a step, and for each the place of that step among the windows."""
    launched = np.flatnonzero(tree.device & (tree.launch >= 0))
    step = windows.at(tree.times.starts[tree.launch[launched]])
    return launched[step >= 0], step[step >= 0]


def own_windows(windows: StepWindows, tree: CallTree) -> Intervals:
    """From where each step has the devices to itself to the end of the last device event that it launched.

    The windows are in order of time and don't overlap; where one step ends before another is done, it is empty.
    """
    ends = windows.ends.copy()
    launched, step = launched_in(windows, tree)
    np.maximum.at(ends, step, tree.times.ends[launched])
    before = np.concatenate(([tree.busy_until], np.maximum.accumulate(ends)[:-1]))
    starts = np.maximum(windows.starts, before[: len(ends)])
    return starts, np.maximum(ends, starts)


def _parts(events: pd.DataFrame, tree: CallTree, own: Intervals) -> dict[str, Integers]:
    taken = intervals.none()
    parts = {}
    for kind, mask in activities(events, tree).items():
        running = union_of(tree, mask)
        parts[kind] = intervals.overlap(intervals.subtract(running, taken), own)
        taken = intervals.union((np.concatenate((taken[0], running[0])), np.concatenate((taken[1], running[1]))))
    return parts | {"other": own[1] - own[0] - sum(parts.values())}
