"""What the allocators held over time.

In: events; an allocator's are the instants named `[memory]`. Out: the table `memory`, and the rows that it and the
tables of `allocations` are made of.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbprof.schema import conform
from nbprof.structure.calltree import CallTree, call_tree
from nbprof.structure.masks import Integers, value_mask
from nbprof.structure.points import innermost_around
from nbprof.structure.times import microseconds

ALLOCATOR = "[memory]"
_RECORDED = ["bytes", "address", "allocated_bytes", "reserved_bytes", "device_type", "device_id", "in_region"]
# c10::DeviceType by number. Builds for AMD record HIP's own, though their torch calls the device cuda.
KINDS = {
    0: "cpu",
    1: "cuda",
    6: "cuda",
    9: "xla",
    12: "xpu",
    13: "mps",
    15: "hpu",
    18: "ipu",
    19: "mtia",
    20: "privateuseone",
}


def memory(events: pd.DataFrame, *, tree: CallTree | None = None) -> pd.DataFrame:
    """One row an allocation or release, in order of time: what the allocator of its device holds from then on.

    The totals are the allocator's own, so they include what it held before the recording. Traces of 2021 have none:
    there `allocated_bytes` is the running sum of the sizes, begun at the least amount with which it never falls below
    zero, and `reserved_bytes` is NA. Devices are called as torch calls them, so HIP's are `cuda:0` too. In a gated
    file the rows are those inside regions.
    """
    found = allocator_events(events, call_tree(events) if tree is None else tree)
    return conform(found[found["counts"]].drop(columns=["address", "counts"]).reset_index(drop=True), "memory")


def allocator_events(events: pd.DataFrame, tree: CallTree) -> pd.DataFrame:
    """All that the allocators recorded, in order of time: the columns of `memory`, `address`, and which rows count."""
    is_allocator = value_mask(events["name"], {ALLOCATOR}) & events["bytes"].notna().to_numpy(bool)
    rows = np.flatnonzero(is_allocator)
    rows = rows[np.argsort(tree.times.starts[rows], kind="stable")]
    chosen = events[_RECORDED].iloc[rows].reset_index(drop=True)
    sizes = chosen["bytes"].astype("int64")
    device = _devices(chosen)
    return pd.DataFrame(
        {
            "device": device,
            "ts_us": microseconds(tree.times.starts[rows]),
            "allocated_bytes": chosen["allocated_bytes"].fillna(_running_sums(sizes, device)),
            "reserved_bytes": chosen["reserved_bytes"],
            "bytes": sizes,
            "operator": _operators(rows, events, tree),
            "address": chosen["address"],
            "counts": chosen["in_region"],
        }
    )


def _devices(chosen: pd.DataFrame) -> pd.Categorical:
    kinds, indices = (chosen[side].to_numpy(dtype="int64", na_value=-1) for side in ("device_type", "device_id"))
    _, first, codes = np.unique((kinds << 32) + indices, return_index=True, return_inverse=True)
    names = [_device_name(kind, index) for kind, index in zip(kinds[first], indices[first], strict=True)]
    return pd.Categorical(names).take(codes)


def _device_name(kind: int, index: int) -> str | None:
    if kind < 0:
        return None
    name = KINDS.get(kind, f"type{kind}")
    return name if index < 0 else f"{name}:{index}"


def _running_sums(sizes: pd.Series, device: pd.Categorical) -> pd.Series:
    """What each device holds at least: releases of what was allocated before the recording lift the start."""
    sums = sizes.groupby(device.codes).cumsum()
    return sums - sums.groupby(device.codes).transform("min").clip(upper=0)


def _operators(rows: Integers, events: pd.DataFrame, tree: CallTree) -> pd.Categorical:
    holders = np.flatnonzero(tree.operators & tree.times.known)
    around = innermost_around(rows, holders, tree.operator, events, tree.times)
    names = events["name"].cat
    codes = np.append(names.codes, -1)[around]  # -1 reads the last entry
    found = pd.Categorical.from_codes(codes, categories=names.categories).remove_unused_categories()
    ordered: pd.Categorical = found.reorder_categories(sorted(found.categories))
    return ordered
