"""Device time by kernel.

In: events. Out: the table `kernels`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbprof.analysis.kernel_classes import CLASSES, classify
from nbprof.schema import KERNEL_CATEGORIES, conform
from nbprof.structure.calltree import CallTree, call_tree
from nbprof.structure.coverage import covered
from nbprof.structure.masks import Integers, value_mask
from nbprof.structure.statistics import by_name, shares
from nbprof.structure.times import microseconds


def kernels(events: pd.DataFrame, *, tree: CallTree | None = None) -> pd.DataFrame:
    """Kernels by name, largest first; one row a name, none folded. Copies and fills are no kernels.

    `share` is of the summed kernel time; `busy_share` says how much of the devices' busy time (union of all device
    events, summed over devices) the kernel was running, so that it never exceeds 1.
    """
    tree = call_tree(events) if tree is None else tree
    rows = np.flatnonzero(tree.device & value_mask(events["category"], KERNEL_CATEGORIES))
    stats = by_name(events["name"], rows, tree.times)
    devices = device_codes(events)
    running = _running_ns(stats.groups, devices[rows], tree.times.starts[rows], tree.times.ends[rows], len(stats.calls))
    busy = _busy_ns(np.flatnonzero(tree.device), devices, tree)
    classes = pd.Categorical(classify(stats.names.categories), categories=CLASSES)
    total_us = microseconds(stats.total_ns)
    table = pd.DataFrame(
        {
            "name": stats.names,
            "kernel_class": classes,
            "calls": stats.calls,
            "total_us": total_us,
            "mean_us": stats.mean_us,
            "min_us": stats.min_us,
            "max_us": stats.max_us,
            "share": shares(total_us),
            "busy_share": running / max(busy, 1),
        }
    )
    return conform(table.sort_values(["total_us", "name"], ascending=[False, True], ignore_index=True), "kernels")


def device_codes(events: pd.DataFrame) -> Integers:
    """Device index of each row, from 0; one of their own, the highest, for rows that name none."""
    devices = events["device"].to_numpy(dtype="int64", na_value=-1)
    return np.where(devices >= 0, devices, devices.max(initial=-1) + 1)


def _running_ns(groups: Integers, devices: Integers, starts: Integers, ends: Integers, count: int) -> Integers:
    width = int(devices.max(initial=0)) + 1
    by_device = covered(groups * width + devices, starts, ends, count * width)
    running: Integers = by_device.reshape(count, width).sum(axis=1)
    return running


def _busy_ns(rows: Integers, devices: Integers, tree: CallTree) -> int:
    width = int(devices.max(initial=0)) + 1
    return int(covered(devices[rows], tree.times.starts[rows], tree.times.ends[rows], width).sum())
