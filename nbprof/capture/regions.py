"""Registry of named regions, and the one table of what is on, off or left to its default.

In: names from code, environment, configuration and panels. Out: `ProfilerRegion`s, states, and `region()`, which costs
next to nothing until a controller hangs something into the region's slot.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Literal, ParamSpec, TypeVar

from torch.compiler import is_dynamo_compiling

from nbprof.capture.notices import nearest, warn_once
from nbprof.settings import Settings, read_settings, switch_name

P = ParamSpec("P")
R = TypeVar("R")
State = Literal["on", "off", "default"]
StandIn = AbstractContextManager[None]
"""What is entered in place of a slot while something is recorded; may be entered often, also inside itself."""

LONG_PREFIX = "profiler_region_"
_MOST_SLOTS = 10_000  # names made up on the fly must not pile up

_lock = threading.RLock()
_registry: dict[str, ProfilerRegion] = {}
_states: dict[str, bool] = {}
_slots: dict[str, Slot] = {}
_stand_in_for: Callable[[Slot], StandIn | None] | None = None


@dataclass(frozen=True)
class ProfilerRegion:
    """A named part of a program that can be profiled; `name` is lower-case, without blanks around it."""

    name: str
    description: str
    default_enabled: bool = False

    def __post_init__(self) -> None:
        """Raises ValueError for a name that no registration would make."""
        if not self.name or self.name != _canonical(self.name):
            raise ValueError(
                f"Region name {self.name!r} must be non-empty, lower-case and without blanks around it; "
                "register_profiler_region() makes it so."
            )


class Named:
    """Whatever `region(name)` returns: also a decorator, which looks at each call what the region is then."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, func: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(func)
        def inside(*args: P.args, **kwargs: P.kwargs) -> R:
            with region(self.name):
                return func(*args, **kwargs)

        return inside


class Slot(Named):
    """The place of one name: a context manager that does nothing while it has no stand-in.

    It may be kept and entered later, or again inside itself: it looks at its stand-in each time.
    """

    __slots__ = ("_late", "is_watched", "stand_in")

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.stand_in: StandIn | None = None
        self.is_watched = False  # whether there is a stand-in, or one to leave: the one question of the idle path
        self._late: list[tuple[int, StandIn | None]] = []

    def __enter__(self) -> None:
        if self.is_watched:
            self._enter()

    def __exit__(self, kind: object = None, error: object = None, trace: object = None) -> None:
        if self.is_watched:
            self._leave()

    def hang(self, stand_in: StandIn | None) -> None:
        """Set what is entered in its place, or nothing."""
        self.stand_in = stand_in
        self.is_watched = stand_in is not None or bool(self._late)

    def _enter(self) -> None:
        entered = self.stand_in
        self._late.append((threading.get_ident(), entered))
        if entered is not None:
            entered.__enter__()

    def _leave(self) -> None:
        mine = threading.get_ident()
        for index in range(len(self._late) - 1, -1, -1):
            if self._late[index][0] == mine:
                entered = self._late.pop(index)[1]
                self.is_watched = self.stand_in is not None or bool(self._late)
                if entered is not None:
                    entered.__exit__(None, None, None)
                return


NOTHING = Slot("")
"""A region that is never recorded."""


def region(name: str) -> AbstractContextManager[None]:
    """Context manager and decorator: what runs inside belongs to the region `name`.

    Collects when a recording is under way and the region is on; costs about a tenth of a microsecond otherwise. In code
    compiled by torch it vanishes, so that the graph stays whole.
    """
    if is_dynamo_compiling():
        return nullcontext()  # made here: torch can't compile the entering of an object that was there before
    try:
        slot = _slots[name]
    except (KeyError, TypeError):
        slot = _new_slot(name)
    stand_in = slot.stand_in
    return slot if stand_in is None else stand_in


