"""Where the time went by region and the region around it.

In: events. Out: the table `regions`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nbprof import intervals
from nbprof.analysis.entries import entry_self_ns, region_entries
from nbprof.schema import conform, empty
from nbprof.structure.calltree import CallTree, call_tree
from nbprof.structure.coverage import covered
from nbprof.structure.masks import Integers, Mask
from nbprof.structure.statistics import shares, sums_by_group
from nbprof.structure.times import microseconds


def regions(events: pd.DataFrame, *, tree: CallTree | None = None) -> pd.DataFrame:
    """One row for each region under each parent, in the order of a tree: each parent before its own, larger ones first.

    `wall_us` sums the entries, `self_us` the same less nested regions. `host_us` is the union of the operators that
    began inside, `device_us` that of the device events launched inside. `idle_us` is the time, from an entry's start
    to the end of its last device event, in which no device event at all runs; NA for a region that launched none.
    """
    tree = call_tree(events) if tree is None else tree
    entries = region_entries(events, tree=tree)
    if entries.empty:
        return empty("regions")
    rows, groups = _pairs(entries)
    count = len(rows)
    markers, outer = entries["position"].to_numpy(np.int64), entries["outer"].to_numpy(np.int64)
    place = np.full(len(events) + 1, -1, np.int64)
    place[markers] = np.arange(len(markers))
    entry = place[tree.entry]  # -1 reads the last place, which holds -1
    host, host_entries = _once_for_each_around(np.flatnonzero(_outermost_operators(tree)), entry, outer)
    device, device_entries = _once_for_each_around(np.flatnonzero(tree.device), entry, outer)
    starts, ends = tree.times.starts, tree.times.ends
    last_ends = np.full(len(entries), np.iinfo(np.int64).min)
    np.maximum.at(last_ends, device_entries, ends[device])
    wall = sums_by_group(groups, tree.times.durations[markers], count)
    own = sums_by_group(groups, entry_self_ns(markers, outer, tree), count)
    table = rows.assign(
        calls=np.bincount(groups, minlength=count),
        wall_us=microseconds(wall),
        self_us=microseconds(own),
        host_us=microseconds(covered(groups[host_entries], starts[host], ends[host], count)),
        device_us=microseconds(covered(groups[device_entries], starts[device], ends[device], count)),
        idle_us=_idle_us(starts[markers], last_ends, groups, tree, count),
        share=shares(microseconds(own)),
    )
    return conform(_tree_order(table), "regions")


def _pairs(entries: pd.DataFrame) -> tuple[pd.DataFrame, Integers]:
    """The distinct pairs of region and parent, and for each entry the place of its pair."""
    region, parent = (entries[side].cat.codes.to_numpy().astype(np.int64) for side in ("region", "parent"))
    pairs, groups = np.unique(region * (parent.max() + 2) + parent + 1, return_inverse=True)
    first = np.full(len(pairs), len(entries))
    np.minimum.at(first, groups, np.arange(len(entries)))
    return entries[["region", "parent"]].iloc[first].reset_index(drop=True), groups


def _outermost_operators(tree: CallTree) -> Mask:
    """Operators with no other operator of the same entry around them: they cover all that the entry's operators do."""
    same = (tree.operator >= 0) & (tree.entry[tree.operator] == tree.entry)
    outermost: Mask = tree.operators & (tree.entry >= 0) & ~same
    return outermost


def _once_for_each_around(rows: Integers, entry: Integers, outer: Integers) -> tuple[Integers, Integers]:
    """Each row once for every entry around it, with that entry."""
    around = entry[rows]
    found_rows, found_entries = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    while len(rows := rows[around >= 0]):
        around = around[around >= 0]
        found_rows.append(rows)
        found_entries.append(around)
        around = outer[around]
    return np.concatenate(found_rows), np.concatenate(found_entries)


def _idle_us(
    starts: Integers, last_ends: Integers, groups: Integers, tree: CallTree, count: int
) -> NDArray[np.float64]:
    """For each pair, what no device event covers between its entries' starts and their last device events' ends."""
    launching = last_ends > starts
    busy = intervals.union((tree.times.starts[tree.device], tree.times.ends[tree.device]))
    idle = np.full(count, -1, np.int64)
    for pair in np.unique(groups[launching]):  # a few pairs, each of any number of entries
        of_pair = launching & (groups == pair)
        window = intervals.union((starts[of_pair], last_ends[of_pair]))
        idle[pair] = intervals.total(intervals.subtract(window, busy))
    return np.where(idle >= 0, microseconds(idle), np.nan)


def _tree_order(table: pd.DataFrame) -> pd.DataFrame:
    """Depth first from the top, larger `wall_us` first; a region met inside itself is not followed again."""
    ordered = table.sort_values(["wall_us", "region"], ascending=[False, True])
    children: dict[str | None, list[int]] = {}
    for place, parent in zip(ordered.index, ordered["parent"], strict=True):
        children.setdefault(None if pd.isna(parent) else str(parent), []).append(place)
    rows: list[int] = []
    depths: list[int] = []
    stack = [(place, 0) for place in reversed(children.get(None, []))]
    seen: set[int] = set()
    while stack:
        place, depth = stack.pop()
        if place in seen:
            continue
        seen.add(place)
        rows.append(place)
        depths.append(depth)
        below = children.get(str(table["region"].iloc[place]), [])
        stack.extend((child, depth + 1) for child in reversed(below))
    return table.iloc[rows].assign(depth=np.array(depths, np.int64)).reset_index(drop=True)
