"""Region entries, one by one and by step.

In: events. Out: the long tables `region_entries` and `region_steps`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbprof.analysis.calltree import CallTree, call_tree
from nbprof.analysis.counted import microseconds
from nbprof.analysis.coverage import covered
from nbprof.analysis.nesting import Integers
from nbprof.analysis.steps import StepWindows, profiler_steps
from nbprof.schema import REGION_MARKER


def region_entries(events: pd.DataFrame, *, tree: CallTree | None = None) -> pd.DataFrame:
    """One row an entry, by start: `region`, `parent` and `depth` (0 outermost), `start_us`, `wall_us`, `self_us`,
    `position` (the marker's row in the events) and `outer` (the row here of the entry around it, or -1)."""
    tree = call_tree(events) if tree is None else tree
    rows = np.flatnonzero(tree.markers)
    rows = rows[np.lexsort((-tree.times.ends[rows], tree.times.starts[rows]))]
    place = np.full(len(events) + 1, -1, np.int64)
    place[rows] = np.arange(len(rows))
    outer = place[tree.entry[rows]]  # -1 reads the last place, which holds -1
    names = np.array([str(name).removeprefix(REGION_MARKER) for name in events["name"].iloc[rows]], object)
    categories = pd.Index(sorted(set(names)), dtype=object)
    region = pd.Categorical(names, categories=categories)
    codes = region.codes.astype(np.int64)
    parent = pd.Categorical.from_codes(np.append(codes, -1)[outer], categories=categories)
    return pd.DataFrame(
        {
            "region": region,
            "parent": parent,
            "depth": _depths(outer),
            "start_us": microseconds(tree.times.starts[rows]),
            "wall_us": microseconds(tree.times.durations[rows]),
            "self_us": microseconds(entry_self_ns(rows, outer, tree)),
            "position": rows,
            "outer": outer,
        }
    )


def region_steps(events: pd.DataFrame, *, tree: CallTree | None = None) -> pd.DataFrame:
    """Long table `region`, `step`, `wall_us`, `self_us`: the entries of each region that began in each step.

    Steps are the `ProfilerStep#N` windows, or, where there are none, the 1st, 2nd, ... entry (from 0) of the outermost
    region around. `wall_us` leaves out entries inside another one of the same region.
    """
    tree = call_tree(events) if tree is None else tree
    entries = region_entries(events, tree=tree)
    numbers, rows = profiler_steps(events, tree)
    if len(rows):
        windows = StepWindows(numbers, tree.times.starts[rows], tree.times.ends[rows])
        place = windows.at(tree.times.starts[entries["position"]])
        steps = np.append(numbers, -1)[place]
    else:
        roots = _roots(entries["outer"].to_numpy())
        nth = entries[entries["depth"] == 0].groupby("region", observed=True).cumcount()
        steps = nth.reindex(roots).to_numpy(np.int64)
    inner = _has_same_region_around(entries)
    long = entries.assign(step=steps, wall_us=entries["wall_us"].where(~inner, 0.0))[steps >= 0]
    sums = long.groupby(["region", "step"], observed=True, sort=True)[["wall_us", "self_us"]].sum()
    return sums.reset_index()


def _depths(outer: Integers) -> Integers:
    depths = np.zeros(len(outer), np.int64)
    around = outer
    while (inside := around >= 0).any():
        depths += inside
        around = np.where(inside, outer[around], -1)
    return depths


def _roots(outer: Integers) -> Integers:
    roots = np.arange(len(outer))
    while (inside := outer[roots] >= 0).any():
        roots = np.where(inside, outer[roots], roots)
    return roots


def _has_same_region_around(entries: pd.DataFrame) -> pd.Series:
    outer, codes = entries["outer"].to_numpy(), entries["region"].cat.codes.to_numpy()
    same = np.zeros(len(outer), bool)
    around = outer
    while (inside := around >= 0).any():
        same |= inside & (codes[around] == codes)
        around = np.where(inside, outer[around], -1)
    return pd.Series(same, index=entries.index)


def entry_self_ns(rows: Integers, outer: Integers, tree: CallTree) -> Integers:
    """Wall time of each entry less the union of the entries directly inside it; never negative.

    `rows` are the entries' markers, `outer` says for each the place, among them, of the entry around it.
    """
    inner = np.flatnonzero(outer >= 0)
    around = outer[inner]
    ends = np.minimum(tree.times.ends[rows[inner]], tree.times.ends[rows[around]])
    own: Integers = tree.times.durations[rows] - covered(around, tree.times.starts[rows[inner]], ends, len(rows))
    return own
