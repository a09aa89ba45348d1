"""Time by operator, on the host and on the device.

In: events, and their call tree where it is there already. Out: the table `operators`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbprof.schema import conform
from nbprof.structure.calltree import CallTree, call_tree
from nbprof.structure.coverage import covered
from nbprof.structure.masks import Integers
from nbprof.structure.statistics import by_name, shares
from nbprof.structure.times import microseconds


def operators(events: pd.DataFrame, *, tree: CallTree | None = None) -> pd.DataFrame:
    """Operators by name, largest first; one row a name, none folded.

    Nested calls of one name all count in the totals, as in torch; shares use self times, so that nothing counts
    twice. Times are NA where no call of the name has a duration. `share` is of summed `device_self_us` where the
    trace has device events, else of summed `host_self_us`.
    """
    tree = call_tree(events) if tree is None else tree
    rows = np.flatnonzero(tree.operators)
    stats = by_name(events["name"], rows, tree.times)
    on_device = device_self_ns(tree)
    inside = _subtree_sums(on_device, tree)
    unknown = stats.known == 0
    table = pd.DataFrame(
        {
            "name": stats.names,
            "calls": stats.calls,
            "host_total_us": np.where(unknown, np.nan, microseconds(stats.total_ns)),
            "host_self_us": np.where(unknown, np.nan, microseconds(stats.sums(self_ns(tree)[rows]))),
            "device_total_us": microseconds(stats.sums(inside[rows])),
            "device_self_us": microseconds(stats.sums(on_device[rows])),
            "mean_us": stats.mean_us,
            "min_us": stats.min_us,
            "max_us": stats.max_us,
        }
    )
    base = "device_self_us" if tree.device.any() else "host_self_us"
    table = table.assign(share=shares(table[base].to_numpy()))
    by = [base, "host_self_us", "name"]
    return conform(table.sort_values(by, ascending=[False, False, True], ignore_index=True), "operators")


def self_ns(tree: CallTree) -> Integers:
    """Duration of each operator less the union of its direct children, operators and runtime calls; 0 for other rows."""
    children = np.flatnonzero(tree.parent >= 0)
    parents = tree.parent[children]
    ends = np.minimum(tree.times.ends[children], tree.times.ends[parents])
    inside = covered(parents, tree.times.starts[children], ends, len(tree.parent))
    return np.where(tree.operators, tree.times.durations - inside, 0)


def device_self_ns(tree: CallTree) -> Integers:
    """Summed durations of the device events that each operator itself launched."""
    sums = np.zeros(len(tree.operator), np.int64)
    launched = np.flatnonzero(tree.device & (tree.operator >= 0))
    np.add.at(sums, tree.operator[launched], tree.times.durations[launched])
    return sums


def _subtree_sums(own: Integers, tree: CallTree) -> Integers:
    """Each operator's own sum with those of all operators inside it: every sum walks up to the root."""
    sums = own.copy()
    rows = np.flatnonzero(own)
    amounts = own[rows]
    while len(rows):
        rows = tree.operator[rows]
        within = rows >= 0
        rows, amounts = rows[within], amounts[within]
        np.add.at(sums, rows, amounts)
    return sums
