"""Findings about the device's own work: matrix products, chains of small kernels, communication.

In: `Facts`. Out: a `Found`, or None.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from nbprof import intervals
from nbprof.analysis.element_types import HALF
from nbprof.analysis.findings.facts import Facts, Found, microseconds
from nbprof.structure.masks import value_mask
from nbprof.structure.statistics import sums_by_group

TENSOR_CORE_GAIN = 8
"""How much faster tensor cores multiply, at most, than the same device's plain units: 156 to 19.5 TFLOP/s for TF32 on
an A100, 125 to 15.7 for half types on a V100 (NVIDIA's data sheets)."""
_SINGLE = r"(?<!fp16_)sgemm(?!_fp16)|scudnn|simt_s|f32f32_f32f32|_ffma"
_PRODUCTS = {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm"}
TILE = 8
"""Half types run fastest where the inner and last size are multiples of this (16 bytes)."""


def without_tensor_cores(facts: Facts) -> Found | None:
    """Single-precision products on a device whose tensor cores have nothing to do."""
    generation = max((_generation(device) for device in facts.metadata.devices), default=0)
    plain = facts.kernels_of("matmul", "convolution") & facts.named(_SINGLE)
    if generation < 7 or not plain.any():
        return None
    time = microseconds(facts.union(plain))
    tf32 = "torch.set_float32_matmul_precision('high') (TF32), or " if generation >= 8 else ""
    return Found(
        100 * time / facts.span_us,
        "% of the span",
        time * (1 - 1 / TENSOR_CORE_GAIN),
        'trace.kernels().query(\'kernel_class in ["matmul", "convolution"]\')',
        f"Matrix products ran in single precision while tensor cores were free. Where the result allows it, try "
        f"{tf32}torch.autocast with a half type.",
    )


def odd_sizes(facts: Facts) -> Found | None:
    """Products in half types with sizes that tensor cores don't take whole."""
    events = facts.events
    rows = np.flatnonzero(facts.tree.operators & value_mask(events["name"], _PRODUCTS) & events["shapes"].notna())
    if not facts.on_device or not len(rows):
        return None
    called = events[["shapes", "dtypes"]].iloc[rows]
    alike = called.groupby(["shapes", "dtypes"], observed=True, dropna=False, sort=False)
    groups = np.asarray(alike.ngroup(), np.int64)
    launched = np.flatnonzero(facts.tree.device & (facts.tree.operator >= 0))
    own = sums_by_group(facts.tree.operator[launched], facts.tree.times.durations[launched], len(events))
    spent = sums_by_group(groups, own[rows], int(groups.max()) + 1)
    kinds = called.astype(object).drop_duplicates()
    odd = np.array([_is_odd(shapes, dtypes) for shapes, dtypes in kinds.itertuples(index=False)], bool)
    time = float(spent[odd].sum()) / 1000
    if not time:
        return None
    return Found(
        int(odd[groups].sum()),
        "products",
        time * (1 - 1 / TENSOR_CORE_GAIN),
        'trace.operators(by=["name", "shape", "dtype"])',
        "Products in half types had sizes that are no multiples of 8, which keeps them off the fast kernels. "
        "Pad the sizes (vocabulary, hidden sizes, sequence length) to multiples of 8, better 64.",
    )


def unfused_elementwise(facts: Facts) -> Found | None:
    """Elementwise kernels right after each other on a stream: each reads and writes all of its tensors anew.

    One fused kernel would take at least as long as the longest of its chain.
    """
    if not facts.on_device:
        return None
    rows = np.flatnonzero(facts.tree.device)
    streams = facts.events[["device", "stream"]].iloc[rows].groupby(["device", "stream"], dropna=False).ngroup()
    order = np.lexsort((facts.tree.times.starts[rows], streams))
    rows, stream = rows[order], streams.to_numpy()[order]
    is_elementwise = facts.kernels_of("elementwise")[rows]
    follows = np.concatenate(([False], is_elementwise[1:] & is_elementwise[:-1] & (stream[1:] == stream[:-1])))
    chain = np.cumsum(~follows)[is_elementwise]
    lengths = facts.tree.times.durations[rows][is_elementwise]
    if not follows.any():
        return None
    longest = np.zeros(int(chain.max()) + 1, np.int64)
    np.maximum.at(longest, chain, lengths)
    return Found(
        int(follows.sum()),
        "kernels",
        float(lengths.sum() - longest.sum()) / 1000,
        "trace.kernels().query('kernel_class == \"elementwise\"')",
        f"{int(follows.sum()):,} elementwise kernels ran right after another one, each over memory anew. "
        "torch.compile fuses such chains; so do fused activations, norms and optimizers.",
    )


def exposed_communication(facts: Facts) -> Found | None:
    """Communication with no computation beside it."""
    communicating = facts.union(facts.kinds["communication"])
    save = microseconds(intervals.subtract(communicating, facts.union(facts.kinds["kernel"])))
    whole = microseconds(communicating)
    if not save:
        return None
    return Found(
        100 * save / whole,
        "% of communication",
        save,
        "trace.communication()",
        f"{100 * save / whole:.0f} % of the communication had no computation beside it. Start it earlier (bucket size, "
        "prefetch), send less (lower precision, gradient accumulation), or look for a rank that comes late.",
    )


def _generation(device: Mapping[str, Any]) -> int:
    """Compute capability of an NVIDIA device; 0 for others, whose kernels have other names."""
    major = device.get("computeMajor")
    return major if isinstance(major, int) and "AMD" not in str(device.get("name")) else 0


def _is_odd(shapes: object, dtypes: object) -> bool:
    """Whether the last two tensors of two or more sizes are of a half type and the inner or last size is no multiple."""
    try:
        sizes, types = json.loads(str(shapes)), json.loads(str(dtypes))
        matrices = [
            (size, of) for size, of in zip(sizes, types, strict=True) if isinstance(size, list) and len(size) > 1
        ]
        (left, of_left), (right, _) = matrices[-2:]
        return of_left in HALF and any(int(size) % TILE for size in (left[-1], right[-1]))
    except (ValueError, TypeError):
        return False
