"""Time and work by operator, on the host and on the device.

In: events, and their call tree where it is there already. Out: the table `operators`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from nbprof.analysis.achieved import backward_columns, on_tensor_cores, tensor_core_columns, work_columns
from nbprof.analysis.inside import Inside, subtree_sums
from nbprof.analysis.keys import Key, grouped_by, ranked, recorded, region, stack, step
from nbprof.analysis.work import work
from nbprof.schema import conform
from nbprof.structure.calltree import CallTree, call_tree
from nbprof.structure.coverage import covered
from nbprof.structure.masks import Integers, Mask
from nbprof.structure.statistics import by_group, shares
from nbprof.structure.times import microseconds

KEYS: dict[str, Key] = {
    "name": recorded("name"),
    "shape": recorded("shapes"),
    "dtype": recorded("dtypes"),
    "stack": stack,
    "region": region,
    "step": step,
}


def operators(
    events: pd.DataFrame, *, by: str | Sequence[str] = ("name",), tree: CallTree | None = None
) -> pd.DataFrame:
    """Operators, largest first; one row a group, none folded.

    `by` is one or more of name, shape, dtype (of the inputs, where they were recorded), stack (the chain of operators
    and Python calls around, outermost first: `a > b > c`), region and step. Where `name` is no key it has a value where
    the whole group shares it.

    Nested calls of one name all count in the totals, as in torch; shares use self times, so that nothing counts
    twice. Times are NA where no call of the group has a duration. `share` is of summed `device_self_us` where the
    trace has device events, else of summed `host_self_us`. Percentiles lie on a straight line between neighbours;
    `std_us` is that of these calls (divided by n).

    `flops` and `moved_bytes` are totals too, of all work inside: that of `aten::addmm` stands there again for the
    `aten::linear` that calls it, so don't add the two up. A product of [m, k] and [k, n] is 2 m n k FLOPs, a convolution
    2 x output x kernel x channels in / groups, attention two products forward and five backward (masks aren't looked
    at), as in torch/utils/flop_counter.py; all formulas are in `nbprof/analysis/formulas.py`. Bytes are the least that
    must move: each input once, and the output once. They need `record_shapes=True`, convolutions forward a torch that
    records arguments too. `tflops` and `gbs` divide them by the device time of the calls that they are known of (by
    their host time where the trace has no device events).

    `backward_us` is device time where the trace has device events, else host time, of the backward of what the operator
    called forward, by autograd's sequence numbers; `recomputed_calls` are forward calls that begin in a backward.

    `tensor_core_share` goes by the names of kernels (`nbprof/analysis/tensor_cores.py`), `tensor_core_eligible` by the
    types of the inputs; float counts as TF32, which takes compute capability 8.0. Both are NA without a product, a
    convolution or attention inside.
    """
    tree = call_tree(events) if tree is None else tree
    rows = np.flatnonzero(tree.operators)
    groups, keys = grouped_by(by, KEYS, events, tree, rows)
    stats = by_group(groups.of_row, len(groups.first), rows, tree.times)
    on_device = device_self_ns(tree)
    device = subtree_sums(on_device, tree)
    base = "device_self_us" if tree.device.any() else "host_self_us"
    inside = Inside(tree, rows, groups, device if base == "device_self_us" else tree.times.durations)
    done = work(events, tree)
    columns = {
        "name": groups.common(events["name"].array.take(rows)),
        "calls": stats.calls,
        "host_total_us": np.where(stats.known > 0, microseconds(stats.total_ns), np.nan),
        "host_self_us": np.where(stats.known > 0, microseconds(inside.sums_of_rows(self_ns(tree)[rows])), np.nan),
        "device_total_us": microseconds(inside.sums_of_rows(device[rows])),
        "device_self_us": microseconds(inside.sums_of_rows(on_device[rows])),
        **stats.times,
        **work_columns(done, inside),
        **tensor_core_columns(done, inside, device_self_ns(tree, on_tensor_cores(events, tree)), device),
        **backward_columns(events, inside),
        **keys,
    }
    table = conform(pd.DataFrame(columns).assign(share=shares(columns[base])), "operators")
    return ranked(table, [base, "host_self_us"], [*keys])


def self_ns(tree: CallTree) -> Integers:
    """Duration of each operator less the union of its direct children, operators and runtime calls; 0 for other rows."""
    children = np.flatnonzero(tree.parent >= 0)
    parents = tree.parent[children]
    ends = np.minimum(tree.times.ends[children], tree.times.ends[parents])
    inside = covered(parents, tree.times.starts[children], ends, len(tree.parent))
    return np.where(tree.operators, tree.times.durations - inside, 0)


def device_self_ns(tree: CallTree, device: Mask | None = None) -> Integers:
    """Summed durations of the device events (or of some of them) that each operator itself launched."""
    sums = np.zeros(len(tree.operator), np.int64)
    launched = np.flatnonzero((tree.device if device is None else device) & (tree.operator >= 0))
    np.add.at(sums, tree.operator[launched], tree.times.durations[launched])
    return sums
