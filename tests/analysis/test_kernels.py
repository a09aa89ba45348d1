"""Device time by kernel, and the table of kernel classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbprof import schema
from nbprof.analysis.kernel_classes import CLASSES, classify
from nbprof.analysis.kernels import kernels
from nbprof.structure.calltree import call_tree
from tests.frames import kernel, launch, make_events, marker, memory, op, region, row
from tests.references import Reference


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


def keyed(table: pd.DataFrame, *keys: str) -> dict[Any, float]:
    """Time by the values of the keys; NA as None."""
    values = table[[*keys]].astype(object).where(table[[*keys]].notna(), None)
    rows = [value[0] if len(keys) == 1 else tuple(value) for value in values.to_numpy()]
    return dict(zip(rows, table["total_us"], strict=True))


def launched() -> pd.DataFrame:
    """mm launches gemm 30 (stream 7) and gemm 10 (stream 8); add launches gemm 20; relu runs without a launch."""
    return make_events(
        marker("ProfilerStep#1", 0, 100),
        region("forward", 0, 50),
        op("mm", 0, 30),
        launch(5, 5, 1),
        launch(15, 5, 2),
        op("add", 60, 20),
        launch(65, 5, 3),
        kernel("sgemm", 200, 30, 1, grid="[4, 1, 1]", block="[128, 1, 1]", blocks_per_sm=2.0, occupancy=0.5),
        kernel("sgemm", 230, 10, 2, grid="[4, 1, 1]", block="[64, 1, 1]", blocks_per_sm=4.0, stream=8),
        kernel("sgemm", 240, 20, 3, grid="[4, 1, 1]", block="[64, 1, 1]", device=1, occupancy=0.25),
        kernel("relu_kernel", 260, 5, 99),
    )


def test_what_all_runs_share_stands_beside_them_and_means_are_weighted_by_duration() -> None:
    # 40 of the 60 us are mm's. Blocks: (30 x 2 + 10 x 4) / 40 = 2.5; occupancy (30 x 0.5 + 20 x 0.25) / 50 = 0.4.
    found = row(kernels(launched()), name="sgemm")
    assert (found["operator"], found["grid"]) == ("mm", "[4, 1, 1]")
    assert pd.isna(found["block"])
    assert pd.isna(found["stream"])
    assert (found["blocks_per_sm"], found["occupancy"]) == pytest.approx((2.5, 0.4))
    assert (found["p50_us"], found["std_us"]) == pytest.approx((20, np.sqrt(200 / 3)))
    lone = row(kernels(launched()), name="relu_kernel")
    assert lone["stream"] == 7
    assert pd.isna([lone["operator"], lone["grid"], lone["blocks_per_sm"], lone["occupancy"]]).all()


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("name", {"sgemm": 60, "relu_kernel": 5}),
        ("kernel_class", {"matmul": 60, "elementwise": 5}),
        ("operator", {"mm": 40, "add": 20, None: 5}),
        ("stream", {7: 55, 8: 10}),
        ("device", {0: 45, 1: 20}),
        ("region", {"forward": 40, None: 25}),
        ("step", {1: 60, None: 5}),
        ("grid", {"[4, 1, 1]": 60, None: 5}),
        (
            ["operator", "block"],
            {("mm", "[128, 1, 1]"): 30, ("add", "[64, 1, 1]"): 20, ("mm", "[64, 1, 1]"): 10, (None, None): 5},
        ),
    ],
)
def test_kernels_by_each_key(by: Any, expected: dict[Any, float]) -> None:
    table = kernels(launched(), by=by)
    keys = [by] if isinstance(by, str) else by
    assert keyed(table, *keys) == expected
    assert list(table.columns[: len(keys)]) == keys
    assert set(schema.names("kernels")) <= set(table.columns)
    assert kernels(launched().iloc[:0], by=by).empty


def test_the_operator_with_most_time_is_the_first_in_order_among_equals_and_none_only_where_there_is_none() -> None:
    events = make_events(
        op("b", 0, 10), launch(1, 2, 1), op("a", 20, 10), launch(21, 2, 2),
        kernel("k", 100, 5, 1), kernel("k", 110, 5, 2), kernel("k", 120, 50, 99),
    )  # fmt: skip
    assert row(kernels(events), name="k")["operator"] == "a"


def test_kernels_of_no_length_have_a_plain_mean_of_their_occupancy() -> None:
    events = make_events(kernel("k", 0, 0, occupancy=0.5), kernel("k", 5, 0, occupancy=1.0), kernel("l", 9, 4))
    assert row(kernels(events), name="k")["occupancy"] == 0.75


def test_an_unknown_key_is_an_error_that_lists_the_keys() -> None:
    with pytest.raises(ValueError, match=r"name, kernel_class, operator, stream, device, region, step, grid, block"):
        kernels(launched(), by="shape")


def test_groups_sum_to_the_table_by_name_on_recorded_traces(reference: Reference) -> None:
    events, tree = reference.events, call_tree(reference.events)
    whole = kernels(events, tree=tree)
    for by in ("kernel_class", ["operator", "stream", "device"], ["region", "step"], ["grid", "block", "name"]):
        parts = kernels(events, by=by, tree=tree)
        assert parts["calls"].sum() == whole["calls"].sum()
        assert parts["total_us"].sum() == pytest.approx(whole["total_us"].sum())
        assert not parts.duplicated([by] if isinstance(by, str) else by).any()
    assert whole["occupancy"].dropna().between(0, 1).all()
    assert whole["p50_us"].between(whole["min_us"], whole["max_us"]).all()


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
