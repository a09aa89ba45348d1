"""What holds for any trace: parts sum to wholes, nothing is negative, the order of events does not matter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from nbprof import intervals
from nbprof.analysis.entries import region_entries, region_steps
from nbprof.analysis.kernels import kernels
from nbprof.analysis.operators import operators, self_ns
from nbprof.analysis.regions import regions
from nbprof.analysis.steps import steps
from nbprof.analysis.timeline import timeline
from nbprof.structure.calltree import call_tree
from tests.frames import kernel, launch, make_events, marker, memory, op, region

PARTS = [
    f"{kind}_us" for kind in ["kernel", "communication", "memcpy", "memset", "runtime", "dataloader", "cpu_op", "other"]
]

times = st.tuples(st.integers(0, 60), st.integers(1, 30))
threads = st.sampled_from(["1", "2"])
names = st.sampled_from("abc")
# Each example builds a frame and all tables: few of them, and no minutes of shrinking.
few = settings(max_examples=25, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])


@st.composite
def traces(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Operators, calls, regions and steps that may cross, and device events on two streams, some of them linked."""
    rows = [op(draw(names), *draw(times), draw(threads)) for _ in range(draw(st.integers(0, 8)))]
    rows += [region(draw(names), *draw(times), draw(threads)) for _ in range(draw(st.integers(0, 5)))]
    rows += [launch(*draw(times), n, draw(threads)) for n in range(draw(st.integers(0, 4)))]
    rows += [marker(f"ProfilerStep#{n}", 40 * n, 35) for n in range(draw(st.integers(0, 2)))]
    for _ in range(draw(st.integers(0, 5))):
        place = {"stream": draw(st.integers(7, 8)), "device": draw(st.integers(0, 1))}
        make = draw(st.sampled_from([kernel, memory]))
        name = draw(st.sampled_from(["k", "nccl", "memset"]))
        rows.append(make(name, *draw(times), draw(st.integers(0, 5)), **place))
    # Of equal intervals the first in the file is the outer, and comes first: leave only one of each.
    return list({(row["ts"], row["dur"], row.get("stream"), row.get("device")): row for row in rows}.values())


def tables(events: pd.DataFrame) -> list[pd.DataFrame]:
    tree = call_tree(events)
    entries = region_entries(events, tree=tree).drop(columns=["position", "outer"])
    return [f(events, tree=tree) for f in (operators, kernels, timeline, steps, regions, region_steps)] + [entries]


@few
@given(traces())
def test_nothing_is_negative_and_shares_stay_within_one(rows: list[dict[str, Any]]) -> None:
    for table in tables(make_events(*rows)):
        numbers = table.select_dtypes("number").fillna(0)
        assert (numbers.to_numpy(float) >= 0).all()
        for share in table.columns.intersection(["share", "busy_share"]):
            assert table[share].le(1 + 1e-9).all()


@few
@given(traces())
def test_parts_sum_to_wholes(rows: list[dict[str, Any]]) -> None:
    events = make_events(*rows)
    lines, parts = timeline(events), steps(events)
    whole = lines[["computation_us", "exposed_comm_us", "exposed_memory_us", "idle_us"]].sum(axis=1)
    assert np.allclose(whole, lines["span_us"], atol=1e-9)
    assert np.allclose(lines["busy_us"] + lines["idle_us"], lines["span_us"], atol=1e-9)
    assert np.allclose(parts[PARTS].sum(axis=1), parts["wall_us"], atol=1e-9)


@few
@given(traces())
def test_regions_and_their_entries_tell_the_same_times(rows: list[dict[str, Any]]) -> None:
    events = make_events(*rows)
    table, entries = regions(events), region_entries(events)
    assert len(entries) == table["calls"].sum()
    for column in ("wall_us", "self_us"):
        assert np.isclose(table[column].sum(), entries[column].sum())
    if not any(row["name"].startswith("ProfilerStep") for row in rows):
        assert np.isclose(region_steps(events)["self_us"].sum(), entries["self_us"].sum())


@few
@given(traces(), st.randoms(use_true_random=False))
def test_the_order_of_events_does_not_matter(rows: list[dict[str, Any]], random: Any) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)
    for one, other in zip(tables(make_events(*rows)), tables(make_events(*shuffled)), strict=True):
        pd.testing.assert_frame_equal(one.astype(object), other.astype(object), check_exact=False)


@st.composite
def nested_operators(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Operators of one thread that nest: intervals split again and again, each half kept or not."""
    spans = [(0, 40), (50, 90)]
    for _ in range(draw(st.integers(0, 10))):
        start, end = draw(st.sampled_from(spans))
        if end - start >= 4:
            middle = (start + end) // 2
            spans += [(start + 1, middle), (middle, end - 1)][: draw(st.integers(1, 2))]
    return [op(draw(names), start, end - start) for start, end in sorted(set(spans))]


@few
@given(nested_operators())
def test_self_times_of_a_thread_sum_to_its_covered_time(rows: list[dict[str, Any]]) -> None:
    events = make_events(*rows)
    tree = call_tree(events)
    nests = tree.conflicts == 0
    covered = intervals.total(intervals.union((tree.times.starts, tree.times.ends)))
    assert int(self_ns(tree).sum()) == covered if nests else int(self_ns(tree).sum()) >= covered
