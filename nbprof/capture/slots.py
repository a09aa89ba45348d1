"""What `region()` returns: a slot for each name, which costs next to nothing until somebody records.

In: names from code, and from a recording what stands in for each slot. Out: context managers and decorators.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import cast

from torch.compiler import is_dynamo_compiling

from nbprof.capture.wrapping import F, inside

_MOST_SLOTS = 10_000  # names made up on the fly must not pile up

_lock = threading.RLock()
_slots: dict[str, Slot] = {}
_stand_in_for: Callable[[Slot], Named | None] | None = None


class Named:
    """Whatever `region(name)` returns: a context manager that may be entered often, also inside itself.

    As a decorator it looks at each call what the region is then.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object = None, error: object = None, trace: object = None) -> None:
        return None

    def __call__(self, func: F) -> F:
        return inside(func, lambda args: region(self.name))


class Slot(Named):
    """The place of one name: a context manager that does nothing while it has no stand-in.

    It may be kept and entered later, or again inside itself: it looks at its stand-in each time.
    """

    __slots__ = ("_late", "is_watched", "stand_in")

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.stand_in: Named | None = None
        self.is_watched = False  # whether there is a stand-in, or one to leave: the one question of the idle path
        self._late: list[tuple[int, Named | None]] = []

    def __enter__(self) -> None:
        if self.is_watched:
            self.enter(self.stand_in)

    def __exit__(self, kind: object = None, error: object = None, trace: object = None) -> None:
        if self.is_watched:
            self.leave()

    def hang(self, stand_in: Named | None) -> None:
        """Set what is entered in its place, or nothing."""
        self.stand_in = stand_in
        self.is_watched = stand_in is not None or bool(self._late)

    def enter(self, entered: Named | None) -> None:
        """Enter something, or nothing, and remember it for this thread."""
        self._late.append((threading.get_ident(), entered))
        self.is_watched = True
        if entered is not None:
            entered.__enter__()

    def leave(self) -> None:
        """Leave what this thread entered last."""
        mine = threading.get_ident()
        for index in range(len(self._late) - 1, -1, -1):
            if self._late[index][0] == mine:
                entered = self._late.pop(index)[1]
                self.is_watched = self.stand_in is not None or bool(self._late)
                if entered is not None:
                    entered.__exit__(None, None, None)
                return


class _Nothing(Named):
    """A region that is never recorded, whoever records."""

    __slots__ = ()

    def __call__(self, func: F) -> F:
        return func


NOTHING = _Nothing("")


def region(name: str) -> Named:
    """Context manager and decorator: what runs inside belongs to the region `name`.

    Collects when a recording is under way and the region is on; costs about a tenth of a microsecond otherwise. In code
    compiled by torch it vanishes, so that the graph stays whole.
    """
    if is_dynamo_compiling():
        # Made here: torch can't compile the entering of an object that was there before.
        return cast(Named, nullcontext())
    try:
        slot = _slots[name]
    except (KeyError, TypeError):
        slot = _new_slot(name)
    stand_in = slot.stand_in
    return slot if stand_in is None else stand_in


def follow(stand_in_for: Callable[[Slot], Named | None] | None) -> None:
    """Let a controller (or nobody, None) say what stands in for each slot."""
    global _stand_in_for
    with _lock:
        _stand_in_for = stand_in_for
        refresh_slots()


def is_followed() -> bool:
    """Whether somebody says what stands in for slots, which is: whether something is recorded."""
    return _stand_in_for is not None


def refresh_slots(slots: Iterable[Slot] | None = None) -> None:
    """Ask the controller anew what stands in for each slot."""
    with _lock:
        for slot in list(_slots.values()) if slots is None else slots:
            slot.hang(None if _stand_in_for is None else _stand_in_for(slot))


def _new_slot(name: str) -> Slot:
    if not isinstance(name, str):
        raise TypeError(f"A region's name is text, not {type(name).__name__}: {name!r}.")
    slot = Slot(name)
    with _lock:
        refresh_slots([slot])
        if len(_slots) < _MOST_SLOTS:
            _slots.setdefault(name, slot)
    return slot
