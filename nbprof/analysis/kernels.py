"""Device time by kernel.

In: events. Out: the table `kernels`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.extensions import ExtensionArray

from nbprof.analysis.kernel_classes import CLASSES, classify
from nbprof.analysis.keys import Key, grouped_by, ranked, recorded, region, step
from nbprof.schema import KERNEL_CATEGORIES, conform
from nbprof.structure.calltree import CallTree, call_tree
from nbprof.structure.coverage import covered
from nbprof.structure.grouping import Groups, taken
from nbprof.structure.masks import Integers, value_mask
from nbprof.structure.statistics import by_group, shares
from nbprof.structure.times import microseconds


def kernels(events: pd.DataFrame, *, by: str | Sequence[str] = ("name",), tree: CallTree | None = None) -> pd.DataFrame:
    """Kernels, largest first; one row a group, none folded. Copies and fills are no kernels.

    `by` is one or more of name, kernel_class, operator (that launched it), stream, device, region, step, grid and
    block. What isn't among the keys has a value where the whole group shares it; but `operator` is the one that most of
    the group's time is of, and `blocks_per_sm` and `occupancy` are means weighted by duration.

    `share` is of the summed kernel time; `busy_share` says how much of the devices' busy time (union of all device
    events, summed over devices) the kernel was running, so that it never exceeds 1.
    """
    tree = call_tree(events) if tree is None else tree
    rows = np.flatnonzero(tree.device & value_mask(events["category"], KERNEL_CATEGORIES))
    groups, keys = grouped_by(by, KEYS, events, tree, rows)
    stats = by_group(groups.of_row, len(groups.first), rows, tree.times)
    devices = device_codes(events)
    running = _running_ns(groups, devices[rows], tree.times.starts[rows], tree.times.ends[rows])
    busy = _busy_ns(np.flatnonzero(tree.device), devices, tree)
    lengths = tree.times.durations[rows]
    total_us = microseconds(stats.total_ns)
    columns = {
        **{
            key: groups.common(KEYS[key](events, tree, rows))
            for key in ("name", "kernel_class", "stream", "grid", "block")
        },
        "calls": stats.calls,
        "total_us": total_us,
        **stats.times,
        "share": shares(total_us),
        "busy_share": running / max(busy, 1),
        "operator": _with_most(_operator(events, tree, rows), lengths, groups),
        "blocks_per_sm": _mean(events["blocks_per_sm"].to_numpy()[rows], lengths, groups),
        "occupancy": _mean(events["occupancy"].to_numpy()[rows], lengths, groups),
        **keys,
    }
    return ranked(conform(pd.DataFrame(columns), "kernels"), ["total_us"], [*keys])


def _kernel_class(events: pd.DataFrame, tree: CallTree, rows: Integers) -> ExtensionArray:
    codes, names = pd.factorize(events["name"].array.take(rows))
    return pd.Categorical(classify(map(str, names)), categories=CLASSES).take(codes, allow_fill=True)


def _operator(events: pd.DataFrame, tree: CallTree, rows: Integers) -> pd.Categorical:
    return pd.Categorical(taken(events["name"].array, tree.operator[rows]))


KEYS: dict[str, Key] = {
    "name": recorded("name"),
    "kernel_class": _kernel_class,
    "operator": _operator,
    "stream": recorded("stream"),
    "device": recorded("device"),
    "region": region,
    "step": step,
    "grid": recorded("grid"),
    "block": recorded("block"),
}


def _with_most(names: pd.Categorical, weights: Integers, groups: Groups) -> pd.Categorical:
    """For each group the name with most weight, of equals the first in order; NA only where there is no other."""
    frame = pd.DataFrame({"group": groups.of_row, "code": names.codes, "weight": weights, "named": names.codes >= 0})
    sums = frame.groupby(["group", "named", "code"], as_index=False).sum()
    order = sums.sort_values(["group", "named", "weight", "code"], ascending=[True, False, False, True])
    return names.from_codes(order.drop_duplicates("group")["code"], dtype=names.dtype)


def _mean(values: NDArray[np.float64], lengths: Integers, groups: Groups) -> NDArray[np.float64]:
    """Weighted by duration, or by 1 ns where a kernel has none; NaN where no value is known."""
    known = ~np.isnan(values)
    of_row, weights = groups.of_row[known], np.maximum(lengths[known], 1)
    count = len(groups.first)
    sums = np.bincount(of_row, weights, count)
    return np.bincount(of_row, weights * values[known], count) / np.where(sums > 0, sums, np.nan)


def device_codes(events: pd.DataFrame) -> Integers:
    """Device index of each row, from 0; one of their own, the highest, for rows that name none."""
    devices = events["device"].to_numpy(dtype="int64", na_value=-1)
    return np.where(devices >= 0, devices, devices.max(initial=-1) + 1)


def _running_ns(groups: Groups, devices: Integers, starts: Integers, ends: Integers) -> Integers:
    width = int(devices.max(initial=0)) + 1
    by_device = covered(groups.of_row * width + devices, starts, ends, len(groups.first) * width)
    running: Integers = by_device.reshape(-1, width).sum(axis=1)
    return running


def _busy_ns(rows: Integers, devices: Integers, tree: CallTree) -> int:
    width = int(devices.max(initial=0)) + 1
    return int(covered(devices[rows], tree.times.starts[rows], tree.times.ends[rows], width).sum())
