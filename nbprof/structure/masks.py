"""Rows of a categorical column by what its words say; each category is looked at once, not each row.

In: a categorical column. Out: a mask with one entry a row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nbprof.schema import ANNOTATION_CATEGORIES

Integers: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]


def value_mask(column: pd.Series, values: Collection[str]) -> Mask:
    """Rows with one of the values."""
    return flagged(column, (word in values for word in column.cat.categories))


def prefix_mask(column: pd.Series, *prefixes: str) -> Mask:
    """Rows whose text starts with one of the prefixes."""
    return flagged(column, (str(word).startswith(prefixes) for word in column.cat.categories))


def marker_mask(events: pd.DataFrame, prefix: str) -> Mask:
    """Annotations on the host whose name begins with `prefix`; their twins on device rows are none."""
    return prefix_mask(events["name"], prefix) & value_mask(events["category"], ANNOTATION_CATEGORIES)


def flagged(column: pd.Series, of_category: Iterable[bool]) -> Mask:
    """Rows whose category has a flag that is set; rows without a category have none."""
    flags = np.array([*of_category, False], bool)  # the code -1 (NA) reads the last entry
    mask: Mask = flags[column.cat.codes.to_numpy()]
    return mask
