"""The lazily decoded column keeps to pandas' rules."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbprof.reader import read_events
from nbprof.reader.arguments import ArgsArray
from nbprof.reader.blocks import ArgsBuilder

EVENTS = b"""[{"ph": "M", "name": "process_name", "args": {"name": "p"}},
 {"ph": "X", "name": "a", "ts": 1, "dur": 1, "args": {"k": 1, "deep": {"l": [1, {"m": "\\u00e9"}]}}},
 {"ph": "X", "name": "b", "ts": 2, "dur": 1},
 {"ph": "X", "name": "a", "ts": 3, "dur": 1, "args": {"k": 1180591620717411303424}}]"""
DICTS: list[dict[str, Any]] = [{"k": 1, "deep": {"l": [1, {"m": "é"}]}}, {}, {"k": 1180591620717411303424}]


@pytest.fixture
def frame() -> pd.DataFrame:
    return read_events(EVENTS)[0][["name", "ts_ns", "args"]]


@pytest.fixture
def column(frame: pd.DataFrame) -> pd.Series:
    return frame["args"]


def test_items_are_the_dicts_of_their_own_events(column: pd.Series) -> None:
    assert isinstance(column.array, ArgsArray)
    assert column.tolist() == DICTS
    assert column.iloc[2] == DICTS[2]
    assert column.iloc[::-1].tolist() == DICTS[::-1]
    assert column[[True, False, True]].tolist() == [DICTS[0], DICTS[2]]
    assert column.array.text(2) == b'{"k": 1180591620717411303424}'
    with pytest.raises(IndexError):
        column.array[3]


def test_texts_come_in_the_order_of_the_rows(column: pd.Series) -> None:
    texts = [b'{"k": 1, "deep": {"l": [1, {"m": "\\u00e9"}]}}', b"{}", b'{"k": 1180591620717411303424}']
    assert list(column.array.texts()) == texts
    assert list(column.array[[2, 0]].texts()) == [texts[2], texts[0]]
    assert list(column.reindex([9, 1]).array.texts()) == [None, b"{}"]


def test_it_survives_pickling_and_copying(column: pd.Series) -> None:
    assert pickle.loads(pickle.dumps(column)).tolist() == DICTS
    for copied in (column.copy(), copy.copy(column.array), copy.deepcopy(column.array)):
        assert list(copied) == DICTS


def test_rows_of_several_traces_can_be_joined(column: pd.Series) -> None:
    other = read_events(EVENTS.replace(b'"k": 1,', b'"k": 2,'))[0]["args"]
    joined = pd.concat([column, other.iloc[:1].reindex([9, 0]), column.iloc[1:]], ignore_index=True)
    assert isinstance(joined.array, ArgsArray)
    assert joined.tolist() == [*DICTS, None, {**DICTS[0], "k": 2}, *DICTS[1:]]
    assert pd.concat([joined, joined]).tolist() == joined.tolist() * 2
    assert pd.concat([column, pd.Series([1])]).tolist() == [*DICTS, 1]


def test_rows_that_are_not_there_are_missing(column: pd.Series) -> None:
    wider = column.reindex([0, 7])
    assert wider.isna().tolist() == [False, True]
    assert wider.iloc[1] is None
    assert wider.dropna().tolist() == [DICTS[0]]
    assert (
        wider.fillna({7: {"z": 1}}).tolist()
        == column.reindex([0, 7], fill_value={"z": 1}).tolist()
        == [
            DICTS[0],
            {"z": 1},
        ]
    )
    assert column.shift().tolist() == [None, *DICTS[:2]]
    with pytest.raises(ValueError, match="below -1"):
        column.array.take([-2], allow_fill=True)


def test_it_goes_with_the_rows_through_grouping_and_merging(frame: pd.DataFrame) -> None:
    first = frame.groupby("name", observed=True).first()
    assert first["args"].to_dict() == {"a": DICTS[0], "b": DICTS[1]}
    assert frame.groupby("name", observed=True)["args"].agg(list)["a"] == [DICTS[0], DICTS[2]]
    merged = frame.merge(frame[["ts_ns", "args"]].iloc[1:], on="ts_ns", how="left")
    assert merged["args_y"].tolist() == [None, *DICTS[1:]]
    assert frame.drop_duplicates("name")["args"].tolist() == DICTS[:2]
    assert frame.sort_values("ts_ns", ascending=False)["args"].tolist() == DICTS[::-1]
    assert frame.where(frame["ts_ns"] > 0)["args"].tolist() == [None, *DICTS[1:]]


def test_it_compares_by_item(column: pd.Series) -> None:
    assert (column == column.copy()).all()
    assert (column == {}).tolist() == [False, True, False]
    assert (column == [{}, {}, {}]).tolist() == [False, True, False]
    assert (column != {}).tolist() == [True, False, True]
    assert (column == 5).tolist() == [False] * 3
    assert column.isin([{}]).tolist() == [False, True, False]
    array = ArgsArray._from_sequence([{"a": 1, "b": 2}, None, {}])
    assert (array == ArgsArray._from_sequence([{"b": 2, "a": 1}, None, {"a": 1}])).tolist() == [True, True, False]
    with pytest.raises(ValueError, match="Lengths must match"):
        column == [{}]  # noqa: B015


def test_it_maps_to_plain_values(column: pd.Series) -> None:
    assert column.map(len).tolist() == [2, 0, 1]
    assert column.map(len).dtype == np.int64
    assert column.map(lambda args: args.get("none")).tolist() == [None] * 3
    assert column.map(lambda args: args.get("none")).dtype == object
    assert column.reindex([0, 7]).map(len, na_action="ignore").tolist()[0] == 2


def test_it_is_written_out_by_pandas(frame: pd.DataFrame) -> None:
    assert "deep" in repr(frame)
    assert frame.to_dict()["args"][0] == frame.to_dict("records")[0]["args"] == DICTS[0]
    assert "\"{'k': 1" in frame.to_csv()
    assert '"k":1180591620717411303424' in frame.to_json()
    assert frame["args"].astype(str).iloc[1] == "{}"
    assert frame.to_numpy()[2][2] == DICTS[2]


def test_for_arrow_it_is_json_text(column: pd.Series) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    assert pyarrow.array(column.reindex([2, 7])).to_pylist() == ['{"k": 1180591620717411303424}', None]


def test_a_value_that_is_set_changes_one_column_only(frame: pd.DataFrame) -> None:
    before = frame["args"].copy()
    part = frame.iloc[1:]
    frame.at[1, "args"] = {"n": 5}
    assert frame["args"].tolist() == [DICTS[0], {"n": 5}, DICTS[2]]
    frame.loc[[0, 2], "args"] = [{"n": 6}, None]
    assert frame["args"].tolist() == [{"n": 6}, {"n": 5}, None]
    frame.loc[frame["ts_ns"] > 0, "args"] = before
    assert frame["args"].tolist() == [{"n": 6}, *DICTS[1:]]
    assert before.tolist() == DICTS
    assert part["args"].tolist() == DICTS[1:]
    array = before.array.copy()
    view = array[1:]
    array[1:] = None
    assert list(array) == [DICTS[0], None, None]
    assert list(view) == DICTS[1:]


def test_what_it_cannot_hold_is_refused(column: pd.Series) -> None:
    with pytest.raises(TypeError, match="holds dicts, and None"):
        column.iloc[0] = 5
    with pytest.raises(TypeError, match=r"set with \.at or \.iat"):
        column.iloc[0] = {"n": 1}  # pandas takes the dict for a Series and would set NaN
    with pytest.raises(TypeError, match="holds dicts, and None"):
        pd.Series([5], dtype="args")
    with pytest.raises(ValueError, match="not JSON compliant"):
        pd.Series([{"a": float("nan")}], dtype="args")
    with pytest.raises(TypeError, match="unhashable type: 'dict'"):
        column.unique()
    with pytest.raises(TypeError, match="does not support"):
        column.sum()


def test_it_is_built_from_dicts() -> None:
    array = ArgsArray._from_sequence([{"a": 1}, None, {}, np.nan, pd.NA])
    assert list(array) == [{"a": 1}, None, {}, None, None]
    assert pd.Series([{"a": 1}, None]).astype("args").tolist() == [{"a": 1}, None]


def test_no_rows() -> None:
    assert list(ArgsArray._from_sequence([])) == []
    column = read_events(b"[]")[0]["args"]
    assert column.tolist() == []
    assert list(column.array.texts()) == []
    assert (column == {}).tolist() == []
    assert pickle.loads(pickle.dumps(column)).tolist() == []
    assert pd.concat([column, column]).tolist() == []


def test_what_is_no_object_is_kept_under_one_key() -> None:
    with ArgsBuilder() as builder:
        builder.add(b'[{"args": 5}, {"args": null}, {"args": {"a": 1}}]', 3)
    array = ArgsArray(builder.finish(), np.arange(3))
    assert list(array) == [{"args": 5}, {}, {"a": 1}]


def test_a_large_trace_is_kept_compressed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nbprof.reader.blocks._PLAIN", 0)
    many = b"[" + b",\n".join([EVENTS[1:-1]] * 20_000) + b"]"  # some 5 MB: several pieces
    column = read_events(many)[0]["args"]
    assert column.array.nbytes < len(many) / 2
    assert column.iloc[-3:].tolist() == column.iloc[:3].tolist() == DICTS
    assert column.iloc[30_000] == DICTS[0]
    assert len(pickle.dumps(column.iloc[-3:])) < column.array.nbytes / 5
    assert pickle.loads(pickle.dumps(column.iloc[-3:])).tolist() == DICTS
