"""Findings about the host: what keeps a device waiting, or, without a device, what isn't work.

In: `Facts`. Out: a `Found`, or None.
"""

from __future__ import annotations

import numpy as np

from nbprof import intervals
from nbprof.analysis.activity import is_blocking
from nbprof.analysis.findings.facts import Facts, Found, microseconds, quoted
from nbprof.analysis.launches import are_short
from nbprof.analysis.operators import self_ns
from nbprof.analysis.steps import steps
from nbprof.intervals import Intervals
from nbprof.structure.masks import Mask

_READS_BACK = r"^aten::(_local_scalar_dense|nonzero|is_nonzero)$"
_ALLOCATES = r"^(cuda|hip)(Host|Managed)?(Malloc|Free|Alloc)|^cuMem(Alloc|Free)|^cudaMallocHost|^hipHostMalloc"
_COMPILES = r"\(dynamo_timed\)$"
_CHECKS_GUARDS = r"^TorchDynamo Cache Lookup$"
SMALL_NS = 10_000
"""Operators of less self time than this cost more to call than they work."""


def starved_device(facts: Facts) -> Found | None:
    """The device does nothing and has nothing queued: the host launches too late."""
    save = microseconds(facts.starved)
    if not save:
        return None
    return Found(
        100 * save / facts.span_us,
        "% of the span",
        save,
        "trace.idle()",
        f"In {100 * save / facts.span_us:.0f} % of the whole trace's time a device was idle because its next work was not "
        "launched yet. "
        "See in host_activity what the host did meanwhile; fewer and larger operators, torch.compile or CUDA graphs help.",
    )


def blocking_calls(facts: Facts) -> Found | None:
    """Calls that wait for the device, each followed by a gap in which the host catches up."""
    waits = (is_blocking(facts.events) & facts.tree.times.known) | facts.named(_READS_BACK)
    waiting = facts.union(waits)
    count = len(waiting[0])
    if count < 3 or not facts.on_device:
        return None
    save = microseconds(_touching(facts.starved, waiting))
    return Found(
        count,
        "calls",
        save,
        facts.expression(waits),
        f"The host waited {count} times for the device, mostly in {quoted(facts.commonest(waits))}, and the device ran dry. "
        "Leave values on the device (no .item(), .cpu(), print or if on a tensor in the loop), or read them every few steps.",
    )


def data_loading(facts: Facts) -> Found | None:
    """The loop waits for its next batch while no device works."""
    loading = facts.union(facts.kinds["dataloader"])
    save = microseconds(intervals.subtract(loading, facts.busy))
    if not save:
        return None
    return Found(
        100 * microseconds(loading) / facts.span_us,
        "% of the span",
        save,
        "trace.steps()",
        "The loop waited for its next batch. Give the DataLoader num_workers, pin_memory=True and persistent_workers=True, "
        "or prepare the data ahead.",
    )


def short_kernels(facts: Facts) -> Found | None:
    """Device events that take less time than the call that launches them, one by one."""
    linked = np.flatnonzero(facts.tree.device & facts.tree.times.known & (facts.tree.launch >= 0))
    short = int(are_short(facts.tree, linked).sum())
    if short < 10 or 3 * short < len(linked):
        return None
    return Found(
        100 * short / len(linked),
        "% of launches",
        microseconds(facts.starved),
        'trace.launches().query("is_short")',
        f"{short:,} of {len(linked):,} device events were shorter than their own launch call, so launching sets the pace. "
        "Larger batches, torch.compile(mode='reduce-overhead') or CUDA graphs launch less.",
    )


def outside_operators(facts: Facts) -> Found | None:
    """Without a device: time of the steps in which nothing that torch records ran."""
    if facts.on_device:
        return None
    save = float(steps(facts.events, tree=facts.tree)["other_us"].sum())
    return Found(
        100 * save / facts.span_us,
        "% of the span",
        save,
        "trace.steps()",
        "No operator ran in this part of the steps: plain Python, other libraries, or waiting. "
        "Record again with Python stacks (with_stack) to see which code it is.",
    )


