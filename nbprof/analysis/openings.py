"""Which region entry is the innermost one open at a given time.

In: region markers with their threads, times and enclosing markers. Out: positions of markers, -1 where none is open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nbprof.analysis.counted import Times
from nbprof.analysis.nesting import Integers, outer_first


@dataclass(frozen=True)
class Openings:
    """Markers of each thread, outer ones first; `around` says which marker encloses a marker."""

    by_thread: Mapping[int, Integers]
    when: Times
    around: Integers

    @classmethod
    def of(cls, markers: Integers, threads: Integers, when: Times, around: Integers) -> Openings:
        """Openings of the rows `markers`; the other arrays are as long as the events."""
        ordered = markers[outer_first(threads[markers], when.starts[markers], when.ends[markers])]
        by_thread = {int(thread): ordered[threads[ordered] == thread] for thread in np.unique(threads[ordered])}
        return cls(by_thread, when, around)

    def on_thread(self, threads: Integers, at: Integers) -> Integers:
        """For each time the innermost marker open on that thread."""
        found = np.full(len(at), -1, np.int64)
        for thread, markers in self.by_thread.items():
            rows = np.flatnonzero(threads == thread)
            found[rows] = self._innermost(markers, at[rows])
        return found

    def meanwhile(self, pids: NDArray[np.integer], rows: Integers, at: Integers) -> Integers:
        """For each row and time the latest opened of the markers then open on any thread of the row's process."""
        found = np.full(len(at), -1, np.int64)
        for markers in self.by_thread.values():
            candidate = np.where(pids[rows] == pids[markers[0]], self._innermost(markers, at), -1)
            newer = (candidate >= 0) & ((found < 0) | (self.when.starts[candidate] > self.when.starts[found]))
            found = np.where(newer, candidate, found)
        return found

    def _innermost(self, markers: Integers, at: Integers) -> Integers:
        """The latest started one, or, where it has ended, the nearest around it that has not."""
        latest = np.searchsorted(self.when.starts[markers], at, side="right") - 1
        found = np.where(latest >= 0, markers[latest], -1)
        ended = np.flatnonzero((found >= 0) & (self.when.ends[found] <= at))
        while len(ended):
            found[ended] = self.around[found[ended]]
            ended = ended[(found[ended] >= 0) & (self.when.ends[found[ended]] <= at[ended])]
        return found
