"""From the call that launches to the device event that it launched, and how many wait between the two.

In: events. Out: the tables `launches` and `queue_depth`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbprof.schema import conform
from nbprof.structure.calltree import CallTree, call_tree
from nbprof.structure.masks import Integers, Mask
from nbprof.structure.times import microseconds

_STREAM = ["device", "stream"]


def launches(events: pd.DataFrame, *, tree: CallTree | None = None) -> pd.DataFrame:
    """One row a device event whose launch is in the trace, by the start of the launch.

    A launch is the runtime or driver call with the device event's correlation id; the call that launches a graph has a
    row for each of the graph's events. `delay_us` = max(0, start of the device event - end of the call). `queue_depth`
    is what `queue_depth` says of the stream when the call has begun. Times of a call without a duration are NA.
    """
    tree = call_tree(events) if tree is None else tree
    rows = _linked(tree)
    rows = rows[np.lexsort((tree.times.starts[rows], tree.times.starts[tree.launch[rows]]))]
    calls = tree.launch[rows]
    known = tree.times.known[calls]
    call_ns, kernel_ns = tree.times.durations[calls], tree.times.durations[rows]
    delay = np.maximum(tree.times.starts[rows] - tree.times.ends[calls], 0)
    table = pd.DataFrame(
        {
            "name": events["name"].iloc[calls].array,
            "kernel": events["name"].iloc[rows].array,
            "correlation": events["correlation"].iloc[rows].array,
            "launch_us": np.where(known, microseconds(call_ns), np.nan),
            "delay_us": np.where(known, microseconds(delay), np.nan),
            "kernel_us": microseconds(kernel_ns),
            "stream": events["stream"].iloc[rows].array,
            "device": events["device"].iloc[rows].array,
            "start_us": microseconds(tree.times.starts[calls]),
            "queue_depth": _depths_at_launch(events, tree, rows),
            "is_short": are_short(tree, rows),
            "kernel_start_us": microseconds(tree.times.starts[rows]),
        }
    )
    return conform(table, "launches")


def are_short(tree: CallTree, rows: Integers) -> Mask:
    """Device events, of those with a launch, that are shorter than the call that launched them and nothing else."""
    calls, when = tree.launch[rows], tree.times
    alone = np.bincount(calls, minlength=len(tree.launch))[calls] == 1
    short: Mask = alone & when.known[calls] & (when.durations[rows] < when.durations[calls])
    return short


def queue_depth(events: pd.DataFrame, *, tree: CallTree | None = None) -> pd.DataFrame:
    """One row a change, by device, stream and time: +1 when a launching call starts, -1 when its device event starts.

    At one time the launches come first. Device events whose launch isn't in the trace count nowhere, and one that
    begins before its launch (clocks that disagree) leaves the queue when it enters it, so that no depth is below 0.
    """
    tree = call_tree(events) if tree is None else tree
    rows = _linked(tree)
    streams = _streams(events, rows)
    entered, left = _waiting(tree, rows)
    changes = pd.DataFrame(
        {
            "group": np.tile(streams, 2),
            "ts": np.concatenate((entered, left)),
            "change": np.repeat([1, -1], len(rows)),
            "row": np.tile(rows, 2),
        }
    ).sort_values(["group", "ts", "change"], ascending=[True, True, False])
    table = pd.DataFrame(
        {
            **{name: events[name].iloc[changes["row"]].array for name in _STREAM},
            "ts_us": microseconds(changes["ts"].to_numpy()),
            "depth": changes.groupby("group")["change"].cumsum().to_numpy(),
        }
    )
    return conform(table, "queue_depth")


def mean_queue_depth(queue: pd.DataFrame) -> pd.Series:
    """Mean depth over time by device and stream, from the first change of a `queue_depth` table to the last."""
    keys = [queue[name] for name in _STREAM]
    lasting = -queue.groupby(_STREAM, dropna=False)["ts_us"].diff(-1)
    sums = pd.DataFrame({"depth": queue["depth"] * lasting, "time": lasting}).groupby(keys, dropna=False).sum()
    return (sums["depth"] / sums["time"]).rename("mean_depth")


def _linked(tree: CallTree) -> Integers:
    return np.flatnonzero(tree.device & tree.times.known & (tree.launch >= 0))


def _streams(events: pd.DataFrame, rows: Integers) -> Integers:
    return np.asarray(events[_STREAM].iloc[rows].groupby(_STREAM, dropna=False).ngroup(), np.int64)


def _waiting(tree: CallTree, rows: Integers) -> tuple[Integers, Integers]:
    """When each device event enters its queue and leaves it."""
    entered = tree.times.starts[tree.launch[rows]]
    return entered, np.maximum(tree.times.starts[rows], entered)


def _depths_at_launch(events: pd.DataFrame, tree: CallTree, rows: Integers) -> Integers:
    """Launches of the stream so far, these included, less its device events that have started before."""
    streams = _streams(events, rows)
    entered, left = _waiting(tree, rows)
    depths = np.zeros(len(rows), np.int64)
    for stream in np.unique(streams):
        here = np.flatnonzero(streams == stream)
        at, gone = np.sort(entered[here]), np.sort(left[here])
        depths[here] = np.searchsorted(at, entered[here], side="right") - np.searchsorted(gone, entered[here])
    return depths
