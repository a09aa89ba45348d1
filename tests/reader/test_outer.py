"""What stands around the list of events is read as far as it goes, and nothing of it is lost without a word."""

from __future__ import annotations

import pytest

from nbprof.metadata import ReadProblem
from nbprof.reader import read_events
from nbprof.reader.outer import outer_keys
from nbprof.reader.problems import Problems

LIST = b'"traceEvents": [{"ph": "X", "name": "a", "ts": 1}]'


def found(text: bytes) -> tuple[object, list[tuple[str, int]]]:
    events, metadata = read_events(text)
    assert events["name"].tolist() == ["a"]
    return metadata.other, [(problem.kind, problem.count) for problem in metadata.problems]


def test_a_second_list_of_events_is_told_and_is_no_metadata() -> None:
    more = b'"traceEvents": [{"ph": "X", "name": "b"}, {"ph": "X", "name": "c"}]'
    _, metadata = read_events(b"{" + LIST + b", " + more + b', "k": 1}')
    assert metadata.other == {"k": 1}
    (problem,) = metadata.problems
    assert problem.kind == "second list of events"
    assert "2 entries" in problem.detail
    # No list at all, or an empty one, has nothing that could be missed.
    assert found(b'{"traceEvents": null, "k": 1, ' + LIST + b', "traceEvents": []}') == ({"k": 1}, [])


@pytest.mark.parametrize("digits", [19, 20, 40, 4000])
def test_integers_of_any_size_stay_exact(digits: int) -> None:
    number = int("9" * digits)
    text = b"{" + LIST + b', "n": [%s, -%s]}' % (b"9" * digits, b"9" * digits)
    assert found(text) == ({"n": [number, -number]}, [])


def test_more_digits_than_python_converts_stay_as_they_are() -> None:
    digits = b"9" * 10_000
    other, problems = found(b"{" + LIST + b', "n": %s, "k": 1}' % digits)
    assert other == {"n": digits.decode(), "k": 1}
    assert problems == []


@pytest.mark.parametrize(
    ("tail", "other", "problem"),
    [
        (b', "a": 1, "b": oops, "c": 3}', {"a": 1}, "metadata that cannot be read"),
        (b', "a": 1, "b": [1, 2', {"a": 1}, "cut off"),
        (b', "a": 1, "b": 23', {"a": 1}, "cut off"),  # 23 may have gone on
        (b', "a": 1, "b": "x', {"a": 1}, "cut off"),
        (b', "a": 1, "b"', {"a": 1}, "cut off"),
        (b', "a": 1', {}, "cut off"),
        (b"", {}, "cut off"),
        (b', "a": 1} and more', {"a": 1}, "text after the end"),
        (b', "a": 1}\n{"traceEvents": []}', {"a": 1}, "text after the end"),
        (b', "a": nan, "b": "C:\\work"}', {"a": None, "b": "C:\\work"}, "a number that JSON does not know"),
    ],
)
def test_keys_behind_the_events_are_kept_up_to_what_cannot_be_read(
    tail: bytes, other: dict[str, object], problem: str
) -> None:
    kept, problems = found(b"{" + LIST + tail)
    assert kept == other
    assert problems[-1] == (problem, 1) or problems[0] == (problem, 1)


@pytest.mark.parametrize("broken", [b'"b": oops, "c": 2, ', b'"b": "x, '])
def test_keys_before_the_events_are_kept_up_to_what_cannot_be_read(broken: bytes) -> None:
    text = b'{"a": 1, ' + broken + LIST + b', "d": 4}'
    assert found(text) == ({"a": 1, "d": 4}, [("metadata that cannot be read", 1)])


def test_a_place_is_counted_in_bytes_of_the_text() -> None:
    problems = Problems()
    # The tail of this file begins at byte 100; its second key at 100 + 2.
    assert outer_keys(b"{", b', "a": 1} x', 100, problems) == {"a": 1}
    assert problems.listed() == (ReadProblem("text after the end", 1, 109, "x"),)


def test_metadata_cut_off_in_a_large_value_is_no_long_wait() -> None:
    frames = b", ".join(b'"%d": {"name": "f%d", "parent": %d}' % (n, n, n - 1) for n in range(50_000))
    other, problems = found(b"{" + LIST + b', "a": 1, "stackFrames": {' + frames)
    assert other == {"a": 1}
    assert problems == [("cut off", 1)]


def test_what_a_bare_list_has_behind_it_is_told() -> None:
    events, metadata = read_events(b'[{"ph": "X", "name": "a", "ts": 1}] [1]')
    assert len(events) == 1
    assert [(problem.kind, problem.offset) for problem in metadata.problems] == [("text after the end", 35)]
