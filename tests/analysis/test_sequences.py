"""Chains of kernels, on frames whose numbers are worked out beside them."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbprof import schema
from nbprof.analysis.sequences import sequences
from nbprof.structure.calltree import call_tree
from tests.frames import kernel, launch, make_events, memory, op, row
from tests.references import Reference


def called(name: str, ts: int, kernels: str, **more: Any) -> list[dict[str, Any]]:
    """An operator call with a launch for each letter; kernels of 10 us each 12, named by the letter, m a copy."""
    rows = [op(name, ts, 10 * len(kernels) + 5)]
    for place, letter in enumerate(kernels):
        make = memory if letter == "m" else kernel
        rows.append(launch(ts + 10 * place, 5, ts + place + 1))
        rows.append(make(letter, 10_000 + ts + 12 * place, 10, ts + place + 1, **more))
    return rows


def test_nothing_gives_an_empty_table_with_its_columns(no_events: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(sequences(no_events), schema.empty("sequences"))
    assert sequences(make_events(*called("f", 0, "ab"))).empty


def test_a_chain_that_only_runs_inside_a_longer_one_is_left_out_for_it() -> None:
    # abc runs three times in f, and ab once more: ab has a life of its own (4 runs), bc has not.
    # abc: 3 x 30 device time, 3 x 2 x 2 gaps. ab: 4 x 20, 4 x 2. All kernels: 110.
    events = make_events(
        *called("f", 0, "abc"), *called("f", 100, "abc"), *called("f", 200, "abc"), *called("f", 300, "ab")
    )
    table = sequences(events)
    assert table["sequence"].tolist() == ["a -> b -> c", "a -> b"]
    assert table["operator"].tolist() == ["f", "f"]
    assert table["kernels"].tolist() == [3, 2]
    assert table["calls"].tolist() == [3, 4]
    assert table["total_us"].tolist() == [90, 80]
    assert table["mean_us"].tolist() == [30, 20]
    assert table["gap_us"].tolist() == [12, 8]
    assert table["share"].tolist() == pytest.approx([90 / 110, 80 / 110])


def test_chains_end_with_the_call_the_stream_and_at_copies() -> None:
    # ab only ever across two calls of g, across a copy, or on two streams.
    events = make_events(
        *called("g", 0, "a"),
        *called("g", 100, "b"),
        *called("g", 200, "a"),
        *called("g", 300, "b"),
        *called("h", 400, "amb"),
        *called("h", 500, "amb"),
        *called("k", 600, "a", stream=8),
        *called("k", 700, "b", stream=9),
    )
    assert sequences(events).empty


def test_across_operators_chains_go_on_with_the_next_call() -> None:
    # On stream 7: a b a b; ab runs twice from g, ba once.
    events = make_events(*(row for n, name in enumerate("abab") for row in called("g", 100 * n, name)))
    table = sequences(events, across_operators=True)
    assert table["sequence"].tolist() == ["a -> b"]
    assert table["calls"].tolist() == [2]


def test_runs_of_one_chain_that_overlap_count_once() -> None:
    # aaaaa holds aa four times, two of them apart; at most three long: aaa three times, one apart of others.
    table = sequences(make_events(*called("f", 0, "aaaaa")), length=(2, 3), min_calls=1)
    assert row(table, sequence="a -> a")["calls"] == 2
    assert row(table, sequence="a -> a -> a")["calls"] == 1


def test_the_outermost_operator_is_named_and_nested_ones_do_not_part_a_chain() -> None:
    rows = [*called("aten::a", 0, "a"), *called("aten::b", 20, "b"), *called("aten::a", 100, "a")]
    rows += [*called("aten::b", 120, "b"), op("linear", 0, 50), op("linear", 100, 50)]
    assert sequences(make_events(*rows))["operator"].tolist() == ["linear"]


def test_a_chain_is_fusible_when_all_its_kernels_are() -> None:
    rows: list[dict[str, Any]] = []
    for ts in (0, 100):
        rows += [op("f", ts, 50), launch(ts + 1, 2, ts + 1), launch(ts + 11, 2, ts + 2), launch(ts + 21, 2, ts + 3)]
        rows += [kernel("vectorized_elementwise_kernel", 1000 + ts, 5, ts + 1)]
        rows += [kernel("layer_norm_kernel", 1010 + ts, 5, ts + 2), kernel("ampere_sgemm_128", 1020 + ts, 5, ts + 3)]
    events = make_events(*rows)
    assert sequences(events)["is_fusible"].tolist() == [False]
    table = sequences(events, length=(2, 2))
    fusible = dict(zip(table["sequence"], table["is_fusible"], strict=True))
    assert fusible == {
        "vectorized_elementwise_kernel -> layer_norm_kernel": True,
        "layer_norm_kernel -> ampere_sgemm_128": False,
    }


def test_kernels_that_overlap_have_no_gap() -> None:
    # [0,10), [5,25), [12,20), [30,35): gaps 0, 0 and, from the latest end so far, 5.
    rows = [op("f", 0, 100), *(launch(n, 1, n + 1) for n in range(4))]
    spans = [("a", 0, 10), ("b", 5, 20), ("c", 12, 8), ("d", 30, 5)]
    rows += [kernel(name, 200 + ts, dur, n + 1) for n, (name, ts, dur) in enumerate(spans)]
    assert sequences(make_events(*rows), min_calls=1)["gap_us"].tolist() == [5]


def test_a_wrong_length_says_so() -> None:
    with pytest.raises(ValueError, match=r"length=\(1, 3\) must be"):
        sequences(make_events(), length=(1, 3))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text("ab", min_size=1, max_size=7), min_size=1, max_size=5), st.integers(2, 4))
def test_chains_are_what_counting_by_hand_finds(calls: list[str], longest: int) -> None:
    table = sequences(
        make_events(*(r for n, k in enumerate(calls) for r in called("f", 100 * n, k))), length=(2, longest)
    )
    found = {text.replace(" -> ", ""): count for text, count in zip(table["sequence"], table["calls"], strict=True)}
    windows = {k[i : i + n] for k in calls for n in range(2, longest + 2) for i in range(len(k) - n + 1)}
    often = {w: sum(k[i:].startswith(w) for k in calls for i in range(len(k))) for w in windows}
    for window in windows:
        maximal = len(window) == longest or not any(
            often[window] == often.get(more, 0) for c in "ab" for more in (window + c, c + window)
        )
        apart = sum(k.count(window) for k in calls)  # str.count counts what doesn't overlap
        if len(window) <= longest:
            assert found.get(window) == (apart if maximal and apart >= 2 else None)


def test_no_chain_of_a_recorded_trace_takes_more_than_all_kernels(reference: Reference) -> None:
    tree = call_tree(reference.events)
    for across in (False, True):
        table = sequences(reference.events, tree=tree, across_operators=across)
        assert table["share"].le(1).all()
        assert table["calls"].ge(2).all()
        assert table["gap_us"].ge(0).all()
        assert not table.duplicated(["sequence", "operator"]).any()
