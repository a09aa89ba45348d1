"""Entries of regions, and the book that is kept of them.

In: a controller's gate. Out: a marker in the trace around each block, and `RegionCount`s of what was entered.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from threading import current_thread, get_ident
from time import perf_counter_ns
from typing import Any

from nbprof import markers, schema
from nbprof.capture.gate import Gate
from nbprof.capture.notices import warn_once
from nbprof.capture.slots import Named


@dataclass
class Book:
    """What is open on the owner's thread (innermost last), and what was counted; written by that thread alone."""

    gate: Gate
    owner: int
    open: list[Place] = field(default_factory=list)
    places: dict[tuple[str, bool], Place] = field(default_factory=dict)

    def place(self, name: str, *, is_only_nested: bool = False) -> Place:
        """What is entered for a region; with `is_only_nested` it counts inside other regions only."""
        return self.places.setdefault((name, is_only_nested), Place(self, name, is_only_nested))

    def close_all(self) -> None:
        """Close what is still open, innermost first, so that its markers are in the trace."""
        for place in reversed(list(self.open)):
            place.__exit__()

    def region_counts(self) -> tuple[schema.RegionCount, ...]:
        """One row for each region and parent."""
        sums: dict[tuple[str, str | None], list[int]] = defaultdict(lambda: [0, 0])
        for place in list(self.places.values()):
            for parent, (entries, wall_ns) in place.counts.items():
                count = sums[place.name, parent]
                count[0] += entries
                count[1] += wall_ns
        return tuple(schema.RegionCount(*names, entries, wall / 1e3) for names, (entries, wall) in sums.items())


class Place(Named):
    """One region in one recording: a context manager that may be entered often, also inside itself.

    It opens the gate when it is the outermost, and marks the stretch. Nothing is called or made here that needn't be:
    this is the path that every profiled block takes. Where asynchronous tasks leave the same region in another order
    than they entered it, their stretches change owners and keep their sum.
    """

    __slots__ = (
        "_entered",
        "_has_strangers",
        "_is_only_nested",
        "_mark",
        "_marker",
        "_open",
        "_owner",
        "_switch",
        "_unmark",
        "counts",
    )

    def __init__(self, book: Book, name: str, is_only_nested: bool) -> None:
        super().__init__(name)
        self.counts: dict[str | None, list[int]] = {}  # entries and wall time (ns) by the region it was entered from
        self._is_only_nested = is_only_nested
        self._marker = schema.REGION_MARKER + markers.encode_name(name)
        self._open, self._owner = book.open, book.owner
        self._switch, self._mark, self._unmark = book.gate.switch, book.gate.mark, book.gate.unmark
        self._entered: list[tuple[Any, int] | None] = []
        self._has_strangers = False

    def __enter__(self) -> None:
        if get_ident() != self._owner:
            self._refuse()
            return
        if not self._open:
            if self._is_only_nested:
                self._entered.append(None)
                return
            self._switch(True)
        handle = self._mark(self._marker)
        self._open.append(self)
        self._entered.append((handle, perf_counter_ns()))

    def __exit__(self, kind: object = None, error: object = None, trace: object = None) -> None:
        end = perf_counter_ns()
        if self._has_strangers and get_ident() != self._owner:
            return
        entered = self._entered.pop() if self._entered else None
        if entered is None:  # not recorded, or the recording has ended meanwhile
            return
        self._unmark(entered[0])
        places = self._open
        if places[-1] is self:
            del places[-1]
        else:  # interleaved tasks
            places.remove(self)
        if places:
            parent = places[-1].name
        else:
            parent = None
            self._switch(False)
        try:
            count = self.counts[parent]
        except KeyError:
            count = self.counts[parent] = [0, 0]
        count[0] += 1
        count[1] += end - entered[1]

    def _refuse(self) -> None:
        self._has_strangers = True
        warn_once(
            f"thread:{self.name}",
            f"Region {self.name!r} was entered from thread {current_thread().name!r} and is not recorded there: torch "
            "profiles only the thread that started the profiler.",
        )
