"""What kind of work a kernel does, by its name: a table of patterns, data and not code.

In: kernel names. Out: one class for each. The first pattern that is found anywhere in the name, in whatever case, decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

COMMUNICATION = "communication"
OTHER = "other"

PATTERNS: tuple[tuple[str, str], ...] = (
    (COMMUNICATION, r"nccl|rccl|hccl|oneccl|mscclpp|nvshmem|multimem_|symm_mem"),
    (COMMUNICATION, r"cross_device_reduce|(one|two)_?shot_all_?reduce|all_?reduce_kernel|all_?gather_kernel"),
    # Inductor puts the names of what it fused into the kernel's own: `triton_red_fused_native_layer_norm_0`.
    ("triton/fused", r"^triton_|^cpp_fused_|torchinductor"),
    ("attention", r"flash|fmha|attention|\battn|_attn|sdpa|mha_(fwd|bwd)|paged_kv"),
    # Foreach kernels (multi_tensor_apply) are what optimizers are made of; gradient clipping uses them too.
    ("optimizer", r"multi_tensor|adam|adagrad|adadelta|rmsprop|\bsgd|_sgd|SGDFunctor|LAMBStage|LionFunctor"),
    ("normalisation", r"(batch|layer|group|rms|instance|weight)_?norm|\bbn_(fw|bw)|GammaBeta|RowwiseMoments"),
    ("convolution", r"conv(?!ert)|cudnn|winograd|[dw]grad|fprop|bwd_(weight|data)|implicit_gemm|igemm|miopen"),
    ("convolution", r"nchwToNhwc|nhwcToNchw|im2col|col2im|fft2d"),
    ("matmul", r"(?<!fb)gemm|gemv|matmul|cublas|Cijk_|nvjet|xmma|wgmma|splitK|marlin|cutlass|\bdot_kernel"),
    ("copy/memory", r"direct_copy|CatArray|copy_(kernel|async|device)|memcpy|memset|fill|transpose|permute|arange"),
    ("copy/memory", r"index|gather|scatter|embedding|offsets_range|roll_cuda|flip_kernel|triu|tril"),
    ("reduction", r"reduce|reduction|softmax|argm(ax|in)|topk|sort|scan|cumsum|nll_?loss|ClassNLL|cross_entropy|pool"),
    ("reduction", r"histogram|searchsorted|segment|\bcub::|thrust"),
    ("elementwise", r"elementwise|pointwise|vectorized|functor|dropout|distribution|gelu|silu|relu|rotary"),
    ("elementwise", r"^(Sub)?TensorOp|OpTensor"),
)

CLASSES: tuple[str, ...] = (*dict.fromkeys(kind for kind, _ in PATTERNS), OTHER)

_COMPILED = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in PATTERNS)


def classify(names: Iterable[str]) -> list[str]:
    """The class of each name."""
    return [next((kind for kind, pattern in _COMPILED if pattern.search(name)), OTHER) for name in names]