def small_operators(facts: Facts) -> Found | None:
    """Without a device: operators so short that calling them costs more than what they do."""
    if facts.on_device:
        return None
    own = self_ns(facts.tree)
    small = facts.tree.operators & facts.tree.times.known & (own < SMALL_NS)
    count, save = int(small.sum()), float(own[small].sum()) / 1000
    whole = float(own.sum()) / 1000
    if count < 100 or save < 0.3 * whole:
        return None
    return Found(
        count,
        "operators",
        save,
        "trace.operators()",
        f"{100 * save / whole:.0f} % of the operators' time went to {count:,} calls of less than 10 µs each. "
        "Larger batches, torch.compile, or operators that do more at once.",
    )


def compiling(facts: Facts) -> Found | None:
    """torch.compile compiled while it was measured: torch marks its passes `(dynamo_timed)`."""
    save = microseconds(facts.union(facts.ranges(_COMPILES)))
    if not save:
        return None
    return Found(
        100 * save / facts.span_us,
        "% of the span",
        save,
        'trace.events[trace.events["name"].str.endswith("(dynamo_timed)")]',
        "torch.compile compiled inside the recording: a first call, or a shape, type or value not seen before. "
        "Warm up longer; if it goes on, TORCH_LOGS=recompiles says why, and dynamic=True may help.",
    )


def guard_checks(facts: Facts) -> Found | None:
    """torch.compile looks up its code for each piece between graph breaks."""
    lookups = facts.ranges(_CHECKS_GUARDS)
    count = int(lookups.sum())
    if count < 2:
        return None
    return Found(
        count,
        "lookups",
        microseconds(facts.union(lookups)),
        facts.expression(lookups),
        f"torch.compile looked up its code {count:,} times: one for each piece of the graph. "
        "TORCH_LOGS=graph_breaks says where a graph breaks; fullgraph=True turns breaks into errors.",
    )


def allocator_calls(facts: Facts) -> Found | None:
    """Memory asked of the driver inside the recording, which stops the device."""
    calls = facts.kinds["runtime"] & facts.named(_ALLOCATES)
    count = int(calls.sum())
    if count < 2:
        return None
    return Found(
        count,
        "calls",
        microseconds(facts.union(calls)),
        facts.expression(calls),
        f"Memory was asked of the driver {count} times, mostly by {quoted(facts.commonest(calls))}. "
        "Warm up with the largest shapes; if it goes on, PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, less memory, "
        "no torch.cuda.empty_cache().",
    )


def profiling_overhead(facts: Facts) -> Found | None:
    """Recorded calls of a one-shot session took longer than those before them."""
    capture = facts.metadata.capture
    if capture is None:
        return None
    wait, warmup = (int(capture.schedule.get(part, 0)) for part in ("wait", "warmup"))
    before, recorded = capture.calls_us[:wait], capture.calls_us[wait + warmup :]
    if not before or not recorded:
        return None
    overhead = float(np.median(recorded) / np.median(before)) - 1
    costly = [name for name, is_on in capture.options.items() if is_on]
    if overhead < 0.1:
        return None
    return Found(
        100 * overhead,
        "% slower",
        None,
        "trace.metadata.capture.calls_us",
        f"Recorded calls took {100 * overhead:.0f} % longer than unrecorded ones, so short host events look too long. "
        + (f"Record without {', '.join(costly)}." if costly else "Trust the device's times and the order of things."),
    )


def _touching(gaps: Intervals, waiting: Intervals) -> Intervals:
    """The gaps that begin while something waits, or in which something begins to wait."""
    if not len(waiting[0]):
        return intervals.none()
    at = np.searchsorted(waiting[1], gaps[0], side="left")
    hit: Mask = (at < len(waiting[0])) & (waiting[0][np.minimum(at, len(waiting[0]) - 1)] < gaps[1])
    return gaps[0][hit], gaps[1][hit]
