"""The one rule of what belongs to a region or a step: by hand, and against the rule word by word."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from nbprof.structure.calltree import call_tree
from nbprof.structure.openings import Openings, inside, region_openings, step_openings
from nbprof.structure.times import Times, times
from tests.frames import kernel, launch, make_events, marker, op, region

FRAME = "autograd::engine::evaluate_function: MulBackward0"


def belongs(*rows: dict[str, Any]) -> list[int]:
    """For each row the position of the marker that it belongs to."""
    events = make_events(*rows)
    return region_openings(events, times(events)).of(np.arange(len(rows))).tolist()


def held(openings_of: Any, chosen: list[int], *rows: dict[str, Any]) -> list[bool]:
    events = make_events(*rows)
    openings: Openings = openings_of(events, times(events))
    return inside(events, openings, np.array(chosen, np.int64)).tolist()


def openings_of_steps(events: pd.DataFrame, when: Times) -> Openings:
    return step_openings(events, when)[1]


def test_nothing_belongs_nowhere(no_events: pd.DataFrame) -> None:
    for openings_of in (region_openings, openings_of_steps):
        openings = openings_of(no_events, times(no_events))
        assert len(openings.markers) == len(openings.of(np.arange(0))) == 0
        assert len(inside(no_events, openings, openings.markers)) == 0


def test_the_innermost_region_open_at_the_start_and_for_a_marker_the_one_around() -> None:
    rows = [region("a", 0, 50), region("b", 10, 20), op("in b", 15, 30), op("in a", 30, 5), op("after", 50, 5)]
    assert belongs(*rows) == [-1, 0, 1, 0, -1]


def test_backward_work_belongs_to_the_region_of_its_own_process_that_was_opened_last() -> None:
    # Process 1 has a [0,100) on thread 1 and b [20,40) on thread 2; process 2 has c [30,90).
    regions = [region("a", 0, 100), region("b", 20, 20, "2"), region("c", 30, 60, pid="2")]
    backward = [op(FRAME, at, 5, "9") for at in (10, 32, 50, 120)]
    assert belongs(*regions, *backward)[3:] == [0, 1, 0, -1]
    assert belongs(*regions, op(FRAME, 50, 5, "9", pid="2"), op(FRAME, 50, 5, "9", pid="3"))[3:] == [2, -1]


def test_a_thread_that_is_not_autograds_follows_nobody() -> None:
    assert belongs(region("a", 0, 100), op("mm", 10, 5, "2"), op(FRAME, 20, 5, "3"), op("mm", 30, 5, "3")) == [
        -1, -1, 0, 0,
    ]  # fmt: skip


def test_a_thread_that_ran_its_own_backward_inside_its_own_region_follows_nobody() -> None:
    # Thread 1 trains on the CPU, in the region t [0,50); thread 2 loads in the region l [0,100).
    rows = [region("t", 0, 50), op(FRAME, 10, 5), region("l", 0, 100, "2"), op("between", 60, 5)]
    assert belongs(*rows) == [-1, 0, -1, -1]


def test_a_region_opened_in_a_backward_hook_leaves_the_rest_of_its_thread_with_the_caller() -> None:
    # Autograd's thread 2 runs frames at [10,30) and [40,50); a hook in the first opens h [15,20).
    rows = [
        region("train", 0, 100), op(FRAME, 10, 20, "2"), region("h", 15, 5, "2"), op("in h", 16, 2, "2"),
        op(FRAME, 40, 10, "2"),
    ]  # fmt: skip
    assert belongs(*rows) == [-1, 0, -1, 2, 0]


def test_what_is_inside_a_nested_region_is_inside_the_outer_one_too() -> None:
    rows = [region("a", 0, 50), region("b", 10, 20), op("x", 15, 5), op("y", 40, 5)]
    assert held(region_openings, [0], *rows) == [True, True, True, True]
    assert held(region_openings, [1], *rows) == [False, True, True, False]


def test_a_python_call_must_lie_wholly_inside() -> None:
    def call(start: float, length: float) -> dict[str, Any]:
        return op("f", start, length, category="python_function")

    # a [0,50) holds b [10,30): a call from 25 to 35 is inside a, and straddles b; one from 45 to 55 straddles a.
    rows = [region("a", 0, 50), region("b", 10, 20), call(25, 10), call(45, 10), call(12, 5)]
    assert held(region_openings, [0, 1], *rows) == [True, True, True, False, True]
    assert held(region_openings, [1], *rows) == [False, True, False, False, True]


def test_device_events_go_by_their_launch_alone() -> None:
    rows = [region("a", 0, 10), launch(5, 2, 1), kernel("k", 30, 5, 1), kernel("lost", 5, 2, 9)]
    assert held(region_openings, [0], *rows) == [True, True, True, False]


def test_all_threads_and_the_devices_rows_follow_a_step_and_other_processes_their_own_steps() -> None:
    rows = [
        marker("ProfilerStep#1", 0, 50), marker("ProfilerStep#2", 50, 50),
        op("worker", 10, 5, "2"), op("late worker", 60, 5, "2"),
        op("range", 20, 9, "7", category="gpu_user_annotation", pid="0"),
        marker("ProfilerStep#1", 40, 50, pid="2"), op("worker of another rank", 60, 5, "2", pid="2"),
    ]  # fmt: skip
    assert held(openings_of_steps, [0, 5], *rows) == [True, False, True, False, True, True, True]


def numbers(*rows: dict[str, Any]) -> dict[int, int]:
    events = make_events(*rows)
    found, steps = step_openings(events, times(events))
    return dict(zip(steps.markers.tolist(), found.tolist(), strict=True))


def test_steps_are_the_profilers_by_time_and_not_their_twins_on_the_device() -> None:
    twin = marker("ProfilerStep#7", 60, 5, category="gpu_user_annotation", pid="0")
    rows = [marker("ProfilerStep#8", 50, 50), twin, marker("ProfilerStep#7", 0, 50), marker("ProfilerStep#x", 0, 5)]
    assert numbers(region("a", 0, 9), *rows) == {3: 7, 1: 8}


def test_without_them_the_outermost_entries_of_regions_are_steps_from_0_and_others_follow_them() -> None:
    # Two entries of a, one of which holds b; the worker on thread 2 has no region of its own.
    rows = [region("a", 50, 40), region("a", 0, 40), region("b", 10, 20), op("x", 12, 5), op("worker", 60, 5, "2")]
    assert numbers(*rows) == {1: 0, 0: 1}
    assert held(openings_of_steps, [1], *rows) == [False, True, True, True, False]
    assert held(openings_of_steps, [0], *rows) == [True, False, False, False, True]


threads = st.sampled_from(["1", "2"])
spans = st.tuples(st.integers(0, 40), st.integers(1, 20))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(spans, threads), max_size=5), st.lists(st.tuples(spans, threads), max_size=6))
def test_gating_and_the_call_tree_agree_on_any_rows(regions: list[Any], operators: list[Any]) -> None:
    rows = [region(f"r{n}", *span, thread) for n, (span, thread) in enumerate(regions)]
    rows += [op(FRAME if n % 3 == 0 else "mm", *span, thread) for n, (span, thread) in enumerate(operators)]
    events = make_events(*rows) if rows else make_events(op("mm", 0, 1))
    openings = region_openings(events, times(events))
    assert openings.markers.tolist() == list(range(len(regions)))
    mask = inside(events, openings, openings.markers)
    operator = (events["category"] == "cpu_op").to_numpy()
    assert (mask[operator] == (call_tree(events).entry[operator] >= 0)).all()
    for number, ((start, length), thread) in enumerate(operators, len(regions)):
        own = [s for (s, lasts), t in regions if t == thread and s <= start < s + lasts]
        assert mask[number] or not own, (start, length)
