"""Lanes: what viewers would drop gets a row of its own, in the file only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbprof.reader.lanes import Lane, folded, laid_out, lane_key, lane_labels, lanes_in, without_lanes
from nbprof.structure.flows import flow_ends
from nbprof.structure.times import times
from tests.frames import kernel, make_events, op


def on_lanes(*rows: dict[str, Any], labels: list[dict[str, Any]] | None = None) -> tuple[list[str], list[Lane]]:
    """The tids in the file, and the lanes."""
    events = make_events(*rows)
    when = times(events)
    placed, lanes = laid_out(events, when, flow_ends(events, when), labels or [])
    pd.testing.assert_frame_equal(placed.drop(columns="tid"), events.drop(columns="tid"))
    return placed["tid"].astype(object).tolist(), lanes


def test_nothing_needs_no_lanes(no_events: pd.DataFrame) -> None:
    when = times(no_events)
    placed, lanes = laid_out(no_events, when, flow_ends(no_events, when), [])
    assert len(placed) == len(lanes) == 0


def test_what_nests_or_only_touches_stays_and_the_frame_is_the_same() -> None:
    events = make_events(op("outer", 0, 10), op("inner", 0, 10), op("end", 9, 1), op("next", 10, 5), op("none", 10, 0))
    when = times(events)
    assert laid_out(events, when, flow_ends(events, when), [])[0] is events


def test_a_call_that_outlives_what_it_starts_in_by_a_nanosecond_moves_to_the_next_free_tid() -> None:
    # On 7, [5, 10.001) crosses [0,10); 8 is another stream of the process, so that the lane is 9. Process 2 has a 9.
    rows = [
        kernel("a", 0, 10, tid="7"), kernel("b", 5, 5.001, tid="7"), kernel("inside b alone", 10, 0.001, tid="7"),
        kernel("c", 0, 1, tid="8"), kernel("d", 0, 1, pid="2", tid="9"),
    ]  # fmt: skip
    tids, lanes = on_lanes(*rows)
    assert tids == ["7", "9", "7", "8", "9"]
    assert lanes == [Lane(0, 9, 7, 2)]


def test_each_call_takes_the_first_lane_that_it_nests_on() -> None:
    # [0,10) [1,11) [2,12) cross each other; [3,9) nests in the first; [10,12) fits on the first again; later all is free.
    rows = [
        op(str(start), start, length, "4") for start, length in [(0, 10), (1, 10), (2, 10), (3, 6), (10, 2), (20, 5)]
    ]
    assert on_lanes(*rows)[0] == ["4", "5", "6", "4", "4", "4"]


def test_a_lane_takes_no_tid_that_a_label_speaks_of() -> None:
    label = {"name": "thread_name", "ph": "M", "pid": 1, "tid": 5, "args": {"name": "idle"}}
    assert on_lanes(op("a", 0, 10, "4"), op("b", 5, 10, "4"), labels=[label])[0] == ["4", "6"]


def test_the_end_of_a_flow_moves_with_what_it_binds_to_and_instants_stay() -> None:
    def point(ts: float, phase: str) -> dict[str, Any]:
        return op("p", ts, None, "4", ph=phase, category=None, flow_id=None if phase == "i" else 1)

    rows = [op("a", 0, 10, "4"), op("b", 5, 10, "4"), point(5, "s"), point(0, "f"), point(5, "i")]
    assert on_lanes(*rows)[0] == ["4", "5", "5", "4", "4"]


def test_a_thread_whose_number_perfetto_does_not_take_moves_as_a_whole() -> None:
    # -1 is an unsigned number to nobody; 2**32 has 33 bits; a process -1 is process 0 to Perfetto, which has a thread 1.
    rows = [
        op("a", 0, 1, "-1", pid="9"), op("instant", 0, None, "-1", pid="9", ph="i"), op("b", 0, 1, str(2**32), pid="9"),
        op("fits", 0, 1, str(2**32 - 1), pid="9"), op("c", 0, 1, "0", pid="-1"), op("d", 0, 1, "1", pid="0"),
        op("text", 0, 1, "stream -1", pid="9"),
    ]  # fmt: skip
    tids, lanes = on_lanes(*rows)
    assert tids == ["1", "1", "2", str(2**32 - 1), "2", "1", "stream -1"]
    assert lanes == [Lane(9, 1, -1, 1), Lane(9, 2, 2**32, 1), Lane(-1, 2, 0, 1)]


def test_a_thread_without_a_number_has_lanes_from_1() -> None:
    assert on_lanes(op("a", 0, 9, "main"), op("b", 5, 9, "main"))[1] == [Lane(1, 1, "main", 2)]
    assert on_lanes(op("a", 0, 9, "stream 7"), op("b", 5, 9, "stream 7"))[1] == [Lane(1, 8, "stream 7", 2)]
    assert on_lanes(op("a", 0, 9, None, pid=None), op("b", 5, 9, None, pid=None))[1] == [Lane(None, 1, None, 2)]  # type: ignore[arg-type]


def test_of_hundreds_that_cross_each_other_those_beyond_the_200th_lane_stay_where_they_are() -> None:
    count = 250
    tids, lanes = on_lanes(*(op("x", number, count, "1") for number in range(count)))
    assert len(lanes) == 199
    assert tids.count("1") == 1 + (count - 200)


def test_a_lane_is_named_after_its_thread_and_stands_right_below_it() -> None:
    labels = [
        {"name": "thread_name", "ph": "M", "pid": 0, "tid": 7, "args": {"name": "stream 7 "}},
        {"name": "thread_sort_index", "ph": "M", "pid": 0, "tid": 7, "args": {"sort_index": 7}},
    ]
    lanes = [Lane(0, 8, 7, 2), Lane(0, 9, 7, 3)]
    assert list(lane_labels(lanes, labels)) == [
        {"name": "thread_name", "ph": "M", "pid": 0, "tid": 8, "args": {"name": "stream 7 (lane 2)"}},
        {"name": "thread_sort_index", "ph": "M", "pid": 0, "tid": 8, "args": {"sort_index": 7.5}},
        {"name": "thread_name", "ph": "M", "pid": 0, "tid": 9, "args": {"name": "stream 7 (lane 3)"}},
        {"name": "thread_sort_index", "ph": "M", "pid": 0, "tid": 9, "args": {"sort_index": 7 + 2 / 3}},
    ]


@pytest.mark.parametrize("args", [None, 5, {}, {"name": None, "sort_index": "x"}])
def test_a_thread_that_no_label_or_a_broken_one_names_goes_by_its_number(args: object) -> None:
    labels = [{"name": name, "pid": 0, "tid": 7, "args": args} for name in ("thread_name", "thread_sort_index")]
    found = [row["args"] for row in lane_labels([Lane(0, 8, 7, 2), Lane(0, 1, -9, 1)], labels)]
    assert [row["name"] for row in found[::2]] == ["thread 7 (lane 2)", "thread -9"]
    assert [row["sort_index"] for row in found[1::2]] == [0.5, 0]


def test_what_a_file_says_of_its_lanes_puts_words_and_labels_back() -> None:
    lanes = lanes_in(lane_key([Lane(0, 8, 7, 2), Lane("x", 1, "main", 2), Lane(None, 1, None, 2)]))
    kinds = [("X", "kernel", "k", 0, 8), ("X", None, "k", 1, 8), ("X", None, "k", "x", 1), ("i", None, "k", None, 1)]
    assert folded(kinds, lanes) == [
        ("X", "kernel", "k", 0, 7), ("X", None, "k", 1, 8), ("X", None, "k", "x", "main"), ("i", None, "k", None, None),
    ]  # fmt: skip
    labels = [{"name": "thread_name", "pid": pid, "tid": tid} for pid, tid in ((0, 7), (0, 8), (1, 8), ("x", 1))]
    assert without_lanes(labels, lanes) == [labels[0], labels[2]]


@pytest.mark.parametrize("said", [None, 5, "x", {"a": 1}, [1], [[0, 8]], [[0, 8, 7, 6]], [[0, [8], 7]], []])
def test_what_makes_no_sense_of_lanes_moves_nothing(said: object) -> None:
    lanes = lanes_in(said)
    assert lanes == {}
    assert folded([("X", None, "k", 0, 8)], lanes) == [("X", None, "k", 0, 8)]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 12), st.integers(0, 8)), min_size=1, max_size=12))
def test_on_its_row_in_the_file_no_call_crosses_another(spans: list[tuple[int, int, int]]) -> None:
    rows = [op("x", start, length, str(thread)) for thread, start, length in spans]
    tids, lanes = on_lanes(*rows)
    for tid, (_, start, length) in zip(tids, spans, strict=True):
        for other, (_, begin, lasting) in zip(tids, spans, strict=True):
            assert tid != other or not start < begin < start + length < begin + lasting
    back = {str(lane.tid): str(lane.thread) for lane in lanes}
    assert [back.get(tid, tid) for tid in tids] == [str(thread) for thread, _, _ in spans]
    assert len(np.unique([lane.tid for lane in lanes])) == len(lanes)
