"""The lazily decoded column keeps to pandas' rules."""

from __future__ import annotations

import pickle

import pandas as pd
import pytest

from nbprof.reader import read_events
from nbprof.reader.arguments import ArgsArray

EVENTS = b"""[{"ph": "M", "name": "process_name", "args": {"name": "p"}},
 {"ph": "X", "name": "a", "ts": 1, "dur": 1, "args": {"k": 1, "deep": {"l": [1, {"m": "\\u00e9"}]}}},
 {"ph": "X", "name": "b", "ts": 2, "dur": 1},
 {"ph": "X", "name": "c", "ts": 3, "dur": 1, "args": {"k": 1180591620717411303424}}]"""
DICTS = [{"k": 1, "deep": {"l": [1, {"m": "é"}]}}, {}, {"k": 1180591620717411303424}]


@pytest.fixture
def column() -> pd.Series:
    return read_events(EVENTS)[0]["args"]


def test_items_are_the_dicts_of_their_own_events(column: pd.Series) -> None:
    assert isinstance(column.array, ArgsArray)
    assert column.tolist() == DICTS
    assert column.iloc[2] == DICTS[2]
    assert column.iloc[::-1].tolist() == DICTS[::-1]
    assert column[[True, False, True]].tolist() == [DICTS[0], DICTS[2]]
    assert column.map(len).tolist() == [2, 0, 1]
    assert column.array.text(2) == b'{"k": 1180591620717411303424}'


def test_it_survives_pickling_without_its_cache(column: pd.Series) -> None:
    assert column.tolist() == DICTS
    assert pickle.loads(pickle.dumps(column)).tolist() == DICTS


def test_rows_of_several_traces_can_be_joined(column: pd.Series) -> None:
    other = read_events(EVENTS.replace(b'"k": 1,', b'"k": 2,'))[0]["args"]
    joined = pd.concat([column, other.iloc[:1]], ignore_index=True)
    assert isinstance(joined.array, ArgsArray)
    assert joined.tolist() == [*DICTS, {**DICTS[0], "k": 2}]


def test_rows_that_are_not_there_are_missing(column: pd.Series) -> None:
    wider = column.reindex([0, 7])
    assert wider.isna().tolist() == [False, True]
    assert wider.iloc[1] is None
    assert wider.dropna().tolist() == [DICTS[0]]


def test_it_is_built_from_dicts_and_compares_by_item() -> None:
    array = ArgsArray._from_sequence([{"a": 1}, None, {}])
    assert list(array) == [{"a": 1}, None, {}]
    assert (array == array.copy()).tolist() == [True, True, True]
    assert (array == ArgsArray._from_sequence([{"a": 2}, None, {}])).tolist() == [False, True, True]


def test_it_shows_in_a_printed_frame(column: pd.Series) -> None:
    assert "deep" in repr(column.to_frame())


def test_no_rows() -> None:
    assert list(ArgsArray._from_sequence([])) == []
    assert read_events(b"[]")[0]["args"].tolist() == []


def test_a_large_trace_is_kept_compressed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nbprof.reader.arguments._PLAIN", 0)
    many = b"[" + b",\n".join([EVENTS[1:-1]] * 20_000) + b"]"  # some 5 MB: several pieces
    column = read_events(many)[0]["args"]
    assert column.array.nbytes < len(many) / 2
    assert column.iloc[-3:].tolist() == column.iloc[:3].tolist() == DICTS
    assert column.iloc[30_000] == DICTS[0]
    assert pickle.loads(pickle.dumps(column.iloc[-3:])).tolist() == DICTS
