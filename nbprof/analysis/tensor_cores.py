"""Which kernels use tensor cores (AMD: matrix cores), by their names: a table of patterns, data and not code.

In: kernel names. Out: yes or no for each. What says nothing in its name (Triton's kernels) counts as no.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

PATTERNS = (
    # The instruction's shape after the type it sums in: h884gemm, s1688cudnn, s16816gemm, i8816gemm; xmma ... tensor16x8x16.
    r"[hsidc](884|1688|8816|16816|16832|161616)(gemm|cudnn|fprop|dgrad|wgrad|[_x])",
    r"tensor\d+x\d+x\d+",
    # Names of the instructions, of CUTLASS's class for them, and of cuBLAS's kernels from Hopper on.
    r"[himqu]mma_|_[hq]?gmma|wgmma|warpgroup|_wmma_|_tensorop_|OpClassTensorOp|nvjet",
    r"flash_(fwd|bwd)|FlashAttn(Fwd|Bwd)|fmha_cutlass[FB]_b?f16|cudnn_generated_\w*sdpa|sdpa_\w*flash|flash\w*sdpa",
    # Tensile (rocBLAS, hipBLASLt), Composable Kernel, MIOpen.
    r"Cijk_.*(_MI\d+x|MFMA)|_mfma|_xdl(ops)?_|_gtcx",
)

_COMPILED = re.compile("|".join(PATTERNS), re.IGNORECASE)


def uses_tensor_cores(names: Iterable[str]) -> list[bool]:
    """For each name."""
    return [_COMPILED.search(str(name)) is not None for name in names]
