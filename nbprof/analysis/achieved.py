"""What operators got done, and in what time: FLOPs, bytes, tensor cores, and their backward.

In: events, and groups of operators. Out: columns of the table `operators`, one entry a group.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from nbprof.analysis.inside import Inside
from nbprof.analysis.tensor_cores import uses_tensor_cores
from nbprof.analysis.work import Work
from nbprof.structure.backward import backward
from nbprof.structure.calltree import CallTree
from nbprof.structure.masks import Integers, Mask
from nbprof.structure.times import microseconds

Columns: TypeAlias = dict[str, Any]


def work_columns(done: Work, inside: Inside) -> Columns:
    """FLOPs and bytes, and their rates."""
    flops, flops_by_ns = inside.sums_and_rates(done.flops)
    moved, bytes_by_ns = inside.sums_and_rates(done.moved_bytes)
    return {"flops": flops, "moved_bytes": moved, "tflops": flops_by_ns / 1_000.0, "gbs": bytes_by_ns}


def tensor_core_columns(done: Work, inside: Inside, used_ns: Integers, device_ns: Integers) -> Columns:
    """How much of the device time ran on tensor cores, where there are products, convolutions or attention, and whether
    it could; `used_ns` is the time there of what each operator itself launched, `device_ns` all time of each.
    """
    used, time = inside.sums(used_ns), inside.sums_of_rows(device_ns[inside.rows])
    can, cannot = inside.some(done.eligible == 1), inside.some(done.eligible == 0)
    return {
        "tensor_core_share": np.where(inside.some(done.is_heavy) & (time > 0), used / np.maximum(time, 1), np.nan),
        "tensor_core_eligible": pd.arrays.BooleanArray(can, ~(can | cannot)),
    }


def backward_columns(events: pd.DataFrame, inside: Inside) -> Columns:
    """How often and how long the backward of the operators ran, and how often they themselves ran again for it."""
    links = backward(events, inside.tree)
    frames = links.frames[links.forward[links.frames] >= 0]
    calls, time = np.zeros((2, len(events)), np.int64)
    np.add.at(calls, links.forward[frames], 1)
    np.add.at(time, links.forward[frames], inside.time_ns[frames])
    count = inside.sums(calls)
    return {
        "backward_calls": count,
        "backward_us": np.where(count > 0, microseconds(inside.sums(time)), np.nan),
        "recomputed_calls": inside.sums_of_rows(links.recomputed[inside.rows].astype(np.int64)),
    }


def on_tensor_cores(events: pd.DataFrame, tree: CallTree) -> Mask:
    """Device events that use tensor cores."""
    rows = np.flatnonzero(tree.device)
    codes, names = pd.factorize(events["name"].array.take(rows))
    mask = np.zeros(len(events), bool)
    mask[rows] = np.append(np.array(uses_tensor_cores(names), bool), False)[codes]
    return mask
