"""Sums by group of what is on operators and inside them.

In: the call tree, groups of operators, a value for each event. Out: a sum for each group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nbprof.structure.calltree import CallTree
from nbprof.structure.grouping import Groups
from nbprof.structure.masks import Integers, Mask


@dataclass(frozen=True)
class Inside:
    """The operators `rows` and their `groups`; `time_ns` is the time, of each event, that work is set against."""

    tree: CallTree
    rows: Integers
    groups: Groups
    time_ns: Integers

    def sums(self, own: NDArray[Any]) -> NDArray[Any]:
        """Of the values of the rows and of all operators inside them; whole numbers stay exact."""
        return self.sums_of_rows(subtree_sums(own, self.tree)[self.rows])

    def sums_of_rows(self, values: NDArray[Any]) -> NDArray[Any]:
        """Of one value for each of the rows."""
        sums = np.zeros(len(self.groups.first), values.dtype)
        np.add.at(sums, self.groups.of_row, values)
        return sums

    def some(self, mask: Mask) -> Mask:
        """Whether one of the rows, or an operator inside one, is in the mask."""
        return self.sums(mask.astype(np.int64)) > 0

    def sums_and_rates(self, own: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sums, NaN where no value is known, and the same by nanosecond of the rows that they are known of."""
        known = ~np.isnan(own)
        holds = subtree_sums(known.astype(np.int64), self.tree)[self.rows] > 0
        time = self.sums_of_rows(np.where(holds, self.time_ns[self.rows], 0))
        sums = np.where(self.sums_of_rows(holds.astype(np.int64)) > 0, self.sums(np.where(known, own, 0.0)), np.nan)
        return sums, sums / np.where(time > 0, time, np.nan)


def subtree_sums(own: NDArray[Any], tree: CallTree) -> NDArray[Any]:
    """Each operator's own value with those of all operators inside it: every value walks up to the root."""
    sums = own.copy()
    rows = np.flatnonzero(own)
    amounts = own[rows]
    while len(rows):
        rows = tree.operator[rows]
        within = rows >= 0
        rows, amounts = rows[within], amounts[within]
        np.add.at(sums, rows, amounts)
    return sums
