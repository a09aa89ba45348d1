"""What is open on a thread at a point of time.

In: an events frame; rows that are points of time (instants, or calls by their starts); rows that may be open around
them, and what is around these. Out: row positions.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbprof.structure.masks import Integers
from nbprof.structure.nesting import outer_first
from nbprof.structure.threads import thread_codes
from nbprof.structure.times import Times


def innermost_around(
    points: Integers, holders: Integers, around: Integers, events: pd.DataFrame, when: Times
) -> Integers:
    """For each point the innermost holder that is open on its thread, or -1; one that starts there is, one that ends isn't.

    `around` has for each row of the events that is a holder the holder around it, or -1.
    """
    threads = thread_codes(events)
    ordered = holders[outer_first(threads[holders], when.starts[holders], when.ends[holders])]
    at = when.starts[points]
    found = np.full(len(points), -1, np.int64)
    for thread in np.unique(threads[points]):
        of_thread = ordered[slice(*np.searchsorted(threads[ordered], (thread, thread + 1)))]
        here = np.flatnonzero(threads[points] == thread)
        latest = np.searchsorted(when.starts[of_thread], at[here], side="right") - 1
        found[here] = np.append(of_thread, -1)[latest]
    ended = np.flatnonzero((found >= 0) & (when.ends[found] <= at))
    while len(ended):
        found[ended] = around[found[ended]]
        ended = ended[(found[ended] >= 0) & (when.ends[found[ended]] <= at[ended])]
    return found
