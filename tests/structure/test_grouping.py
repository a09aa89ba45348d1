"""Rows that share the values of columns."""

from __future__ import annotations

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from pandas.api.extensions import ExtensionArray

from nbprof.structure.grouping import Groups, grouped, taken

values = st.lists(st.tuples(st.sampled_from(["b", "a", None]), st.sampled_from([3, 1, None])), max_size=12)


def columns(rows: list[tuple[str | None, int | None]]) -> tuple[pd.Categorical, ExtensionArray]:
    return pd.Categorical([name for name, _ in rows]), pd.array([number for _, number in rows], "Int64")


def shown(column: ExtensionArray) -> list[object]:
    return [None if pd.isna(value) else value for value in column]


def test_nothing_has_no_groups() -> None:
    groups = grouped(columns([]), 0)
    assert (groups.of_row.tolist(), groups.first.tolist()) == ([], [])
    assert shown(groups.common(columns([])[0])) == []


def test_missing_values_are_a_group_of_their_own() -> None:
    groups = grouped(columns([("b", 1), (None, 1), ("b", None), ("b", 1), (None, 1)]), 5)
    assert groups.of_row.tolist() == [0, 1, 2, 0, 1]
    assert groups.first.tolist() == [0, 1, 2]


def test_a_common_value_is_there_where_all_rows_of_the_group_have_it() -> None:
    groups = Groups(of_row=pd.array([0, 0, 1, 1, 2]).to_numpy(int), first=pd.array([0, 2, 4]).to_numpy(int))
    names, numbers = columns([("b", 1), ("b", 3), ("a", 3), (None, 3), (None, None)])
    assert shown(groups.common(names)) == ["b", None, None]
    assert shown(groups.common(numbers)) == [None, 3, None]


def test_names_that_are_left_come_as_categories_in_order() -> None:
    names = pd.Categorical(["c", "a", "b"], categories=["d", "c", "b", "a"])
    found = taken(names, pd.array([1, -1, 0]).to_numpy(int))
    assert shown(found) == ["a", None, "c"]
    assert isinstance(found, pd.Categorical)
    assert found.categories.tolist() == ["a", "c"]


@given(values)
def test_rows_are_in_one_group_exactly_where_all_their_values_agree(rows: list[tuple[str | None, int | None]]) -> None:
    groups = grouped(columns(rows), len(rows))
    for one, value in enumerate(rows):
        for other, another in enumerate(rows):
            assert (groups.of_row[one] == groups.of_row[other]) == (value == another)
    assert [groups.of_row[first] for first in groups.first] == list(range(len(groups.first)))
