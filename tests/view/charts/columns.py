"""Tables of the schema from some of their columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from nbprof import schema


def table(of: str, /, **columns: Sequence[Any]) -> pd.DataFrame:
    """A table with the given columns; the others are 0 where they can't be missing, else NA."""
    count = len(next(iter(columns.values())))
    missing = {"int64": 0, "bool": False}
    filled = {
        column.name: list(columns.get(column.name, [missing.get(column.dtype)] * count)) for column in schema.TABLES[of]
    }
    assert set(columns) <= set(filled)
    return schema.conform(pd.DataFrame(filled), of)
