"""One entry of a region, and the book that is kept of them.

In: a controller's gate. Out: a marker in the trace around the block, and `RegionCount`s of what was entered.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import get_ident
from time import perf_counter_ns
from typing import Any

import torch

from nbprof import schema
from nbprof.capture.gate import Gate


@dataclass
class Book:
    """What is open on the owner's thread, and what was counted; written by the owner's thread alone."""

    gate: Gate
    owner: int
    has_nvtx: bool = False
    open: list[Entry] = field(default_factory=list)
    places: dict[str, Place] = field(default_factory=dict)

    def place(self, name: str) -> Place:
        """The page of one region."""
        return self.places.setdefault(name, Place(self, name))

    def close_all(self) -> None:
        """Close what is still open, innermost first, so that its markers are in the trace."""
        for entry in reversed(list(self.open)):
            entry.close()

    def region_counts(self) -> tuple[schema.RegionCount, ...]:
        """One row for each region and parent."""
        return tuple(
            schema.RegionCount(place.name, parent, entries, wall_ns / 1e3)
            for place in list(self.places.values())
            for parent, (entries, wall_ns) in place.counts.items()
        )


class Place:
    """One region in one recording: its marker, and entries and wall time (ns) by the region it was entered from."""

    __slots__ = ("book", "counts", "mark", "marker", "name", "unmark")

    def __init__(self, book: Book, name: str) -> None:
        self.book = book
        self.name = name
        self.marker = schema.REGION_MARKER + schema.encode_name(name)
        self.mark = book.gate.mark
        self.unmark = book.gate.unmark
        self.counts: dict[str | None, list[int]] = {}


class Entry:
    """A block inside a region that is on: opens the gate when it is the outermost, and marks the stretch.

    `place` is set by who makes it (no constructor: this is the path that every profiled block takes).
    """

    __slots__ = ("_handle", "_parent", "_start", "place")

    place: Place
    _handle: Any
    _parent: str | None
    _start: int

    def __enter__(self) -> None:
        place = self.place
        book = place.book
        stack = book.open
        if stack:
            self._parent = stack[-1].place.name
        else:
            self._parent = None
            book.gate.open()
        self._handle = place.mark(place.marker)
        if book.has_nvtx:
            torch.cuda.nvtx.range_push(place.marker)  # type: ignore[no-untyped-call]
        stack.append(self)
        self._start = perf_counter_ns()

    def __exit__(self, *exc: object) -> None:
        if self._handle is not None and get_ident() == self.place.book.owner:
            self.close()

    def close(self) -> None:
        """End the stretch."""
        end = perf_counter_ns()
        place = self.place
        place.unmark(self._handle)
        self._handle = None
        book = place.book
        if book.has_nvtx:
            torch.cuda.nvtx.range_pop()  # type: ignore[no-untyped-call]
        stack = book.open
        if stack[-1] is self:
            del stack[-1]
        else:  # interleaved tasks leave in another order than they entered
            stack.remove(self)
        if not stack:
            book.gate.close()
        try:
            count = place.counts[self._parent]
        except KeyError:
            count = place.counts[self._parent] = [0, 0]
        count[0] += 1
        count[1] += end - self._start


def enter_place(place: Place) -> Entry:
    """An entry, to be used with `with`."""
    entry = Entry()
    entry.place = place
    return entry
