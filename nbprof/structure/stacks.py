"""Distinct stacks of frames, as a tree: what flame graphs and trees of modules are drawn from.

In: rows, the row around each (-1 at the top) and a label for each. Out: `Stacks`, nodes and the node of each row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from nbprof.structure.masks import Integers


@dataclass(frozen=True)
class Stacks:
    """One node for each distinct chain of labels from the top; a node comes after the one around it.

    `of_row` is as long as what the rows are positions of, -1 for others. `parents` (-1 at the top), `labels` and
    `depths` have one entry a node.
    """

    of_row: Integers
    parents: Integers
    labels: Integers
    depths: Integers

    def levels(self) -> Iterator[slice]:
        """The nodes of each depth, from the top."""
        edges = np.searchsorted(self.depths, np.arange(self.depths.max(initial=-1) + 2))
        yield from (slice(first, last) for first, last in pairwise(edges))

    def sums(self, rows: Integers, values: Integers) -> Integers:
        """For each node the sum of the values of its rows."""
        sums = np.zeros(len(self.parents), np.int64)
        np.add.at(sums, self.of_row[rows], values)
        return sums

    def with_inner(self, own: Integers) -> Integers:
        """For each node its own value and those of all nodes inside it."""
        totals = own.copy()
        for level in [*self.levels()][:0:-1]:
            np.add.at(totals, self.parents[level], totals[level])
        return totals

    def depth_first(self, sizes: Integers) -> Integers:
        """The nodes as a tree reads: each before those inside it, of neighbours the larger first."""
        inside = self.with_inner(np.ones(len(self.parents), np.int64))
        order = np.lexsort((-sizes, self.parents))
        before = np.cumsum(inside[order]) - inside[order]
        first = np.searchsorted(self.parents[order], self.parents[order])
        place = np.empty(len(order), np.int64)
        place[order] = before - before[first]
        for level in [*self.levels()][1:]:
            place[level] += place[self.parents[level]] + 1
        return np.argsort(place)


def stacks(rows: Integers, parent: Integers, labels: Integers) -> Stacks:
    """The stacks of `rows`; `parent` and `labels` (from 0) are as long as what the rows are positions of."""
    depths = _depths(parent)
    by_depth = rows[np.argsort(depths[rows], kind="stable")]
    of_row = np.full(len(parent) + 1, -1, np.int64)  # the parent -1 reads the last entry
    width = int(labels[rows].max(initial=0)) + 1
    parents, found_labels, sizes = [np.empty(0, np.int64)], [np.empty(0, np.int64)], []
    count = 0
    for level in np.split(by_depth, np.flatnonzero(np.diff(depths[by_depth])) + 1):
        kinds, of_level = np.unique((of_row[parent[level]] + 1) * width + labels[level], return_inverse=True)
        of_row[level] = count + of_level
        parents.append(kinds // width - 1)
        found_labels.append(kinds % width)
        sizes.append(len(kinds))
        count += len(kinds)
    return Stacks(
        of_row[:-1], np.concatenate(parents), np.concatenate(found_labels), np.repeat(np.arange(len(sizes)), sizes)
    )


def _depths(parent: Integers) -> Integers:
    """How many rows are around each: every pass looks twice as far up."""
    depths = np.append(parent >= 0, False).astype(np.int64)
    above = np.append(parent, -1)
    while (above >= 0).any():
        depths += depths[above]
        above = above[above]
    return depths[:-1]
