"""Rows that share the values of some columns.

In: columns, one entry a row. Out: `Groups`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray

from nbprof.structure.masks import Integers


@dataclass(frozen=True)
class Groups:
    """`of_row` says which group each row is in, `first` which row is a group's first; groups in order of that."""

    of_row: Integers
    first: Integers

    def common(self, column: ExtensionArray) -> ExtensionArray:
        """For each group the value that all its rows have; NA where they differ."""
        codes, _ = column.factorize()
        differs = np.zeros(len(self.first), bool)
        differs[self.of_row[codes != codes[self.first][self.of_row]]] = True
        return taken(column, np.where(differs, -1, self.first))


def grouped(columns: Iterable[ExtensionArray], count: int) -> Groups:
    """Groups of `count` rows by all of the columns together; NA is a value like others."""
    of_row, first = np.zeros(count, np.int64), np.arange(min(count, 1))
    for column in columns:
        codes, values = column.factorize()
        of_row, _ = pd.factorize(of_row * (len(values) + 1) + codes)
        first = np.empty(of_row.max(initial=-1) + 1, np.int64)
        first[of_row[::-1]] = np.arange(count)[::-1]
    return Groups(of_row, first)


def taken(column: ExtensionArray, rows: Integers) -> ExtensionArray:
    """The values of some rows, NA for -1; the names that are left as categories in their own order."""
    values = column.take(rows, allow_fill=True)
    if not isinstance(values, pd.Categorical):
        return values
    values = values.remove_unused_categories()
    return values.reorder_categories(sorted(values.categories))
