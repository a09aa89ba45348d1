"""How much arithmetic an operator does and how many elements it writes, by its name and its inputs: one table.

In: names of operators, their inputs' shapes, and the arguments that are no tensors. Out: `FORMULAS`, one for each name.

One multiplication and one addition are two FLOPs. Masks (causal attention) are not looked at, as in torch's own counter
(torch/utils/flop_counter.py), from which the formulas of products, convolutions and attention are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np

MATMUL, CONVOLUTION, ATTENTION = "matmul", "convolution", "attention"
NORMALISATION, ELEMENTWISE, REDUCTION = "normalisation", "elementwise", "reduction"
ON_TENSOR_CORES = frozenset({MATMUL, CONVOLUTION, ATTENTION})
"""What tensor cores can be used for."""

Shape: TypeAlias = Sequence[int]
Shapes: TypeAlias = Sequence[Shape]
Count: TypeAlias = tuple[int, int | None]
"""FLOPs, and elements written (None where that isn't known)."""


@dataclass(frozen=True)
class Formula:
    """`count` takes the shapes and the arguments as recorded; what it can't use raises ArithmeticError, LookupError,
    TypeError or ValueError. The inputs at `reads` are read (None: all); `written` is the input of the output's type
    (None: of the widest).
    """

    kind: str
    count: Callable[[Shapes, Sequence[Any]], Count]
    reads: tuple[int, ...] | None = None
    written: int | None = None
    needs_arguments: bool = False


def _product(left: int, right: int, *, turned: bool = False) -> Callable[[Shapes, Sequence[Any]], Count]:
    """2 m n k, for each of a batch; `turned` where the right side is [n, k]."""

    def count(shapes: Shapes, _: Sequence[Any]) -> Count:
        a, b = _tensor(shapes[left]), _tensor(shapes[right])
        a, b = [1, *a] if len(a) == 1 else a, [*b, 1] if len(b) == 1 and not turned else b
        inner, columns = (b[-1], b[-2]) if turned else (b[-2], b[-1])
        if a[-1] != inner:
            raise ValueError("sides that don't fit")
        written = prod(np.broadcast_shapes(tuple(a[:-2]), tuple(b[:-2]))) * a[-2] * columns
        return 2 * written * inner, written

    return count


def _convolution(stride: int, padding: int, dilation: int | None, transposed: int | None = None) -> Formula:
    """2 x output x (channels in / groups) x kernel, the output from the arguments at these places.

    Where it is transposed, the input takes the output's place, and the output's size is left open.
    """

    def count(shapes: Shapes, arguments: Sequence[Any]) -> Count:
        image, weight = _tensor(shapes[0]), _tensor(shapes[1])
        kernel = weight[2:]
        if len(image) != len(weight) or not kernel:
            raise ValueError("an image without a batch")
        if transposed is not None and arguments[transposed]:
            return 2 * prod(image) * prod(weight[1:]), None
        steps, pads = arguments[stride], arguments[padding]
        holes = [1] if dilation is None else arguments[dilation]
        each = np.stack(np.broadcast_arrays(image[2:], kernel, steps, pads, holes), axis=1).tolist()
        places = [(size + 2 * pad - hole * (width - 1) - 1) // step + 1 for size, width, step, pad, hole in each]
        written = image[0] * weight[0] * prod(places)
        if min(places) < 0:
            raise ValueError("a kernel wider than its image")
        return 2 * written * prod(weight[1:]), written

    return Formula(CONVOLUTION, count, needs_arguments=True)


def _convolution_backward(gradient: int, image: int, transposed: int | None = None) -> Formula:
    """As much as forward for the gradient of the input, and again for that of the weight, where the mask asks for it."""

    def count(shapes: Shapes, arguments: Sequence[Any]) -> Count:
        weight = _tensor(shapes[2])
        turned = transposed is not None and len(arguments) > transposed and arguments[transposed]
        one = 2 * prod(_tensor(shapes[image if turned else gradient])) * prod(weight[1:])
        mask = arguments[-1] if arguments and isinstance(arguments[-1], list) else [True, True]
        written = prod(_tensor(shapes[image])) * mask[0] + prod(weight) * mask[1]
        return one * (mask[0] + mask[1]), written

    return Formula(CONVOLUTION, count, needs_arguments=True)


def _attention(first: int, along: int, *, backward: bool = False) -> Formula:
    """Two products forward (q k', p v); backward five: the scores again, and the gradients of p, v, q and k.

    `first` is the place of q, k and v follow; `along` the dimension that holds the sequence.
    """

    def count(shapes: Shapes, _: Sequence[Any]) -> Count:
        q, k, v = (_tensor(shape) for shape in shapes[first : first + 3])
        if not len(q) == len(k) == len(v) == 4:
            raise ValueError("sequences of different lengths in one")
        pairs = prod(q[:3]) * k[along]
        if backward:
            return 2 * pairs * (3 * q[3] + 2 * v[3]), prod(q) + prod(k) + prod(v)
        return 2 * pairs * (q[3] + v[3]), prod(q[:3]) * v[3]

    return Formula(ATTENTION, count)


def _each(flops: int, *, keeps: bool = True) -> Callable[[Shapes, Sequence[Any]], Count]:
    """So many FLOPs for each element of the first input; an output that doesn't keep its size counts as nothing."""
    return lambda shapes, _: (flops * prod(_tensor(shapes[0])), prod(_tensor(shapes[0])) if keeps else 0)


def _together(shapes: Shapes, _: Sequence[Any]) -> Count:
    """One FLOP for each element of the output, which is as large as all inputs together make it."""
    size = prod(np.broadcast_shapes(*(tuple(_tensor(shape)) for shape in shapes)))
    return size, size


def _tensor(shape: Any) -> list[int]:
    if not isinstance(shape, list) or not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError("not a tensor")
    return shape


def _in_place_too(names: str) -> str:
    return " ".join(f"{name} {name}_" for name in names.split())


_ROWS: tuple[tuple[str, Formula], ...] = (
    ("mm bmm matmul mv dot vdot _int_mm _scaled_mm", Formula(MATMUL, _product(0, 1))),
    ("addmm baddbmm addmv _addmm_activation", Formula(MATMUL, _product(1, 2))),
    ("linear", Formula(MATMUL, _product(0, 1, turned=True))),
    ("convolution _convolution convolution_overrideable", _convolution(3, 4, 5, 6)),
    ("cudnn_convolution", _convolution(3, 2, 4)),
    ("cudnn_convolution_relu", _convolution(3, 4, 5)),
    ("miopen_convolution miopen_depthwise_convolution mkldnn_convolution", _convolution(4, 3, 5)),
    ("_conv_depthwise2d conv_depthwise3d slow_conv_dilated2d slow_conv_dilated3d", _convolution(4, 5, 6)),
    ("_slow_conv2d_forward thnn_conv2d_forward slow_conv3d_forward", _convolution(4, 5, None)),
    ("convolution_backward convolution_backward_overrideable", _convolution_backward(0, 1, 7)),
    ("cudnn_convolution_backward miopen_convolution_backward mkldnn_convolution_backward", _convolution_backward(1, 0)),
    (
        "_scaled_dot_product_flash_attention _scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention"
        " _scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_fused_attention_overrideable",
        _attention(0, 2),
    ),
    (
        "_scaled_dot_product_flash_attention_backward _scaled_dot_product_efficient_attention_backward"
        " _scaled_dot_product_cudnn_attention_backward _scaled_dot_product_flash_attention_for_cpu_backward"
        " _scaled_dot_product_fused_attention_overrideable_backward",
        _attention(1, 2, backward=True),
    ),
    ("_flash_attention_forward _efficient_attention_forward", _attention(0, 1)),
    ("_flash_attention_backward _efficient_attention_backward", _attention(1, 1, backward=True)),
    # Mean, variance, normalising, scale and shift; DeepSpeed's flops profiler counts the same 5. Backward: twice.
    (
        "native_layer_norm native_batch_norm cudnn_batch_norm miopen_batch_norm native_group_norm _fused_rms_norm"
        " _batch_norm_with_update _native_batch_norm_legit",
        Formula(NORMALISATION, _each(5)),
    ),
    (
        "native_layer_norm_backward native_batch_norm_backward cudnn_batch_norm_backward miopen_batch_norm_backward"
        " native_group_norm_backward _fused_rms_norm_backward batch_norm_backward",
        Formula(NORMALISATION, _each(10)),
    ),
    (
        _in_place_too(
            "add sub rsub mul div pow neg abs exp log sqrt rsqrt reciprocal square sin cos tanh sigmoid erf relu gelu"
            " silu elu hardtanh hardswish leaky_relu clamp clamp_min clamp_max addcmul addcdiv lerp masked_fill"
        )
        + " where maximum minimum mish softplus threshold_backward gelu_backward silu_backward tanh_backward"
        " sigmoid_backward leaky_relu_backward hardtanh_backward hardswish_backward native_dropout"
        " native_dropout_backward",
        Formula(ELEMENTWISE, _together),
    ),
    ("copy_", Formula(ELEMENTWISE, _each(0), reads=(1,), written=0)),
    ("fill_ zero_", Formula(ELEMENTWISE, _each(0), reads=(), written=0)),
    ("sum mean prod amax amin max min argmax argmin norm linalg_vector_norm var std logsumexp",
     Formula(REDUCTION, _each(1, keeps=False))),
    ("cumsum", Formula(REDUCTION, _each(1))),
    # Maximum, difference, exponential, sum, quotient; backward: product, sum, difference, product.
    ("_softmax _log_softmax", Formula(REDUCTION, _each(5))),
    ("_softmax_backward_data _log_softmax_backward_data", Formula(REDUCTION, _each(4))),
)  # fmt: skip

FORMULAS = {f"aten::{name}": formula for names, formula in _ROWS for name in names.split()}
