"""Cutting a trace into pieces at any place gives the same events."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbprof.errors import TraceFormatError
from nbprof.reader import pieces as pieces_module
from nbprof.reader.pieces import OVERSIZED, Decoded, Pieces
from nbprof.reader.problems import CUT_OFF, Problems
from nbprof.reader.repair import DROPPED, Rescuer

NESTED = {"a": [{"name": "},{", "ph": 1}, {"name": "b"}, {"ts": "]"}], "b": '"},{"ph": "'}
EVENTS = [{"ph": "X", "name": f'e{n} }},{{"ph"', "ts": n, "dur": 1.5, "args": NESTED} for n in range(12)]
HEAD = {"schemaVersion": 1, "note": {"traceEvents": [1]}, "text": '"traceEvents": ['}
TAIL = {"traceName": "a}]b", "list": [{"name": "x"}, {"name": "y"}]}


def written(indent: int | None) -> bytes:
    return json.dumps({**HEAD, "traceEvents": EVENTS, **TAIL}, indent=indent).encode()


def pieces_of(chunks: list[bytes], problems: Problems) -> tuple[Pieces, list[Decoded]]:
    pieces = Pieces(chunks, "trace", Rescuer(problems), problems)
    return pieces, list(pieces)


def cut(text: bytes, places: list[int]) -> Iterator[bytes]:
    edges = [0, *sorted(place % len(text) for place in places), len(text)]
    return (text[start:end] for start, end in itertools.pairwise(edges))


def names(decoded: list[Decoded]) -> list[object]:
    return [event.name for piece in decoded for event in piece.events]


@given(st.lists(st.integers(0, 5000), max_size=30), st.sampled_from([None, 2]))
def test_any_cut_gives_the_same_events_head_and_tail(places: list[int], indent: int | None) -> None:
    problems = Problems()
    pieces, decoded = pieces_of(list(cut(written(indent), places)), problems)
    assert names(decoded) == [event["name"] for event in EVENTS]
    kept = [entry["args"] for piece in decoded for entry in json.loads(piece.text)]
    assert kept == [NESTED] * len(EVENTS)
    assert json.loads(pieces.head.rstrip(b", \n") + b"}") == HEAD
    assert json.loads(b"{" + pieces.tail.lstrip(b", \n")) == TAIL
    assert problems.listed() == ()


@given(st.integers(200, 5000), st.lists(st.integers(0, 5000), max_size=10))
def test_a_file_that_ends_early_gives_the_events_before(length: int, places: list[int]) -> None:
    text = written(None)[:length]
    problems = Problems()
    _, decoded = pieces_of(list(cut(text, places)), problems)
    expected = [event["name"] for event in EVENTS]
    got = names(decoded)
    assert got == expected[: len(got)]
    # An event is complete when the text that begins with the next one, or with the end, has been reached.
    complete = sum(text.find(json.dumps(event).encode()) >= 0 for event in EVENTS)
    assert len(got) == complete
    if complete < len(EVENTS):
        assert [problem.kind for problem in problems.listed()] == [CUT_OFF]


def test_an_empty_list_at_either_place() -> None:
    for text in (b"[]", b" [ ] \n", b'{"traceEvents": []}', b'{"a": 1, "traceEvents": [ ], "b": 2}'):
        problems = Problems()
        assert names(pieces_of([text], problems)[1]) == []
        assert problems.listed() == ()


def test_json_without_a_list_of_events_is_an_error() -> None:
    for text in (b"{}", b'{"traceEvents": {}}', b'{"a": [1]}'):
        with pytest.raises(TraceFormatError, match="without a list of traceEvents"):
            pieces_of([text], Problems())


@given(st.lists(st.integers(0, 5000), max_size=10))
def test_one_torn_event_costs_only_itself(places: list[int]) -> None:
    text = json.dumps([{"ph": "X", "name": str(n), "ts": n, "args": {"k": [1, 2]}} for n in range(9)])
    torn = text.replace('"name": "4", "ts": 4, "args": {"k": [1, 2]}', '"name": "4", "ts": 4, "args": {"k": [1, 2}')
    problems = Problems()
    _, decoded = pieces_of(list(cut(torn.encode(), places)), problems)
    assert names(decoded) == ["0", "1", "2", "3", "5", "6", "7", "8"]
    (problem,) = problems.listed()
    assert (problem.kind, problem.count, problem.offset) == (DROPPED, 1, text.index('{"ph": "X", "name": "4"'))


def event_text(number: int, padding: str = "") -> bytes:
    return json.dumps({"ph": "X", "name": str(number), "ts": number, "args": {"k": padding}}).encode()


def chunks_of(text: bytes, size: int = 50) -> list[bytes]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def test_an_event_larger_than_any_is_left_out_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces_module, "LARGEST", 1000)
    text = b"[" + b", ".join([event_text(0), event_text(1, "x" * 5000), event_text(2), event_text(3)]) + b"]"
    problems = Problems()
    _, decoded = pieces_of(chunks_of(text), problems)
    assert names(decoded) == ["0", "2", "3"]
    (problem,) = problems.listed()
    assert (problem.kind, problem.count, problem.offset) == (OVERSIZED, 1, text.index(b'{"ph": "X", "name": "1"'))


def test_text_without_end_is_read_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces_module, "LARGEST", 1000)
    for filling in (b" ", b"0", b'"', b"[", b'{"name": "a', b",\n", b"{},", b"\0"):
        problems = Problems()
        rescue = Rescuer(problems)
        largest = 0

        def watched(piece: bytes, offset: int, final: bool, rescue: Rescuer = rescue) -> Decoded:
            nonlocal largest
            largest = max(largest, len(piece))
            return rescue(piece, offset, final)

        chunks = [b'{"traceEvents": [' + event_text(0) + b", ", *[filling * 100] * 200]
        names(list(Pieces(chunks, "trace", watched, problems)))
        assert largest < 4000, filling
        assert problems.listed()


def test_a_head_without_end_is_an_error_and_a_tail_without_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces_module, "LARGEST", 1000)
    monkeypatch.setattr(pieces_module, "_PATIENCE", 500)
    with pytest.raises(TraceFormatError, match="without a list of traceEvents"):
        pieces_of([b'{"a": "', *[b"x" * 100] * 100, b'", "traceEvents": []}'], Problems())
    problems = Problems()
    pieces, decoded = pieces_of([b'{"traceEvents": [' + event_text(0) + b"]", *[b"x" * 100] * 100], problems)
    assert names(decoded) == ["0"]
    assert len(pieces.tail) <= 2000  # what was read already, and as much again
    assert [problem.kind for problem in problems.listed()] == [OVERSIZED]


def test_events_that_begin_with_keys_of_their_own_are_cut_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces_module, "_PATIENCE", 500)
    text = json.dumps([{"own": [{"a": n}, {"b": n}], "ph": "X", "name": str(n), "ts": n} for n in range(100)]).encode()
    problems = Problems()
    _, decoded = pieces_of(chunks_of(text), problems)
    assert names(decoded) == [str(n) for n in range(100)]
    assert len(decoded) > 3
    assert problems.listed() == ()


def test_lists_inside_the_head_do_not_make_finding_the_events_slow() -> None:
    head = b'{"a": {' + b", ".join(b'"traceEvents": [%d]' % n for n in range(20_000)) + b'}, "traceEvents": ['
    counted: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        depth = pieces_module._depth
        patch.setattr(pieces_module, "_depth", lambda text: counted.append(len(text)) or depth(text))
        _, decoded = pieces_of([head + event_text(0) + b"]}"], Problems())
    assert names(decoded) == ["0"]
    assert sum(counted) <= len(head)  # each byte is looked at once
