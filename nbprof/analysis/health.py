"""What would make the numbers wrong, one row for each thing that was looked at.

In: events and the trace's metadata. Out: the table `health`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
import pandas as pd

from nbprof.metadata import TraceMetadata
from nbprof.schema import DEVICE_CATEGORIES, RUNTIME_CATEGORIES, conform
from nbprof.structure.calltree import CallTree, call_tree
from nbprof.structure.masks import Integers, flagged, value_mask
from nbprof.structure.openings import profiler_steps

Status = Literal["ok", "note", "warning"]

LONE_SHARE = 0.05
"""More device time than this without a launch, and what is said of operators, steps and regions has a hole."""
SWALLOWED_NS = 1_000
_LAUNCHES_KERNEL = re.compile(r"Launch(Cooperative)?Kernel|LaunchKernelEx|GraphLaunch", re.IGNORECASE)


@dataclass(frozen=True)
class Check:
    """One row of the table."""

    check: str
    status: Status
    figure: float
    detail: str


def health(events: pd.DataFrame, metadata: TraceMetadata, *, tree: CallTree | None = None) -> pd.DataFrame:
    """One row a check, also when all is well: `status` is ok, note (know it) or warning (the numbers mislead)."""
    tree = call_tree(events) if tree is None else tree
    checks = [
        *_reading(metadata),
        _recording(metadata),
        _anything(events, tree),
        *_steps(events, metadata, tree),
        _without_launch(events, tree),
        _without_work(events, tree),
        _before_launch(tree),
        _nesting(tree),
        _crossing_regions(tree),
        _misplaced(tree),
        _durations(events, tree),
        _overrunning(events, tree),
    ]
    return conform(pd.DataFrame([asdict(check) for check in checks]).astype({"figure": "float64"}), "health")


def _reading(metadata: TraceMetadata) -> Iterator[Check]:
    for problem in metadata.problems:
        place = "" if problem.offset is None else f" The first is at byte {problem.offset}."
        detail = f"{problem.count} found: {problem.detail.rstrip('.')}.{place}"
        yield Check(f"reading: {problem.kind}", "note" if problem.is_mended else "warning", problem.count, detail)
    if not metadata.problems:
        yield Check("reading", "ok", 0, "The file was read whole; nothing was repaired or dropped.")


def _recording(metadata: TraceMetadata) -> Check:
    capture = metadata.capture
    if capture is None:
        return Check("recording", "ok", 0, "Not recorded by nbprof: nothing is known of how it ended.")
    if capture.outcome == "complete":
        return Check("recording", "ok", 0, "The recorded code ran to its end.")
    cause = f" ({capture.error})" if capture.error else ""
    words = {"interrupted": "was interrupted", "empty": "recorded nothing"}.get(capture.outcome, capture.outcome)
    return Check("recording", "warning", 1, f"The code {words}{cause}: the recording holds what ran till then.")


def _anything(events: pd.DataFrame, tree: CallTree) -> Check:
    counted = int(tree.times.complete.sum())
    if not len(events):
        return Check("events", "warning", 0, "The trace holds no events.")
    if not counted:
        return Check("events", "warning", 0, f"None of the {len(events)} events counts: nothing ran inside a region.")
    return Check("events", "ok", counted, f"{counted} of {len(events)} rows are calls that the tables count.")


def _steps(events: pd.DataFrame, metadata: TraceMetadata, tree: CallTree) -> Iterator[Check]:
    capture = metadata.capture
    recorded = len(profiler_steps(events, tree.times)[0])
    if capture is None or capture.planned_steps is None:
        yield Check(
            "steps",
            "ok",
            recorded,
            f"{recorded} step window{'' if recorded == 1 else 's'} recorded; no schedule is known.",
        )
        return
    planned, run = capture.planned_steps, capture.run_steps or 0
    active = capture.schedule.get("active")
    if run < planned:
        yield Check("steps", "warning", run, f"{run} of {planned} planned steps ran, so the recording is short.")
    elif active is not None and 0 < recorded < active:
        yield Check("steps", "warning", recorded, f"{recorded} of {active} active steps were recorded.")
    else:
        yield Check("steps", "ok", run, f"All {planned} planned steps ran.")


def _without_launch(events: pd.DataFrame, tree: CallTree) -> Check:
    name = "device events without launch"
    device = value_mask(events["category"], DEVICE_CATEGORIES) & ~tree.times.misplaced
    lone = device & (tree.launch < 0)
    count, total = int(lone.sum()), int(device.sum())
    if not count:
        return Check(
            name, "ok", 0, "Every device event has its launch." if total else "No device events in this trace."
        )
    time = int(tree.times.durations[lone].sum())
    share = time / max(int(tree.times.durations[device].sum()), 1)
    counted = "they count for kernels and timeline, and belong to no operator, step or region"
    if not tree.device[lone].any():
        counted = "they count nowhere, since this recording counts only what regions launched"
    detail = (
        f"{count} of {total} device events ({time / 1_000_000:.3f} ms, {share:.1%} of device time) were launched before the "
        f"recording, or their launch is lost: {counted}."
    )
    return Check(name, "warning" if share > LONE_SHARE else "note", count, detail)


def _without_work(events: pd.DataFrame, tree: CallTree) -> Check:
    name = "launches without device events"
    if not tree.device.any():
        return Check(name, "ok", 0, "No device events in this trace.")
    count = _launches_without_work(events, tree)
    if not count:
        return Check(name, "ok", 0, "Every kernel launch has its device event.")
    return Check(
        name,
        "note",
        count,
        f"{count} kernel launches have no device event: it ran after the recording, or was dropped.",
    )


def _launches_without_work(events: pd.DataFrame, tree: CallTree) -> int:
    """Calls that launch kernels (copies may run on the host alone) and that no device event names."""
    launching = flagged(events["name"], (bool(_LAUNCHES_KERNEL.search(str(n))) for n in events["name"].cat.categories))
    rows = launching & tree.times.complete & value_mask(events["category"], RUNTIME_CATEGORIES)
    rows[tree.launch[tree.launch >= 0]] = False
    return int(rows.sum())


def _before_launch(tree: CallTree) -> Check:
    name = "device events before their launch"
    starts = tree.times.starts
    count = int(np.sum((tree.launch >= 0) & (starts < starts[tree.launch])))
    if not count:
        return Check(name, "ok", 0, "No device event starts before its launch.")
    detail = f"{count} device events start before the call that launched them: the device's clock has drifted."
    return Check(name, "warning", count, detail + " Restart the kernel and record once.")


def _nesting(tree: CallTree) -> Check:
    if not tree.conflicts:
        return Check("nesting", "ok", 0, "Operators and runtime calls nest on every thread.")
    detail = f"{tree.conflicts} operators or runtime calls outlive, by 1 us or more, the call in which they start."
    return Check("nesting", "warning", tree.conflicts, detail + " Their self times are approximate.")


def _crossing_regions(tree: CallTree) -> Check:
    if not tree.crossings:
        return Check("regions", "ok", 0, "Regions nest on every thread.")
    detail = f"{tree.crossings} region entries overlap others without nesting (async code): their times overlap too."
    return Check("regions", "note", tree.crossings, detail)


def _misplaced(tree: CallTree) -> Check:
    count = int(tree.times.misplaced.sum())
    if not count:
        return Check("event times", "ok", 0, "No device record lies far before all others.")
    return Check(
        "event times",
        "warning",
        count,
        f"{count} device records carry no time (dropped by the tracer); no table counts them.",
    )


def _durations(events: pd.DataFrame, tree: CallTree) -> Check:
    count = int(np.sum(value_mask(events["ph"], {"X"}) & ~tree.times.lasting))
    if not count:
        return Check("durations", "ok", 0, "Every call has a duration.")
    detail = f"{count} calls have no valid duration: they count as calls, and in no time."
    return Check("durations", "warning", count, detail)


def _overrunning(events: pd.DataFrame, tree: CallTree) -> Check:
    name = "overrunning durations"
    found = _overruns(events, tree)
    if len(found.swallowing):
        worst = found.swallowing[0]
        stream, kernel = events["stream"].iloc[worst], events["name"].iloc[worst]
        detail = (
            f"{len(found.swallowing)} device events last past the end of the next one on their stream, which runs one "
            f"at a time; the longest is {str(kernel)[:120]} on stream {stream}. Don't trust their durations and shares."
        )
        return Check(name, "warning", len(found.swallowing), detail)
    if found.overlapping:
        detail = f"{found.overlapping} device events overlap the next one on their stream (dependent launch): busy time"
        return Check(name, "note", found.overlapping, detail + " is their union.")
    return Check(name, "ok", 0, "Device events of a stream run one after another.")


@dataclass(frozen=True)
class _Overruns:
    """`overlapping`: how many run into the next one; `swallowing`: rows that outlast it by 1 us or more, longest first.

    A stream starts a kernel before the last one has ended under dependent launch, and in a graph; it never runs one
    to its end inside another, unless the durations are wrong or branches of a graph run side by side.
    """

    overlapping: int
    swallowing: Integers


def _overruns(events: pd.DataFrame, tree: CallTree) -> _Overruns:
    """Neighbours on each device and stream, in order of start."""
    rows = np.flatnonzero(tree.device & tree.times.known)
    device, stream = (events[side].to_numpy(dtype="int64", na_value=-1)[rows] for side in ("device", "stream"))
    starts, ends = tree.times.starts[rows], tree.times.ends[rows]
    order = np.lexsort((ends, starts, stream, device))
    rows, device, stream, starts, ends = (column[order] for column in (rows, device, stream, starts, ends))
    same = (np.diff(device) == 0) & (np.diff(stream) == 0)
    overlapping = same & (ends[:-1] > starts[1:])
    swallowing = rows[:-1][overlapping & (ends[:-1] >= ends[1:] + SWALLOWED_NS)]
    return _Overruns(int(overlapping.sum()), swallowing[np.argsort(-tree.times.durations[swallowing], kind="stable")])
