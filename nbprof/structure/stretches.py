"""What is going on on each thread at every moment: the innermost row that is open.

In: rows and the row around each. Out: `Stretches` of time, and how long each row was the innermost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nbprof.structure.masks import Integers
from nbprof.structure.nesting import outer_first
from nbprof.structure.times import Times


@dataclass(frozen=True)
class Stretches:
    """Pieces of time by thread and start, without holes from a thread's first start to its last end.

    `rows` says which row is the innermost that is open meanwhile, -1 where none is.
    """

    threads: Integers
    starts: Integers
    ends: Integers
    rows: Integers

    def of_thread(self, thread: int) -> slice:
        """Where those of one thread stand."""
        return slice(*np.searchsorted(self.threads, [thread, thread + 1]))

    def own_times(self, count: int) -> Integers:
        """For each of `count` rows how long it was the innermost: its duration less what is inside it.

        The sum is the time that the rows cover on their threads, also where some cross.
        """
        own = np.zeros(count + 1, np.int64)  # the row -1 adds to the last entry
        np.add.at(own, self.rows, self.ends - self.starts)
        return own[:-1]


def stretches(rows: Integers, parent: Integers, threads: Integers, when: Times) -> Stretches:
    """The stretches of all threads; `parent` says which of the rows is around each, or -1."""
    rows = rows[outer_first(threads[rows], when.starts[rows], when.ends[rows])]
    pieces = [(np.empty(0, np.int64),) * 4]
    for thread in np.unique(threads[rows]):
        here = rows[slice(*np.searchsorted(threads[rows], [thread, thread + 1]))]
        bounds = np.sort(np.concatenate((when.starts[here], when.ends[here])))
        bounds = bounds[np.append(True, np.diff(bounds) > 0)]
        found = _innermost(here, bounds[:-1], parent, when)
        pieces.append((np.full(len(found), thread), bounds[:-1], bounds[1:], found))
    return Stretches(*(np.concatenate(column) for column in zip(*pieces, strict=True)))


def _innermost(rows: Integers, at: Integers, parent: Integers, when: Times) -> Integers:
    """The latest started of the rows at each time, or, where it has ended, the nearest around it that has not."""
    found = rows[np.searchsorted(when.starts[rows], at, side="right") - 1]
    ended = np.flatnonzero(when.ends[found] <= at)
    while len(ended):
        found[ended] = parent[found[ended]]
        ended = ended[(found[ended] >= 0) & (when.ends[found[ended]] <= at[ended])]
    return found
