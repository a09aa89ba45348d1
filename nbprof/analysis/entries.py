"""Region entries, one by one and by step.

In: events. Out: the long tables `region_entries` and `region_steps`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from nbprof.analysis.steps import StepWindows
from nbprof.schema import REGION_MARKER, conform
from nbprof.structure.calltree import CallTree, call_tree
from nbprof.structure.coverage import covered
from nbprof.structure.masks import Integers, Mask
from nbprof.structure.openings import profiler_steps
from nbprof.structure.times import microseconds


def region_entries(events: pd.DataFrame, *, tree: CallTree | None = None) -> pd.DataFrame:
    """One row an entry, by start; of those that start together the longest first."""
    tree = call_tree(events) if tree is None else tree
    rows = tree.markers
    rows = rows[np.lexsort((-tree.times.ends[rows], tree.times.starts[rows]))]
    place = np.full(len(events) + 1, -1, np.int64)
    place[rows] = np.arange(len(rows))
    outer = place[tree.entry[rows]]  # -1 reads the last place, which holds -1
    region = _region_names(events["name"].iloc[rows])
    codes = region.codes.astype(np.int64)
    table = pd.DataFrame(
        {
            "region": region,
            "parent": pd.Categorical.from_codes(np.append(codes, -1)[outer], categories=region.categories),
            "depth": _ancestry(outer, codes).depths,
            "start_us": microseconds(tree.times.starts[rows]),
            "wall_us": microseconds(tree.times.durations[rows]),
            "self_us": microseconds(entry_self_ns(rows, outer, tree)),
            "position": rows,
            "outer": outer,
        }
    )
    return conform(table, "region_entries")


def region_steps(events: pd.DataFrame, *, tree: CallTree | None = None) -> pd.DataFrame:
    """One row a region and step: the entries of the region that began in the step.

    Steps are the `ProfilerStep#N` windows, or, where there are none, the 1st, 2nd, ... entry (from 0) of the outermost
    region around. `wall_us` leaves out entries inside another one of the same region.
    """
    tree = call_tree(events) if tree is None else tree
    entries = region_entries(events, tree=tree)
    ancestry = _ancestry(entries["outer"].to_numpy(), entries["region"].cat.codes.to_numpy().astype(np.int64))
    numbers, rows = profiler_steps(events, tree.times)
    if len(rows):
        windows = StepWindows(numbers, tree.times.starts[rows], tree.times.ends[rows])
        steps = np.append(numbers, -1)[windows.at(tree.times.starts[entries["position"]])]
    else:
        nth = entries[entries["depth"] == 0].groupby("region", observed=True).cumcount()
        steps = nth.reindex(ancestry.roots).to_numpy(np.int64)
    wall = entries["wall_us"].where(~ancestry.repeats, 0.0)
    long = entries.assign(step=steps, wall_us=wall)[steps >= 0]
    sums = long.groupby(["region", "step"], observed=True, sort=True)[["wall_us", "self_us"]].sum()
    return conform(sums.reset_index(), "region_steps")


def entry_self_ns(rows: Integers, outer: Integers, tree: CallTree) -> Integers:
    """Wall time of each entry less the union of the entries directly inside it; never negative.

    `rows` are the entries' markers, `outer` says for each the place, among them, of the entry around it.
    """
    inner = np.flatnonzero(outer >= 0)
    around = outer[inner]
    ends = np.minimum(tree.times.ends[rows[inner]], tree.times.ends[rows[around]])
    own: Integers = tree.times.durations[rows] - covered(around, tree.times.starts[rows[inner]], ends, len(rows))
    return own


@dataclass(frozen=True)
class _Ancestry:
    """For each entry how many are around it, the outermost of these (or itself), and whether one is of its region."""

    depths: Integers
    roots: Integers
    repeats: Mask


def _ancestry(outer: Integers, regions: Integers) -> _Ancestry:
    depths = np.zeros(len(outer), np.int64)
    roots = np.arange(len(outer))
    repeats = np.zeros(len(outer), bool)
    around = outer
    while (inside := around >= 0).any():
        depths += inside
        roots = np.where(inside, around, roots)
        repeats |= inside & (regions[around] == regions)
        around = np.where(inside, outer[around], -1)
    return _Ancestry(depths, roots, repeats)


def _region_names(markers: pd.Series) -> pd.Categorical:
    """The names that occur, in their own order, without the prefix that marks them."""
    markers = markers.cat.remove_unused_categories()
    names = markers.cat.categories.to_numpy(object)
    order = np.argsort(names)
    place = np.empty(len(names), np.int64)
    place[order] = np.arange(len(names))
    plain = pd.Index([str(name).removeprefix(REGION_MARKER) for name in names[order]], dtype=object)
    return pd.Categorical.from_codes(place[markers.cat.codes.to_numpy()], categories=plain)
