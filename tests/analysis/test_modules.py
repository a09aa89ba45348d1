"""Time by nn.Module, as a tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from nbprof import schema
from nbprof.analysis.modules import modules
from nbprof.structure.calltree import call_tree
from tests.frames import kernel, launch, make_events, op, row
from tests.references import read_reference


def module(name: str, ts: float, dur: float, tid: str = "1", **more: Any) -> dict[str, Any]:
    return op(f"nn.Module: {name}", ts, dur, tid, **{"category": "python_function"} | more)


def engine(name: str, ts: float, dur: float, seq: int) -> dict[str, Any]:
    return op(f"autograd::engine::evaluate_function: {name}", ts, dur, "2", seq=seq, forward_thread=1)


def test_nothing_gives_an_empty_table_with_its_columns(no_events: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(modules(no_events), schema.empty("modules"))
    assert modules(make_events(op("mm", 0, 10))).empty


def test_self_is_total_less_modules_inside_and_rows_read_as_a_tree() -> None:
    # Two calls of Net [0,100) and [200,260); in the first Mlp [10,70) holds Linear [20,50) and Act [50,55),
    # in the second Mlp [210,230). Act is also called on its own at [300,304).
    # Python calls and operators between them count as the module's own time.
    events = make_events(
        module("Net_0", 0, 100),
        op("net.py(1): forward", 5, 90, category="python_function"),
        module("Mlp_0", 10, 60),
        module("Linear_0", 20, 30),
        op("aten::linear", 22, 20),
        module("Act_0", 50, 5),
        module("Net_0", 200, 60),
        module("Mlp_0", 210, 20),
        module("Act_0", 300, 4),
    )
    table = modules(events)
    assert table["module"].tolist() == ["Net_0", "Mlp_0", "Linear_0", "Act_0", "Act_0"]
    assert table["parent"].astype(object).fillna("-").tolist() == ["-", "Net_0", "Mlp_0", "Mlp_0", "-"]
    assert table["depth"].tolist() == [0, 1, 2, 2, 0]
    assert table["calls"].tolist() == [2, 2, 1, 1, 1]
    assert table["host_total_us"].tolist() == [160, 80, 30, 5, 4]
    assert table["host_self_us"].tolist() == [80, 45, 30, 5, 4]


def test_device_events_belong_to_the_innermost_module_of_their_launch_and_to_all_around_it() -> None:
    # k1 (7) in Linear, k2 (9) in Net after it, k3 (5) launched outside, k4 (3) on another thread, k5 (2) by none.
    events = make_events(
        module("Net_0", 0, 100),
        module("Linear_0", 10, 20),
        launch(15, 2, 1),
        launch(40, 2, 2),
        launch(100, 2, 3),
        launch(50, 2, 4, tid="2"),
        kernel("k1", 200, 7, 1),
        kernel("k2", 210, 9, 2),
        kernel("k3", 220, 5, 3),
        kernel("k4", 230, 3, 4),
        kernel("k5", 240, 2),
    )
    table = modules(events)
    assert table["device_total_us"].tolist() == [16, 7]
    assert table["device_self_us"].tolist() == [9, 7]


def test_backward_goes_by_sequence_number_to_the_modules_of_the_forward() -> None:
    # Linear's addmm has number 5, Net's own sum 6; the frames on the engine's thread take 10 and 30, of which the
    # frame of 6 holds another one (7, whose forward is outside of all modules) of 12: 18 are left.
    events = make_events(
        module("Net_0", 0, 100),
        module("Linear_0", 10, 20),
        op("aten::addmm", 12, 10, seq=5, forward_thread=0),
        op("aten::sum", 50, 10, seq=6, forward_thread=0),
        op("aten::mul", 110, 10, seq=7, forward_thread=0),
        engine("SumBackward0", 200, 30, 6),
        engine("MulBackward0", 210, 12, 7),
        launch(212, 2, 3, tid="2"),
        engine("AddmmBackward0", 300, 10, 5),
        op("AddmmBackward0", 301, 8, "2", seq=5, forward_thread=1),
        launch(302, 2, 1, tid="2"),
        launch(225, 2, 2, tid="2"),
        kernel("k1", 400, 7, 1),
        kernel("k2", 410, 9, 2),
        kernel("k3", 420, 11, 3),
    )
    table = modules(events)
    assert table["module"].tolist() == ["Net_0", "Linear_0"]
    assert table["backward_host_us"].tolist() == [28, 10]
    assert table["backward_device_us"].tolist() == [16, 7]
    assert table["device_total_us"].tolist() == [0, 0]


def test_a_module_inside_itself_is_a_row_of_its_own() -> None:
    # The outer call has 100 - 40, the inner 40: nothing counts twice in the own times.
    table = modules(make_events(module("Tree_0", 0, 100), module("Tree_0", 30, 40)))
    assert table["parent"].astype(object).fillna("-").tolist() == ["-", "Tree_0"]
    assert table["host_total_us"].tolist() == [100, 40]
    assert table["host_self_us"].tolist() == [60, 40]


def test_calls_outside_regions_of_a_gated_file_do_not_count() -> None:
    events = make_events(module("Net_0", 0, 100, in_region=False), module("Net_0", 200, 50))
    assert row(modules(events), module="Net_0")["host_total_us"] == 50


@pytest.mark.parametrize("name", ["tl_h100_bert_small", "tl_mi300_resnet_ddp"])
def test_modules_of_a_recorded_trace_agree(traces: Path, name: str) -> None:
    reference = read_reference(traces, name)
    tree = call_tree(reference.events)
    table = modules(reference.events, tree=tree)
    sums = table.groupby(table["module"].astype(str))[["calls", "host_total_us"]].sum()
    plain = reference.plain["python"]
    assert len(sums) == plain["unique_module_names"]
    for module_name, calls, total_us in plain["modules_rows"]:
        ours = sums.loc[module_name.removeprefix("nn.Module: ")]
        assert ours["calls"] == calls
        assert ours["host_total_us"] == pytest.approx(total_us, abs=0.002 * calls)
    top = table[table["depth"] == 0]
    assert top["host_total_us"].sum() == pytest.approx(table["host_self_us"].sum())
    assert top["device_total_us"].sum() == pytest.approx(table["device_self_us"].sum())


def test_one_layer_of_a_recorded_model(traces: Path) -> None:
    # BertAttention_0 of the file: 515.317; in it BertSdpaSelfAttention_0 354.815 and BertSelfOutput_0 144.402, so
    # 16.100 are its own. All kernels of the trace (309.437) were launched in BertLMHeadModel_0.
    table = modules(read_reference(traces, "tl_h100_bert_small").events)
    attention = row(table, module="BertAttention_0")
    assert attention["parent"] == "BertLayer_0"
    assert attention["host_total_us"] == pytest.approx(515.317, abs=0.001)
    assert attention["host_self_us"] == pytest.approx(16.1, abs=0.001)
    assert row(table, module="BertLMHeadModel_0")["device_total_us"] == pytest.approx(309.437, abs=0.001)
    assert (table["backward_host_us"] == 0).all()
