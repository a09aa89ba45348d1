"""Which of a file's labels name what a part holds."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from nbprof.reader.labels import json_value, occurring_labels, thread_of, threads_in
from tests.frames import kernel, make_events, op


def label(name: str, pid: Any, tid: Any = 0) -> dict[str, Any]:
    return {"name": name, "ph": "M", "pid": pid, "tid": tid, "args": {}}


EVENTS = make_events(op("x", 0, 1, "12", pid="5"), op("y", 2, 1, "12", pid="5"), kernel("k", 0, 1))


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("7", 7),
        ("0", 0),
        ("-3", -3),
        ("07", "07"),
        ("-0", "-0"),
        ("7.0", "7.0"),
        ("stream 7", "stream 7"),
        ("", ""),
        ("9" * 18, int("9" * 18)),
        ("9" * 19, "9" * 19),
        (None, None),
        (7, 7),
        (7.5, 7.5),
        ([1], "[1]"),
    ],
)
def test_a_word_is_a_number_in_json_only_where_it_reads_back_as_the_same_word(word: object, value: object) -> None:
    assert json_value(word) == value
    assert not isinstance(word, str) or str(value) == word


def test_processes_stay_that_have_events_and_threads_that_have_them_in_their_process() -> None:
    labels = [
        label("process_name", 5), label("process_sort_index", 5, 99), label("process_name", 6),
        label("thread_name", 5, 12), label("thread_name", 5, 13), label("thread_name", 0, 12),
        label("thread_name", 0, "stream 7"), label("thread_name", "5", "12"), label("thread_name", 5.0, 12.0),
    ]  # fmt: skip
    kept = occurring_labels(labels, EVENTS)
    assert kept == tuple(labels[place] for place in (0, 1, 3, 6, 7, 8))


def test_labels_of_the_whole_trace_stay_and_broken_ones_do_no_harm() -> None:
    whole: list[dict[str, Any]] = [{"name": "trace_config", "ph": "M", "args": {}}, {}]
    assert occurring_labels([*whole, label("thread_name", [5], {}), {"pid": None}], EVENTS) == tuple(whole)


def test_an_empty_part_has_no_threads(no_events: pd.DataFrame) -> None:
    assert threads_in(no_events) == []
    assert occurring_labels([label("process_name", 5)], no_events) == ()
    assert occurring_labels([], EVENTS) == ()


def test_threads_come_once_each_and_an_event_may_have_none() -> None:
    nowhere = make_events(op("x", 0, 1, None, pid=None))  # type: ignore[arg-type]
    assert threads_in(pd.concat([EVENTS])) == [(5, 12), (0, "stream 7")]
    assert threads_in(nowhere) == [(None, None)]
    assert thread_of({}) == (None, None)
