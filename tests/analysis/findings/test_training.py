"""Findings about training."""

from __future__ import annotations

from tests.analysis.findings.asking import Rows, finds, one
from tests.frames import kernel, launch, marker, op


def test_an_optimizer_that_launches_many_small_kernels() -> None:
    def rows(count: int) -> Rows:
        pieces = [[launch(12 * n, 5, n + 1), kernel("k", 12 * n + 6, 2, n + 1)] for n in range(count)]
        return [marker("Optimizer.step#Adam.step", 0, 600), *(row for piece in pieces for row in piece)]

    # 49 gaps of 10 between the kernels
    pieces = one("optimizer in small pieces", rows(50))
    assert (pieces["figure"], pieces["unit"], pieces["could_save_us"]) == (50, "kernels a step", 490)
    assert not finds("optimizer in small pieces", rows(5))


def test_an_optimizer_of_many_operators_on_the_host() -> None:
    def rows(count: int) -> Rows:
        return [marker("Optimizer.step#SGD.step", 0, 600), *(op("aten::add_", 12 * n, 5) for n in range(count))]

    pieces = one("optimizer in small pieces", rows(50))
    assert (pieces["unit"], pieces["could_save_us"]) == ("operators a step", 350)
    assert not finds("optimizer in small pieces", rows(5))


def test_forward_work_done_again_in_backward() -> None:
    def rows(sequence: int | None) -> Rows:
        frame = op("autograd::engine::evaluate_function: MulBackward0", 50, 40, seq=1, forward_thread=1)
        return [op("aten::mul", 0, 10, seq=1, forward_thread=0), frame, op("aten::mm", 55, 20, seq=sequence)]

    again = one("recomputed forward", rows(7))
    assert (again["could_save_us"], round(again["figure"], 1)) == (20, 22.2)
    assert not finds("recomputed forward", rows(None))
    assert one("recomputed forward", [*rows(7), launch(60, 1, 1), kernel("gemm", 61, 5, 1)])["could_save_us"] == 5


def test_candidates_tried_out_inside_the_recording() -> None:
    def rows(first: int, shapes: str | None = "[[1]]") -> Rows:
        calls = [
            op("aten::cudnn_convolution", 0, 50, shapes=shapes),
            op("aten::cudnn_convolution", 60, 10, shapes=shapes),
        ]
        launches = [[launch(n, 1, n + 1), kernel("fprop", 50 + n, 1, n + 1)] for n in range(first)]
        again = [launch(61, 1, 100), kernel("fprop", 70, 1, 100)]
        return [*calls, *(row for pair in launches for row in pair), *again]

    tuning = one("autotuning", rows(8))
    assert (tuning["figure"], tuning["could_save_us"]) == (1, 50)
    assert not finds("autotuning", rows(2))
    assert not finds("autotuning", rows(8, shapes=None))  # perhaps another convolution
    assert finds(
        "autotuning", [marker("CachingAutotuner.benchmark_all_configs (dynamo_timed)", 0, 20), op("f", 20, 20)]
    )
