"""Names of collectives, and sizes of what they move."""

from __future__ import annotations

import pytest

from nbprof.analysis.collectives import collective, tensor_bytes


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("allreduce", "allreduce"),
        ("_allgather_base", "allgather"),
        ("allgather_into_tensor_coalesced", "allgather"),
        ("_reduce_scatter_base", "reduce_scatter"),
        ("all_to_allv", "alltoall"),
        ("_broadcast_oop", "broadcast"),
        ("reduce", "reduce"),
        ("gather", "gather"),
        ("scatter", "scatter"),
        ("send", "send"),
        ("recv", "recv"),
        ("barrier", "barrier"),
        ("nccl:all_reduce", "allreduce"),
        ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "allreduce"),
        ("ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", "allgather"),
        ("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL", "reduce_scatter"),
        ("ncclDevKernel_Reduce_Sum_f32_RING_LL", "reduce"),
        ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", "sendrecv"),
        ("void vllm::cross_device_reduce_1stage<__half, 2>", "allreduce"),
        ("ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", None),
        ("", None),
    ],
)
def test_all_writings_of_a_collective_become_one(name: str, expected: str | None) -> None:
    assert collective(name) == expected


@pytest.mark.parametrize(
    ("shapes", "types", "expected"),
    [
        ("[[2, 3], [4]]", '["float", "c10::Half"]', 32),  # 6 * 4 + 4 * 2
        ("[[]]", '["double"]', 8),  # a scalar
        ("[[0, 5]]", '["int"]', 0),
        ("[]", "[]", 0),
        ("[[2]]", '["unheard of"]', None),
        ("[[2]]", "[]", None),
        ("[[[2]]]", '["float"]', None),
        ("not JSON", "[]", None),
    ],
)
def test_tensors_have_the_bytes_of_their_elements(shapes: str, types: str, expected: int | None) -> None:
    assert tensor_bytes(shapes, types) == expected
