"""What each device did between its first and its last event: in all, for each step, for each region.

In: events. Out: the table `timeline`.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from nbprof.analysis.activity import activities
from nbprof.analysis.entries import region_entries
from nbprof.analysis.steps import launched_in, step_windows
from nbprof.schema import conform
from nbprof.structure.calltree import CallTree, call_tree
from nbprof.structure.coverage import covered
from nbprof.structure.masks import Integers
from nbprof.structure.times import microseconds

TimelineKey: TypeAlias = Literal["device", "step", "region"]

_NO_DEVICE = -1


def timeline(events: pd.DataFrame, *, tree: CallTree | None = None, by: TimelineKey = "device") -> pd.DataFrame:
    """One row a device: computation + exposed communication + exposed memory + idle = span, to the nanosecond.

    span = last end - first start of device events. With U for unions over all streams: computation = |U(compute)|,
    exposed_comm = |U(comm) - U(compute)|, exposed_memory = |U(copies, fills) - U(compute) - U(comm)|, busy = |U(all)|.

    `by="step"` gives one row a device and step (column `step`), `by="region"` a device and region (column `region`):
    each is about the device events launched in that step, or anywhere in that region, as if there were no others.
    An event counts for every region around its launch.
    """
    tree = call_tree(events) if tree is None else tree
    rows, owners, labels = _owners(events, tree, by)
    devices = events["device"].to_numpy(dtype="int64", na_value=_NO_DEVICE)[rows]
    width = max(len(labels), 1)
    found, groups = np.unique(devices * width + owners, return_inverse=True)
    parts = _parts_ns(events, tree, rows, groups)
    index, owner = found // width, found % width
    table = pd.DataFrame(
        {
            "device": pd.arrays.IntegerArray(index, index == _NO_DEVICE),
            **{f"{part}_us": microseconds(lengths) for part, lengths in parts.items()},
        }
    )
    return conform(table if by == "device" else table.assign(**{by: labels.take(owner).array}), "timeline")


def _owners(events: pd.DataFrame, tree: CallTree, by: TimelineKey) -> tuple[Integers, Integers, pd.Series]:
    """Device events, the place of what each belongs to (an event of two regions comes twice), and the labels there."""
    if by == "device":
        rows = np.flatnonzero(tree.device & tree.times.known)
        return rows, np.zeros(len(rows), np.int64), pd.Series([0])
    if by == "step":
        windows = step_windows(events, tree)
        rows, owners = launched_in(windows, tree)
        known = tree.times.known[rows]
        return rows[known], owners[known], pd.Series(windows.numbers)
    if by == "region":
        return _regions_around(events, tree)
    raise ValueError(f"by is 'device', 'step' or 'region', not {by!r}")


def _regions_around(events: pd.DataFrame, tree: CallTree) -> tuple[Integers, Integers, pd.Series]:
    entries = region_entries(events, tree=tree)
    names = entries["region"].cat.categories
    region = np.full(len(events), -1, np.int64)
    region[entries["position"]] = entries["region"].cat.codes
    rows = np.flatnonzero(tree.device & tree.times.known)
    markers = tree.entry[rows]
    found_rows, found_regions = [], []
    while len(rows):
        rows, markers = rows[markers >= 0], markers[markers >= 0]
        found_rows.append(rows)
        found_regions.append(region[markers])
        markers = tree.entry[markers]
    none = np.empty(0, np.int64)
    labels = pd.Series(pd.Categorical(names, categories=names))
    return np.concatenate([none, *found_rows]), np.concatenate([none, *found_regions]), labels


def _parts_ns(events: pd.DataFrame, tree: CallTree, rows: Integers, groups: Integers) -> dict[str, Integers]:
    kinds = activities(events, tree)
    starts, ends = tree.times.starts[rows], tree.times.ends[rows]
    count = int(groups.max(initial=-1)) + 1
    first, last = np.full(count, np.iinfo(np.int64).max), np.full(count, np.iinfo(np.int64).min)
    np.minimum.at(first, groups, starts)
    np.maximum.at(last, groups, ends)

    def union_ns(*names: str) -> Integers:
        wanted = np.logical_or.reduce([kinds[name][rows] for name in names])
        return covered(groups[wanted], starts[wanted], ends[wanted], count)

    computation = union_ns("kernel")
    with_comm = union_ns("kernel", "communication")
    busy = union_ns("kernel", "communication", "memcpy", "memset")
    return {
        "span": last - first,
        "computation": computation,
        "exposed_comm": with_comm - computation,
        "exposed_memory": busy - with_comm,
        "busy": busy,
        "idle": last - first - busy,
    }
