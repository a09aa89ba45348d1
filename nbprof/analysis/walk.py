"""The walk back in time from one row to what it waited for, and on.

In: what each device event and each moment of a thread waited for. Out: `Parts` of the path, in order of time.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from nbprof.analysis.dependencies import LONG_AGO, Arrivals
from nbprof.structure.masks import Integers
from nbprof.structure.stretches import Stretches


class Step(IntEnum):
    """Why something is on the path: a device event, its launch, a thread, a call that waited, nothing but waiting."""

    DEVICE = 0
    LAUNCH = 1
    THREAD = 2
    SYNC = 3
    WAIT = 4


@dataclass(frozen=True)
class Parts:
    """Rows of the path (-1 where none is open), their times and steps; the thread of what lies on one, else -1."""

    rows: Integers
    starts: Integers
    ends: Integers
    steps: Integers
    threads: Integers


@dataclass
class Walk:
    """Steps from the latest to the earliest: row, start, end, `Step`; one along a thread has its number for a row.

    Lists, not arrays: their items are looked up one by one.
    """

    starts: list[int]
    ends: list[int]
    is_device: list[bool]
    causes: list[int]
    steps: list[tuple[int, int, int, int]] = field(default_factory=list)

    def back_from(self, row: int, threads: Integers, arrived: dict[int, Arrivals]) -> None:
        """All steps to the beginning: a loop over the parts of the path, since each depends on the one after it.

        Every turn lies further back in time, or at the same time before in the order of its stream.
        """
        at, thread = self.ends[row], int(threads[row])
        while row >= 0:
            if self.is_device[row]:
                row = self._to_launch(row, at)
                if row < 0:
                    return
                at, thread = self.starts[row], int(threads[row])
            row, at = self._to_device(thread, at, arrived)

    def _to_launch(self, row: int, at: int) -> int:
        """Along device events to the launch that the first of them waited for; -1 where there is none."""
        while row >= 0 and self.is_device[row]:
            begin = self.starts[row]
            self.steps.append((row, begin, at, Step.DEVICE))
            row = self.causes[row]
            if row >= 0:
                at = min(self.ends[row], begin)
                self.steps.append((-1, at, begin, Step.WAIT))
        if row >= 0:
            self.steps.append((row, self.starts[row], at, Step.LAUNCH))
        return row

    def _to_device(self, thread: int, at: int, arrived: dict[int, Arrivals]) -> tuple[int, int]:
        """Along threads to what the first call on the way waited for, a device event and its end; -1 where none did."""
        while (place := bisect_right(arrived[thread].moments, at) - 1) >= 0:
            here = arrived[thread]
            moment, since, cause, call = (
                int(of_all[place]) for of_all in (here.moments, here.since, here.causes, here.calls)
            )
            self.steps.append((thread, moment, at, Step.THREAD))
            self.steps.append((call, since, moment, Step.SYNC if call >= 0 else Step.WAIT))
            if call >= 0:
                return cause, since
            thread, at = cause, since
        self.steps.append((thread, LONG_AGO, at, Step.THREAD))
        return -1, at


def along_threads(steps: list[tuple[int, int, int, int]], line: Stretches) -> Parts:
    """The steps by time, those along a thread cut where another row becomes the innermost; none is empty."""
    table = np.array(steps[::-1], np.int64).reshape(-1, 4).T
    table = np.concatenate((table, np.full((1, table.shape[1]), -1)))
    pieces, done = [], 0
    for place in np.flatnonzero(table[3] == Step.THREAD).tolist():  # as many as there are waits on the path
        thread, start, end, _ = steps[-1 - place]
        pieces += [table[:, done:place], _along_thread(thread, start, end, line)]
        done = place + 1
    parts = np.concatenate([*pieces, table[:, done:]], axis=1)
    return Parts(*parts[:, parts[2] > parts[1]])


def _along_thread(thread: int, start: int, end: int, line: Stretches) -> Integers:
    own = line.of_thread(thread)
    first = own.start + np.searchsorted(line.ends[own], start, side="right")
    last = own.start + np.searchsorted(line.starts[own], end, side="left")
    piece = np.empty((5, last - first), np.int64)
    piece[0] = line.rows[first:last]
    piece[1] = np.maximum(line.starts[first:last], start)
    piece[2] = np.minimum(line.ends[first:last], end)
    piece[3] = Step.THREAD
    piece[4] = thread
    return piece
