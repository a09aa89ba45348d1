"""What to look at first: one small rule a finding, in one table of rules.

In: events and the trace's metadata. Out: the table `findings`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import pandas as pd

from nbprof.analysis.findings import copies, host, kernels, training
from nbprof.analysis.findings.facts import Facts, Found
from nbprof.metadata import TraceMetadata
from nbprof.schema import conform, empty
from nbprof.structure.calltree import CallTree, call_tree

RULES: Mapping[str, Callable[[Facts], Found | None]] = {
    "device waits for the host": host.starved_device,
    "blocking calls": host.blocking_calls,
    "data loading": host.data_loading,
    "short kernels": host.short_kernels,
    "time outside operators": host.outside_operators,
    "small operators": host.small_operators,
    "compiling": host.compiling,
    "guard checks": host.guard_checks,
    "allocator calls": host.allocator_calls,
    "profiling overhead": host.profiling_overhead,
    "pageable copies": copies.pageable_copies,
    "tiny copies": copies.tiny_copies,
    "copies of tensors": copies.copies_of_tensors,
    "fills": copies.fills,
    "memory nearly full": copies.nearly_full,
    "matmul without tensor cores": kernels.without_tensor_cores,
    "matmul sizes": kernels.odd_sizes,
    "unfused elementwise": kernels.unfused_elementwise,
    "exposed communication": kernels.exposed_communication,
    "optimizer in small pieces": training.optimizer_in_pieces,
    "recomputed forward": training.recomputed_forward,
    "autotuning": training.autotuning,
}
"""By the name of the finding; each looks at the facts and finds something, or nothing."""

LEAST_SHARE = 0.01
_SEVERITIES = ((0.10, "high"), (0.03, "medium"), (LEAST_SHARE, "low"))


def findings(
    events: pd.DataFrame, metadata: TraceMetadata, *, tree: CallTree | None = None, without: Collection[str] = ()
) -> pd.DataFrame:
    """One row a finding, what could give back most first; none is there without evidence.

    `could_save_us` is an upper bound of its own, not a forecast: findings overlap, and their bounds don't add up.
    `severity` is that bound as a share of the trace's span (first start to last end of work): high from 10 %, medium
    from 3 %, low from 1 %; what could give back less is left out. Where the bound can't be said, `could_save_us` is
    NA and the severity medium. `evidence` is an expression for a trace called `trace`. `without` switches off findings
    by name. Raises ValueError for a name that no finding has.
    """
    without = [without] if isinstance(without, str) else without
    if unknown := sorted(set(without) - set(RULES)):
        raise ValueError(f"There is no finding {unknown[0]!r}. There are: {', '.join(RULES)}.")
    facts = Facts(events, metadata, call_tree(events) if tree is None else tree)
    found = [(name, rule(facts)) for name, rule in RULES.items() if name not in without and facts.span_us]
    rows = [_row(name, one, facts.span_us) for name, one in found if one is not None]
    rows = [row for row in rows if row["severity"]]
    if not rows:
        return empty("findings")
    table = pd.DataFrame(rows).astype({"figure": "float64", "could_save_us": "float64"})
    return conform(table.sort_values("could_save_us", ascending=False, ignore_index=True, kind="stable"), "findings")


def _row(name: str, found: Found, span_us: float) -> dict[str, object]:
    return {"finding": name, "severity": _severity(found.could_save_us, span_us), **vars(found)}


def _severity(could_save_us: float | None, span_us: float) -> str:
    if could_save_us is None:
        return "medium"
    return next((word for least, word in _SEVERITIES if could_save_us >= least * span_us), "")
