"""Work, tensor cores and backward as columns of the table of operators."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from nbprof.analysis.operators import operators
from tests.frames import kernel, launch, make_events, op, row


def mm(name: str, ts: float, dur: float, *shapes: list[int], dtype: str = "float", **more: Any) -> dict[str, Any]:
    types = json.dumps([dtype] * len(shapes))
    return op(name, ts, dur, shapes=json.dumps(shapes), dtypes=types, **more)


def test_flops_of_what_is_inside_and_their_rate_by_device_time() -> None:
    # linear calls addmm: 2 x 200 x 300 x 500 = 60 MFLOP in 20 us, that is 3 TFLOP/s; addmm's own are the same.
    # 4 bytes for each of 500 + 60,000 + 150,000 + 100,000 elements: 1,242,000, 62.1 GB/s.
    events = make_events(
        mm("aten::linear", 0, 100, [200, 300], [500, 300]),
        mm("aten::addmm", 10, 50, [500], [200, 300], [300, 500]),
        launch(20, 10, 1),
        kernel("ampere_sgemm", 200, 20, 1),
        op("other", 110, 5),
    )
    for name in ("aten::linear", "aten::addmm"):
        found = row(operators(events), name=name)
        assert (found["flops"], found["moved_bytes"]) == (60e6, 1_242_000)
        assert (found["tflops"], found["gbs"]) == pytest.approx((3, 62.1))
    other = row(operators(events), name="other")
    assert pd.isna([other["flops"], other["moved_bytes"], other["tflops"], other["gbs"]]).all()


def test_rates_are_of_the_calls_with_known_shapes_and_of_host_time_without_a_device() -> None:
    # 60 FLOP in 10 us; the second call of 90 us has no shapes.
    events = make_events(mm("aten::mm", 0, 10, [2, 3], [3, 5]), op("aten::mm", 20, 90))
    assert row(operators(events), name="aten::mm")["tflops"] == pytest.approx(60 / 10e-6 / 1e12)


def test_backward_time_goes_to_the_forward_operators_and_those_around_them() -> None:
    # The frame of addmm's node launches 30 us of kernels, that of relu's 5; relu runs again in a frame.
    link = {"forward_thread": 1, "tid": "2"}
    frame = "autograd::engine::evaluate_function: "
    events = make_events(
        op("linear", 0, 30, seq=7, forward_thread=0),
        op("addmm", 10, 10, seq=7, forward_thread=0),
        op("relu", 40, 10, seq=8, forward_thread=0),
        op(frame + "ReluBackward0", 100, 20, seq=8, **link),
        op("relu", 102, 3, "2", seq=1, forward_thread=0),
        launch(110, 2, 1, tid="2"),
        op(frame + "AddmmBackward0", 130, 20, seq=7, **link),
        op("AddmmBackward0", 131, 18, seq=7, **link),
        launch(140, 2, 2, tid="2"),
        kernel("k", 200, 5, 1),
        kernel("k", 210, 30, 2),
    )
    table = operators(events)
    wanted = ["backward_calls", "backward_us", "recomputed_calls"]
    assert [row(table, name="addmm")[key] for key in wanted] == [1, 30, 0]
    assert [row(table, name="linear")[key] for key in wanted] == [1, 30, 0]
    assert [row(table, name="relu")[key] for key in wanted] == [1, 5, 1]
    assert row(table, name="AddmmBackward0")["backward_calls"] == 0
    assert pd.isna(row(table, name="AddmmBackward0")["backward_us"])
    on_host = operators(events[events["category"] != "kernel"])
    assert row(on_host, name="addmm")["backward_us"] == 20


def test_tensor_cores_used_and_usable() -> None:
    # Of addmm's 40 us of kernels 30 run on tensor cores. A double can't; what is no product has neither.
    events = make_events(
        mm("aten::addmm", 0, 50, [5], [2, 3], [3, 5], dtype="c10::Half"),
        launch(10, 5, 1),
        launch(20, 5, 2),
        mm("aten::mm", 60, 20, [2, 3], [3, 5], dtype="double"),
        launch(65, 5, 3),
        op("aten::relu", 90, 10),
        launch(92, 5, 4),
        op("aten::mv", 110, 10),
        kernel("ampere_fp16_s16816gemm_fp16_128x64", 200, 30, 1),
        kernel("splitKreduce_kernel", 230, 10, 2),
        kernel("dgemm", 240, 10, 3),
        kernel("relu", 250, 10, 4),
    )
    table = operators(events)
    columns = ["tensor_core_share", "tensor_core_eligible"]
    both = {name: [row(table, name=f"aten::{name}")[key] for key in columns] for name in ("addmm", "mm", "relu", "mv")}
    assert both["addmm"] == [0.75, True]
    assert both["mm"] == [0, False]
    assert all(map(pd.isna, both["relu"]))
    assert all(map(pd.isna, both["mv"]))
