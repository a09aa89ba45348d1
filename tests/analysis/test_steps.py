"""Steps: windows, and parts that sum to them."""

from __future__ import annotations

import pandas as pd

from nbprof import schema
from nbprof.analysis.steps import steps
from tests.frames import kernel, launch, make_events, marker, memory, op, region, row

PARTS = [
    f"{kind}_us" for kind in ["kernel", "communication", "memcpy", "memset", "runtime", "dataloader", "cpu_op", "other"]
]


def checked(*rows: dict[str, object]) -> pd.DataFrame:
    table = steps(make_events(*rows))
    assert (table[PARTS].sum(axis=1) - table["wall_us"]).abs().max() < 1e-6
    return table


def test_nothing_gives_no_steps(no_events: pd.DataFrame) -> None:
    table = steps(no_events)
    assert table.empty
    assert table.dtypes.equals(schema.empty("steps").dtypes)


def test_rows_that_are_no_work_give_no_steps() -> None:
    assert steps(make_events(op("Iteration Start", 5, None, ph="i"), op("span", 0, 9, category="Trace"))).empty


def test_what_runs_is_divided_by_priority() -> None:
    # Step 1 [0,100): kernel [10,30), nccl [20,40) -> 10 left, copy [35,45) -> 5, fill [45,50) -> 5,
    # runtime [48,60) -> 10, data loading [55,70) -> 10, operator [65,80) -> 10, other 10 + 20.
    table = checked(
        marker("ProfilerStep#1", 0, 100),
        kernel("sgemm", 10, 20),
        kernel("ncclDevKernel_AllReduce", 20, 20, stream=20),
        memory("Memcpy HtoD", 35, 10),
        memory("Memset (Device)", 45, 5),
        launch(48, 12, 1),
        marker("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 55, 15),
        op("aten::mm", 65, 15),
    )
    assert table[PARTS].iloc[0].tolist() == [20, 10, 5, 5, 10, 10, 10, 30]
    assert table["step"].tolist() == [1]


def test_a_step_reaches_to_the_end_of_the_device_work_that_it_launched() -> None:
    # Step 3 [0,100) launches k [90,150): own window [0,150). Step 4 [100,210) begins at 150 and launches [205,230).
    table = checked(
        marker("ProfilerStep#3", 0, 100),
        launch(80, 5, 1),
        kernel("k", 90, 60, 1),
        marker("ProfilerStep#4", 100, 110),
        launch(200, 2, 2),
        kernel("k", 205, 25, 2),
    )
    assert table["step"].tolist() == [3, 4]
    assert table["start_us"].tolist() == [0, 150]
    assert table["host_wall_us"].tolist() == [100, 110]
    assert table["wall_us"].tolist() == [150, 80]
    assert table["device_busy_us"].tolist() == [60, 25]


def test_a_step_that_ends_before_the_device_is_done_with_the_last_one_has_no_time_of_its_own() -> None:
    # Step 0's kernel runs to 500, step 1 [100,200) launches nothing.
    table = checked(
        marker("ProfilerStep#0", 0, 100), launch(10, 5, 1), kernel("k", 100, 400, 1), marker("ProfilerStep#1", 100, 100)
    )
    assert table["wall_us"].tolist() == [500, 0]
    assert table["start_us"].tolist() == [0, 500]


def test_device_busy_is_not_clipped_and_not_counted_twice() -> None:
    # Kernels [50,90) and [80,130) on two streams, launched in the step [0,100): union 80, all of it.
    table = checked(
        marker("ProfilerStep#0", 0, 100),
        launch(1, 1, 1),
        launch(3, 1, 2),
        kernel("k", 50, 40, 1),
        kernel("k", 80, 50, 2, stream=8),
    )
    assert table["device_busy_us"].tolist() == [80]


def test_the_devices_copy_of_a_step_is_no_second_step() -> None:
    # one step #1 of 95 us.
    table = checked(
        marker("ProfilerStep#1", 0, 95),
        kernel("ProfilerStep#1", 35, 60, category="gpu_user_annotation"),
        op("mm", 10, 15),
    )
    assert table["step"].tolist() == [1]
    assert table["host_wall_us"].tolist() == [95]


def test_steps_without_a_device_have_host_parts_only() -> None:
    # steps 3 and 4 of 100 and 110 us; operators 50 and 70.
    table = checked(
        marker("ProfilerStep#3", 0, 100), op("linear", 5, 50), op("addmm", 10, 40),
        marker("ProfilerStep#4", 100, 110), op("linear", 105, 60), op("relu", 180, 10),
    )  # fmt: skip
    assert table["wall_us"].tolist() == [100, 110]
    assert table["cpu_op_us"].tolist() == [50, 70]
    assert table["other_us"].tolist() == [50, 40]
    assert table["device_busy_us"].tolist() == [0, 0]


def test_step_windows_count_where_only_what_is_inside_regions_counts() -> None:
    # A gated file: the step begins before the region; of its operators only the one inside counts.
    table = checked(
        marker("ProfilerStep#7", 0, 100, in_region=False),
        op("copy_", 5, 10, in_region=False),
        region("train", 20, 50),
        op("mm", 30, 10),
    )
    assert table["step"].tolist() == [7]
    assert (table["wall_us"].iloc[0], table["cpu_op_us"].iloc[0]) == (100, 10)


def test_a_name_that_only_looks_like_a_step_is_none() -> None:
    table = checked(marker("ProfilerStep#", 0, 10), marker("ProfilerStep#x", 0, 10), marker("ProfilerStep#2", 20, 10))
    assert table["step"].tolist() == [2]


def test_without_step_markers_each_outermost_region_entry_is_a_step() -> None:
    table = checked(region("train", 100, 50), region("attention", 110, 20), region("train", 200, 70), op("mm", 210, 10))
    assert table["step"].tolist() == [0, 1]
    assert table["start_us"].tolist() == [100, 200]
    assert table["host_wall_us"].tolist() == [50, 70]
    assert row(table, step=1)["cpu_op_us"] == 10


def test_outermost_entries_of_two_threads_share_the_time_between_them() -> None:
    # [0,10) on thread 1 and [0,30) on thread 2: the shorter comes first, the other has what is left.
    table = checked(region("b", 0, 30, "2"), region("a", 0, 10, "1"))
    assert table["host_wall_us"].tolist() == [10, 30]
    assert table["wall_us"].tolist() == [10, 20]


def test_without_steps_and_regions_the_whole_span_is_one() -> None:
    # From the operator at 10 to the kernel's end at 90; the Trace span says nothing.
    table = checked(
        op("mm", 10, 20),
        launch(15, 5, 1),
        kernel("k", 60, 30, 1),
        op("Profiler", 0, 200, category="Trace", pid="Spans"),
    )
    assert table["step"].tolist() == [0]
    assert (table["start_us"].iloc[0], table["wall_us"].iloc[0]) == (10, 80)
    assert table["kernel_us"].tolist() == [30]


def test_gloo_ranges_on_the_host_are_communication() -> None:
    table = checked(marker("ProfilerStep#0", 0, 100), op("gloo:all_reduce", 20, 30, tid="9"), op("mm", 10, 20))
    assert (table["communication_us"].iloc[0], table["cpu_op_us"].iloc[0]) == (30, 10)
