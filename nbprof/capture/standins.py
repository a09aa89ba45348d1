"""What stands in for a region while something is recorded.

In: a recording's `Book`, a slot. Out: the place that is entered, or what says why there is none; every question is
answered here that needn't be asked at each entry.
"""

from __future__ import annotations

from nbprof.capture import regions
from nbprof.capture.entry import Book
from nbprof.capture.notices import nearest, warn_once
from nbprof.capture.slots import Named, Slot


def stand_in_for(slot: Slot, book: Book, *, default_on: bool, nested_only: bool = True) -> Named | None:
    """What is entered for the slot in a recording; None for a region that is off.

    `default_on` lets what is left to its default be recorded, with `nested_only` just inside another region.
    """
    region = regions.resolve_profiler_region(slot.name)
    if region is None:
        return Unregistered(slot.name)
    if regions.is_wanted(region):
        return book.place(region.name)
    if regions.is_wanted(region, default_on=default_on):
        return book.place(region.name, is_only_nested=nested_only)
    return None


class Unregistered(Named):
    """A name that no region has: entering it says so once, with the nearest that there is."""

    __slots__ = ()

    def __enter__(self) -> None:
        known = [region.name for region in regions.list_profiler_regions()]
        warn_once(
            f"unknown:{self.name}",
            f"Region {self.name!r} is not registered and is not recorded{nearest(self.name.strip().lower(), known)} "
            f"Registered: {', '.join(known) or 'none'}.",
        )
