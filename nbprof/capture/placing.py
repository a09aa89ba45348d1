"""Which place a name has while something is recorded.

In: a name, a recording's `Book`. Out: a place that is entered, or one that turns everybody away and says why; every
question is answered here that needn't be asked at each entry.
"""

from __future__ import annotations

from typing import Any

from nbprof.capture import regions
from nbprof.capture.notices import nearest, warn_once
from nbprof.capture.places import NOBODY, Book, Place
from nbprof.markers import canonical_name


def place_of(name: str, book: Book, *, default_on: bool, nested_only: bool = True) -> Place | None:
    """The place of a region in a recording; None for one that is off.

    `default_on` lets what is left to its default be recorded, with `nested_only` just inside another region.
    """
    region = regions.resolve_profiler_region(name)
    if region is None:
        return Unregistered(name, book)
    if regions.is_wanted(region):
        return book.place(region.name)
    if regions.is_wanted(region, default_on=default_on):
        return book.place(region.name, is_only_nested=nested_only)
    return None


class Unregistered(Place):
    """A name that no region has: entering it says so once, with the nearest that there is."""

    __slots__ = ()

    def __init__(self, name: str, book: Book) -> None:
        super().__init__(name, book)
        self.owner = NOBODY

    def turn_away(self, slot: Any) -> None:
        """Nobody may enter."""
        known = [region.name for region in regions.list_profiler_regions()]
        warn_once(
            f"unknown:{self.name}",
            f"Region {self.name!r} is not registered and is not recorded{nearest(canonical_name(self.name), known)} "
            f"Registered: {', '.join(known) or 'none'}.",
        )
