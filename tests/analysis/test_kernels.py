"""Device time by kernel, and the table of kernel classes."""

from __future__ import annotations

import pandas as pd
import pytest

from nbprof import schema
from nbprof.analysis.kernel_classes import CLASSES, classify
from nbprof.analysis.kernels import kernels
from tests.frames import kernel, launch, make_events, memory, op, row


def test_nothing_and_a_trace_without_a_device_give_an_empty_table(no_events: pd.DataFrame) -> None:
    for events in (no_events, make_events(op("mm", 0, 10))):
        table = kernels(events)
        assert table.empty
        assert list(table.columns) == schema.names("kernels")
        assert table.dtypes.astype(str).equals(schema.empty("kernels").dtypes.astype(str))


def test_shares_are_of_kernel_time_and_of_busy_time() -> None:
    # gemm 30 + 10 on stream 7, relu 40 beside the first on stream 8, a copy of 20. Kernel time 80.
    # Busy: [0,40) and [50,60) and [70,90) = 70. gemm runs 40 of it, relu 40.
    events = make_events(
        kernel("sgemm", 0, 30),
        kernel("sgemm", 50, 10),
        kernel("relu_kernel", 0, 40, stream=8),
        memory("Memcpy HtoD", 70, 20),
    )
    table = kernels(events)
    gemm = row(table, name="sgemm")
    assert (gemm["calls"], gemm["total_us"], gemm["mean_us"], gemm["min_us"], gemm["max_us"]) == (2, 40, 20, 10, 30)
    assert list(table["share"]) == [0.5, 0.5]
    assert list(table["busy_share"]) == pytest.approx([40 / 70, 40 / 70])
    assert list(table["name"]) == ["relu_kernel", "sgemm"]  # equal totals: by name
    assert list(table["kernel_class"]) == ["elementwise", "matmul"]


def test_busy_share_of_a_kernel_that_runs_beside_itself_stays_below_one() -> None:
    # [0,40) and [20,70) of one kernel on two streams: 90 us of kernel time in 70 us of busy time.
    found = row(kernels(make_events(kernel("k", 0, 40), kernel("k", 20, 50, stream=8))), name="k")
    assert found["total_us"] == 90
    assert found["busy_share"] == 1


def test_devices_are_busy_each_on_its_own() -> None:
    # k runs [0,10) on both devices, of 10 + 20 busy: 20 / 30.
    events = make_events(kernel("k", 0, 10), kernel("k", 0, 10, device=1), kernel("l", 10, 10, device=1))
    assert row(kernels(events), name="k")["busy_share"] == pytest.approx(20 / 30)


def test_annotations_and_synchronisation_on_the_device_are_no_kernels() -> None:
    # gpu_user_annotation and cuda_sync rows carry a device and a stream too.
    events = make_events(
        kernel("k", 0, 40),
        kernel("attn", 0, 50, category="gpu_user_annotation"),
        kernel("Context Sync", 0, 60, category="cuda_sync", stream=4294967295),
    )
    assert list(kernels(events)["name"]) == ["k"]
    assert row(kernels(events), name="k")["busy_share"] == 1


def test_a_dropped_record_does_not_enter_averages() -> None:
    # gemm 40 + 40, and a record with ts 0 and dur 0: mean 40. In days of 1.7e15 us, as the clock gives them.
    now = 1_700_000_000_000_000
    events = make_events(kernel("gemm", now, 40), kernel("gemm", now + 60, 40), kernel("gemm", 0, 0))
    found = row(kernels(events), name="gemm")
    assert (found["calls"], found["mean_us"], found["min_us"]) == (2, 40, 40)


def test_rows_outside_regions_do_not_count() -> None:
    events = make_events(launch(0, 2, 1), kernel("k", 10, 5, 1), kernel("k", 20, 5, 2, in_region=False))
    assert row(kernels(events), name="k")["calls"] == 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ampere_sgemm_128x64_nn", "matmul"),
        ("Cijk_Ailk_Bljk_SB_MT64x16x32", "matmul"),
        ("fbgemm_gpu::permute_2D_lengths_kernel<int>", "copy/memory"),
        ("sm80_xmma_fprop_implicit_gemm_tf32f32_nhwc", "convolution"),
        ("cudnn::bn_fw_tr_1C11_kernel_NCHW<float>", "normalisation"),
        ("void pytorch_flash::flash_fwd_kernel<...>", "attention"),
        ("vectorized_elementwise_kernel<4, gpu::convert_kernel>", "elementwise"),
        ("void at::native::unrolled_elementwise_kernel<direct_copy_kernel_cuda>", "copy/memory"),
        ("void at::native::reduce_kernel<512, 1, MeanOps>", "reduction"),
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "communication"),
        ("multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>>", "optimizer"),
        ("triton_red_fused_native_layer_norm_0", "triton/fused"),
        ("_attn_fwd", "attention"),
        ("something_else", "other"),
        ("", "other"),
    ],
)
def test_kernel_classes_by_name(name: str, expected: str) -> None:
    assert classify([name]) == [expected]
    assert expected in CLASSES
