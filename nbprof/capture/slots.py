"""What `region()` returns: one slot for each name, which costs next to nothing until somebody records.

In: names from code, and from a recording the place that each name has in it. Out: context managers and decorators, and
markers in the trace around the blocks that they enclose.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from threading import get_ident
from time import perf_counter_ns
from typing import Any, cast

from torch.compiler import is_dynamo_compiling

from nbprof.capture.places import Entry, Place
from nbprof.capture.wrapping import F, inside

_MOST_SLOTS = 10_000  # names made up on the fly must not pile up

_lock = threading.RLock()
# A fork waits for the lock: one that another thread held then would stay held in the child for ever.
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
_slots: dict[str, Slot] = {}
_place_of: Callable[[str], Place | None] | None = None


class Slot:
    """One name: a context manager that may be kept, entered often and inside itself, and a decorator.

    It looks at its `place` at each entry, None while nothing is recorded under the name. Nothing is called or made here
    that needn't be: this is the path that every block takes. Where asynchronous tasks leave the same region in another
    order than they entered it, their stretches change owners and keep their sum.
    """

    __slots__ = ("_open", "name", "place")

    def __init__(self, name: str) -> None:
        self.name = name
        self.place: Place | None = None
        self._open: list[Entry] = []  # the stretches, of all names, that are open in the recording it was entered in

    def __enter__(self) -> None:
        place = self.place
        if place is None:
            return
        if get_ident() != place.owner:
            place.turn_away(self)
            return
        opened = self._open = place.open
        if not opened:
            if place.is_only_nested:
                return
            place.switch(True)
        opened.append((self, place, place.mark(place.marker), perf_counter_ns()))

    def __exit__(self, kind: object = None, error: object = None, trace: object = None) -> None:
        opened = self._open
        if not opened:
            return
        end = perf_counter_ns()
        at = -1
        if opened[-1][0] is not self:  # interleaved tasks, or a region that was off when it was entered
            at = next((at for at in range(len(opened) - 1, -1, -1) if opened[at][0] is self), len(opened))
            if at == len(opened):
                return
        _, place, handle, start = opened[at]
        if get_ident() != place.owner:
            place.left_elsewhere(self)
            return
        place.unmark(handle)
        del opened[at]
        if opened:
            parent = opened[-1][1].name
        else:
            parent = None
            place.switch(False)
        try:
            count = place.counts[parent]
        except KeyError:
            count = place.counts[parent] = [0, 0]
        count[0] += 1
        count[1] += end - start

    def __call__(self, func: F) -> F:
        return inside(func, lambda args: region(self.name))


class Nothing(Slot):
    """A region that is never recorded, whoever records."""

    __slots__ = ()

    def __call__(self, func: F) -> F:
        return func


NOTHING = Nothing("")


def region(name: str) -> Slot:
    """Context manager and decorator: what runs inside belongs to the region `name`.

    Collects when a recording is under way and the region is on; costs less than a third of an empty context manager
    otherwise. In code compiled by torch it vanishes, so that the graph stays whole: there it is not recorded.
    """
    if is_dynamo_compiling():
        # Made here: torch can't compile the entering of an object that was there before.
        return cast(Slot, nullcontext())
    try:
        return _slots[name]
    except (KeyError, TypeError):
        return _new_slot(name)


def follow(place_of: Callable[[str], Place | None] | None) -> None:
    """Let a recording (or nobody, None) say which place each name has."""
    global _place_of
    with _lock:
        _place_of = place_of
        refresh_slots()


def is_followed() -> bool:
    """Whether somebody says which place each name has, which is: whether something is recorded."""
    return _place_of is not None


def refresh_slots(slots: Iterable[Slot] | None = None) -> None:
    """Ask the recording anew."""
    with _lock:
        for slot in list(_slots.values()) if slots is None else slots:
            slot.place = None if _place_of is None else _place_of(slot.name)


def _new_slot(name: Any) -> Slot:
    if not isinstance(name, str):
        raise TypeError(f"A region's name is text, not {type(name).__name__}: {name!r}.")
    slot = Slot(name)
    with _lock:
        refresh_slots([slot])
        if len(_slots) < _MOST_SLOTS:
            return _slots.setdefault(name, slot)
    return slot
