"""Lanes: rows of their own, in a written trace, for what viewers would not show on its thread.

In: events that are to be written, or what a file says of its lanes. Out: events on lanes, or their words back on their
threads. Viewers draw a thread as a stack: Perfetto drops a call that outlives, if by a nanosecond, what it starts in; and
it takes threads whose number doesn't fit 32 bits (torch writes negative ones) for the main thread of their process.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias

import msgspec
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nbprof.reader.entries import Scalar
from nbprof.reader.kinds import Kind, categorical
from nbprof.reader.labels import thread_of, threads_at, threads_in
from nbprof.reader.numbers import integer
from nbprof.structure.flows import FlowEnds
from nbprof.structure.masks import Integers
from nbprof.structure.nesting import crossing_stretches
from nbprof.structure.threads import thread_codes
from nbprof.structure.times import Times

LANES_KEY = "nbprofLanes"
"""Key of a trace file: a list of [pid, tid of the lane, tid of the thread that it belongs to]."""

_MOST = 200
"""Lanes of a thread; what fits on none of them stays where it is."""
_NUMBERS = range(1 << 32)
"""Numbers of processes and threads that Perfetto takes."""

Threads: TypeAlias = Mapping[tuple[Scalar, Scalar], Scalar]
"""(pid, tid of a lane) -> tid of its thread."""


@dataclass(frozen=True)
class Lane:
    """A lane of a thread, by the pid and tids that stand in the file.

    `number` is 1 for a thread that is on a lane for its own number, else 2, 3, ...
    """

    pid: Scalar
    tid: int
    thread: Scalar
    number: int


def laid_out(
    events: pd.DataFrame, when: Times, ends: FlowEnds, labels: Iterable[Mapping[str, Any]]
) -> tuple[pd.DataFrame, list[Lane]]:
    """`events` with tids of lanes where they need one; the ends of flows go with what they bind to.

    No lane takes a tid that `labels` speak of.
    """
    calls = np.flatnonzero(when.lasting)
    threads = thread_codes(events)
    numbers = np.ones(len(events), np.int64)
    for rows in crossing_stretches(threads[calls], when.starts[calls], when.ends[calls]):
        numbers[calls[rows]] = _lane_numbers(when.starts[calls[rows]], when.ends[calls[rows]])
    bound = ends.bound >= 0
    numbers[ends.rows[bound]] = numbers[ends.bound[bound]]
    unknown = np.array([not (_is_known(pid) and _is_known(tid)) for pid, tid in threads_in(events)], bool)
    moved = np.flatnonzero((numbers > 1) | unknown[threads])
    if not len(moved):
        return events, []
    _, firsts, of_lane = np.unique(
        threads[moved] * (_MOST + 1) + numbers[moved], return_index=True, return_inverse=True
    )
    taken = {*threads_in(events), *map(thread_of, labels)}
    lanes = _named(threads_at(events, moved[firsts]), numbers[moved[firsts]].tolist(), taken)
    words = [*events["tid"].cat.categories, *(str(lane.tid) for lane in lanes)]
    codes = events["tid"].cat.codes.to_numpy().astype(np.int64)
    codes[moved] = len(words) - len(lanes) + of_lane
    return events.assign(tid=categorical(words, codes)), lanes


def _is_known(word: Scalar) -> bool:
    return not isinstance(word, int) or word in _NUMBERS


def _named(
    threads: Iterable[tuple[Scalar, Scalar]], numbers: Iterable[int], taken: Iterable[tuple[Scalar, Scalar]]
) -> list[Lane]:
    """The lane of each thread and number, with the next tid above the thread's own that is free in its process."""

    def process(pid: Scalar) -> Scalar:
        return pid if _is_known(pid) else 0  # which it is to Perfetto

    used = {(process(pid), tid) for pid, tid in taken}
    lanes = []
    for (pid, thread), number in zip(threads, numbers, strict=True):
        own = integer(thread)
        above = count(own + 1 if own in _NUMBERS else 1)
        tid = next(tid for tid in above if (process(pid), tid) not in used)
        used.add((process(pid), tid))
        lanes.append(Lane(pid, tid, thread, number))
    return lanes


def lane_labels(lanes: Iterable[Lane], labels: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """A name for each lane, after its thread's, and a place right below it."""
    said = {(str(label.get("name")), *thread_of(label)): label.get("args") for label in labels}

    def argument(label: str, key: str, lane: Lane) -> Any:
        args = said.get((label, lane.pid, lane.thread))
        return args.get(key) if isinstance(args, dict) else None

    for lane in lanes:
        row = {"ph": "M", "pid": lane.pid, "tid": lane.tid}
        plain = lane.thread if isinstance(lane.thread, str) else f"thread {lane.thread}"
        name = str(argument("thread_name", "name", lane) or plain).strip()
        above = argument("thread_sort_index", "sort_index", lane)
        place = (above if isinstance(above, int | float) else 0) + 1 - 1 / lane.number
        yield row | {
            "name": "thread_name",
            "args": {"name": f"{name} (lane {lane.number})" if lane.number > 1 else name},
        }
        yield row | {"name": "thread_sort_index", "args": {"sort_index": place}}


def lane_key(lanes: Iterable[Lane]) -> list[list[Scalar]]:
    """What stands in the file under `LANES_KEY`."""
    return [[lane.pid, lane.tid, lane.thread] for lane in lanes]


def lanes_in(value: object) -> Threads:
    """What a file says under `LANES_KEY`; nothing where that makes no sense."""
    try:
        rows = msgspec.convert(value, list[tuple[Scalar, Scalar, Scalar]])
    except msgspec.ValidationError:
        return {}
    return {(pid, lane): thread for pid, lane, thread in rows}


def folded(kinds: Iterable[Kind], lanes: Threads) -> list[Kind]:
    """`kinds`, in their order, with the tids of threads in place of lanes."""
    if not lanes:
        return list(kinds)
    return [(*kind[:4], lanes.get((kind[3], kind[4]), kind[4])) for kind in kinds]


def without_lanes(labels: Iterable[dict[str, Any]], lanes: Threads) -> list[dict[str, Any]]:
    """The labels that are of no lane."""
    return [label for label in labels if thread_of(label) not in lanes]


def _lane_numbers(starts: Integers, ends: Integers) -> Integers:
    """The lane of each call, from 1, which is its thread itself; calls come outer first, each takes the first it fits on."""
    numbers = np.ones(len(starts), np.int64)
    rest = np.arange(len(starts))
    for number in range(1, _MOST + 1):
        fits = _nests(starts[rest].tolist(), ends[rest].tolist())
        numbers[rest[fits]] = number
        rest = rest[~fits]
        if not len(rest):
            break
    return numbers


def _nests(starts: Sequence[int], ends: Sequence[int]) -> NDArray[np.bool_]:
    """Which calls nest when those that don't are taken away.

    A loop over the calls of a thread that has such, since each one's place depends on what is open before it.
    """
    fits = []
    stack: list[int] = []
    for start, end in zip(starts, ends, strict=True):
        while stack and stack[-1] <= start:
            stack.pop()
        fits.append(not stack or end <= stack[-1])
        if fits[-1]:
            stack.append(end)
    return np.array(fits, bool)
