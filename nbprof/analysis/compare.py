"""Two tables of one kind, row by row: what came, what went, what takes longer.

In: two tables with the same columns. Out: the table `comparison`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from nbprof.schema import conform, empty
from nbprof.structure.statistics import shares


def compare_tables(
    a: pd.DataFrame, b: pd.DataFrame, *, key: str | Sequence[str] = "name", calls: str | None = "calls", time: str
) -> pd.DataFrame:
    """One row for each value of `key` in either table, largest absolute difference first.

    `key` is one column or several, the first of which becomes `name`; the others follow the columns of `comparison`.
    `calls` and `time` name the columns to compare, summed over rows of one key; without `calls` each row counts once.
    `difference_us` = b - a, `ratio` = b / a, `explains` = |difference| / sum of |differences|. What only one table
    has took no time in the other; a time that is missing stays missing.
    """
    keys = [key] if isinstance(key, str) else list(key)
    if a.empty and b.empty:
        return empty("comparison").join(a[keys[1:]])
    both = _summed(a, keys, calls, time).merge(
        _summed(b, keys, calls, time), on=keys, how="outer", suffixes=("_a", "_b"), indicator="found"
    )
    for side, without in (("a", "right_only"), ("b", "left_only")):
        columns = [f"calls_{side}", f"time_{side}"]
        both[columns] = both[columns].where(both["found"] != without, 0)
    time_a, time_b = both["time_a"].to_numpy(float), both["time_b"].to_numpy(float)
    difference = time_b - time_a
    table = both[keys].astype(dict.fromkeys(_named(a, keys), "category")).rename(columns={keys[0]: "name"})
    table = table.assign(
        calls_a=both["calls_a"],
        calls_b=both["calls_b"],
        time_a_us=time_a,
        time_b_us=time_b,
        difference_us=difference,
        ratio=np.divide(time_b, time_a, out=np.full(len(both), np.nan), where=time_a > 0),
        share_a=shares(time_a),
        share_b=shares(time_b),
        only_in=both["found"].cat.rename_categories({"left_only": "a", "right_only": "b", "both": "-"}),
        explains=shares(np.abs(difference)),
    )
    table["only_in"] = table["only_in"].cat.remove_categories("-")
    order = np.lexsort((table["name"].cat.codes, -np.abs(np.nan_to_num(difference))))
    return conform(table.iloc[order].reset_index(drop=True), "comparison")


def _summed(table: pd.DataFrame, keys: list[str], calls: str | None, time: str) -> pd.DataFrame:
    counted = table[keys].assign(calls=1 if calls is None else table[calls], time=table[time])
    summed = counted.groupby(keys, observed=True, dropna=False, sort=False).sum(min_count=1).reset_index()
    return summed.astype({"calls": "Int64"} | dict.fromkeys(_named(table, keys), object))


def _named(table: pd.DataFrame, keys: list[str]) -> list[str]:
    """The keys that are names, and in any case the first: two tables have other categories."""
    return [key for place, key in enumerate(keys) if not place or isinstance(table[key].dtype, pd.CategoricalDtype)]
