"""When devices had nothing to do, and why.

In: events. Out: the tables `idle` and `idle_summary`.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from nbprof import intervals
from nbprof.analysis.gaps import gaps_between
from nbprof.analysis.host_activity import host_activity
from nbprof.analysis.steps import own_windows, step_windows
from nbprof.intervals import Intervals
from nbprof.schema import conform
from nbprof.structure.calltree import CallTree, call_tree
from nbprof.structure.masks import Integers
from nbprof.structure.times import microseconds

IdleKey: TypeAlias = Literal["device", "stream", "step"]

LAUNCH_LATENCY_NS = 30_000
"""A device that has its next event in the queue begins it sooner than this, unless it waits for something else."""
REASONS = ("host", "launch_latency", "dependency", "unknown", "head", "tail")
_HOST, _LAUNCH_LATENCY, _DEPENDENCY, _UNKNOWN, _HEAD, _TAIL = range(len(REASONS))
_LANES: dict[str, list[str]] = {"device": ["device"], "stream": ["device", "stream"], "step": ["device"]}


def idle(events: pd.DataFrame, *, tree: CallTree | None = None, by: IdleKey = "device") -> pd.DataFrame:
    """One row a gap: time between two events of a device in which none of its streams runs anything.

    A gap ends where an event begins and all before it have ended; the gaps of a device sum to its `idle_us` in
    `timeline`. The reason depends on the event that ends the gap (`after`): `host` when it was launched after the gap
    began, `launch_latency` when it was queued already and the gap is shorter than 30 us, `dependency` when it was
    queued and the gap is longer, `unknown` when its launch isn't in the trace. Where the launch came after the gap's
    start, `host_activity` is what took the largest part of it on the launching thread: the innermost operator, a call
    that waits for the device, `data loading`, or `python` where nothing was recorded.

    `by="stream"` gives the gaps of each stream (column `stream`). `by="step"` gives what is idle in each step's own
    window (column `step`): a gap that reaches its start is cut there and is the step's `head`, one that reaches its
    end the `tail`; where the device does nothing in a step, all of it is head. On a single device they sum to the
    step's `wall_us` less the time of kernels, communication, copies and fills.
    """
    if by not in _LANES:
        raise ValueError(f"by is 'device', 'stream' or 'step', not {by!r}")
    tree = call_tree(events) if tree is None else tree
    gaps = _gaps(events, tree, _LANES[by])
    if by == "step":
        windows = step_windows(events, tree)
        gaps = _in_windows(gaps, own_windows(windows, tree))
        return _table(events, tree, gaps).assign(step=windows.numbers[gaps["window"]])
    gaps = _inner(gaps)
    table = _table(events, tree, gaps)
    return table.assign(stream=events["stream"].iloc[gaps["after"]].array) if by == "stream" else table


def idle_summary(events: pd.DataFrame, *, tree: CallTree | None = None) -> pd.DataFrame:
    """One row a device and reason, the largest of each device first; `share` is of the device's idle time."""
    tree = call_tree(events) if tree is None else tree
    gaps = _inner(_gaps(events, tree, _LANES["device"]))
    found = pd.DataFrame(
        {
            "device": events["device"].iloc[gaps["after"]].array,
            "reason": _reasons(tree, gaps)[0],
            "dur_us": microseconds((gaps["end"] - gaps["start"]).to_numpy()),
        }
    )
    groups = found.groupby(["device", "reason"], observed=True, dropna=False)["dur_us"]
    table = groups.agg(gaps="size", total_us="sum", mean_us="mean").reset_index()
    whole = table.groupby("device", dropna=False)["total_us"].transform("sum")
    table = table.assign(share=table["total_us"] / whole)
    return conform(
        table.sort_values(["device", "total_us"], ascending=[True, False], ignore_index=True), "idle_summary"
    )


def _gaps(events: pd.DataFrame, tree: CallTree, lane: list[str]) -> pd.DataFrame:
    rows = np.flatnonzero(tree.device & tree.times.known)
    lanes = np.asarray(events[lane].iloc[rows].groupby(lane, dropna=False).ngroup(), np.int64)
    return gaps_between(rows, lanes, tree.times)


def _inner(gaps: pd.DataFrame) -> pd.DataFrame:
    """Those between two events."""
    return gaps[(gaps["before"] >= 0) & (gaps["after"] >= 0)].assign(edge=-1)


def _in_windows(gaps: pd.DataFrame, windows: Intervals) -> pd.DataFrame:
    """What of the gaps of each lane lies in the windows; `window` is its place, `edge` the reason at its bounds."""
    places = np.flatnonzero(windows[1] > windows[0])
    windows = windows[0][places], windows[1][places]
    found = []
    for _, lane in gaps.groupby("lane"):
        whole = lane["start"].to_numpy(), lane["end"].to_numpy()
        start, end = intervals.intersect(windows, whole)
        window = intervals.locate(windows, start)
        edge = np.select([start == windows[0][window], end == windows[1][window]], [_HEAD, _TAIL], -1)
        pieces = lane.iloc[intervals.locate(whole, start)]
        found.append(pieces.assign(start=start, end=end, window=places[window], edge=edge))
    return pd.concat(found) if found else gaps.assign(window=0, edge=-1)


def _reasons(tree: CallTree, gaps: pd.DataFrame) -> tuple[pd.Categorical[str], Integers]:
    """The reason of each gap, and the launch that came after it had begun, or -1."""
    start, end, after, edge = (gaps[name].to_numpy() for name in ("start", "end", "after", "edge"))
    launch = np.append(tree.launch, -1)[after]  # no event, -1, reads the last entry
    late = (launch >= 0) & (np.append(tree.times.starts, 0)[launch] > start)
    codes = np.select(
        [edge >= 0, launch < 0, late, end - start < LAUNCH_LATENCY_NS],
        [edge, _UNKNOWN, _HOST, _LAUNCH_LATENCY],
        _DEPENDENCY,
    )
    return pd.Categorical.from_codes(codes, categories=pd.Index(REASONS)), np.where(late, launch, -1)


def _table(events: pd.DataFrame, tree: CallTree, gaps: pd.DataFrame) -> pd.DataFrame:
    start, end, before, after = (gaps[name].to_numpy() for name in ("start", "end", "before", "after"))
    reasons, late = _reasons(tree, gaps)
    names, codes = events["name"].cat.categories, np.append(events["name"].cat.codes.to_numpy(), -1)
    table = pd.DataFrame(
        {
            "device": events["device"].iloc[np.maximum(before, after)].array,
            "start_us": microseconds(start),
            "dur_us": microseconds(end - start),
            "reason": reasons,
            "host_activity": host_activity(events, tree, late, (start, end)),
            "before": pd.Categorical.from_codes(codes[before], categories=names),
            "after": pd.Categorical.from_codes(codes[after], categories=names),
        }
    )
    return conform(table, "idle")
