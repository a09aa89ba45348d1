"""What stands behind `region()` while something is recorded: an entry, or the reason why there is none.

In: a recording's `Book`, a slot. Out: the opener that the slot keeps, with every question answered that needn't be asked
at each entry.
"""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from threading import get_ident

from nbprof.capture import regions
from nbprof.capture.entry import Book, Entry
from nbprof.capture.notices import nearest, warn_once
from nbprof.capture.regions import Opener, Slot


def opener_for(slot: Slot, book: Book, *, default_on: bool, nested_only: bool = True) -> Opener | None:
    """What opens the slot in a recording; None for a region that is off.

    `default_on` lets what is left to its default be recorded, with `nested_only` just inside another region.
    """
    region = regions.resolve_profiler_region(slot.name)
    if region is None:
        return _open_unknown
    state = regions.region_state(region.name)
    by_default = region.default_enabled or default_on
    if state == "off" or (state == "default" and not by_default):
        return None
    place, owner, open_entries = book.place(region.name), book.owner, book.open
    only_nested = nested_only and state == "default" and not region.default_enabled

    def open_entry(slot: Slot) -> AbstractContextManager[None]:
        if get_ident() != owner:
            return _refuse_thread(place.name)
        if only_nested and not open_entries:
            return regions.NOTHING
        entry = Entry()
        entry.place = place
        return entry

    return open_entry


def _open_unknown(slot: Slot) -> AbstractContextManager[None]:
    known = [region.name for region in regions.list_profiler_regions()]
    warn_once(
        f"unknown:{slot.name}",
        f"Region {slot.name!r} is not registered and is not recorded{nearest(slot.name.strip().lower(), known) or '.'} "
        f"Registered: {', '.join(known) or 'none'}.",
    )
    return regions.NOTHING


def _refuse_thread(name: str) -> AbstractContextManager[None]:
    warn_once(
        f"thread:{name}",
        f"Region {name!r} was entered from thread {threading.current_thread().name!r} and is not recorded there: torch "
        "profiles only the thread that started the profiler.",
    )
    return regions.NOTHING
