"""Where the time went by region and the region around it.

In: events. Out: the table `regions`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nbprof import intervals
from nbprof.analysis.calltree import CallTree, call_tree
from nbprof.analysis.counted import Mask, microseconds, shares
from nbprof.analysis.coverage import covered
from nbprof.analysis.entries import entry_self_ns, region_entries
from nbprof.analysis.nesting import Integers
from nbprof.analysis.statistics import sums_by_group
from nbprof.schema import conform, empty


def regions(events: pd.DataFrame, *, tree: CallTree | None = None) -> pd.DataFrame:
    """One row for each region under each parent, in the order of a tree: each parent before its own, larger ones first.

    `wall_us` sums the entries, `self_us` the same less nested regions. `host_us` is the union of the operators that
    began inside, `device_us` that of the device events launched inside. `idle_us` is the time, from an entry's start
    to the end of its last device event, in which no device event at all runs; NA for a region that launched none.
    `depth` is the row's place in the tree.
    """
    tree = call_tree(events) if tree is None else tree
    entries = region_entries(events, tree=tree)
    if entries.empty:
        return empty("regions").assign(depth=pd.Series(dtype="int64"))
    rows, groups = _pairs(entries)
    count = len(rows)
    host, host_groups = _inside(np.flatnonzero(_outermost_operators(tree)), tree, entries, groups)
    device, device_groups = _inside(np.flatnonzero(tree.device), tree, entries, groups)
    starts, ends = tree.times.starts, tree.times.ends
    markers, outer = entries["position"].to_numpy(np.int64), entries["outer"].to_numpy(np.int64)
    wall = sums_by_group(groups, tree.times.durations[markers], count)
    own = sums_by_group(groups, entry_self_ns(markers, outer, tree), count)
    table = rows.assign(
        calls=np.bincount(groups, minlength=count),
        wall_us=microseconds(wall),
        self_us=microseconds(own),
        host_us=microseconds(covered(host_groups, starts[host], ends[host], count)),
        device_us=microseconds(covered(device_groups, starts[device], ends[device], count)),
        idle_us=_idle_us(entries, groups, tree, count),
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


def _inside(rows: Integers, tree: CallTree, entries: pd.DataFrame, groups: Integers) -> tuple[Integers, Integers]:
    """Each row once for every entry around it, with the place of that entry's pair."""
    place = np.full(len(tree.entry) + 1, -1, np.int64)
    place[entries["position"]] = np.arange(len(entries))
    outer = entries["outer"].to_numpy()
    entry = place[tree.entry[rows]]
    found_rows, found_groups = [], []
    while len(rows := rows[entry >= 0]):
        entry = entry[entry >= 0]
        found_rows.append(rows)
        found_groups.append(groups[entry])
        entry = outer[entry]
    none = [np.empty(0, np.int64)]
    return np.concatenate(found_rows or none), np.concatenate(found_groups or none)


def _idle_us(entries: pd.DataFrame, groups: Integers, tree: CallTree, count: int) -> NDArray[np.float64]:
    """For each pair, what no device event covers between its entries' starts and their last device events' ends."""
    device, own = _inside(np.flatnonzero(tree.device), tree, entries, np.arange(len(entries)))
    starts = tree.times.starts[entries["position"]]
    ends = np.full(len(entries), np.iinfo(np.int64).min)
    np.maximum.at(ends, own, tree.times.ends[device])
    launching = ends > starts
    busy = intervals.union((tree.times.starts[tree.device], tree.times.ends[tree.device]))
    idle = np.full(count, np.nan)
    for pair in np.unique(groups[launching]):  # a few pairs, each of any number of entries
        of_pair = launching & (groups == pair)
        window = intervals.union((starts[of_pair], ends[of_pair]))
        idle[pair] = intervals.total(intervals.subtract(window, busy)) / 1_000
    return idle


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
