"""FLOPs and bytes of operators, by hand, and against torch's own counter of FLOPs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbprof.analysis.operators import operators
from nbprof.analysis.work import Work, work
from nbprof.reader import read_events
from nbprof.structure.backward import backward
from nbprof.structure.calltree import call_tree
from tests.frames import make_events, op
from tests.references import read_reference

IMAGE, WEIGHT = [2, 3, 8, 8], [4, 3, 3, 3]


def call(name: str, shapes: Any, dtypes: Any = "float", ts: float = 0, dur: float = 10, **more: Any) -> dict[str, Any]:
    """One operator; a single type stands for all of its inputs."""
    types = [dtypes] * len(shapes) if isinstance(dtypes, str) else dtypes
    return op(f"aten::{name}", ts, dur, shapes=json.dumps(shapes), dtypes=json.dumps(types), **more)


def concrete(*values: str) -> dict[str, Any]:
    """The arguments as torch records them: tensors are empty texts."""
    return {"args": {"Concrete Inputs": list(values)}}


def worked(*rows: dict[str, Any]) -> Work:
    events = make_events(*rows)
    return work(events, call_tree(events))


def test_nothing_is_no_work(no_events: pd.DataFrame) -> None:
    assert len(worked_of(no_events).flops) == 0


def worked_of(events: pd.DataFrame) -> Work:
    return work(events, call_tree(events))


@pytest.mark.parametrize(
    ("row", "flops", "moved"),
    [
        # 2 x 2 x 3 x 5; 4 bytes for each of 6 + 15 + 10 elements.
        (call("mm", [[2, 3], [3, 5]]), 60, 4 * 31),
        (call("mm", [[2, 3], [3, 5]], "c10::BFloat16"), 60, 2 * 31),
        # The same and 5 of the bias; its two scalars count for nothing.
        (call("addmm", [[5], [2, 3], [3, 5], [], []], ["float", "float", "float", "Scalar", "Scalar"]), 60, 4 * 36),
        (call("bmm", [[7, 2, 3], [7, 3, 5]]), 7 * 60, 4 * 7 * 31),
        (call("baddbmm", [[7, 2, 5], [7, 2, 3], [7, 3, 5]]), 7 * 60, 4 * 7 * 41),
        (call("linear", [[7, 2, 3], [5, 3]]), 7 * 60, 4 * (42 + 15 + 70)),
        (call("matmul", [[7, 1, 2, 3], [4, 3, 5]]), 28 * 60, 4 * (42 + 60 + 280)),
        (call("mv", [[2, 3], [3]]), 12, 4 * (6 + 3 + 2)),
        (call("dot", [[3], [3]]), 6, 4 * (3 + 3 + 1)),
        # Output 2 x 4 x 6 x 6 = 288 elements, for each 2 x 3 x 9 = 54.
        (call("convolution", [IMAGE, WEIGHT], **concrete("", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]")),
         288 * 54, 4 * (384 + 108 + 288)),
        # Stride 2, padding 1: 2 x 4 x 4 x 4 = 128. One number stands for both dimensions.
        (call("cudnn_convolution", [IMAGE, WEIGHT], **concrete("", "", "[1]", "[2, 2]", "[1, 1]", "1")),
         128 * 54, 4 * (384 + 108 + 128)),
        # Groups show in the weight: [6, 1, 3, 3] over 3 channels has 9 products for each of 2 x 6 x 36 outputs.
        (call("convolution", [IMAGE, [6, 1, 3, 3]], **concrete("", "", "", "[1]", "[0]", "[1]", "False", "[0]")),
         2 * 432 * 9, 4 * (384 + 54 + 432)),
        # Transposed: each of the 384 inputs meets 4 x 9 weights.
        (call("convolution", [IMAGE, [3, 4, 3, 3]], **concrete("", "", "", "[1]", "[0]", "[1]", "True", "[0]")),
         2 * 384 * 36, np.nan),
        # Both gradients, or one of them.
        (call("convolution_backward", [[2, 4, 6, 6], IMAGE, WEIGHT]), 2 * 288 * 54, 4 * (288 + 2 * 384 + 2 * 108)),
        (call("convolution_backward", [[2, 4, 6, 6], IMAGE, WEIGHT], **concrete(*[""] * 10, "[False, True, True]")),
         288 * 54, 4 * (288 + 384 + 2 * 108)),
        # 2 x 4 heads, 16 x 32 pairs, 8 wide: two products forward, five backward.
        (call("_scaled_dot_product_flash_attention", [[2, 4, 16, 8], [2, 4, 32, 8], [2, 4, 32, 8]], "c10::Half"),
         4 * 8 * 512 * 8, 2 * (1024 + 2048 + 2048 + 1024)),
        (call("_scaled_dot_product_efficient_attention_backward", [[2, 4, 16, 8]] + [[2, 4, 16, 8]] * 3, "c10::Half"),
         10 * 8 * 256 * 8, 2 * 7 * 1024),
        (call("_flash_attention_forward", [[2, 16, 4, 8]] * 3, "c10::Half"), 4 * 8 * 256 * 8, 2 * 4 * 1024),
        (call("native_layer_norm", [[4, 8], [], [8], [8], []], ["float", "ScalarList", "float", "float", "Scalar"]),
         160, 4 * (32 + 16 + 32)),
        (call("native_batch_norm_backward", [[4, 8], [4, 8]]), 320, 4 * 96),
        (call("add", [[4, 1], [8], []], ["float", "float", "Scalar"]), 32, 4 * (4 + 8 + 32)),
        (call("mul_", [[4, 8], []], ["float", "double"]), 32, 4 * 32 + 8 + 8 * 32),
        # A copy reads one and writes the other; a fill only writes.
        (call("copy_", [[4, 8], [4, 8], []], ["c10::BFloat16", "float", "Scalar"]), 0, 32 * 4 + 32 * 2),
        (call("fill_", [[4, 8], []], ["double", "Scalar"]), 0, 32 * 8),
        (call("sum", [[4, 8], [], [], []], ["float", "ScalarList", "Scalar", ""]), 32, 4 * 32),
        (call("_softmax", [[4, 8], [], []], ["float", "Scalar", "Scalar"]), 160, 4 * 64),
    ],
)  # fmt: skip
def test_flops_and_bytes(row: dict[str, Any], flops: float, moved: float) -> None:
    done = worked(row)
    assert done.flops[0] == flops
    assert done.moved_bytes[0] == pytest.approx(moved, nan_ok=True)


@pytest.mark.parametrize(
    "row",
    [
        op("aten::mm", 0, 10),
        op("aten::mm", 0, 10, shapes="[[2, 3], [3, 5]", dtypes="[]"),
        op("aten::mm", 0, 10, shapes="null", dtypes="null"),
        op("aten::mm", 0, 10, shapes='{"a": 1}', dtypes='["float", "float"]'),
        op("aten::mm", 0, 10, shapes="[[2, 3]]", dtypes="7"),
        op("aten::mm", 0, 10, shapes="[[2, 3]]", dtypes='["float"'),
        call("mm", [[2, 3]]),
        call("mm", [[2, 3], [4, 5]]),
        call("mm", [[2, -3], [-3, 5]]),
        call("mm", [[2, "3"], [3, 5]]),
        call("mm", [[10**400, 3], [3, 5]]),
        call("mm", [[10**400, 3], [3, 5]], "c10::Float4"),
        call("add", [[4], [5]]),
        call("convolution", [IMAGE, WEIGHT]),
        call("convolution", [IMAGE, WEIGHT], **concrete("", "", "", "[0, 0]", "[0, 0]", "[1, 1]", "False")),
        call("convolution", [IMAGE, WEIGHT], **concrete("", "", "", "[1, 1]", "same", "[1, 1]", "False")),
        call("convolution", [IMAGE, WEIGHT], args={"Concrete Inputs": 7}),
        call("einsum", [[], [[2, 3], [3, 5]]]),
    ],
)
def test_what_cannot_be_counted_is_not_known(row: dict[str, Any]) -> None:
    done = worked(row)
    assert np.isnan(done.flops[0])
    assert np.isnan(done.moved_bytes[0])


@pytest.mark.parametrize("name", ["add", "relu_", "mm", "conv2d", "convolution", "native_dropout"])
def test_what_was_recorded_without_shapes_is_not_known(name: str) -> None:
    found = worked(op(f"aten::{name}", 0, 10))
    assert np.isnan(found.flops).all()
    assert np.isnan(found.moved_bytes).all()


def test_a_type_that_has_no_known_size_leaves_only_the_bytes_open() -> None:
    done = worked(call("mm", [[2, 3], [3, 5]], "c10::Float4"))
    assert done.flops[0] == 60
    assert np.isnan(done.moved_bytes[0])


def test_work_stands_once_on_the_innermost_operator_of_its_kind() -> None:
    # linear calls addmm: 60. Beside it, in the same linear, an addition of another kind: 10.
    done = worked(
        call("linear", [[2, 3], [5, 3]], dur=100),
        call("addmm", [[5], [2, 3], [3, 5]], ts=10),
        call("add", [[2, 5], [2, 5]], ts=30),
    )
    assert done.flops.tolist() == pytest.approx([np.nan, 60, 10], nan_ok=True)
    # Where the inner one can't be counted, the outer one is.
    done = worked(call("linear", [[2, 3], [5, 3]], dur=100), op("aten::addmm", 10, 10))
    assert done.flops.tolist() == pytest.approx([60, np.nan], nan_ok=True)


def test_tensor_cores_can_do_products_of_narrow_types() -> None:
    types = {"c10::Half": 1, "c10::BFloat16": 1, "float": 1, "signed char": 1, "double": 0, "c10::complex<float>": 0}
    rows = [call("mm", [[2, 3], [3, 5]], kind, ts=20 * at) for at, kind in enumerate([*types, "?"])]
    done = worked(*rows, call("add", [[2], [2]], ts=900), op("aten::mm", 950, 10))
    assert done.eligible.tolist() == pytest.approx([*types.values(), np.nan, np.nan, np.nan], nan_ok=True)
    assert done.is_heavy.tolist() == [True] * 7 + [False, True]


def test_flops_agree_with_torchs_own_counter(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, stride=2, padding=1),
        torch.nn.Conv2d(8, 8, 3, dilation=2),  # no groups: torch leaves them out of the weight's gradient
        torch.nn.ConvTranspose2d(8, 4, 3, stride=2),
        torch.nn.Flatten(),
        torch.nn.Linear(4 * 25 * 25, 16),
    )
    image = torch.randn(2, 3, 32, 32)
    query = torch.randn(2, 4, 16, 8, requires_grad=True)

    def train() -> None:
        loss = model(image).sum()
        with sdpa_kernel(SDPBackend.MATH):  # in one operator on the CPU it counts nothing
            loss = loss + torch.nn.functional.scaled_dot_product_attention(query, query, query).sum()
        loss = loss + torch.einsum("bij,bjk->bik", query[0], query[1].transpose(1, 2)).sum()
        loss.backward()

    train()
    with FlopCounterMode(display=False) as counter:
        train()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True) as profiler:
        train()
    profiler.export_chrome_trace(str(tmp_path / "trace.json"))
    events, _ = read_events(tmp_path / "trace.json")
    done = worked_of(events)
    assert np.nansum(done.flops[done.is_heavy]) == counter.get_total_flops()
    table = operators(events).astype({"name": str}).set_index("name")
    for wrapper, leaf in [("aten::linear", "aten::addmm"), ("aten::einsum", "aten::bmm")]:
        assert table.loc[wrapper, "flops"] > 0
        assert table.loc[wrapper, "flops"] <= table.loc[leaf, "flops"]
    assert table.loc["aten::conv2d", "flops"] > 0
    # Two products of 8 heads, 16 x 16 pairs, 8 wide; the softmax of the pairs; scaling q and k.
    inside = 4 * 8 * 256 * 8 + 5 * 8 * 256 + 2 * 8 * 16 * 8
    assert table.loc["aten::scaled_dot_product_attention", "flops"] == inside
    assert table.loc["ConvolutionBackward0", "flops"] == table.loc["aten::convolution_backward", "flops"]


def test_attention_counts_as_in_torchs_own_formulas() -> None:
    counter = pytest.importorskip("torch.utils.flop_counter")
    q, k, v = [2, 4, 16, 8], [2, 4, 32, 8], [2, 4, 32, 24]
    forward = worked(call("_scaled_dot_product_cudnn_attention", [q, k, v]))
    assert forward.flops[0] == counter.sdpa_flop_count(q, k, v)
    backward = worked(call("_scaled_dot_product_cudnn_attention_backward", [[2, 4, 16, 24], q, k, v]))
    assert backward.flops[0] == counter.sdpa_backward_flop_count([2, 4, 16, 24], q, k, v)


def test_convolutions_of_recorded_networks_do_what_is_published_of_them(traces: Path) -> None:
    # torchvision's pages give 4.09e9 multiplications and additions an image for ResNet-50, 1.81e9 for ResNet-18.
    events = read_reference(traces, "kineto_v100_resnet50_w0").events
    six_steps_backward = np.nansum(worked_of(events).flops[events["name"] == "aten::cudnn_convolution_backward"])
    assert six_steps_backward == pytest.approx(6 * 32 * 2 * 2 * 4.09e9, rel=0.002)
    events = read_reference(traces, "tl_mi300_resnet_ddp").events
    tree = call_tree(events)
    forward = (events["name"] == "aten::miopen_convolution").to_numpy()
    flops = work(events, tree).flops
    inside = backward(events, tree).forward >= 0
    assert flops[forward & ~inside].sum() == pytest.approx(3 * 10 * 2 * 1.81e9, rel=0.005)
    # Checkpoints run all again but the first convolution: 64 x 112 x 112 outputs, for each 3 x 7 x 7.
    first = 64 * 112 * 112 * 147
    assert flops[forward & inside].sum() == pytest.approx(3 * 10 * 2 * (1.81e9 - first), rel=0.005)