def register_profiler_region(name: str, description: str, *, default_enabled: bool = False) -> None:
    """Make a region known; its name is stripped and lower-cased.

    Raises ValueError for an empty name and for one that is registered already. What the environment says of it
    (`NBPROF_TORCH_PROFILE_<REGION>`, `NBPROF_TORCH_PROFILE_REGIONS`) takes effect at once.
    """
    canonical = _canonical(name)
    if not canonical:
        raise ValueError(f"A region needs a name that is not empty; got {name!r}.")
    with _lock:
        if canonical in _registry:
            raise ValueError(f"Region {canonical!r} is already registered ({_registry[canonical].description!r}).")
        _registry[canonical] = ProfilerRegion(canonical, description, default_enabled)
        wanted = environment_states(read_settings()).get(canonical)
        if wanted is not None:
            _states[canonical] = wanted
        refresh_slots()


def resolve_profiler_region(name: str) -> ProfilerRegion | None:
    """The region of that name, or of `profiler_region_` + that name, or None."""
    canonical = _canonical(name)
    return _registry.get(canonical) or _registry.get(LONG_PREFIX + canonical)


def list_profiler_regions() -> list[ProfilerRegion]:
    """All registered regions, sorted by name."""
    with _lock:
        return [_registry[name] for name in sorted(_registry)]


def enable_region(name: str) -> None:
    """Set a region on, from any thread; takes effect at its next entry."""
    set_states({_known(name): True})


def disable_region(name: str) -> None:
    """Set a region off, from any thread; takes effect at its next entry."""
    set_states({_known(name): False})


def reset_region(name: str) -> None:
    """Leave a region to its default again, from any thread; takes effect at its next entry."""
    set_states({_known(name): None})


def region_state(name: str) -> State:
    """`on`, `off` or `default`."""
    state = _states.get(_known(name))
    return "default" if state is None else "on" if state else "off"


def set_states(wanted: Mapping[str, bool | None]) -> dict[str, bool | None]:
    """Write several states at once (None is the default); returns what stood there before."""
    with _lock:
        before = {name: _states.get(name) for name in wanted}
        for name, state in wanted.items():
            if state is None:
                _states.pop(name, None)
            else:
                _states[name] = state
        refresh_slots()
        return before


def restore_states(*, written: Mapping[str, bool], before: Mapping[str, bool | None]) -> None:
    """Take back what was `written`, where nobody has changed it since."""
    with _lock:
        set_states({name: state for name, state in before.items() if _states.get(name) == written[name]})


def environment_states(settings: Settings) -> dict[str, bool]:
    """What the environment says of the registered regions; names that it lists and nobody knows are warned about once."""
    states: dict[str, bool] = {}
    for name in settings.regions or ():
        resolved = resolve_profiler_region(name)
        if resolved is not None:
            states[resolved.name] = True
    by_switch = {switch_name(name): name for name in _registry}
    by_switch |= {switch_name(name.removeprefix(LONG_PREFIX)): name for name in _registry if LONG_PREFIX in name}
    states |= {by_switch[switch]: on for switch, on in settings.switches.items() if switch in by_switch}
    return states


def warn_of_unknown(settings: Settings) -> None:
    """Warn once for each name of the environment that no region has, with the nearest that there is."""
    known = [region.name for region in list_profiler_regions()]
    short = [name.removeprefix(LONG_PREFIX) for name in known]
    switches = {switch_name(name) for name in known + short}
    unknown = [name for name in settings.regions or () if resolve_profiler_region(name) is None]
    unknown += [switch.lower() for switch in settings.switches if switch not in switches]
    for name in unknown:
        warn_once(
            f"environment:{name}",
            f"The environment names a profiler region {name!r} that is not registered{nearest(name, known + short) or '.'}"
            f" Registered: {', '.join(known) or 'none yet'}.",
        )


def follow(stand_in_for: Callable[[Slot], StandIn | None] | None) -> None:
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


def _canonical(name: str) -> str:
    return name.strip().lower()


def _known(name: str) -> str:
    resolved = resolve_profiler_region(name)
    if resolved is None:
        known = [region.name for region in list_profiler_regions()]
        listed = f" Registered: {', '.join(known)}." if known else " No region is registered yet."
        raise ValueError(f"There is no region {name!r}{nearest(_canonical(name), known) or '.'}{listed}")
    return resolved.name
