"""What is known of a recording, and what a trace says of itself.

In: nothing. Out: plain dataclasses, of which `CaptureInfo` stands in the trace file under `METADATA_KEY`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

METADATA_KEY = "nbprof"
"""Key of a trace file under which nbprof keeps what it knows of the recording."""
SCHEMA_VERSION = 1

Kind = Literal["cell", "once", "controller"]
Outcome = Literal["complete", "interrupted", "failed", "empty"]


@dataclass(frozen=True)
class RegionCount:
    """What the controller itself counted for one region under one parent; `wall_us` in microseconds."""

    region: str
    parent: str | None
    entries: int
    wall_us: float


@dataclass(frozen=True)
class CaptureInfo:
    """What nbprof knows of a recording; stands under the key `nbprof` of the trace file.

    `gated` says that only what lies inside regions counts. `calls_us` is the wall time of each call
    of a one-shot session in microseconds, waiting and warming up included, `stop_us` what torch took to stop.
    `planned_steps` is None where no schedule was asked for, and in a part of a trace. `error` is the class name of what
    ended the code early.
    """

    kind: Kind = "controller"
    label: str = ""
    outcome: Outcome = "complete"
    gated: bool = False
    error: str | None = None
    cell: str | None = None
    schedule: Mapping[str, int] = field(default_factory=dict)
    planned_steps: int | None = None
    run_steps: int | None = None
    calls_us: tuple[float, ...] = ()
    stop_us: float | None = None
    regions: tuple[RegionCount, ...] = ()
    options: Mapping[str, bool] = field(default_factory=dict)
    rank: int = 0
    world_size: int = 1
    version: str = ""
    torch: str = ""
    schema: int = SCHEMA_VERSION

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class ReadProblem:
    """One kind of thing that was repaired, dropped or cut while reading: how often, and where first (byte offset).

    `is_mended` says that nothing is missing for it.
    """

    kind: str
    count: int
    offset: int | None
    detail: str
    is_mended: bool = False


@dataclass(frozen=True)
class TraceMetadata:
    """What a trace says of itself.

    `start_ns` is the absolute time (or the file's own zero) from which `events.ts_ns` counts.
    `bytes` is the size of the file, `text_bytes` of the JSON inside. `labels` are the file's metadata rows (ph M), which
    name processes and threads, as they stand there. `other` keeps all further keys of the file.
    """

    source: str
    start_ns: int = 0
    bytes: int = 0
    text_bytes: int = 0
    capture: CaptureInfo | None = None
    devices: tuple[Mapping[str, Any], ...] = ()
    distributed: Mapping[str, Any] = field(default_factory=dict)
    labels: tuple[Mapping[str, Any], ...] = ()
    problems: tuple[ReadProblem, ...] = ()
    other: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rank(self) -> int | None:
        """Rank of the process that was recorded; None where the file doesn't say."""
        return self._distributed_number("rank")

    @property
    def world_size(self) -> int | None:
        """How many processes ran together; None where the file doesn't say."""
        return self._distributed_number("world_size")

    @property
    def process_groups(self) -> tuple[Mapping[str, Any], ...]:
        """The process groups that the file lists (`pg_name`, `pg_desc`, `ranks`, ...)."""
        groups = self.distributed.get("pg_config")
        return tuple(group for group in groups if isinstance(group, Mapping)) if isinstance(groups, list) else ()

    def _distributed_number(self, key: str) -> int | None:
        value = self.distributed.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        return int(getattr(self.capture, key)) if self.capture is not None else None
