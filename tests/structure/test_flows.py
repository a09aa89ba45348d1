"""What the ends of flows bind to, and which flows a part keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from nbprof.structure.flows import flow_ends, with_whole_flows
from nbprof.structure.times import times
from tests.frames import kernel, launch, make_events, op


def end(phase: str, ts: float, number: int | None, **more: Any) -> dict[str, Any]:
    return op("ac2g", ts, None, **{"category": "ac2g", "ph": phase, "flow_id": number} | more)


ON_DEVICE = {"pid": "0", "tid": "stream 7"}


def bound(*rows: dict[str, Any]) -> dict[int, int]:
    """For each end of a flow the row that it binds to."""
    events = make_events(*rows)
    ends = flow_ends(events, times(events))
    return dict(zip(ends.rows.tolist(), ends.bound.tolist(), strict=True))


def kept(keep: list[bool], *rows: dict[str, Any]) -> list[bool]:
    events = make_events(*rows)
    return with_whole_flows(events, np.array(keep), flow_ends(events, times(events))).tolist()


def test_nothing_has_no_flows(no_events: pd.DataFrame) -> None:
    ends = flow_ends(no_events, times(no_events))
    assert (len(ends.rows), len(ends.bound)) == (0, 0)
    assert len(with_whole_flows(no_events, np.zeros(0, bool), ends)) == 0


def test_an_end_binds_to_what_starts_at_its_time_on_its_row_and_of_several_to_the_innermost() -> None:
    # The operator [10,30) holds the launch [10,15); the kernel runs on another row, where [20,25) is the third.
    rows = [op("mm", 10, 20), launch(10, 5, 1), kernel("k", 20, 5, 1), end("s", 10, 1), end("f", 20, 1, **ON_DEVICE)]
    assert bound(*rows) == {3: 1, 4: 2}


def test_an_end_in_the_middle_binds_to_what_is_open_and_one_at_an_end_does_not() -> None:
    # [0,10) holds [2,4); at 5 only the outer is open, at 10 nothing, on thread 2 nothing ever.
    rows = [
        op("outer", 0, 10),
        op("inner", 2, 2),
        end("s", 5, 1),
        end("s", 3, 2),
        end("s", 10, 3),
        end("s", 5, 4, tid="2"),
    ]
    assert bound(*rows) == {2: 0, 3: 1, 4: -1, 5: -1}


def test_many_ends_at_one_place_bind_to_one_row() -> None:
    rows = [op("mm", 0, 10), *(end("s", 0, number) for number in range(100))]
    assert set(bound(*rows).values()) == {0}


def test_an_end_binds_to_a_call_of_no_length_that_starts_there() -> None:
    assert bound(end("f", 5, 1), op("outer", 0, 10), op("empty", 5, 0)) == {0: 2}


FLOW = [launch(0, 5, 1), kernel("k", 20, 5, 1), end("s", 0, 1), end("f", 20, 1, **ON_DEVICE)]


def test_both_ends_go_with_what_they_join_whatever_was_asked_of_themselves() -> None:
    assert kept([True, True, False, False], *FLOW) == [True, True, True, True]


def test_a_flow_that_lost_an_end_is_left_out() -> None:
    assert kept([True, False, True, True], *FLOW) == [True, False, False, False]
    assert kept([False, True, True, True], *FLOW) == [False, True, False, False]


def test_one_start_with_several_ends_keeps_those_that_are_left() -> None:
    # A graph launch: two kernels, of which one is in the part.
    rows = [*FLOW, kernel("k2", 30, 5, 1), end("f", 30, 1, **ON_DEVICE)]
    assert kept([True, False, True, True, True, True], *rows) == [True, False, True, False, True, True]


def test_flows_of_the_same_number_but_another_kind_are_others() -> None:
    # Number 1 again, from forward to backward, of which the part holds the start alone.
    rows = [*FLOW, op("forward", 40, 5), end("s", 40, 1, category="fwdbwd")]
    assert kept([True] * 6, *rows) == [True, True, True, True, True, False]
