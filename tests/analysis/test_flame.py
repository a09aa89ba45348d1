"""Time by stack, on frames whose numbers are worked out beside them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nbprof import intervals, schema
from nbprof.analysis.flame import flame
from nbprof.structure.calltree import call_tree
from nbprof.structure.masks import value_mask
from nbprof.structure.threads import thread_codes
from tests.frames import kernel, launch, make_events, marker, memory, op, region, row
from tests.references import Reference

HOST = schema.OPERATOR_CATEGORIES | schema.RUNTIME_CATEGORIES | {"python_function", "user_annotation"}


@pytest.mark.parametrize("device", [False, True])
def test_nothing_gives_an_empty_table_with_its_columns(no_events: pd.DataFrame, device: bool) -> None:
    pd.testing.assert_frame_equal(
        flame(no_events, device=device), schema.empty("flame"), check_dtype=True, check_categorical=False
    )


@pytest.fixture
def events() -> pd.DataFrame:
    """Two steps with a region each, in it Python, a module and operators that launch; one kernel has no launch."""
    return make_events(
        marker("ProfilerStep#0", 0, 100),
        region("train", 0, 90),
        op("net.py(1): run", 10, 70, category="python_function"),
        op("nn.Module: Net_0", 20, 50, category="python_function"),
        op("aten::mm", 30, 30),
        launch(40, 5, 1),
        op("aten::add", 85, 3),
        marker("ProfilerStep#1", 100, 100),
        region("train", 100, 40),
        op("aten::add", 110, 20),
        launch(112, 4, 2),
        kernel("gemm", 200, 7, 1),
        memory("Memcpy HtoD", 210, 9, 2),
        kernel("gemm", 220, 2),
    )


def test_host_time_by_stack_in_the_order_of_a_tree(events: pd.DataFrame) -> None:
    # train 90 + 40 less run 70, add 3 and 20: 37. run 70 - 50, Net 50 - 30, mm 30 - 5; add 23 - 4.
    table = flame(events)
    assert table["name"].tolist() == [
        *["train", "net.py(1): run", "Net_0", "aten::mm", "cudaLaunchKernel"],
        *["aten::add", "cudaLaunchKernel"],
    ]
    assert table["kind"].tolist() == ["region", "python", "module", "operator", "runtime", "operator", "runtime"]
    assert table["depth"].tolist() == [0, 1, 2, 3, 4, 1, 2]
    assert table["calls"].tolist() == [2, 1, 1, 1, 1, 2, 1]
    assert table["total_us"].tolist() == [130, 70, 50, 30, 5, 23, 4]
    assert table["self_us"].tolist() == [37, 20, 20, 25, 5, 19, 4]
    assert table["stack"].iloc[4] == "train;net.py(1): run;Net_0;aten::mm;cudaLaunchKernel"


def test_device_events_stand_inside_the_call_that_launched_them(events: pd.DataFrame) -> None:
    table = flame(events, device=True)
    assert table["stack"].tolist() == [
        "train",
        "train;aten::add",
        "train;aten::add;cudaLaunchKernel",
        "train;aten::add;cudaLaunchKernel;Memcpy HtoD",
        "train;net.py(1): run",
        "train;net.py(1): run;Net_0",
        "train;net.py(1): run;Net_0;aten::mm",
        "train;net.py(1): run;Net_0;aten::mm;cudaLaunchKernel",
        "train;net.py(1): run;Net_0;aten::mm;cudaLaunchKernel;gemm",
        "gemm",
    ]
    assert table["total_us"].tolist() == [16, 9, 9, 9, 7, 7, 7, 7, 7, 2]
    assert table["self_us"].tolist() == [0, 0, 0, 9, 0, 0, 0, 0, 7, 2]


def test_stacks_of_all_threads_are_merged_and_other_annotations_are_frames() -> None:
    # Optimizer.step 30 + 20 on two threads, mul 10 + 5 in it.
    events = make_events(
        marker("Optimizer.step", 0, 30), op("mul", 5, 10), marker("Optimizer.step", 3, 20, "2"), op("mul", 4, 5, "2")
    )
    table = flame(events)
    assert table["kind"].tolist() == ["annotation", "operator"]
    assert table["calls"].tolist() == [2, 2]
    assert table["self_us"].tolist() == [35, 15]


def test_what_parts_stacks_and_lines_is_escaped_in_names() -> None:
    table = flame(make_events(op("f [T = int; U = char]\nnext", 0, 10), op("g", 2, 3)))
    assert table["stack"].tolist()[1] == "f [T = int%3B U = char]%0Anext;g"
    assert table["name"].tolist()[0] == "f [T = int; U = char]\nnext"


def test_calls_outside_regions_of_a_gated_file_do_not_count() -> None:
    table = flame(make_events(op("mm", 0, 10, in_region=False), op("mm", 20, 4)))
    assert row(table, name="mm")["self_us"] == 4


def test_frames_that_cross_share_the_time_that_they_cover() -> None:
    # Python's call that opens a range [0,10) straddles its start, the one that closes it [45,60) its end:
    # the range [5,50) is innermost from 5 to 45, and the calls outside of that.
    events = make_events(
        op("enter", 0, 10, category="python_function"),
        marker("range", 5, 45),
        op("exit", 45, 15, category="python_function"),
    )
    table = flame(events)
    assert dict(zip(table["name"], table["self_us"], strict=True)) == {"range": 40, "exit": 15, "enter": 5}


def test_self_times_of_recorded_traces_sum_to_what_is_covered(reference: Reference) -> None:
    events = reference.events
    tree = call_tree(events)
    table = flame(events, tree=tree)
    host = tree.times.known & value_mask(events["category"], HOST)
    host &= ~events["name"].astype(str).str.startswith(schema.STEP_MARKER).to_numpy()
    threads = thread_codes(events)
    covered = sum(
        intervals.total(intervals.union((tree.times.starts[here], tree.times.ends[here])))
        for here in (np.flatnonzero(host & (threads == thread)) for thread in np.unique(threads[host]))
    )
    assert table["self_us"].sum() == pytest.approx(covered / 1000, abs=0.001)
    assert table.loc[table["depth"] == 0, "total_us"].sum() == pytest.approx(table["self_us"].sum())
    assert table["stack"].is_unique


def test_device_times_of_recorded_traces_sum_to_those_of_their_events(reference: Reference) -> None:
    tree = call_tree(reference.events)
    table = flame(reference.events, tree=tree, device=True)
    device = tree.device & tree.times.known
    assert table["self_us"].sum() == pytest.approx(tree.times.durations[device].sum() / 1000)
    assert table.loc[table["kind"] == "device", "calls"].sum() == device.sum()
    assert (table.loc[table["kind"] != "device", "self_us"] == 0).all()
