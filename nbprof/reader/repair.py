"""A piece that the decoder refuses -> the events that can be read of it, one by one.

In: the text of a piece and its byte offset. Out: `Decoded`, as from a sound piece; what was mended or dropped is tallied.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import msgspec
import msgspec.structs

from nbprof.reader.mending import attempts
from nbprof.reader.pieces import EVENT_KEYS, STRING, Args, Decoded, Event, Scalar, after_space
from nbprof.reader.problems import Problems

DROPPED = "event that cannot be read"
FOREIGN = "entry that is no event"

_BORDER = re.compile(rb"\}\s*,?\s*(?=\{\s*" + EVENT_KEYS + rb")")
_PHASE = re.compile(rb'"ph"\s*:\s*"')
_CLOSING = re.compile(rb"\}(?=\s*(?:[\],{]|$))")
_TOKEN = re.compile(STRING + rb'|["{}\[\]]', re.DOTALL)
_JUNK = re.compile(rb"(?:" + STRING + rb'|[^{}\[\]"])+|.', re.DOTALL)
_TRIES = 40
# A file in which every event is broken must not take hours: how far to look for the end of one, what is worth mending.
_REACH = 1 << 14
_LARGEST = 1 << 20

_NOTHING = msgspec.Raw(b"{}")
_event = msgspec.json.Decoder(Event)


class Rescuer:
    """Reads what it can of broken pieces; called as a `pieces.Rescue`."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems

    def __call__(self, piece: bytes, offset: int, final: bool) -> Decoded:
        events: list[Event] = []
        texts: list[bytes] = []
        at = stop = 0
        while True:
            at = after_space(piece, at)
            if at == len(piece):
                return _result(events, texts, at, False)
            if piece.startswith(b"]", at):
                return _result(events, texts, at + 1, True)
            stop = stop if stop > at else _border(piece, at)
            if not piece.startswith(b"{", at):
                at = self._skip(piece, at, stop, offset)
                continue
            event, text, end = self._one(piece, at, stop, offset)
            if event is not None:
                events.append(event)
                texts.append(text)
            elif stop == len(piece):
                # Without a border behind it, more text may complete it; at the end of the file it was cut off.
                return _result(events, texts, stop if final else at, False)
            else:
                self._problems.add(DROPPED, offset + at, _excerpt(piece[at:stop]))
            at = end

    def _one(self, piece: bytes, at: int, stop: int, offset: int) -> tuple[Event | None, bytes, int]:
        """The event at `at`, its text as it stands or mended, its end; `stop` is where the next one seems to begin."""
        whole = piece[at:stop]
        if (event := _decoded(whole)) is not None:
            return event, whole, stop
        ends = [stop]
        close = _closing(piece, at, stop + _REACH)
        if close is not None and close != stop:
            if (event := _decoded(piece[at:close])) is not None:
                return event, piece[at:close], close
            ends.append(close)
        if stop == len(piece):
            # Nothing marks the end of the last one: every brace before a comma or bracket may be it.
            found = _CLOSING.finditer(piece, at)
            ends += [match.end() for match, _ in zip(found, range(_TRIES), strict=False)]
        for end in (end for end in ends if end - at <= _LARGEST):
            for text, kinds in attempts(piece[at:end]):
                if (event := _decoded(text)) is not None:
                    self._tell(kinds, offset + at, piece[at:end])
                    return event, text, end
        return None, b"", stop

    def _tell(self, kinds: list[str], offset: int, text: bytes) -> None:
        for kind in kinds:
            self._problems.add(kind, offset, f"repaired in {_excerpt(text)}", is_mended=True)

    def _skip(self, piece: bytes, at: int, stop: int, offset: int) -> int:
        """Past an entry that is no object: a list, a text, a number, or what a torn event left over."""
        junk = None if piece.startswith(b"[", at) else _JUNK.match(piece, at)
        end = junk.end() if junk else _closing(piece, at, stop) or stop
        self._problems.add(FOREIGN, offset + at, _excerpt(piece[at:end]))
        return end


def _result(events: list[Event], texts: list[bytes], used: int, ended: bool) -> Decoded:
    return Decoded(events, b"[" + b",".join(texts) + b"]", used, ended)


def _border(piece: bytes, at: int) -> int:
    """Where the event that holds `at` seems to end because another one begins, or the end of the piece.

    What begins there must say its phase before the next border, else it is an object in a list of the event's own.
    """
    border = _BORDER.search(piece, at)
    while border is not None:
        following = _BORDER.search(piece, border.end())
        if _PHASE.search(piece, border.end(), following.start() if following else len(piece)):
            return border.start() + 1
        border = following
    return len(piece)


def _decoded(text: bytes) -> Event | None:
    try:
        return _event.decode(text)
    except msgspec.ValidationError:
        return _coerced(text)
    except (msgspec.DecodeError, RecursionError):
        return None


def _coerced(text: bytes) -> Event | None:
    """An event whose fields are of unusual types."""
    try:
        fields = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        event = Event()
        for key in fields.keys() & {"ph", "cat", "name", "pid", "tid", "id", "ts", "dur"}:
            setattr(event, key, _scalar(fields[key]))
        event.args = _args(fields.get("args", _NOTHING))
    except (msgspec.DecodeError, RecursionError):
        return None
    return event


def _args(text: msgspec.Raw) -> Args:
    args = Args()
    with suppress(msgspec.ValidationError):
        values = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        for field in msgspec.structs.fields(Args):
            if field.encode_name in values:
                setattr(args, field.name, _scalar(values[field.encode_name]))
    return args


def _scalar(raw: msgspec.Raw) -> Scalar:
    value: Any = msgspec.json.decode(raw)
    return value if value is None or isinstance(value, (str, int, float)) else bytes(raw).decode("utf-8", "replace")


def _closing(piece: bytes, at: int, limit: int) -> int | None:
    """Where the bracket that opens at `at` closes, going by its strings; None where it doesn't before `limit`."""
    depth = 0
    for found in _TOKEN.finditer(piece, at, limit):
        token = found.group()
        if token == b'"':
            return None
        if token in b"{[":
            depth += 1
        elif token in b"}]":
            depth -= 1
        if depth == 0:
            return found.end()
    return None


def _excerpt(text: bytes) -> str:
    words = " ".join(text[:200].decode("utf-8", "replace").split())
    return words if len(words) <= 80 else f"{words[:79]}…"
