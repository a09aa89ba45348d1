"""Registry of named regions, and the one table of what is on, off or left to its default.

In: names from code, environment, configuration and panels. Out: `ProfilerRegion`s and states; what is recorded meanwhile
looks at them anew.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from nbprof.capture.notices import nearest, warn_once
from nbprof.capture.slots import refresh_slots
from nbprof.markers import canonical_name
from nbprof.settings import Settings, read_settings, switch_name

State = Literal["on", "off", "default"]

LONG_PREFIX = "profiler_region_"

_lock = threading.RLock()
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)  # as in slots
_registry: dict[str, ProfilerRegion] = {}
_states: dict[str, bool] = {}


@dataclass(frozen=True)
class ProfilerRegion:
    """A named part of a program that can be profiled; `name` is lower-case, without blanks around it."""

    name: str
    description: str
    default_enabled: bool = False

    def __post_init__(self) -> None:
        """Raises ValueError for a name that no registration would make."""
        if not self.name or self.name != canonical_name(self.name):
            raise ValueError(
                f"Region name {self.name!r} must be non-empty, lower-case and without blanks around it; "
                "register_profiler_region() makes it so."
            )


def register_profiler_region(name: str, description: str, *, default_enabled: bool = False) -> None:
    """Make a region known; its name is stripped and lower-cased.

    Raises ValueError for an empty name and for one that is registered already. What the environment says of it
    (`NBPROF_TORCH_PROFILE_<REGION>`, `NBPROF_TORCH_PROFILE_REGIONS`) takes effect at once.
    """
    canonical = canonical_name(name)
    if not canonical:
        raise ValueError(f"A region needs a name that is not empty; got {name!r}.")
    settings = read_settings()
    with _lock:
        if canonical in _registry:
            raise ValueError(f"Region {canonical!r} is already registered ({_registry[canonical].description!r}).")
        _registry[canonical] = ProfilerRegion(canonical, description, default_enabled)
        wanted = environment_states(settings).get(canonical)
        if wanted is not None:
            _states[canonical] = wanted
        refresh_slots()


def resolve_profiler_region(name: str) -> ProfilerRegion | None:
    """The region of that name, or of `profiler_region_` + that name, or None."""
    canonical = canonical_name(name)
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


def is_wanted(region: ProfilerRegion, *, default_on: bool = False) -> bool:
    """Whether the region is on, by its state or else its default; `default_on` stands in for that."""
    state = _states.get(region.name)
    return (region.default_enabled or default_on) if state is None else state


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
    """What the environment says of the registered regions; a switch of one region wins over the list."""
    listed = (resolve_profiler_region(name) for name in settings.regions)
    states = {region.name: True for region in listed if region is not None}
    known = _switches()
    return states | {known[switch]: on for switch, on in settings.switches.items() if switch in known}


def warn_of_unknown(settings: Settings) -> None:
    """Warn once for each name of the environment that no region has, with the nearest that there is."""
    known = [region.name for region in list_profiler_regions()]
    switches = _switches()
    unknown = [name for name in settings.regions if resolve_profiler_region(name) is None]
    unknown += [switch.lower() for switch in settings.switches if switch not in switches]
    for name in unknown:
        near = nearest(name, known + [name.removeprefix(LONG_PREFIX) for name in known])
        warn_once(
            f"environment:{name}",
            f"The environment names a profiler region {name!r} that is not registered{near} "
            f"Registered: {', '.join(known) or 'none yet'}.",
        )


def _switches() -> dict[str, str]:
    """The region of each `NBPROF_TORCH_PROFILE_<REGION>`, by its long and its short name."""
    names = [region.name for region in list_profiler_regions()]
    return {switch_name(spelled): name for name in names for spelled in (name.removeprefix(LONG_PREFIX), name)}


def _known(name: str) -> str:
    resolved = resolve_profiler_region(name)
    if resolved is None:
        known = [region.name for region in list_profiler_regions()]
        listed = f" Registered: {', '.join(known)}." if known else " No region is registered yet."
        raise ValueError(f"There is no region {name!r}{nearest(canonical_name(name), known)}{listed}")
    return resolved.name
