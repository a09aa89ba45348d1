"""The leading sentence."""

from __future__ import annotations

from nbprof import schema
from nbprof.metadata import CaptureInfo
from nbprof.view.report.sentence import Sentence, device_use, leading, spent, wall_us
from tests.view.handmade import cpu_trace, gpu_trace, operators_of, table


def said(sentence: Sentence) -> str:
    return "".join(piece.text for piece in sentence)


def test_operators_are_named_by_what_they_do_with_their_shares() -> None:
    # 992, 240 and 160 of 1,564 ms.
    assert said(spent(cpu_trace().operators(), schema.empty("kernels"))) == (
        " Of the operators' self time, 63 % went into 180 matrix multiplications (aten::addmm), 15 % into "
        "36 attention calls (aten::scaled_dot_product_attention) and 10 % into 96 copies (aten::copy_)."
    )


def test_one_call_is_singular_and_an_unknown_operator_is_called_by_its_name() -> None:
    operators = operators_of([("aten::bmm", 1, 9.0, 9.0, 0, 0), ("mylib::roll", 1, 1.0, 1.0, 0, 0)])
    assert said(spent(operators, schema.empty("kernels"))) == (
        " Of the operators' self time, 90 % went into 1 matrix multiplication (aten::bmm) and "
        "10 % into 1 call of mylib::roll."
    )


def test_shares_too_small_to_matter_are_not_named() -> None:
    operators = operators_of([("aten::mm", 2, 98.0, 98.0, 0, 0), ("aten::add", 1, 2.0, 2.0, 0, 0)])
    text = said(spent(operators, schema.empty("kernels")))
    assert text == " Of the operators' self time, 98 % went into 2 matrix multiplications (aten::mm)."


def test_kernels_are_gathered_by_class() -> None:
    rows = [("k1", "matmul", 2, 5.0, 2.5, 1, 4, 0.5, 0.5), ("k2", "matmul", 1, 2.0, 2.0, 2, 2, 0.2, 0.2)]
    rows.append(("k3", "elementwise", 1, 3.0, 3.0, 3, 3, 0.3, 0.3))
    assert said(spent(schema.empty("operators"), table("kernels", rows))) == (
        " Of the kernels' time, 70 % went into 3 matrix multiplications and 30 % into 1 elementwise kernel."
    )


def test_no_operator_is_said() -> None:
    assert said(spent(schema.empty("operators"), schema.empty("kernels"))) == " No torch operator ran in it."


def test_device_use_is_honest_without_a_device() -> None:
    assert said(device_use(schema.empty("timeline"))) == " No GPU in this trace."
    assert (
        said(device_use(gpu_trace().timeline()))
        == " Between its first and last work the GPU was idle 41 % of the time."
    )
    two = table("timeline", [(0, 100.0, 60, 0, 0, 60.0, 40.0), (1, 100.0, 100, 0, 0, 100.0, 0.0)])
    assert said(device_use(two)) == " Between its first and last work the 2 GPUs were idle 20 % of the time."


def test_what_ended_the_code_early_is_said_first() -> None:
    failed = CaptureInfo(kind="cell", label="train", outcome="failed", error="ValueError")
    assert said(leading("train", 1.84e6, 1, failed)).startswith("train failed after 1.84 s (ValueError)")
    stopped = CaptureInfo(kind="cell", label="train", outcome="interrupted", error="KeyboardInterrupt")
    assert said(leading("train", 1.84e6, 1, stopped)).startswith("train was interrupted after 1.84 s;")


def test_several_recorded_calls_give_the_mean() -> None:
    once = CaptureInfo(kind="once", label="f(x)")
    assert said(leading("f(x)", 3000.0, 3, once)) == "f(x) took 1.00 ms a call, over 3 recorded calls."
    assert said(leading("f(x)", 3000.0, 1, once)) == "f(x) took 3.00 ms."


def test_wall_time_is_the_outermost_regions_for_a_cell_and_the_steps_for_one_shot() -> None:
    trace, cell = cpu_trace(), cpu_trace().metadata.capture
    steps = trace.steps()
    assert wall_us(steps, trace.regions(), cell) == 1_840_000.0
    once = CaptureInfo(kind="once", label="f(x)")
    assert wall_us(steps, trace.regions(), once) == 600_000.0 + 620_000.0 + 640_000.0
    assert wall_us(schema.empty("steps"), schema.empty("regions"), None) is None
