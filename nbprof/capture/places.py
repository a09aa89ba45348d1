"""The places that regions have in a recording, and the book that is kept of what was entered.

In: a recording's gate. Out: what a slot needs to enter and leave, and `RegionCount`s.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import current_thread, get_ident
from typing import Any

from nbprof import markers
from nbprof.capture.gate import Gate
from nbprof.capture.notices import warn_once
from nbprof.metadata import RegionCount
from nbprof.schema import REGION_MARKER

NOBODY = -1
"""The owner of a place that no thread may enter."""

Entry = tuple[Any, "Place", Any, int]
"""A stretch that is open: its slot, its place, the marker's handle, its start (ns of perf_counter)."""


@dataclass
class Book:
    """What is open on the owner's thread (innermost last), and what was counted; written by that thread alone.

    `ask_owner` queues a call for the owner's next region boundary.
    """

    gate: Gate
    ask_owner: Callable[[Callable[[], object]], None] = lambda request: None
    owner: int = field(default_factory=get_ident)
    open: list[Entry] = field(default_factory=list)
    places: dict[tuple[str, bool], Place] = field(default_factory=dict)

    def place(self, name: str, *, is_only_nested: bool = False) -> Place:
        """The region's place; with `is_only_nested` it counts inside other regions only."""
        return self.places.setdefault((name, is_only_nested), Place(name, self, is_only_nested=is_only_nested))

    def close_all(self) -> None:
        """Close what is still open, innermost first, so that its markers are in the trace."""
        for slot, *_ in reversed(list(self.open)):
            slot.__exit__()

    def abandon(self) -> None:
        """Forget what is open without touching torch: the recording is lost, or another thread's."""
        self.open.clear()

    def region_counts(self) -> tuple[RegionCount, ...]:
        """One row for each region and parent."""
        sums: dict[tuple[str, str | None], list[int]] = defaultdict(lambda: [0, 0])
        for place in list(self.places.values()):
            for parent, (entries, wall_ns) in place.counts.items():
                count = sums[place.name, parent]
                count[0] += entries
                count[1] += wall_ns
        return tuple(RegionCount(*names, entries, wall / 1e3) for names, (entries, wall) in sums.items())


class Place:
    """One region in one recording. `owner` is the thread that may enter it, `open` the book's open stretches.

    `counts` are entries and wall time (ns) by the region it was entered from.
    """

    __slots__ = (
        "_ask_owner",
        "_strangers",
        "counts",
        "is_only_nested",
        "mark",
        "marker",
        "name",
        "open",
        "owner",
        "switch",
        "unmark",
    )

    def __init__(self, name: str, book: Book, *, is_only_nested: bool = False) -> None:
        self.name = name
        self.owner = book.owner
        self.open = book.open
        self.is_only_nested = is_only_nested
        self.marker = REGION_MARKER + markers.encode_name(name)
        self.switch, self.mark, self.unmark = book.gate.switch, book.gate.mark, book.gate.unmark
        self.counts: dict[str | None, list[int]] = {}
        self._ask_owner = book.ask_owner
        self._strangers: Counter[int] = Counter()

    def turn_away(self, slot: Any) -> None:
        """Another thread wants to enter: it is told once, and the owner is not disturbed."""
        self._strangers[get_ident()] += 1
        warn_once(
            f"thread:{self.name}",
            f"Region {self.name!r} was entered from thread {current_thread().name!r} and is not recorded there: torch "
            "profiles only the thread that started the profiler.",
        )

    def left_elsewhere(self, slot: Any) -> None:
        """Another thread leaves: one that was turned away, or one that closes a generator of the owner's."""
        if self._strangers[get_ident()] > 0:
            self._strangers[get_ident()] -= 1
        else:
            self._ask_owner(slot.__exit__)
