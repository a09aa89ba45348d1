"""Findings about the device's own work."""

from __future__ import annotations

import pytest

from tests.analysis.findings.asking import Rows, finds, one
from tests.frames import kernel, launch, op

A100 = ({"name": "NVIDIA A100-SXM4-40GB", "computeMajor": 8},)
V100 = ({"name": "Tesla V100-SXM2-16GB", "computeMajor": 7},)


def launched(name: str) -> Rows:
    return [launch(0, 5, 1), kernel(name, 5, 80, 1)]


@pytest.mark.parametrize(
    "name", ["ampere_sgemm_128x64_tn", "volta_scudnn_128x64_relu", "cutlass_80_simt_sgemm_256x128_8x4_nn_align1"]
)
def test_single_precision_products_beside_free_tensor_cores(name: str) -> None:
    plain = one("matmul without tensor cores", launched(name), devices=A100)
    assert plain["could_save_us"] == 70  # 7/8 of 80
    assert "TF32" in plain["advice"]
    assert "TF32" not in one("matmul without tensor cores", launched(name), devices=V100)["advice"]


@pytest.mark.parametrize(
    ("name", "devices"),
    [
        ("ampere_fp16_s16816gemm_fp16_128x64", A100),
        ("cutlass_80_tensorop_s1688gemm_128x128", A100),
        ("sm80_xmma_gemm_tf32f32_tf32f32_f32_tn_n", A100),
        ("ampere_sgemm_128x64_tn", ()),
        ("ampere_sgemm_128x64_tn", ({"name": "AMD Instinct MI300X", "computeMajor": 9},)),
        ("ampere_sgemm_128x64_tn", ({"name": "Tesla P100", "computeMajor": 6},)),
    ],
)
def test_tensor_cores_in_use_or_not_there_are_no_finding(name: str, devices: tuple[dict[str, object], ...]) -> None:
    assert not finds("matmul without tensor cores", launched(name), devices=devices)


def product(name: str, shapes: str, dtype: str) -> Rows:
    return [op(name, 0, 5, shapes=shapes, dtypes=f'["{dtype}", "{dtype}", "{dtype}", ""]'), *launched("gemm")]


def test_half_products_of_odd_sizes() -> None:
    odd = one("matmul sizes", product("aten::addmm", "[[30], [64, 96], [96, 30], []]", "c10::Half"))
    assert (odd["figure"], odd["could_save_us"]) == (1, 70)
    assert finds("matmul sizes", product("aten::bmm", "[[8, 64, 100], [8, 100, 32], [], []]", "c10::BFloat16"))


@pytest.mark.parametrize(
    ("name", "shapes", "dtype"),
    [
        ("aten::addmm", "[[32], [63, 96], [96, 32], []]", "c10::Half"),
        ("aten::addmm", "[[30], [64, 96], [96, 30], []]", "float"),
        ("aten::add", "[[64, 30], [64, 30], [], []]", "c10::Half"),
        ("aten::mm", "not JSON", "c10::Half"),
        ("aten::mm", "[[], [], [], []]", "c10::Half"),
    ],
)
def test_whole_tiles_other_types_and_unreadable_sizes_are_no_finding(name: str, shapes: str, dtype: str) -> None:
    assert not finds("matmul sizes", product(name, shapes, dtype))


def test_elementwise_kernels_right_after_each_other() -> None:
    def rows(*names: str) -> Rows:
        return [kernel(name, 40 * n, 10 * (n % 3 + 1)) for n, name in enumerate(names)]

    plain = "vectorized_elementwise_kernel"
    # a chain of 10, 20 and 30, where one kernel of 30 would do, and a single one after the product
    chains = one("unfused elementwise", rows(plain, plain, plain, "gemm", plain))
    assert (chains["figure"], chains["could_save_us"]) == (2, 30)
    assert not finds("unfused elementwise", rows(plain, "gemm", plain, "gemm"))
    beside = [kernel(plain, 40 * n, 10, tid=f"stream {n}", stream=n) for n in range(3)]
    assert not finds("unfused elementwise", beside)


def test_communication_without_computation_beside_it() -> None:
    def rows(start: float) -> Rows:
        return [kernel("ncclDevKernel_AllReduce", 0, 40), kernel("gemm", start, 60, tid="stream 8", stream=8)]

    exposed = one("exposed communication", rows(20))
    assert (exposed["figure"], exposed["could_save_us"], exposed["severity"]) == (50, 20, "high")
    assert not finds("exposed communication", rows(0))


def test_communication_of_the_host_counts_without_a_device() -> None:
    assert one("exposed communication", [op("gloo:all_reduce", 0, 20), op("f", 20, 80)])["could_save_us"] == 20
