"""By what rows can be grouped: name, shape, region, step, stack, ...

In: events, their call tree, and the rows. Out: columns with one value a row, NA where there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.extensions import ExtensionArray

from nbprof.analysis.steps import step_windows
from nbprof.schema import REGION_MARKER
from nbprof.structure.calltree import CallTree
from nbprof.structure.grouping import Groups, grouped, taken
from nbprof.structure.masks import Integers, value_mask
from nbprof.structure.nesting import nested_rows
from nbprof.structure.stacks import stacks
from nbprof.structure.threads import thread_codes

Key: TypeAlias = Callable[[pd.DataFrame, CallTree, Integers], ExtensionArray]


def grouped_by(
    by: str | Sequence[str], keys: Mapping[str, Key], events: pd.DataFrame, tree: CallTree, rows: Integers
) -> tuple[Groups, dict[str, ExtensionArray]]:
    """The groups of the rows, and for each key its value by group."""
    chosen = dict.fromkeys([by] if isinstance(by, str) else by)
    if not chosen or not set(chosen) <= set(keys):
        raise ValueError(f"by={by!r} isn't among what the rows can be grouped by: {', '.join(keys)}.")
    columns = {key: keys[key](events, tree, rows) for key in chosen}
    groups = grouped(columns.values(), len(rows))
    return groups, {key: taken(column, groups.first) for key, column in columns.items()}


def ranked(table: pd.DataFrame, times: Sequence[str], keys: Sequence[str]) -> pd.DataFrame:
    """Largest first, and in the order of the keys where times are equal; the keys stand before all else."""
    ascending = [False] * len(times) + [True] * len(keys)
    table = table.sort_values([*times, *keys], ascending=ascending, ignore_index=True)
    return table[[*keys, *table.columns.difference([*keys], sort=False)]]


def recorded(column: str) -> Key:
    """A column of the events themselves."""
    return lambda events, tree, rows: events[column].array.take(rows)


def region(events: pd.DataFrame, tree: CallTree, rows: Integers) -> ExtensionArray:
    """The innermost region that the row (a device event: its launch) began in."""
    names = taken(events["name"].array, tree.entry[rows])
    return pd.Categorical(names).rename_categories(lambda name: str(name).removeprefix(REGION_MARKER))


def step(events: pd.DataFrame, tree: CallTree, rows: Integers) -> ExtensionArray:
    """The step in whose window on the host the row began; of a device event its launch."""
    windows = step_windows(events, tree)
    began = np.where(tree.device[rows], tree.launch[rows], rows)
    place = np.where(began >= 0, windows.at(tree.times.starts[began]), -1)
    return pd.arrays.IntegerArray(np.append(windows.numbers, 0)[place], place < 0)


def stack(events: pd.DataFrame, tree: CallTree, rows: Integers) -> ExtensionArray:
    """The chain of operators and Python calls around the row, outermost first: `a > b > c`; NA at the top."""
    calls = tree.operators | value_mask(events["category"], {"python_function"})
    calls &= tree.times.known
    when = tree.times
    parent, _ = nested_rows(np.flatnonzero(calls), thread_codes(events), when.starts, when.ends)
    names = events["name"].cat
    chains = stacks(np.flatnonzero(calls), parent, names.codes.to_numpy().astype(np.int64))
    nodes, places = np.unique(np.append(chains.of_row, -1)[parent[rows]], return_inverse=True)
    text = names.categories.to_numpy(object)
    return pd.Categorical([_chain(node, chains.parents, chains.labels, text) for node in nodes]).take(places)


def _chain(node: int, parents: Integers, labels: Integers, names: NDArray[np.object_]) -> str | None:
    """Names from the top down to a node; None for -1."""
    found = []
    while node >= 0:
        found.append(str(names[labels[node]]))
        node = int(parents[node])
    return " > ".join(reversed(found)) or None
