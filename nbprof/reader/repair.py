"""A piece that the decoder refuses -> the events that can be read of it, one by one.

In: the text of a piece and its byte offset. Out: `Decoded`, as from a sound piece; what was mended or dropped is tallied.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from functools import reduce
from itertools import islice, pairwise
from typing import Any

import msgspec
import msgspec.structs

from nbprof.reader.entries import Args, Event, Scalar
from nbprof.reader.mending import attempts
from nbprof.reader.pieces import EVENT_KEYS, STRING, Decoded, after_space
from nbprof.reader.problems import COMMA, DROPPED, FOREIGN, NO_COMMA, Problems

_BORDER = re.compile(rb"\}\s*+(?:,\s*+)?+(?=\{\s*" + EVENT_KEYS + rb")")
_PHASE = re.compile(rb'"ph"\s*:\s*"')
_CLOSING = re.compile(rb"\}(?=\s*(?:[\],{]|$))")
_LIST_END = re.compile(rb'\}\s*(?=\]\s*(?:,\s*"|\}?\s*$))')
_FLAT = STRING + rb'|[^"{}\[\]]++'
_JUNK = re.compile(rb"(?:" + _FLAT + rb')++|\}|".*+', re.DOTALL)
# Strings, other text, and brackets that close again, six deep: skipped at once, the rest is counted one by one.
_FILLING = reduce(lambda inner, _: _FLAT + rb"|[{\[](?:" + inner + rb")*+[}\]]", range(6), _FLAT)
_BRACKET = re.compile(rb"(?:" + _FILLING + rb')*+(["{}\[\]]|\Z)', re.DOTALL)
_STEPS = {b"{": 1, b"[": 1, b"}": -1, b"]": -1}
_TRIES = 40
# A file in which every event is broken must not take hours: how far to look for the end of one, what is worth mending.
_REACH = 1 << 14
_LARGEST = 1 << 20

_NOTHING = msgspec.Raw(b"{}")
_event = msgspec.json.Decoder(Event)
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ARGS = {field.encode_name: field for field in msgspec.structs.fields(Args)}


class Rescuer:
    """Reads what it can of broken pieces; called as a `pieces.Rescue`."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems

    def __call__(self, piece: bytes, offset: int, final: bool) -> Decoded:
        events: list[Event] = []
        texts: list[bytes] = []
        stops = [*_borders(piece), len(piece)]
        at = after_space(piece, 0)
        while at < len(piece):
            if piece.startswith(b"]", at):
                return _result(events, texts, at + 1, True)
            stop = stops[bisect_right(stops, at)]
            if piece.startswith(b"{", at):
                event, text, end = self._one(piece, at, stop, offset, final)
                if event is not None:
                    events.append(event)
                    texts.append(text)
                    self._tell_commas(piece, end, offset)
                elif (end := _unread_end(piece, at, stop, final)) < 0:
                    # More text may complete it; at the end of the file it was cut off.
                    return _result(events, texts, stop if final else at, False)
                else:
                    self._problems.add(DROPPED, offset + at, piece[at:end])
            else:
                end = self._skip(piece, at, stop, offset)
            at = after_space(piece, end)
        return _result(events, texts, at, False)

    def _one(self, piece: bytes, at: int, stop: int, offset: int, final: bool) -> tuple[Event | None, bytes, int]:
        """The event at `at`, its text as it stands or mended, its end; `stop` is where the next one seems to begin."""
        view = memoryview(piece)  # what stands behind an event may be large, and is not copied for each
        whole = _decoded(view[at:stop])
        if isinstance(whole, Event):
            return whole, piece[at:stop], stop
        # Text that is broken in the middle is so wherever it ends.
        if whole.endswith("truncated") or "trailing" in whole:
            close = _closing(piece, at, stop + _REACH) or stop
            if isinstance(event := _decoded(view[at:close]), Event):
                return event, piece[at:close], close
        for end in _ends(piece, at, stop, final):
            for text, kinds in attempts(piece[at:end]) if end - at <= _LARGEST else ():
                if isinstance(event := _decoded(text), Event):
                    for kind in kinds:
                        self._problems.add(kind, offset + at, piece[at:end])
                    return event, text, end
        return None, b"", stop

    def _tell_commas(self, piece: bytes, end: int, offset: int) -> None:
        """One comma stands between an event that ends here and another one."""
        at = after_space(piece, end)
        commas = piece.count(b",", end, at)
        if commas != 1 and piece.startswith(b"{", at):
            self._problems.add(COMMA if commas else NO_COMMA, offset + end, piece[max(0, end - 20) : at + 20])

    def _skip(self, piece: bytes, at: int, stop: int, offset: int) -> int:
        """Past an entry that is no object: a list, a text, a number, or what a torn event left over."""
        junk = _JUNK.match(piece, at)
        end = junk.end() if junk else _closing(piece, at, stop) or stop
        self._problems.add(FOREIGN, offset + at, piece[at:end])
        return end


