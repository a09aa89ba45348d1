"""NBPROF_* environment variables -> frozen options. The one reader of `os.environ`.

In: the process environment (or a mapping given in its place). Out: `Settings`, read anew at each
call, so that a `%env` line in a notebook takes effect at the next recording.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast, get_args

REGIONS_VARIABLE = "NBPROF_TORCH_PROFILE_REGIONS"
REGION_PREFIX = "NBPROF_TORCH_PROFILE_"
PROFILER_PREFIX = "NBPROF_TORCH_PROFILER_"

Show = Literal["report", "none"]

_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off"}


@dataclass(frozen=True)
class CaptureOptions:
    """What torch.profiler records beside names and times."""

    shapes: bool = True
    memory: bool = False
    stack: bool = False
    flops: bool = False


@dataclass(frozen=True)
class Rank:
    """This process among the processes of a distributed run."""

    rank: int = 0
    local_rank: int = 0
    world_size: int = 1


@dataclass(frozen=True)
class Settings:
    """Everything that the environment says about nbprof."""

    directory: Path | None = None
    options: CaptureOptions = CaptureOptions()
    regions: tuple[str, ...] = ()
    switches: Mapping[str, bool] = field(default_factory=dict)
    show: Show = "report"
    captures_fx: bool = False
    rank: Rank = Rank()


def read_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Settings as the environment has them now.

    `regions` are the names of `NBPROF_TORCH_PROFILE_REGIONS` in order, `switches` maps the upper-case tail of every
    `NBPROF_TORCH_PROFILE_<REGION>` to its value.
    Raises ValueError, naming the variable, for a value that is no boolean (or no known choice).
    """
    env = os.environ if environ is None else environ
    listed = tuple(name for part in env.get(REGIONS_VARIABLE, "").split(",") if (name := part.strip()))
    directory = env.get(f"{PROFILER_PREFIX}DIR", "").strip()
    options = CaptureOptions(
        shapes=_boolean(env, f"{PROFILER_PREFIX}RECORD_SHAPES", default=True),
        memory=_boolean(env, f"{PROFILER_PREFIX}WITH_PROFILE_MEMORY"),
        stack=_boolean(env, f"{PROFILER_PREFIX}WITH_STACK"),
        flops=_boolean(env, f"{PROFILER_PREFIX}WITH_FLOPS"),
    )
    switches = {
        key.removeprefix(REGION_PREFIX): _boolean(env, key)
        for key in sorted(env)
        if key.startswith(REGION_PREFIX) and key != REGIONS_VARIABLE and env[key].strip()
    }
    rank = Rank(_integer(env, "RANK", 0), _integer(env, "LOCAL_RANK", 0), _integer(env, "WORLD_SIZE", 1))
    return Settings(
        directory=folder_of(directory, f"{PROFILER_PREFIX}DIR") if directory else None,
        options=options,
        regions=listed,
        switches=switches,
        show=_show(env),
        captures_fx=_boolean(env, "NBPROF_CAPTURE_FX"),
        rank=rank,
    )


def folder_of(text: str, source: str) -> Path:
    """A folder as a person names it, `~` included. Raises ValueError, naming the `source`, for a home nobody has."""
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise ValueError(f"{source}={text!r}: {error}") from error


def switch_name(region: str) -> str:
    """The tail of the variable that switches `region`: upper case, what is no letter or digit as `_`."""
    return re.sub(r"[^0-9A-Z]", "_", region.upper())


@contextmanager
def temporary_variable(name: str, value: str) -> Iterator[None]:
    """Set an environment variable that is not set yet, and take it away again at the end."""
    absent = name not in os.environ
    if absent:
        os.environ[name] = value
    try:
        yield
    finally:
        if absent:
            os.environ.pop(name, None)


def _boolean(env: Mapping[str, str], name: str, *, default: bool = False) -> bool:
    text = env.get(name, "").strip().lower()
    if not text:
        return default
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise ValueError(f"{name}={env[name]!r} is no boolean; use 1 or 0.")


def _integer(env: Mapping[str, str], name: str, default: int) -> int:
    try:
        return int(env.get(name, ""))
    except ValueError:  # not set, or somebody else's meaning of it
        return default


def _show(env: Mapping[str, str]) -> Show:
    text = env.get("NBPROF_SHOW", "").strip().lower() or "report"
    if text in get_args(Show):
        return cast(Show, text)
    raise ValueError(f"NBPROF_SHOW={env['NBPROF_SHOW']!r} is unknown; use one of {', '.join(get_args(Show))}.")
