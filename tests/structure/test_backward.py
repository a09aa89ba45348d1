"""Which forward operator each backward frame is for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbprof.structure.backward import Backward, backward
from nbprof.structure.calltree import call_tree
from nbprof.structure.flows import flow_ends
from nbprof.structure.masks import value_mask
from tests.frames import make_events, op
from tests.references import Reference

ENGINE = "autograd::engine::evaluate_function: "


def frame(node: str, ts: float, dur: float, seq: int, tid: str = "2") -> list[dict[str, Any]]:
    """The engine's frame, and in it the node's own operator, both with the number."""
    link = {"seq": seq, "forward_thread": 1}
    return [op(ENGINE + node, ts, dur, tid, **link), op(node, ts + 1, dur - 2, tid, **link)]


def forward(name: str, ts: float, dur: float, seq: int, tid: str = "1") -> dict[str, Any]:
    return op(name, ts, dur, tid, seq=seq, forward_thread=0)


def linked(*rows: dict[str, Any]) -> Backward:
    events = make_events(*rows)
    return backward(events, call_tree(events))


def test_nothing_has_no_backward(no_events: pd.DataFrame) -> None:
    found = backward(no_events, call_tree(no_events))
    assert (len(found.frames), len(found.forward), len(found.recomputed)) == (0, 0, 0)


@pytest.mark.parametrize("tid", ["1", "2"])
def test_a_frame_and_all_in_it_are_for_the_innermost_forward_operator_with_its_number(tid: str) -> None:
    # linear and the addmm that it calls both carry 7: addmm, begun last, made the node. relu made 8.
    found = linked(
        forward("linear", 0, 20, 7),
        forward("addmm", 5, 10, 7),
        forward("relu", 20, 5, 8),
        *frame("ReluBackward0", 40, 10, 8, tid),
        *frame("AddmmBackward0", 50, 20, 7, tid),
        op("mm", 55, 10, tid),
        op("mm", 80, 10, tid),
    )
    assert found.frames.tolist() == [3, 5]
    assert found.forward.tolist() == [-1, -1, -1, 2, 2, 1, 1, 1, -1]
    assert not found.recomputed.any()


def test_a_frame_whose_forward_was_not_recorded_or_comes_later_has_none() -> None:
    found = linked(*frame("MulBackward0", 0, 10, 7), *frame("AddBackward0", 20, 10, 8), forward("mul", 40, 5, 7))
    assert found.frames.tolist() == [0, 2]
    assert found.forward.tolist() == [-1] * 5


def test_a_number_used_again_links_to_the_forward_before_it() -> None:
    found = linked(
        forward("mul", 0, 5, 7), *frame("MulBackward0", 10, 10, 7), forward("mul", 30, 5, 7),
        *frame("MulBackward0", 40, 10, 7),
    )  # fmt: skip
    assert found.forward.tolist() == [-1, 0, 0, -1, 3, 3]


def test_of_forward_operators_that_begin_together_the_innermost_is_taken_in_any_order() -> None:
    rows = [forward("addmm", 0, 10, 7), forward("linear", 0, 20, 7), *frame("AddmmBackward0", 50, 20, 7)]
    assert linked(*rows).forward.tolist() == [-1, -1, 0, 0]


def test_forward_operators_in_a_frame_are_recomputed() -> None:
    # A checkpoint [40,100) runs mul again (its own number 9), and in it the engine's frame for that.
    found = linked(
        forward("Checkpoint", 0, 20, 7),
        op("mul", 5, 10),
        *frame("CheckpointBackward", 40, 60, 7),
        forward("mul", 45, 5, 9, "2"),
        *frame("MulBackward0", 60, 20, 9),
        op("mul", 65, 5, "2"),
    )
    assert found.recomputed.tolist() == [False, False, False, False, True, False, False, False]
    assert found.forward.tolist() == [-1, -1, 0, 0, 0, 4, 4, 4]


def test_links_are_those_of_the_arrows_that_torch_draws(reference: Reference) -> None:
    events = reference.events
    tree = call_tree(events)
    ends = flow_ends(events, tree.times)
    drawn = value_mask(events["name"], {"fwdbwd"})[ends.rows]
    rows = events.iloc[ends.rows[drawn]].assign(bound=ends.bound[drawn])
    first, last = (rows[rows["ph"] == phase].set_index("flow_id")["bound"].sort_index() for phase in "sf")
    if first.empty:
        pytest.skip("no arrows in this trace")
    found = backward(events, tree)
    assert len(found.frames) == len(last)
    assert first.index.equals(last.index)
    assert np.array_equal(found.forward[last], first)


def test_checkpointed_convolutions_are_recomputed(reference: Reference) -> None:
    # tl_mi300_resnet_ddp runs each block again in its backward; the others checkpoint nothing.
    found = backward(reference.events, call_tree(reference.events)).recomputed
    convolutions = found & value_mask(reference.events["name"], {"aten::convolution"})
    assert convolutions.sum() == (57 if reference.plain["trace"] == "tl_mi300_resnet_ddp" else 0)
