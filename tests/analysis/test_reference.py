"""The tables of eight recorded traces against plain integer arithmetic (the tolerances are those of its own page)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nbprof.analysis.kernels import kernels
from nbprof.analysis.operators import operators
from nbprof.analysis.steps import steps
from nbprof.analysis.timeline import timeline
from nbprof.structure.calltree import CallTree, call_tree
from tests.references import Reference

PARTS = [
    f"{kind}_us" for kind in ["kernel", "communication", "memcpy", "memset", "runtime", "dataloader", "cpu_op", "other"]
]
EACH_US = 0.002
"""What a single event may differ by; a sum of n events by n times that."""


def plain_table(reference: Reference, key: str) -> pd.DataFrame:
    return pd.DataFrame(reference.plain[key]["rows"], columns=reference.plain[key]["columns"])


@pytest.fixture
def tree(reference: Reference) -> CallTree:
    return call_tree(reference.events)


def assert_columns_agree(plain: pd.DataFrame, ours: pd.DataFrame, columns: dict[str, str]) -> None:
    """Names and counts exactly, times within what rounding of each event explains."""
    assert sorted(plain["name"]) == sorted(ours["name"].astype(str))
    ours = ours.assign(name=ours["name"].astype(str)).set_index("name").loc[plain["name"]]
    assert (plain["count"].to_numpy() == ours["calls"].to_numpy()).all()
    for theirs, mine in columns.items():
        off = np.abs(plain[theirs].to_numpy(float) - ours[mine].to_numpy(float))
        assert (off <= EACH_US * np.maximum(plain["count"], 1)).all(), mine


def test_operators_agree(reference: Reference, tree: CallTree) -> None:
    columns = {
        "total_us": "host_total_us",
        "self_excl_runtime_us": "host_self_us",
        "total_gpu_us": "device_total_us",
        "direct_gpu_us": "device_self_us",
    }
    assert tree.conflicts == reference.plain["operators"]["partial_overlap_checks"]
    assert_columns_agree(plain_table(reference, "operators"), operators(reference.events, tree=tree), columns)


def test_the_operators_with_most_self_time_lead(reference: Reference, tree: CallTree) -> None:
    plain = plain_table(reference, "operators").sort_values(["direct_gpu_us"], ascending=False)
    table = operators(reference.events, tree=tree)
    assert table["device_self_us"].tolist()[:10] == pytest.approx(plain["direct_gpu_us"].tolist()[:10], abs=1)
    assert table["share"].sum() == pytest.approx(1)


def test_kernels_agree(reference: Reference, tree: CallTree) -> None:
    columns = {"sum_us": "total_us", "min_us": "min_us", "max_us": "max_us"}
    table = kernels(reference.events, tree=tree)
    assert_columns_agree(plain_table(reference, "kernels"), table, columns)
    assert table["total_us"].is_monotonic_decreasing
    assert table["kernel_class"].ne("other").mean() > 0.9


def test_the_timeline_agrees(reference: Reference, tree: CallTree) -> None:
    (ours,) = timeline(reference.events, tree=tree).to_dict("records")
    gpu, overlap = reference.plain["gpu"], reference.plain["overlap"]
    expected = {
        "device": int(next(iter(reference.plain["devices"]))),
        "span_us": gpu["span_us"],
        "computation_us": overlap["compute"]["union_us"],
        "exposed_comm_us": overlap["exposed_comm_us"],
        "exposed_memory_us": overlap["exposed_mem_us"],
        "busy_us": gpu["all"]["union_us"],
        "idle_us": gpu["idle_us"],
    }
    assert ours == pytest.approx(expected, abs=0.01)


def test_steps_agree(reference: Reference, tree: CallTree) -> None:
    table = steps(reference.events, tree=tree)
    assert np.allclose(table[PARTS].sum(axis=1), table["wall_us"], atol=1e-6, rtol=0)
    plain = reference.plain["steps"]
    if not plain:
        assert table["step"].tolist() == [0]
        assert table["device_busy_us"].tolist() == pytest.approx([reference.plain["gpu"]["all"]["union_us"]])
        return
    assert [f"ProfilerStep#{step}" for step in table["step"]] == [step["name"] for step in plain]
    for ours, theirs in zip(table.to_dict("records"), plain, strict=True):
        assert ours["host_wall_us"] == pytest.approx(theirs["wall_us"], abs=0.01)
        assert ours["device_busy_us"] == pytest.approx(theirs.get("busy_of_launched_us", 0), abs=0.01)
        # Our window runs on to the last launched event's end, and starts where the step before has ended.
        overhang = max(theirs.get("last_launched_end_minus_step_end_us") or 0, 0)
        assert ours["wall_us"] <= theirs["wall_us"] + overhang + 0.01
