"""Findings about copies, fills and the memory in use."""

from __future__ import annotations

from tests.analysis.findings.asking import Rows, finds, one
from tests.frames import kernel, launch, memory, op


def test_copies_through_pageable_memory() -> None:
    def rows(name: str) -> Rows:
        return [launch(0, 10, 1), memory(name, 2, 20, 1), launch(10, 1, 2), kernel("gemm", 17, 73, 2)]

    # call and copy take 0 to 22, of which 17 to 22 run beside the kernel
    copies = one("pageable copies", rows("Memcpy HtoD (Pageable -> Device)"))
    assert (copies["figure"], copies["could_save_us"]) == (1, 17)
    assert not finds("pageable copies", rows("Memcpy HtoD (Pinned -> Device)"))


def test_many_copies_of_a_few_bytes() -> None:
    def rows(size: int) -> Rows:
        name = "Memcpy DtoD (Device -> Device)"
        return [
            row for n in range(20) for row in (launch(10 * n, 2, n + 1), memory(name, 10 * n + 2, 1, n + 1, bytes=size))
        ]

    copies = one("tiny copies", rows(8))
    assert (copies["figure"], copies["could_save_us"]) == (20, 60)
    assert not finds("tiny copies", rows(1_000_000))
    assert not finds("tiny copies", rows(8)[:20])


def test_copies_that_only_change_a_tensors_form() -> None:
    def rows(name: str) -> Rows:
        return [op(name, 0, 30), op("aten::copy_", 1, 28), launch(2, 1, 1), kernel("copy_kernel", 5, 20, 1)]

    assert one("copies of tensors", rows("aten::_to_copy"))["could_save_us"] == 20  # on the device
    assert one("copies of tensors", rows("aten::clone")[:1])["could_save_us"] == 30  # on the host
    assert not finds("copies of tensors", rows("aten::contiguous")[:1])  # which had nothing to do
    assert not finds("copies of tensors", rows("aten::mm"))


def test_memory_filled_with_one_value() -> None:
    work = [launch(0, 1, 1), kernel("gemm", 1, 80, 1)]
    by_kernel = kernel("vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>", 95, 5)
    fills = one("fills", [*work, memory("Memset (Device)", 81, 14), by_kernel])
    assert (fills["figure"], fills["could_save_us"]) == (2, 19)
    assert not finds("fills", work)


def test_a_device_whose_memory_is_nearly_full() -> None:
    def rows(allocated: int, device_type: int = 1) -> Rows:
        more = {"allocated_bytes": allocated, "device_type": device_type, "device_id": 0}
        return [op("f", 0, 10), op("[memory]", 5, None, category="cpu_instant_event", ph="i", **more)]

    devices = ({"id": 0, "name": "NVIDIA A100", "totalGlobalMem": 1000},)
    full = one("memory nearly full", rows(950), devices=devices)
    assert (full["figure"], full["severity"]) == (95, "medium")
    assert not finds("memory nearly full", rows(800), devices=devices)
    assert not finds("memory nearly full", rows(950, device_type=0), devices=devices)  # the host's
    assert not finds("memory nearly full", rows(950))  # how much there is isn't known
