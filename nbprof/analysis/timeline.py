"""What each device did between its first and its last event.

In: events. Out: the table `timeline`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbprof import intervals
from nbprof.analysis.activity import activities, union_of
from nbprof.schema import conform, empty
from nbprof.structure.calltree import CallTree, call_tree
from nbprof.structure.masks import Mask
from nbprof.structure.times import microseconds

_NO_DEVICE = -1


def timeline(events: pd.DataFrame, *, tree: CallTree | None = None) -> pd.DataFrame:
    """One row a device: computation + exposed communication + exposed memory + idle = span, to the nanosecond.

    span = last end - first start of device events. With U for unions over all streams: computation = |U(compute)|,
    exposed_comm = |U(comm) - U(compute)|, exposed_memory = |U(copies, fills) - U(compute) - U(comm)|, busy = |U(all)|.
    """
    tree = call_tree(events) if tree is None else tree
    device = tree.device & tree.times.known
    if not device.any():
        return empty("timeline")
    kinds = activities(events, tree)
    indices = events["device"].to_numpy(dtype="int64", na_value=_NO_DEVICE)
    found = np.unique(indices[device])
    parts = pd.DataFrame([_parts_ns(tree, kinds, device & (indices == index)) for index in found])
    device_index = pd.arrays.IntegerArray(found, found == _NO_DEVICE)
    times = {f"{part}_us": microseconds(parts[part].to_numpy()) for part in parts}
    return conform(pd.DataFrame({"device": device_index, **times}), "timeline")


def _parts_ns(tree: CallTree, kinds: dict[str, Mask], here: Mask) -> dict[str, int]:
    compute = union_of(tree, kinds["kernel"] & here)
    communication = union_of(tree, kinds["communication"] & here)
    memory = union_of(tree, (kinds["memcpy"] | kinds["memset"]) & here)
    busy = intervals.total(union_of(tree, here))
    span = int(tree.times.ends[here].max() - tree.times.starts[here].min())
    exposed = intervals.subtract(communication, compute)
    return {
        "span": span,
        "computation": intervals.total(compute),
        "exposed_comm": intervals.total(exposed),
        "exposed_memory": intervals.total(intervals.subtract(intervals.subtract(memory, compute), communication)),
        "busy": busy,
        "idle": span - busy,
    }
