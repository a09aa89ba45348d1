"""What each device event, and each moment of a thread, had to wait for.

In: events and their call tree. Out: row positions, and the places at which a thread's past lies elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from nbprof import intervals
from nbprof.analysis.activity import is_blocking
from nbprof.analysis.idle import LAUNCH_LATENCY_NS
from nbprof.structure.backward import backward
from nbprof.structure.calltree import CallTree
from nbprof.structure.masks import Integers, value_mask
from nbprof.structure.nesting import outer_first
from nbprof.structure.stretches import Stretches

LONG_AGO = -(2**62)
"""Before all times."""


@dataclass(frozen=True)
class Arrivals:
    """Moments, in order of time, at which a thread went on because of something elsewhere.

    `causes` are rows of device events that blocking `calls` waited for, or, where `calls` is -1, threads whose work
    came before; `since` is when that was done.
    """

    moments: Integers
    since: Integers
    causes: Integers
    calls: Integers


def device_lanes(events: pd.DataFrame, tree: CallTree) -> tuple[Integers, Integers]:
    """Rows of the device events by stream and start, and the number of the device and stream of each."""
    rows = np.flatnonzero(tree.device & tree.times.known)
    lanes = events[["device", "stream"]].iloc[rows].groupby(["device", "stream"], dropna=False).ngroup()
    numbers = np.asarray(lanes, np.int64)
    order = outer_first(numbers, tree.times.starts[rows], tree.times.ends[rows])
    return rows[order], numbers[order]


def device_causes(rows: Integers, lanes: Integers, tree: CallTree) -> Integers:
    """What each device event had to wait for: the row of a device event or a launch; -1 where the trace has none.

    `rows` and `lanes` are the device events by stream and start. The cause is the event of its stream that ended last
    before it, or, where the stream was free when it was launched, the launch. If it began more than 30 us after both,
    it waited for another stream: for the event that ended last.
    """
    starts, ends = tree.times.starts[rows], tree.times.ends[rows]
    launch = tree.launch[rows]
    is_launched = (launch >= 0) & tree.times.known[launch] & (tree.times.starts[launch] <= starts)
    place = np.arange(len(rows))
    reach = pd.Series(ends).groupby(lanes).cummax().to_numpy()
    latest = np.maximum.accumulate(np.where(ends == reach, place, 0))
    prior = np.where(np.diff(lanes, prepend=-1) == 0, np.append(0, latest)[place], -1)
    free = np.where(prior >= 0, np.minimum(ends[prior], starts), LONG_AGO)
    queued = np.where(is_launched, np.minimum(tree.times.ends[launch], starts), LONG_AGO)
    ready = np.maximum(free, queued)
    last = _ended_last(rows, starts, tree)
    elsewhere = (last >= 0) & (tree.times.starts[last] < starts)
    elsewhere &= (tree.times.ends[last] > ready) & (starts - ready > LAUNCH_LATENCY_NS)
    launched_late = is_launched & (tree.times.starts[launch] >= free)
    causes = np.full(len(tree.device), -1, np.int64)
    causes[rows] = np.select([elsewhere, launched_late, prior >= 0], [last, launch, np.append(rows, -1)[prior]], -1)
    return causes


def arrivals(events: pd.DataFrame, tree: CallTree, line: Stretches, threads: Integers) -> dict[int, Arrivals]:
    """Of each thread: ends of calls that waited for the device, and ends of pauses in which a thread worked for it.

    A thread works for another where it runs the backward of operators that the other ran, and the other way round.
    """
    calls, causes = _waited(events, tree)
    links = backward(events, tree)
    frames = links.frames[links.forward[links.frames] >= 0]
    pairs = np.unique(np.stack((threads[frames], threads[links.forward[frames]])), axis=1)
    found = {}
    for thread in np.unique(threads).tolist():
        here = threads[calls] == thread
        partners = np.concatenate((pairs[0][pairs[1] == thread], pairs[1][pairs[0] == thread]))
        moments, since, others = _handed_over(line, thread, partners)
        columns = (
            np.append(tree.times.ends[calls[here]], moments),
            np.append(tree.times.ends[causes[here]], since),
            np.append(causes[here], others),
            np.append(calls[here], np.full(len(moments), -1)),
        )
        order = np.argsort(columns[0], kind="stable")
        found[thread] = Arrivals(*(column[order] for column in columns))
    return found


def _ended_last(rows: Integers, at: Integers, tree: CallTree) -> Integers:
    """Of the rows the one that ended last before each time, or at it; -1 where none has."""
    rows = rows[np.argsort(tree.times.ends[rows], kind="stable")]
    return np.append(rows, -1)[np.searchsorted(tree.times.ends[rows], at, side="right") - 1]


def _waited(events: pd.DataFrame, tree: CallTree) -> tuple[Integers, Integers]:
    """Blocking calls during which the device event ended that they waited for, and that event.

    It is the one that ended last before they returned, on their stream where the trace says which.
    """
    calls = np.flatnonzero(is_blocking(events) & tree.times.known)
    rows = np.flatnonzero(tree.device & tree.times.known)
    streams = events["stream"].to_numpy(dtype="int64", na_value=-1)
    waited_for = _streams_waited_for(events, calls)
    causes = np.full(len(calls), -1, np.int64)
    for stream in np.unique(waited_for):
        of_stream = rows[streams[rows] == stream]
        here = waited_for == stream
        causes[here] = _ended_last(of_stream if len(of_stream) else rows, tree.times.ends[calls[here]], tree)
    when = tree.times
    waited = (causes >= 0) & (when.ends[causes] > when.starts[calls]) & (when.starts[causes] < when.ends[calls])
    return calls[waited], causes[waited]


def _streams_waited_for(events: pd.DataFrame, calls: Integers) -> Integers:
    """The stream of each call, or of the `cuda_sync` row with its correlation id; -1 for all streams."""
    syncs = events[value_mask(events["category"], {"cuda_sync"})].drop_duplicates("correlation")
    known = syncs.set_index("correlation")["stream"]
    streams = events["stream"].iloc[calls]
    streams = streams.fillna(events["correlation"].iloc[calls].map(known))
    return streams.to_numpy(dtype="int64", na_value=-1)


def _handed_over(line: Stretches, thread: int, partners: Integers) -> tuple[Integers, Integers, Integers]:
    """Ends of pauses of a thread (and its begin) in which a partner worked, when it last did, and which it is."""
    own = line.of_thread(thread)
    paused = np.flatnonzero(line.rows[own] < 0)
    begin = line.starts[own][:1]  # none for a thread on which nothing lasts
    ends = np.append(begin, line.ends[own][paused])
    since = np.append(np.full(len(begin), LONG_AGO), line.starts[own][paused])
    latest, others = since.copy(), np.full(len(ends), -1, np.int64)
    for other in partners[partners != thread].tolist():
        theirs = line.of_thread(other)
        busy = line.rows[theirs] >= 0
        works = intervals.union((line.starts[theirs][busy], line.ends[theirs][busy]))
        begun = np.searchsorted(works[0], ends, side="left") - 1
        until = np.where(begun >= 0, np.minimum(np.append(works[1], 0)[begun], ends), LONG_AGO)
        later = until > latest
        latest, others = np.where(later, until, latest), np.where(later, other, others)
    return ends[others >= 0], latest[others >= 0], others[others >= 0]
