"""Text of a trace -> typed events, a piece of about 2 MB at a time.

In: the chunks of `container.Text`. Out: `Pieces`, which yields `Decoded` events and then holds the text before and
after them. A piece is cut at what looks like the border of two events, and decoding it proves the cut: a piece that began
at a true border and parses as a list ends at one too. What the decoder refuses goes to `rescue`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import msgspec

from nbprof.errors import TraceFormatError
from nbprof.reader.problems import Problems

Scalar = str | int | float | None

MISSING = -(1 << 62)
"""Stands for an integer that isn't there."""
NO_TIME = float(MISSING)
"""The same for a time; a float, so that a column of fractional times stays one of floats."""


class Args(msgspec.Struct, gc=False):
    """What becomes columns of an event's arguments."""

    correlation: Scalar | bool = MISSING
    stream: Scalar | bool = MISSING
    device: Scalar | bool = MISSING
    external: Scalar | bool = msgspec.field(name="External id", default=MISSING)
    old_external: Scalar | bool = msgspec.field(name="external id", default=MISSING)
    seq: Scalar | bool = msgspec.field(name="Sequence number", default=MISSING)
    bytes: Scalar | bool = msgspec.field(name="bytes", default=MISSING)
    allocated: Scalar | bool = msgspec.field(name="Bytes", default=MISSING)


NO_ARGS = Args()


class Event(msgspec.Struct, gc=False):
    """One entry of the list."""

    ph: Scalar = None
    cat: Scalar = None
    name: Scalar = None
    pid: Scalar = None
    tid: Scalar = None
    id: Scalar = MISSING
    ts: Scalar = NO_TIME
    dur: Scalar = NO_TIME
    args: Args | None = None


EVENT_KEYS = rb'"(?:ph|cat|name|pid|tid|ts|dur|args|id|bp|s|tts)"\s*:'
_BORDER = re.compile(rb"\}\s*,\s*\{\s*" + EVENT_KEYS)
_LIST = re.compile(rb'"traceEvents"\s*:\s*\[')
STRING = rb'"(?:[^"\\]++|\\.)*+"'
_TOKEN = re.compile(STRING + rb"|[{}\[\]]", re.DOTALL)
_SPACE = re.compile(rb"[\s,]*")
_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")
_WINDOW = 1 << 16

_events = msgspec.json.Decoder(list[Event])


@dataclass(frozen=True)
class Decoded:
    """Events of a piece, their text as a JSON list, how much of the piece they took, and whether the list ended there."""

    events: list[Event]
    text: bytes
    used: int
    ended: bool


Rescue = Callable[[bytes, int, bool], Decoded]
"""(piece, its byte offset, whether nothing follows it) -> what can be read of it."""


class Pieces:
    """Iterates over pieces with their events; afterwards `head` and `tail` hold the text around the list."""

    def __init__(self, chunks: Iterable[bytes], name: str, rescue: Rescue, problems: Problems) -> None:
        self._chunks = iter(chunks)
        self._name = name
        self._rescue = rescue
        self._problems = problems
        self.read = 0
        """Bytes of text so far."""
        self.head = b""
        self.tail = b""

    def __iter__(self) -> Iterator[Decoded]:
        buffer = self._after_head()
        stuck = False
        while True:
            cut = None if stuck else _last_border(buffer)
            chunk = self._next() if cut is None else b""
            if chunk:
                buffer, stuck = buffer + chunk, False
                continue
            decoded = self._decode(buffer[:cut], self.read - len(buffer), cut is None)
            yield decoded
            buffer = buffer[decoded.used :]
            if decoded.ended:
                break
            if cut is None:
                self._problems.cut_off(self.read, "the list of events has no end")
                return
            buffer += self._next()
            stuck = decoded.used == 0
        self.tail = buffer + b"".join(iter(self._next, b""))

    def _next(self) -> bytes:
        for chunk in self._chunks:
            if chunk:
                self.read += len(chunk)
                return chunk
        return b""

    def _after_head(self) -> bytes:
        buffer = b""
        while not buffer and (chunk := self._next()):
            buffer = chunk.lstrip()
        if buffer.startswith(b"["):
            return buffer[1:]
        searched = 0
        while True:
            for found in _LIST.finditer(buffer, searched):
                if _depth(buffer[: found.start()]) == 1:
                    return self._split_head(buffer, found)
            searched = max(searched, len(buffer) - _WINDOW)
            chunk = self._next()
            if not chunk:
                break
            buffer += chunk
        # Broken text before the events can hide how deep the list stands: then the first one is taken.
        if found_first := _LIST.search(buffer):
            return self._split_head(buffer, found_first)
        advice = "Was it cut off before its events, or is it another kind of file?"
        raise TraceFormatError(self._name, "this is JSON without a list of traceEvents", advice=advice)

    def _split_head(self, buffer: bytes, found: re.Match[bytes]) -> bytes:
        self.head = buffer[: found.start()]
        return buffer[found.end() :]

    def _decode(self, piece: bytes, offset: int, final: bool) -> Decoded:
        start = after_space(piece, 0)
        text = b"[" + piece[start:] + (b"" if final else b"]")
        try:
            return Decoded(_events.decode(text), text, len(piece), final)
        except (msgspec.DecodeError, RecursionError) as error:
            trailing = _TRAILING.search(str(error))
        if trailing:
            # The list ended before this byte: its closing bracket is the last one ahead of it.
            end = text.rfind(b"]", 0, int(trailing.group(1)) - 1) + 1
            try:
                return Decoded(_events.decode(text[:end]), text[:end], start + end - 1, True)
            except (msgspec.DecodeError, RecursionError):
                pass
        return self._rescue(piece, offset, final)


def after_space(text: bytes, at: int) -> int:
    """Where what stands behind blanks and commas begins."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _last_border(buffer: bytes) -> int | None:
    """Where the last event that another one follows ends, or None: read on."""
    for start in (max(0, len(buffer) - _WINDOW), 0):
        ends = [found.start() + 1 for found in _BORDER.finditer(buffer, start)]
        if ends:
            return ends[-1]
    return None


def _depth(text: bytes) -> int:
    """How many brackets are open at the end of `text`, those in strings aside."""
    tokens = [found.group() for found in _TOKEN.finditer(text)]
    return sum(token in b"{[" for token in tokens) - sum(token in b"}]" for token in tokens)
