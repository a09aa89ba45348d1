"""What is known of collectives by their names and of their elements by their types: tables, data and not code.

In: names, shapes and types as torch and the communication libraries write them. Out: one form for each name; sizes and
factors.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from nbprof.analysis.element_types import ELEMENT_BYTES

# Searched in this order, in names without underscores and in lower case: some words hold others.
_WORDS: Mapping[str, str] = {
    "allreduce": "allreduce",
    "crossdevicereduce": "allreduce",
    "allgather": "allgather",
    "reducescatter": "reduce_scatter",
    "alltoall": "alltoall",
    "broadcast": "broadcast",
    "sendrecv": "sendrecv",
    "send": "send",
    "recv": "recv",
    "barrier": "barrier",
    "gather": "gather",
    "scatter": "scatter",
    "reduce": "reduce",
}

RING_PASSES: Mapping[str, int] = {
    "allreduce": 2,
    "allgather": 1,
    "reduce_scatter": 1,
    "alltoall": 1,
    "gather": 1,
    "scatter": 1,
}
"""How often a rank sends (n - 1) / n of the bytes; the others send them once, whole."""

WHOLE_INPUT = frozenset({"allreduce", "reduce_scatter", "alltoall", "broadcast", "reduce", "send", "recv"})
"""Collectives whose inputs on one rank are all of their bytes."""


def collective(name: str) -> str | None:
    """What a collective, or a kernel or operator of one, does; None where the name doesn't say.

    `_allgather_base`, `nccl:all_gather` and `ncclDevKernel_AllGather_RING_LL` are all `allgather`.
    """
    plain = name.replace("_", "").lower()
    return next((form for word, form in _WORDS.items() if word in plain), None)


def tensor_bytes(shapes: str, types: str) -> int | None:
    """Summed size of tensors, given their shapes and types as JSON text; None where a type has no known size."""
    try:
        pairs = zip(json.loads(shapes), json.loads(types), strict=True)
        return sum(int(math.prod(shape)) * ELEMENT_BYTES[kind] for shape, kind in pairs)
    except (ValueError, TypeError, KeyError):
        return None
