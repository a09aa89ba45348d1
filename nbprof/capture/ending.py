"""How a controller's recording ends: from a stopped window and its book to a `Recording` with its summary.

In: the window, the book, the plan of the recording. Out: the latest `Recording`, also when there is nothing in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from nbprof.capture import files, regions
from nbprof.capture.gate import DeviceGating
from nbprof.capture.notices import announce
from nbprof.capture.places import Book
from nbprof.capture.recording import Recording, describe, empty, finish
from nbprof.capture.summary import write_summary
from nbprof.capture.window import Window
from nbprof.metadata import CaptureInfo, Kind
from nbprof.settings import CaptureOptions, Rank, Settings


@dataclass(frozen=True)
class Plan:
    """What a recording is for: where it goes, who asked, and what `default` means in it.

    `options` is None for a profiler that the user made.
    """

    path: Path | None = None
    label: str = "TorchProfilerController"
    kind: Kind = "controller"
    cell: str | None = None
    default_on: bool = False
    options: CaptureOptions | None = None
    device_gating: DeviceGating = "filter"
    with_summary: bool = True
    rank: Rank = field(default_factory=Rank)

    def settled(self, settings: Settings) -> Plan:
        """With what the environment says at the start: what it says later must not lose the recording."""
        path = self.path
        if path is None and settings.directory is not None:
            path = files.unique_path(settings.directory, files.worker_name(settings.rank))
        return replace(self, path=path, rank=settings.rank)


def conclude(window: Window, book: Book, plan: Plan, error: BaseException | None) -> Recording:
    """Write what the stopped window holds; `error` is what ended the code early."""
    info = _describe(window, book, plan, error)
    if getattr(window.profiler, "on_trace_ready", None) is not None:
        recording = empty(window, info, "Your profiler's own on_trace_ready handler has the trace.")
    elif not info.regions and not window.is_lost:
        recording = empty(window, info, _why_empty(plan.label))
    else:
        recording = finish(window, info, plan.path)
    return _summarized(recording, plan)


def give_up(window: Window, book: Book, plan: Plan, reason: str) -> Recording:
    """Nothing can be written; the summary of what was counted can."""
    window.is_lost = True
    return _summarized(empty(window, _describe(window, book, plan, None), f"The trace is lost: {reason}."), plan)


def _describe(window: Window, book: Book, plan: Plan, error: BaseException | None) -> CaptureInfo:
    return replace(
        describe(window, book, error, kind=plan.kind, rank=plan.rank),
        options={} if plan.options is None else vars(plan.options),
        cell=plan.cell,
        gated=True,
        run_steps=getattr(window.profiler, "step_num", 0) or None,
    )


def _summarized(recording: Recording, plan: Plan) -> Recording:
    if plan.with_summary and plan.path is not None:
        write_summary(recording, plan.path)
        recording.release()
        announce(recording.in_words())
    return recording


def _why_empty(label: str) -> str:
    known = ", ".join(region.name for region in regions.list_profiler_regions())
    return f"Nothing was recorded ({label}): no region that is on was entered. Registered: {known or 'none'}."
