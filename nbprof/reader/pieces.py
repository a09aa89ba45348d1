"""Text of a trace -> typed events, a piece of about a quarter of a megabyte at a time.

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
from nbprof.reader.entries import Event
from nbprof.reader.problems import Problems

OVERSIZED = "event larger than 64 MB"
LARGEST = 64 << 20
"""Bytes: no event is larger, and no text before or after the list; so a file of any make is read in bounded memory."""

EVENT_KEYS = rb'"(?:ph|cat|name|pid|tid|ts|dur|args|id|bp|s|tts|tdur|sf|cname|scope)"\s*:'
_BORDER = re.compile(rb"\}\s*,\s*\{\s*" + EVENT_KEYS)
_ANY_BORDER = re.compile(rb"\}\s*,\s*\{\s*\"")
_LIST = re.compile(rb'"traceEvents"\s*:\s*\[')
STRING = rb'"(?:[^"\\]++|\\.)*+"'
_TOKEN = re.compile(STRING + rb"|[{}\[\]]", re.DOTALL)
_SPACE = re.compile(rb"[\s,]*")
_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")
_WINDOWS = (1 << 12, 1 << 16)
_PATIENCE = 1 << 20
"""Bytes without a border between events of the usual keys, after which one between any two objects will do."""

_events = msgspec.json.Decoder(list[Event])
_REFUSALS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


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
        wanted = 1
        while True:
            more = self._more(wanted)
            buffer += more
            cut = _last_border(buffer) if more else None  # at the end of the text all that is left is one piece
            decoded = self._decode(buffer, cut) if cut or len(buffer) > _PATIENCE or not more else None
            if decoded is None and cut is None and more:
                buffer = self._bounded(buffer)
                wanted = len(buffer) or 1
                continue
            if decoded is None:
                decoded = self._rescue(buffer[:cut], self.read - len(buffer), cut is None)
            yield decoded
            buffer = buffer[decoded.used :]
            if decoded.ended:
                break
            if not more:
                self._problems.cut_off(self.read, "the list of events has no end")
                return
            if not decoded.used:
                buffer = self._bounded(buffer)
            wanted = len(buffer) if buffer and not decoded.used else 1
        self._keep_tail(buffer)

    def _more(self, wanted: int) -> bytes:
        """The next text, at least as much as wanted where there is so much.

        Whoever finds nothing asks for as much again as there is, so that searching it all stays rare.
        """
        parts: list[bytes] = []
        size = 0
        while size < wanted and (chunk := next(self._chunks, None)) is not None:
            parts.append(chunk)
            size += len(chunk)
        self.read += size
        return b"".join(parts)

    def _after_head(self) -> bytes:
        buffer = b""
        while not buffer and (more := self._more(1)):
            buffer = more.lstrip()
        if buffer.startswith(b"["):
            return buffer[1:]
        depth = measured = searched = 0
        while len(buffer) <= LARGEST:
            for found in _LIST.finditer(buffer, searched):
                depth += _depth(buffer[measured : found.start()])
                measured = found.start()
                if depth == 1:
                    return self._split_head(buffer, found)
            searched = max(measured + 1, len(buffer) - _WINDOWS[0])
            more = self._more(len(buffer))
            if not more:
                break
            buffer += more
        # Broken text before the events can hide how deep the list stands: then the first one is taken.
        if found_first := _LIST.search(buffer):
            return self._split_head(buffer, found_first)
        advice = "Was it cut off before its events, or is it another kind of file?"
        raise TraceFormatError(self._name, "this is JSON without a list of traceEvents", advice=advice)

    def _split_head(self, buffer: bytes, found: re.Match[bytes]) -> bytes:
        self.head = buffer[: found.start()]
        return buffer[found.end() :]

    def _bounded(self, buffer: bytes) -> bytes:
        """The text without leading blanks; where it is larger than any event, what follows the next border."""
        buffer = buffer[after_space(buffer, 0) :]
        if len(buffer) <= LARGEST:
            return buffer
        self._problems.add(OVERSIZED, self.read - len(buffer), buffer[:80].decode("utf-8", "replace"))
        while not (found := _BORDER.search(buffer)):
            more = self._more(1)
            if not more:
                return b""
            buffer = buffer[-_WINDOWS[0] :] + more
        return buffer[found.start() + 1 :]

    def _keep_tail(self, buffer: bytes) -> None:
        self.tail = buffer + self._more(LARGEST)
        if self._more(1):
            self._problems.add(OVERSIZED, self.read, "after the list of events: left out")

    def _decode(self, buffer: bytes, cut: int | None) -> Decoded | None:
        """The events of the buffer up to the cut, or to the end of the list; None where the decoder refuses it."""
        end = len(buffer) if cut is None else cut
        start = after_space(buffer, 0)
        text = b"".join((b"[", memoryview(buffer)[start:end], b"" if cut is None else b"]"))  # copied once
        try:
            return Decoded(_decoded(text), text, end, cut is None)
        except _REFUSALS as error:
            trailing = _TRAILING.search(str(error))
        if not trailing:
            return None
        # The list ended before this byte: its closing bracket is the last one ahead of it.
        text = text[: text.rfind(b"]", 0, int(trailing.group(1)) - 1) + 1]
        try:
            return Decoded(_decoded(text), text, start + len(text) - 1, True)
        except _REFUSALS:
            return None


def _decoded(text: bytes) -> list[Event]:
    if not text.isascii():
        text.decode()  # the decoder doesn't look at what it skips
    return _events.decode(text)


def after_space(text: bytes, at: int) -> int:
    """Where what stands behind blanks and commas begins."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _last_border(buffer: bytes) -> int | None:
    """Where the last event that another one follows ends, or None: read on."""
    for border in (_BORDER, _ANY_BORDER) if len(buffer) > _PATIENCE else (_BORDER,):
        for window in (*_WINDOWS, len(buffer)):
            ends = [found.start() + 1 for found in border.finditer(buffer, max(0, len(buffer) - window))]
            if ends:
                return ends[-1]
    return None


def _depth(text: bytes) -> int:
    """How many brackets are open at the end of `text`, those in strings aside."""
    tokens = [found.group() for found in _TOKEN.finditer(text)]
    return sum(token in b"{[" for token in tokens) - sum(token in b"}]" for token in tokens)
