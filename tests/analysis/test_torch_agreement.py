"""A real run on the CPU: the table of operators says what torch's own summary says of the same events."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nbprof.analysis import health, operators, regions, steps
from nbprof.metadata import TraceMetadata
from nbprof.reader import read_events
from nbprof.schema import REGION_MARKER
from nbprof.structure import call_tree

torch = pytest.importorskip("torch")

Recorded = tuple[pd.DataFrame, TraceMetadata, pd.DataFrame]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Two training steps in a region with one nested, and torch's summary of them."""
    model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.LayerNorm(16), torch.nn.Linear(16, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    path: Path = tmp_path_factory.mktemp("trace") / "trace.json"

    def train() -> None:
        with torch.profiler.record_function(REGION_MARKER + "train"):
            with torch.profiler.record_function(REGION_MARKER + "forward"):
                loss = model(torch.randn(8, 16)).sum()
            loss.backward()
            optimizer.step()

    train()
    plan = torch.profiler.schedule(wait=0, warmup=1, active=2, repeat=1)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], schedule=plan) as profiler:
        for _ in range(3):
            train()
            profiler.step()
    profiler.export_chrome_trace(str(path))
    summary = pd.DataFrame(
        [(row.key, row.count, row.cpu_time_total, row.self_cpu_time_total) for row in profiler.key_averages()],
        columns=["name", "calls", "total", "self"],
    ).set_index("name")
    return *read_events(path), summary


def test_operators_agree_with_torchs_summary(recorded: Recorded) -> None:
    events, _, summary = recorded
    tree = call_tree(events)
    table = operators(events, tree=tree).astype({"name": str}).set_index("name")
    assert len(table) > 20
    theirs = summary.loc[table.index]
    assert table["host_self_us"].to_numpy() == pytest.approx(theirs["self"].to_numpy(), abs=0.002)
    # torch folds a call into its caller where both have one name and the caller no other child (aten::sum does that);
    # ours counts both, as it does for all nested calls.
    names = events["name"].astype(str).to_numpy()
    folded = {names[row] for row in np.flatnonzero(tree.operator >= 0) if names[row] == names[tree.operator[row]]}
    table, theirs = table.drop(index=list(folded)), theirs.drop(index=list(folded))
    assert (table["calls"] == theirs["calls"]).all()
    assert table["host_total_us"].to_numpy() == pytest.approx(theirs["total"].to_numpy(), abs=0.002)


def test_regions_agree_with_torchs_summary(recorded: Recorded) -> None:
    events, _, summary = recorded
    table = regions(events)
    assert table["region"].tolist() == ["train", "forward"]
    assert table["calls"].tolist() == [2, 2]
    for name, wall in zip(table["region"], table["wall_us"], strict=True):
        assert wall == pytest.approx(summary.loc[REGION_MARKER + name, "total"], abs=0.002)
    train, forward = table.to_dict("records")
    assert train["self_us"] == pytest.approx(train["wall_us"] - forward["wall_us"], abs=1e-6)
    assert 0 < forward["host_us"] < train["host_us"] < train["wall_us"]
    assert pd.isna(train["idle_us"])


def test_steps_and_health_of_a_run_without_a_device(recorded: Recorded) -> None:
    events, metadata, _ = recorded
    tree = call_tree(events)
    table = steps(events, tree=tree)
    assert table["step"].tolist() == [1, 2]
    assert (table["kernel_us"] == 0).all()
    assert (table["cpu_op_us"] > 0).all()
    assert set(health(events, metadata, tree=tree)["status"]) == {"ok"}
