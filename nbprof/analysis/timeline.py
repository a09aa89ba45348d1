"""What each device did between its first and its last event.

In: events. Out: the table `timeline`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbprof import intervals
from nbprof.analysis.activity import activities, union_of
from nbprof.analysis.calltree import CallTree, call_tree
from nbprof.analysis.counted import Mask
from nbprof.schema import conform, empty

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
    rows = [
        {"device": pd.NA if index == _NO_DEVICE else index, **_parts(tree, kinds, device & (indices == index))}
        for index in np.unique(indices[device])
    ]
    return conform(pd.DataFrame(rows), "timeline")


def _parts(tree: CallTree, kinds: dict[str, Mask], here: Mask) -> dict[str, float]:
    compute = union_of(tree, kinds["kernel"] & here)
    communication = union_of(tree, kinds["communication"] & here)
    memory = union_of(tree, (kinds["memcpy"] | kinds["memset"]) & here)
    busy = intervals.total(union_of(tree, here))
    span = int(tree.times.ends[here].max() - tree.times.starts[here].min())
    exposed = intervals.subtract(communication, compute)
    parts = {
        "span_us": span,
        "computation_us": intervals.total(compute),
        "exposed_comm_us": intervals.total(exposed),
        "exposed_memory_us": intervals.total(intervals.subtract(intervals.subtract(memory, compute), communication)),
        "busy_us": busy,
        "idle_us": span - busy,
    }
    return {name: nanoseconds / 1_000 for name, nanoseconds in parts.items()}
