"""Two tables side by side."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbprof import schema
from nbprof.analysis.compare import compare_tables
from nbprof.analysis.kernels import kernels
from nbprof.analysis.operators import operators
from tests.frames import row
from tests.references import read_reference

PAIR = ("hta_a100_diff_control", "hta_v100_diff_test")


def table(*rows: tuple[str, int, float | None], **more: list[object]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["name", "calls", "time"]).astype({"name": "category", "time": "float64"})
    return frame.assign(**more)


def test_what_came_went_and_changed() -> None:
    a = table(("same", 2, 10.0), ("slower", 1, 30.0), ("gone", 3, 60.0))
    b = table(("slower", 2, 45.0), ("new", 1, 5.0), ("same", 2, 10.0))
    compared = compare_tables(a, b, time="time")
    # differences: gone -60, slower +15, new +5, same 0; their sizes sum to 80
    assert compared["name"].tolist() == ["gone", "slower", "new", "same"]
    assert compared["difference_us"].tolist() == [-60.0, 15.0, 5.0, 0.0]
    assert compared["explains"].tolist() == [0.75, 0.1875, 0.0625, 0.0]
    slower, gone, new = (row(compared, name=name) for name in ("slower", "gone", "new"))
    assert (slower["calls_a"], slower["calls_b"], slower["ratio"], slower["share_a"]) == (1, 2, 1.5, 0.3)
    assert (gone["only_in"], gone["calls_b"], gone["time_b_us"], gone["ratio"]) == ("a", 0, 0.0, 0.0)
    assert (new["only_in"], new["calls_a"], new["time_a_us"]) == ("b", 0, 0.0)
    assert np.isnan(new["ratio"])
    assert pd.isna(slower["only_in"])


def test_several_keys_align_missing_ones_too_and_rows_of_one_key_are_summed() -> None:
    a = table(("f", 1, 1.0), ("f", 1, 2.0), ("f", 1, 4.0), shape=pd.Categorical(["[2]", "[2]", None]))
    b = table(("f", 5, 10.0), ("f", 1, 3.0), shape=pd.Categorical([None, "[2]"]))
    compared = compare_tables(a, b, key=("name", "shape"), time="time")
    # without a shape: 4 -> 10; [2]: 1 + 2 -> 3
    assert compared["difference_us"].tolist() == [6.0, 0.0]
    assert compared["calls_a"].tolist() == [1, 2]
    assert compared["shape"].isna().tolist() == [True, False]
    assert list(compared.columns) == [*schema.names("comparison"), "shape"]


def test_a_missing_time_stays_missing_and_one_that_was_not_spent_is_0() -> None:
    compared = compare_tables(table(("x", 1, None)), table(("x", 1, 2.0), ("y", 1, None)), time="time")
    x, y = row(compared, name="x"), row(compared, name="y")
    assert np.isnan([x["time_a_us"], x["difference_us"], x["ratio"], y["time_b_us"]]).all()
    assert y["time_a_us"] == 0


@pytest.mark.parametrize("keys", ["name", ("name", "shape")])
def test_empty_tables_compare_to_one_with_all_columns(keys: str | tuple[str, ...]) -> None:
    full = table(("x", 1, 2.0), shape=pd.Categorical(["[1]"]))
    for a, b, count in ((full[:0], full[:0], 0), (full, full[:0], 1), (full[:0], full, 1)):
        compared = compare_tables(a, b, key=keys, time="time")
        assert len(compared) == count
        assert list(compared.columns) == schema.names("comparison") + list(keys[1:] if keys != "name" else ())
        for column in schema.TABLES["comparison"]:
            assert str(compared[column.name].dtype) == column.dtype


ROWS = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 5), st.integers(0, 1000).map(float)), max_size=6)


@given(ROWS, ROWS)
def test_differences_sum_to_that_of_the_wholes_and_turn_round_with_the_sides(
    a: list[tuple[str, int, float | None]], b: list[tuple[str, int, float | None]]
) -> None:
    compared, turned = (compare_tables(table(*x), table(*y), time="time") for x, y in ((a, b), (b, a)))
    whole_a, whole_b = (sum(time or 0 for _, _, time in rows) for rows in (a, b))
    assert compared["difference_us"].sum() == whole_b - whole_a
    assert compared["calls_b"].sum() == sum(calls for _, calls, _ in b)
    by_name, other = compared.set_index("name"), turned.set_index("name")
    assert sorted(by_name.index) == sorted(other.index)
    assert (by_name["difference_us"] == -other["difference_us"].reindex(by_name.index)).all()


@pytest.mark.parametrize(("kind", "time"), [("cpu_op", "host_total_us"), ("kernel", "total_us")])
def test_the_recorded_pair_agrees(traces: Path, kind: str, time: str) -> None:
    plain = json.loads((traces / f"DIFF_{PAIR[0]}__{PAIR[1]}.plain.json").read_text())[kind]
    a, b = (read_reference(traces, name).events for name in PAIR)
    analysis = operators if kind == "cpu_op" else kernels
    compared = compare_tables(analysis(a), analysis(b), time=time)
    wanted = pd.DataFrame(plain["rows"], columns=plain["columns"]).set_index("name")
    ours = compared.assign(name=compared["name"].astype(object)).set_index("name").loc[wanted.index]
    assert len(compared) == len(wanted) == plain["names"]
    assert (compared["only_in"] == "a").sum() == plain["only_control"]
    assert (compared["only_in"] == "b").sum() == plain["only_test"]
    mine = ["calls_a", "calls_b", "time_a_us", "time_b_us", "difference_us"]
    theirs = ["control_count", "test_count", *plain["columns"][3:5], plain["columns"][6]]
    assert (ours[mine].to_numpy(float) == wanted[theirs].to_numpy(float)).all()  # whole microseconds: exact
