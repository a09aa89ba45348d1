"""Findings about memory: copies, fills, and how much is in use.

In: `Facts`. Out: a `Found`, or None.
"""

from __future__ import annotations

import numpy as np

from nbprof import intervals
from nbprof.analysis.findings.facts import Facts, Found, microseconds
from nbprof.structure.masks import Mask

TINY_BYTES = 65_536
"""Less than this is copied sooner than a copy is started."""
NEARLY_FULL = 0.9
_HOST = 0
"""Torch's number for the CPU as a kind of device."""
_CONVERTS = r"^aten::(_to_copy|clone)$"  # what .to, .contiguous and their kin call where they copy
_FILLS = r"FillFunctor|fill_kernel"


def pageable_copies(facts: Facts) -> Found | None:
    """Copies between the device and memory that isn't pinned: slow, and the host stands still."""
    copies = facts.kinds["memcpy"] & facts.named("Pageable")
    count = int(copies.sum())
    if not count:
        return None
    return Found(
        count,
        "copies",
        _in_the_way(facts, copies),
        facts.expression(copies),
        f"{count:,} copies went through pageable memory, for which the host has to wait. "
        "Copy from pinned memory (pin_memory=True in the DataLoader) with non_blocking=True.",
    )


def tiny_copies(facts: Facts) -> Found | None:
    """Many copies of a few bytes."""
    size = facts.events["bytes"].to_numpy(dtype="int64", na_value=TINY_BYTES)
    copies = facts.kinds["memcpy"] & (size < TINY_BYTES)
    count = int(copies.sum())
    if count < 20:
        return None
    return Found(
        count,
        "copies",
        _in_the_way(facts, copies),
        facts.expression(copies),
        f"{count:,} copies moved less than 64 KiB each, so starting them costs more than moving. "
        "Keep values on the device, or copy them together in one tensor.",
    )


def copies_of_tensors(facts: Facts) -> Found | None:
    """Copies that only change type, layout or owner."""
    converting = facts.tree.operators & facts.named(_CONVERTS)
    if not converting.any():
        return None
    work = facts.inside(converting) & (facts.tree.device if facts.on_device else converting)
    return Found(
        int(converting.sum()),
        "calls",
        microseconds(facts.union(work)),
        facts.expression(converting),
        "Time went to copies that only change a tensor's type, layout or device (.to, .contiguous, .clone). "
        "Keep one type and one memory format (channels_last) through the model, and convert once outside the loop.",
    )


def fills(facts: Facts) -> Found | None:
    """Memory set to one value on the device."""
    filling = facts.kinds["memset"] | (facts.kinds["kernel"] & facts.named(_FILLS))
    count = int(filling.sum())
    if not count:
        return None
    return Found(
        count,
        "fills",
        microseconds(facts.union(filling)),
        facts.expression(filling),
        f"{count:,} times the device filled memory with one value. Use torch.empty where all is written anyway, "
        "zero_grad(set_to_none=True), and buffers that are kept.",
    )


def nearly_full(facts: Facts) -> Found | None:
    """The device's memory is nearly used up by what is allocated."""
    devices = enumerate(facts.metadata.devices)
    totals = {device.get("id", place): device.get("totalGlobalMem") or 0 for place, device in devices}
    is_device = (facts.events["device_type"] != _HOST).fillna(False)
    events = facts.events[is_device & facts.events["in_region"] & facts.events["allocated_bytes"].notna()]
    peaks = events.groupby("device_id")["allocated_bytes"].max()
    fullest = max((peak / totals[device] for device, peak in peaks.items() if totals.get(device)), default=0.0)
    if fullest < NEARLY_FULL:
        return None
    return Found(
        100 * fullest,
        "% of the device's memory",
        None,
        "trace.memory()",
        f"Up to {100 * fullest:.0f} % of a device's memory was taken: one larger shape, and it runs out. "
        "Activation checkpointing, smaller batches or lower precision give room.",
    )


def _in_the_way(facts: Facts, copies: Mask) -> float:
    """Time of the copies and of the calls that start them, in which no computation kernel runs."""
    launches = np.unique(facts.tree.launch[copies])
    calls = facts.union(launches[launches >= 0])
    copying = facts.union(copies)
    both = intervals.union((np.concatenate((copying[0], calls[0])), np.concatenate((copying[1], calls[1]))))
    return microseconds(intervals.subtract(both, facts.union(facts.kinds["kernel"])))
