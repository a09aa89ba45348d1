"""How much time the intervals of each group cover together.

In: a group, a start and an end for each row. Out: one length for each group, in the unit of the rows.
"""

from __future__ import annotations

import numpy as np

from nbprof.structure.masks import Integers


def covered(groups: Integers, starts: Integers, ends: Integers, count: int) -> Integers:
    """|union of the intervals| of each of the groups 0 to count - 1; a row that ends before it starts covers nothing."""
    lengths = np.zeros(count, np.int64)
    order = np.argsort(starts, kind="stable")
    order = order[np.argsort(groups[order], kind="stable")]
    groups, starts, ends = groups[order], starts[order], np.maximum(ends, starts)[order]
    begins = _after_the_others(groups, starts, ends)
    np.add.at(lengths, groups, np.maximum(ends - begins, 0))
    return lengths


def _after_the_others(groups: Integers, starts: Integers, ends: Integers) -> Integers:
    """Where each row begins to cover something that no row before it, in its group, covers."""
    begins = starts.copy()
    overlapping = (np.diff(groups) == 0) & (starts[1:] < ends[:-1])
    if not overlapping.any():
        return begins
    rows = np.flatnonzero(np.isin(groups, groups[1:][overlapping]))
    own = groups[rows]
    same = np.concatenate(([False], np.diff(own) == 0))
    # A running maximum of ends that starts anew in each group: ranks instead of times, so that no product overflows.
    by_end = np.argsort(ends[rows], kind="stable")
    ranks = np.empty(len(rows), np.int64)
    ranks[by_end] = np.arange(len(rows))
    highest = np.maximum.accumulate(np.cumsum(~same) * len(rows) + ranks) % len(rows)
    reach = ends[rows][by_end[highest]]
    before = np.concatenate((starts[rows][:1], reach[:-1]))
    begins[rows] = np.where(same, np.maximum(starts[rows], before), starts[rows])
    return begins
