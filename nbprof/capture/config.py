"""What the environment asks to be profiled.

In: `Settings` and the registry. Out: a frozen `TorchProfilerConfig`, or a ValueError that lists what there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nbprof.capture import regions
from nbprof.settings import REGION_PREFIX, REGIONS_VARIABLE, read_settings


@dataclass(frozen=True)
class TorchProfilerConfig:
    """Which regions are on (True) or off (False); a region that isn't named keeps its own default."""

    regions: Mapping[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Names are resolved to their registered form; raises ValueError for one that no region has."""
        resolved: dict[str, bool] = {}
        for name, on in self.regions.items():
            region = regions.resolve_profiler_region(name)
            if region is None:
                raise ValueError(f"There is no region {name!r} to configure. {_listing()}")
            resolved[region.name] = on
        object.__setattr__(self, "regions", resolved)

    @classmethod
    def from_env(cls) -> TorchProfilerConfig:
        """What `NBPROF_TORCH_PROFILE_REGIONS` and `NBPROF_TORCH_PROFILE_<REGION>` ask for.

        Unknown names are warned about once, with the nearest match. Raises ValueError, listing what there is, when names
        were given and none matches, or when none was given and no region is on by default; also for a bad boolean.
        """
        settings = read_settings()
        regions.warn_of_unknown(settings)
        states = regions.environment_states(settings)
        given = [*settings.regions, *settings.switches]
        if given and not states:
            raise ValueError(f"The environment names no region that is registered: {', '.join(given)}. {_listing()}")
        on_by_default = any(region.default_enabled for region in regions.list_profiler_regions())
        if not given and not on_by_default:
            raise ValueError(
                f"No region to profile: none is on by default. Set {REGIONS_VARIABLE} to a comma list of names, or "
                f"{REGION_PREFIX}<REGION>=1. {_listing()}"
            )
        return cls(states)

    @classmethod
    def from_env_or_defaults(cls) -> TorchProfilerConfig:
        """The same for a recording that a person starts by hand: nothing has to be named."""
        settings = read_settings()
        regions.warn_of_unknown(settings)
        return cls(regions.environment_states(settings))


def _listing() -> str:
    names = ", ".join(region.name for region in regions.list_profiler_regions())
    return f"Registered regions: {names}." if names else "No region is registered yet (register_profiler_region)."
