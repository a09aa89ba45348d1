"""One entry of a region, and the book that is kept of them.

In: a controller's gate. Out: a marker in the trace around the block, and `RegionCount`s of what was entered.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import get_ident
from time import perf_counter_ns
from typing import Any

from nbprof import markers, schema
from nbprof.capture.gate import Gate


@dataclass
class Book:
    """What is open on the owner's thread, and what was counted; written by the owner's thread alone."""

    gate: Gate
    owner: int
    open: list[Entry] = field(default_factory=list)
    places: dict[str, Place] = field(default_factory=dict)

    def place(self, name: str) -> Place:
        """The page of one region."""
        return self.places.setdefault(name, Place(self, name))

    def close_all(self) -> None:
        """Close what is still open, innermost first, so that its markers are in the trace."""
        for entry in reversed(list(self.open)):
            entry.__exit__()

    def region_counts(self) -> tuple[schema.RegionCount, ...]:
        """One row for each region and parent."""
        return tuple(
            schema.RegionCount(place.name, parent, entries, wall_ns / 1e3)
            for place in list(self.places.values())
            for parent, (entries, wall_ns) in place.counts.items()
        )


class Place:
    """One region in one recording: its marker, and entries and wall time (ns) by the region it was entered from."""

    __slots__ = ("counts", "gate", "marker", "name", "open", "owner")

    def __init__(self, book: Book, name: str) -> None:
        self.name = name
        self.marker = schema.REGION_MARKER + markers.encode_name(name)
        self.gate = book.gate
        self.owner = book.owner
        self.open = book.open
        self.counts: dict[str | None, list[int]] = {}


class Entry:
    """A block inside a region that is on: opens the gate when it is the outermost, and marks the stretch.

    `place` is set by who makes it. There is no constructor, and nothing is called that needn't be: this is the path that
    every profiled block takes.
    """

    __slots__ = ("_handle", "_parent", "_start", "place")

    place: Place
    _handle: Any
    _parent: str | None
    _start: int

    def __enter__(self) -> None:
        place = self.place
        entries = place.open
        if entries:
            self._parent = entries[-1].place.name
        else:
            self._parent = None
            place.gate.open()
        self._handle = place.gate.mark(place.marker)
        entries.append(self)
        self._start = perf_counter_ns()

    def __exit__(self, kind: object = None, error: object = None, trace: object = None) -> None:
        wall_ns = perf_counter_ns() - self._start
        place = self.place
        if self._handle is None or get_ident() != place.owner:
            return
        place.gate.unmark(self._handle)
        self._handle = None
        entries = place.open
        if entries[-1] is self:
            del entries[-1]
        else:  # interleaved tasks leave in another order than they entered
            entries.remove(self)
        if not entries:
            place.gate.close()
        try:
            count = place.counts[self._parent]
        except KeyError:
            count = place.counts[self._parent] = [0, 0]
        count[0] += 1
        count[1] += wall_ns


def enter_place(place: Place) -> Entry:
    """An entry, to be used with `with`."""
    entry = Entry()
    entry.place = place
    return entry
