"""Findings about the host."""

from __future__ import annotations

from nbprof.metadata import CaptureInfo
from tests.analysis.findings.asking import Rows, finds, one
from tests.frames import kernel, launch, marker, op


def runtime(name: str, ts: float, dur: float) -> dict[str, object]:
    return op(name, ts, dur, category="cuda_runtime")


def test_a_device_that_waits_for_its_next_launch() -> None:
    def rows(second: float) -> Rows:
        return [launch(0, 1, 1), kernel("gemm", 1, 10, 1), launch(second, 1, 2), kernel("gemm", 52, 10, 2)]

    # idle from 11 to 52, of a span from 0 to 62
    late = one("device waits for the host", rows(50))
    assert (late["could_save_us"], late["severity"], late["unit"]) == (41, "high", "% of the span")
    assert round(late["figure"], 1) == 66.1
    assert not finds("device waits for the host", rows(5))  # queued: the device waits for something else


def test_calls_that_wait_for_the_device_in_a_loop() -> None:
    def rows(passes: int, waits: str) -> Rows:
        each = [
            [launch(20 * n, 1, n + 1), kernel("gemm", 20 * n + 1, 5, n + 1), runtime(waits, 20 * n + 2, 5)]
            for n in range(passes)
        ]
        return [row for rows in each for row in rows]

    # four passes, three gaps, each from 6 to 21
    blocking = one("blocking calls", rows(4, "cudaStreamSynchronize"))
    assert (blocking["figure"], blocking["could_save_us"]) == (4, 45)
    assert "cudaStreamSynchronize" in blocking["evidence"]
    assert finds("blocking calls", rows(4, "hipDeviceSynchronize"))
    assert not finds("blocking calls", rows(4, "cudaEventQuery"))
    assert not finds("blocking calls", rows(2, "cudaStreamSynchronize"))


def test_the_operator_that_waits_is_named() -> None:
    rows = [
        row
        for n in range(3)
        for row in (
            launch(20 * n, 1, n + 1),
            kernel("gemm", 20 * n + 1, 5, n + 1),
            op("aten::_local_scalar_dense", 20 * n + 1, 7),
            runtime("cudaStreamSynchronize", 20 * n + 2, 5),
        )
    ]
    assert "mostly in aten::_local_scalar_dense" in one("blocking calls", rows)["advice"]


def test_waiting_for_data() -> None:
    loading = [marker("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 0, 50), op("aten::mm", 50, 50)]
    waiting = one("data loading", loading)
    assert (waiting["figure"], waiting["could_save_us"]) == (50, 50)
    assert not finds("data loading", [*loading, launch(0, 1, 1), kernel("gemm", 0, 100, 1)])  # the device works


def test_kernels_shorter_than_their_launch() -> None:
    def rows(length: float) -> Rows:
        return [row for n in range(12) for row in (launch(10 * n, 5, n + 1), kernel("k", 10 * n + 5, length, n + 1))]

    short = one("short kernels", rows(2))
    assert (short["figure"], short["could_save_us"]) == (100, 11 * 8)
    assert not finds("short kernels", rows(6))
    graph = [launch(0, 50, 1), *(kernel("k", 50 + 10 * n, 2, 1) for n in range(12))]
    assert not finds("short kernels", graph)  # one call launched all


def test_without_a_device_time_in_which_no_operator_ran() -> None:
    step = marker("ProfilerStep#0", 0, 100)
    assert one("time outside operators", [step, op("aten::mm", 0, 40)])["could_save_us"] == 60
    assert not finds("time outside operators", [step, op("aten::mm", 0, 100)])
    assert not finds("time outside operators", [step, launch(0, 1, 1), kernel("gemm", 1, 10, 1)])


def test_without_a_device_operators_that_cost_more_to_call_than_they_work() -> None:
    def rows(length: float) -> Rows:
        return [op("aten::add", 30 * n, length) for n in range(100)]

    small = one("small operators", rows(5))
    assert (small["figure"], small["could_save_us"]) == (100, 500)
    assert not finds("small operators", rows(20))
    assert not finds("small operators", rows(5)[:50])
    assert not finds("small operators", [*rows(5), launch(0, 1, 1), kernel("gemm", 1, 10, 1)])


def test_compiling_inside_the_recording() -> None:
    rows = [
        marker("entire_frame_compile (dynamo_timed)", 0, 50),
        marker("inner (dynamo_timed)", 10, 20),
        op("f", 50, 50),
    ]
    compiling = one("compiling", rows)
    assert (compiling["figure"], compiling["could_save_us"]) == (50, 50)
    assert not finds("compiling", [op("CompiledFunction", 0, 50)])
    assert not finds("compiling", [marker("x (dynamo_timed)", 0, 50, category="gpu_user_annotation"), op("f", 0, 50)])


def test_many_guard_checks() -> None:
    rows = [op("TorchDynamo Cache Lookup", 0, 10), op("TorchDynamo Cache Lookup", 50, 10), op("f", 60, 40)]
    checks = one("guard checks", rows)
    assert (checks["figure"], checks["could_save_us"]) == (2, 20)
    assert not finds("guard checks", rows[1:])


def test_memory_asked_of_the_driver() -> None:
    rows = [op("aten::empty", 0, 60), runtime("cudaMalloc", 0, 10), runtime("cudaFree", 20, 10), op("f", 60, 40)]
    calls = one("allocator calls", rows)
    assert (calls["figure"], calls["could_save_us"]) == (2, 20)
    assert "mostly by aten::empty" in calls["advice"]
    assert not finds("allocator calls", rows[:2])
    assert not finds(
        "allocator calls", [runtime("cudaMallocAsyncQuery" if n else "cudaLaunchKernel", n, 1) for n in (0, 1)]
    )


def test_recorded_calls_that_took_longer() -> None:
    def capture(*calls: float) -> CaptureInfo:
        return CaptureInfo("once", schedule={"wait": 2, "active": 1}, calls_us=calls, options={"with_stack": True})

    slower = one("profiling overhead", [op("f", 0, 10)], capture=capture(100, 100, 150))
    assert (slower["figure"], slower["severity"]) == (50, "medium")
    assert slower["could_save_us"] != slower["could_save_us"]  # what an unrecorded run doesn't pay can't be given back
    assert "Record without with_stack" in slower["advice"]
    assert not finds("profiling overhead", [op("f", 0, 10)], capture=capture(100, 100, 105))
    assert not finds("profiling overhead", [op("f", 0, 10)], capture=CaptureInfo())
