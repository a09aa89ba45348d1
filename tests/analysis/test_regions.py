"""Regions: a table that reads as a tree, entries one by one, and by step."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from nbprof import schema
from nbprof.analysis import region_entries, region_steps, regions
from tests.frames import kernel, launch, make_events, marker, op, region, row


def test_nothing_gives_empty_tables(no_events: pd.DataFrame) -> None:
    for table in (regions, region_entries, region_steps):
        pd.testing.assert_frame_equal(table(no_events).astype(object), schema.empty(table.__name__).astype(object))


def test_a_trace_without_regions_has_no_rows() -> None:
    events = make_events(op("mm", 0, 10), marker("user range", 0, 20), kernel("k", 5, 5))
    assert regions(events).empty
    assert region_entries(events).empty
    assert region_steps(events).empty


def test_self_is_wall_less_nested_regions_and_rows_read_as_a_tree() -> None:
    # train [0,100) and [200,300); in each, mlp 10 and attention 30 + 20; attention holds rope 5.
    # train self: 200 - 2 x 60 = 80; attention: 100 - 10 = 90; mlp 20; rope 10. Sum 200.
    rows: list[dict[str, Any]] = []
    for start in (0, 200):
        rows += [
            region("train", start, 100),
            region("mlp", start + 5, 10),
            region("attention", start + 20, 30),
            region("rope", start + 25, 5),
            region("attention", start + 60, 20),
        ]
    table = regions(make_events(*rows))
    assert table["region"].tolist() == ["train", "attention", "rope", "mlp"]
    assert table["parent"].astype(object).fillna("-").tolist() == ["-", "train", "attention", "train"]
    assert table["depth"].tolist() == [0, 1, 2, 1]
    assert table["calls"].tolist() == [2, 4, 2, 2]
    assert table["wall_us"].tolist() == [200, 100, 10, 20]
    assert table["self_us"].tolist() == [80, 90, 10, 20]
    assert table["share"].tolist() == pytest.approx([0.4, 0.45, 0.05, 0.1])
    assert table["idle_us"].isna().all()


def test_one_region_under_two_parents_has_two_rows() -> None:
    # norm 5 in a, 7 in b, 9 on its own.
    events = make_events(
        region("a", 0, 20), region("norm", 5, 5), region("b", 30, 20), region("norm", 35, 7), region("norm", 60, 9)
    )
    table = regions(events)
    assert row(table, region="norm", parent="a")["wall_us"] == 5
    assert row(table, region="norm", parent="b")["wall_us"] == 7
    assert row(table, region="norm", parent=None)["wall_us"] == 9


def test_host_is_the_union_of_operators_begun_inside_nested_ones_included() -> None:
    # train [0,100): linear [10,40) with addmm inside, in attention [50,80) an operator [55,75): 30 + 20.
    # The operator at [100,110) begins where train has ended.
    events = make_events(
        region("train", 0, 100),
        op("linear", 10, 30),
        op("addmm", 15, 10),
        region("attention", 50, 30),
        op("sdpa", 55, 20),
        op("after", 100, 10),
    )
    table = regions(events)
    assert row(table, region="train")["host_us"] == 50
    assert row(table, region="attention")["host_us"] == 20


def test_a_region_opened_inside_an_operator_has_its_own_operators() -> None:
    # forward [0,100) is an operator in train; inside it a region with mm 10: mm is not hidden by what is around.
    events = make_events(region("train", 0, 110), op("forward", 0, 100), region("inner", 20, 30), op("mm", 25, 10))
    table = regions(events)
    assert row(table, region="train")["host_us"] == 100
    assert row(table, region="inner")["host_us"] == 10


def test_device_time_and_idle_go_by_launch() -> None:
    # attn [10,30) on the host, operators 15; kernels [35,55) and [65,85): device 40, and from 10 to 85 the device
    # is idle 75 - 40 = 35. The annotation on the device's row, and the step around, are no work.
    events = make_events(
        marker("ProfilerStep#1", 0, 95),
        region("attn", 10, 20),
        op("sdpa", 12, 15),
        launch(14, 2, 1),
        launch(20, 2, 2),
        kernel("k", 35, 20, 1),
        kernel("k", 65, 20, 2),
        kernel("nbprof.region::attn", 35, 50, category="gpu_user_annotation"),
        kernel("other", 90, 100, 77),
    )
    table = regions(events)
    assert len(table) == 1
    found = row(table, region="attn")
    assert (found["calls"], found["wall_us"], found["host_us"]) == (1, 20, 15)
    assert (found["device_us"], found["idle_us"]) == (40, 35)


def test_a_device_busy_with_earlier_work_is_not_idle() -> None:
    # b begins at 20; a's kernel runs [15,60), b's [60,70): the device never rests in [20,70).
    events = make_events(
        region("a", 0, 20), launch(5, 2, 1), kernel("k", 15, 45, 1),
        region("b", 20, 20), launch(25, 2, 2), kernel("k", 60, 10, 2),
    )  # fmt: skip
    table = regions(events)
    assert row(table, region="a")["idle_us"] == 15  # [0,15)
    assert row(table, region="b")["idle_us"] == 0


def test_a_region_that_launches_nothing_has_no_idle_time() -> None:
    events = make_events(region("a", 0, 20), launch(5, 2, 1), kernel("k", 15, 45, 1), region("b", 30, 10))
    table = regions(events)
    assert pd.isna(row(table, region="b")["idle_us"])
    assert row(table, region="b")["device_us"] == 0


def test_entries_that_overlap_without_nesting_keep_their_times_and_count_each_operator_once() -> None:
    # A [0,100) and B [50,150) of two coroutines; operators [10,30), [60,70), [110,120).
    # The middle one belongs to B, which was entered last. Neither is inside the other.
    events = make_events(region("a", 0, 100), region("b", 50, 100), op("x", 10, 20), op("x", 60, 10), op("x", 110, 10))
    table = regions(events)
    assert (row(table, region="a")["wall_us"], row(table, region="b")["wall_us"]) == (100, 100)
    assert (row(table, region="a")["self_us"], row(table, region="b")["self_us"]) == (100, 100)
    assert (row(table, region="a")["host_us"], row(table, region="b")["host_us"]) == (20, 20)
    assert table["parent"].isna().all()


def test_recursion_has_a_row_of_its_own_and_no_negative_self() -> None:
    # r [0,100) > r [10,60) > r [20,40): outermost self 50; the inner two: 50 + 20 wall, 30 + 20 self.
    table = regions(make_events(region("r", 0, 100), region("r", 10, 50), region("r", 20, 20), op("x", 25, 10)))
    assert table["calls"].tolist() == [1, 2]
    assert table["wall_us"].tolist() == [100, 70]
    assert table["self_us"].tolist() == [50, 50]
    assert table["host_us"].tolist() == [10, 10]
    assert table["share"].sum() == 1


def test_regions_that_enter_each_other_stay_in_the_table() -> None:
    # a > b > a > b
    events = make_events(region("a", 0, 100), region("b", 10, 80), region("a", 20, 60), region("b", 30, 40))
    table = regions(events)
    assert table["region"].tolist() == ["a", "b", "a"]
    assert table["calls"].tolist() == [1, 2, 1]
    assert table["depth"].tolist() == [0, 1, 2]


def test_threads_keep_their_own_regions() -> None:
    # The operator on thread 2 runs while r is open on thread 1, and is no part of it.
    events = make_events(region("r", 0, 100, "1"), op("x", 10, 10, "1"), op("x", 30, 10, "2"))
    assert row(regions(events), region="r")["host_us"] == 10


def test_backward_work_on_autograds_thread_belongs_to_the_region_open_meanwhile() -> None:
    # backward [0,100) on thread 1; thread 2 runs autograd's frames: [10,40) inside it, [150,160) after it.
    events = make_events(
        region("train", 0, 110, "1"),
        region("backward", 0, 100, "1"),
        op("autograd::engine::evaluate_function: MmBackward0", 10, 30, "2"),
        launch(20, 5, 1, tid="2"),
        op("autograd::engine::evaluate_function: AddBackward0", 150, 10, "2"),
        kernel("k", 50, 10, 1),
    )
    table = regions(events)
    for name in ("train", "backward"):
        assert row(table, region=name)["host_us"] == 30
        assert row(table, region=name)["device_us"] == 10


def test_the_devices_copy_of_a_region_is_no_second_one() -> None:
    events = make_events(region("r", 0, 10), region("r", 20, 10, category="gpu_user_annotation", pid="0", tid="7"))
    assert row(regions(events), region="r")["calls"] == 1


def test_entries_one_by_one() -> None:
    events = make_events(region("b", 50, 10), region("a", 0, 100), op("x", 5, 5), region("b", 20, 10))
    entries = region_entries(events)
    assert entries["region"].tolist() == ["a", "b", "b"]
    assert entries["parent"].astype(object).fillna("-").tolist() == ["-", "a", "a"]
    assert entries["depth"].tolist() == [0, 1, 1]
    assert entries["start_us"].tolist() == [0, 20, 50]
    assert entries["wall_us"].tolist() == [100, 10, 10]
    assert entries["self_us"].tolist() == [80, 10, 10]
    assert entries["position"].tolist() == [1, 3, 0]
    assert entries["outer"].tolist() == [-1, 0, 0]


def test_entries_by_profiler_step() -> None:
    # Step 4 holds two entries, step 5 one; the entry before the first step belongs to none.
    events = make_events(
        region("r", 0, 5), marker("ProfilerStep#4", 10, 40), region("r", 12, 5), region("r", 20, 6),
        marker("ProfilerStep#5", 50, 50), region("r", 60, 30), region("s", 70, 10),
    )  # fmt: skip
    table = region_steps(events)
    assert table[["region", "step", "wall_us", "self_us"]].values.tolist() == [
        ["r", 4, 11, 11],
        ["r", 5, 30, 20],
        ["s", 5, 10, 10],
    ]


def test_entries_by_turn_of_the_outermost_region_without_step_markers() -> None:
    # train, eval, train: the first of each is step 0, the second train is step 1; norm counts where it was entered.
    events = make_events(
        region("train", 0, 50), region("norm", 10, 5), region("eval", 60, 20), region("norm", 65, 7),
        region("train", 100, 40), region("norm", 110, 6),
    )  # fmt: skip
    table = region_steps(events)
    assert row(table, region="train", step=1)["self_us"] == 34
    assert row(table, region="norm", step=0)["wall_us"] == 12
    assert row(table, region="norm", step=1)["wall_us"] == 6
    assert row(table, region="eval", step=0)["wall_us"] == 20


def test_recursion_does_not_raise_a_steps_wall_time() -> None:
    table = region_steps(make_events(region("r", 0, 100), region("r", 10, 50)))
    assert table[["step", "wall_us", "self_us"]].values.tolist() == [[0, 100, 100]]