def _result(events: list[Event], texts: list[bytes], used: int, ended: bool) -> Decoded:
    return Decoded(events, b"[" + b",".join(texts) + b"]", used, ended)


def _borders(piece: bytes) -> Iterator[int]:
    """Where an event seems to end because another one begins.

    What begins there must say its phase before the next border, else it is an object in a list of the event's own.
    """
    borders = [found.span() for found in _BORDER.finditer(piece)]
    for (start, end), (following, _) in pairwise([*borders, (len(piece), 0)]):
        if _PHASE.search(piece, end, following):
            yield start + 1


def _ends(piece: bytes, at: int, stop: int, final: bool) -> Iterator[int]:
    """Where a broken event may end, the likeliest first."""
    if stop < len(piece):
        yield stop
    elif not final:
        return  # more text will show
    if close := _closing(piece, at, stop + _REACH):
        yield close
    if stop == len(piece):
        # Nothing marks the end of the last one: every brace before a comma or bracket may be it.
        yield from (found.end() for found in islice(_CLOSING.finditer(piece, at), _TRIES))
        yield stop


def _unread_end(piece: bytes, at: int, stop: int, final: bool) -> int:
    """Where to read on behind an event that can't be read; -1 where only more text can tell, or there is no more."""
    if stop < len(piece):
        return stop
    list_end = _LIST_END.search(piece, at) if final and not _is_truncated(memoryview(piece)[at:]) else None
    return list_end.end() if list_end else -1


def _is_truncated(text: memoryview) -> bool:
    """Whether it is sound as far as it goes."""
    return isinstance(found := _decoded(text), str) and found.endswith("truncated")


def _decoded(text: bytes | memoryview) -> Event | str:
    """The event, or why it can't be read."""
    try:
        try:
            event = _event.decode(text)
        except msgspec.ValidationError:
            event = _coerced(text)
        str(text, "utf-8")  # the decoder doesn't look at what it skips
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return str(error)
    return event


def _coerced(text: bytes | memoryview) -> Event:
    """An event whose fields are of unusual types."""
    fields = _fields.decode(text)
    event = Event()
    for key in fields.keys() & {"ph", "cat", "name", "pid", "tid", "id", "ts", "dur"}:
        setattr(event, key, _scalar(fields[key]))
    event.args = _args(fields.get("args", _NOTHING))
    return event


def _args(text: msgspec.Raw) -> Args:
    args = Args()
    with suppress(msgspec.ValidationError):
        for name, value in _fields.decode(text).items():
            if (field := _ARGS.get(name)) is not None:
                setattr(args, field.name, value if field.type is msgspec.Raw else _scalar(value))
    return args


def _scalar(raw: msgspec.Raw) -> Scalar:
    value: Any = msgspec.json.decode(raw)
    return value if value is None or isinstance(value, (str, int, float)) else bytes(raw).decode("utf-8", "replace")


def _closing(piece: bytes, at: int, limit: int) -> int | None:
    """Where the bracket that opens at `at` closes, going by its strings; None where it doesn't before `limit`."""
    depth = 1
    for found in _BRACKET.finditer(piece, at + 1, limit):
        step = _STEPS.get(found.group(1))
        if step is None:  # a quote without a partner, or the end
            return None
        depth += step
        if depth == 0:
            return found.end()
    return None
