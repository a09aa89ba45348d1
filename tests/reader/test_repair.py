"""A broken event costs at most itself: its neighbours, and what stands behind the list, are read."""

from __future__ import annotations

import faulthandler
import json
from collections.abc import Iterator

import pytest

from nbprof.metadata import TraceMetadata
from nbprof.reader import read_events

HANG_SECONDS = 300


@pytest.fixture(autouse=True)
def end_of_patience() -> Iterator[None]:
    """Work that grows with the square of a file ends the run with a traceback of where."""
    faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def event(number: int, name: str = "op", **more: object) -> bytes:
    row = {"ph": "X", "name": f"{name}{number}", "pid": 1, "tid": 1, "ts": number, "dur": 1, **more}
    return json.dumps(row).encode()


def kinds(metadata: TraceMetadata) -> dict[str, int]:
    return {problem.kind: problem.count for problem in metadata.problems}


def names(text: bytes) -> tuple[list[str], dict[str, int]]:
    events, metadata = read_events(text)
    return events["name"].tolist(), kinds(metadata)


def test_a_missing_comma_and_one_too_many_between_events_are_told() -> None:
    text = b"[" + event(0) + b" " + event(1) + b",, " + event(2) + b"," + event(3) + b"]"
    assert names(text) == (["op0", "op1", "op2", "op3"], {"no comma between events": 1, "comma too many": 1})


@pytest.mark.parametrize("torn", [b'{"ph": "X", "ts": }', b'{"ph": "X", "args": {"k": [1, 2}}', b'{"ph": "X", "k"}'])
def test_a_torn_last_event_does_not_cost_what_stands_behind_the_list(torn: bytes) -> None:
    text = b'{"traceEvents": [' + event(0) + b", " + torn + b'\n], "baseTimeNanoseconds": 1000, "traceName": "x"}'
    events, metadata = read_events(text)
    assert events["name"].tolist() == ["op0"]
    assert metadata.start_ns == 1000
    assert metadata.other == {"traceName": "x"}
    assert kinds(metadata) == {"event that cannot be read": 1}
    assert names(b"[" + event(0) + b", " + torn + b"]") == (["op0"], {"event that cannot be read": 1})


def test_an_event_cut_off_behind_a_list_of_its_own_is_cut_off_and_no_end_of_the_list() -> None:
    text = b'{"traceEvents": [' + event(0) + b', {"ph": "X", "name": "b", "args": {"l": [{"k": 1}], "m": 2'
    assert names(text) == (["op0"], {"cut off": 1})


def test_broken_events_whose_first_key_is_an_unusual_one() -> None:
    rows = [event(n).replace(b'{"ph"', b'{"colour": "bl\x01ue", "ph"') for n in range(3000)]
    assert names(b"[" + b", ".join(rows) + b"]") == (
        [f"op{n}" for n in range(3000)],
        {"control character in a text": 3000},
    )


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    ("sound", "broken", "kind"),
    [
        (b"good", b"C:\\work\\nets", "backslash that was not escaped"),
        (b"good", b"a\x01b", "control character in a text"),
        (b"good", b'say "hi" now', "quote that was not escaped"),
        (b"good", b'5" disk', "quote that was not escaped"),
        (b"good", b"\xc0\x80", "bytes that are not UTF-8"),
        (b"1.5", b"nan", "a number that JSON does not know"),
        (b"1.5", b"1.5,", "comma too many"),
    ],
)
def test_each_broken_event_of_many_is_read_and_counted(
    sound: bytes, broken: bytes, kind: str, indent: int | None
) -> None:
    rows = [{"ph": "X", "name": f"good{n}", "ts": n, "dur": 1, "args": {"v": 1.5}} for n in range(2500)]
    text = json.dumps({"traceEvents": rows, "end": 1}, indent=indent).encode()
    events, metadata = read_events(text.replace(sound, broken))
    assert events["ts_ns"].tolist() == [n * 1000 for n in range(2500)]
    assert kinds(metadata) == {kind: 2500}
    assert metadata.problems[0].offset == text.index(b"{", 1)
    assert metadata.other == {"end": 1}


@pytest.mark.parametrize(
    ("middle", "count"),
    [
        (b'{"ph": "X", "ts": 1, "name": "' + b'say "hi" ' * 90_000 + b'"}', 3),
        (b'{"ph": "X", "ts": 1, "name": "' + b'\\"' * 300_000, 2),
        (b'{"ph": "X", "ts": 1, "name": "a"' + b" " * 400_000 + b"oops}", 2),
        (b'{"ph": "X", "ts": 1, "args": {"l": [' + b'{"k": 1}, ' * 60_000 + b'{"k": oops}]}}', 2),
        (b", ".join([b"{}"] * 150_000), 2),
        (b"{" * 200_000, 2),
        (b"[" * 200_000, 2),
        (b"}" * 100_000, 2),
        (b"," * 400_000, 2),
        (b'[1, "x", ' * 60_000, 2),
        (b'{"a": [' * 60_000, 2),
    ],
    ids=lambda value: value[:10].decode() if isinstance(value, bytes) else "",
)
def test_large_rubbish_between_two_events_is_no_long_wait(middle: bytes, count: int) -> None:
    text = b"[" + event(0) + b", " + middle + b", " + event(1, "b\x01") + b"]"
    events, metadata = read_events(text)
    assert events["name"].iloc[0] == "op0"
    assert len(events) <= count
    assert metadata.problems
