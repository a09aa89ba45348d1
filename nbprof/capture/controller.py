"""The process's one controller: a torch profiler that runs all the time and collects only inside regions that are on.

In: a torch profiler, a configuration, entries from `region()`. Out: at `stop()`, a `Recording`: the trace and what the
controller itself counted.
"""

from __future__ import annotations

import atexit
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from threading import get_ident
from typing import Any

from torch.profiler import ProfilerActivity

from nbprof import schema
from nbprof.capture import files, regions, slots
from nbprof.capture.config import TorchProfilerConfig
from nbprof.capture.entry import Book
from nbprof.capture.gate import DeviceGating, make_gate
from nbprof.capture.notices import announce
from nbprof.capture.recording import Recording, describe, empty, finish
from nbprof.capture.slots import Named, Slot
from nbprof.capture.standins import stand_in_for
from nbprof.capture.summary import write_summary
from nbprof.capture.window import Window, uninterrupted
from nbprof.settings import CaptureOptions, read_settings

_controller: TorchProfilerController | None = None


@dataclass(frozen=True)
class Plan:
    """What a recording is for: where it goes, who asked, and what `default` means in it."""

    path: Path | None = None
    label: str = "TorchProfilerController"
    kind: schema.Kind = "controller"
    cell: str | None = None
    default_on: bool = False
    options: CaptureOptions | None = None
    device_gating: DeviceGating = "filter"
    with_summary: bool = True


_HANDLED = "Your profiler's own on_trace_ready handler has the trace."


def get_global_controller() -> TorchProfilerController | None:
    """The live controller of this process, or None."""
    return _controller


def get_global_profiler() -> Any | None:
    """The `torch.profiler.profile` of the live controller, or None."""
    return None if _controller is None else _controller._profiler


class TorchProfilerController:
    """Gates one torch profiler by named regions.

    `profiler` is a `torch.profiler.profile` that has not been started (None: nothing ever happens), `activities` what it
    records, `config` which regions are on (default: what the environment says). Only the thread that made the
    controller enters regions, starts and stops it; requests of other threads wait for its next region boundary.
    Raises RuntimeError while another controller is alive.
    """

    def __init__(
        self,
        profiler: Any,
        activities: Iterable[ProfilerActivity],
        config: TorchProfilerConfig | None = None,
        disabled: bool = False,
        *,
        plan: Plan | None = None,
    ) -> None:
        global _controller
        self._profiler = None if disabled else profiler
        self._plan = plan or Plan()
        self._requests: deque[Callable[[], object]] = deque()
        self._window: Window | None = None
        self._book: Book | None = None
        self._recording: Recording | None = None
        self._error: BaseException | None = None
        self._before: dict[str, bool | None] = {}
        self._activities = tuple(activities)
        self._config = config or TorchProfilerConfig()
        self._owner = threading.current_thread()
        if self._profiler is None:
            return
        if _controller is not None:
            raise RuntimeError(
                f"A profiler controller is alive already ({_controller._plan.label}); get_global_controller() returns "
                "it, and its stop() makes room for another."
            )
        if config is None:
            self._config = TorchProfilerConfig.from_env()
        _controller = self

    @property
    def has_profiler(self) -> bool:
        """Whether there is a profiler to control: False for a no-op controller and after `stop()`."""
        return self._profiler is not None

    @property
    def label(self) -> str:
        """Who asked for the recording, in words."""
        return self._plan.label

    @property
    def is_owned_here(self) -> bool:
        """Whether the calling thread is the one that enters regions, starts and stops."""
        return self._profiler is not None and threading.current_thread() is self._owner

    @property
    def is_recording(self) -> bool:
        """Whether it was started and not stopped yet."""
        return self._window is not None

    @property
    def is_enabled(self) -> bool:
        """Whether it is collecting now, which is: whether a region that is on is open."""
        return self._book is not None and bool(self._book.open)

    def is_region_enabled(self, name: str) -> bool:
        """Whether the next entry of the region would be collected."""
        region = regions.resolve_profiler_region(name)
        if self._profiler is None or region is None:
            return False
        return regions.is_wanted(region, default_on=self._plan.default_on and self.is_enabled)

    def region(self, name: str) -> Named:
        """Context manager and decorator for a region of this controller; a no-op when it isn't the live one."""
        return slots.region(name) if self is _controller else slots.NOTHING

    def cell_region(self, name: str) -> Named:
        """The region that a person put on a cell: its default means on; only an explicit off leaves it out."""
        region = regions.resolve_profiler_region(name)
        if self._book is None or region is None or not regions.is_wanted(region, default_on=True):
            return slots.NOTHING
        return self._book.place(region.name)

    def start(self) -> None:
        """Start the profiler with collection off; does nothing the second time.

        Raises ProfilerBusyError where another torch profiler is at work in this process; then this controller is
        gone, and another may be made.
        """
        if self._profiler is None or self._window is not None or self._is_elsewhere(self.start, "start"):
            return
        options = self._plan.options or read_settings().options
        made_here = self._plan.options is not None
        window = Window(self._profiler, self._plan.label, foreign_made=not made_here, keeps_memory=options.memory)
        gate = make_gate(self._profiler, self._activities, self._plan.device_gating)
        try:
            window.start()
        except BaseException:
            self._forget()
            raise
        gate.switch(False)
        self._window = window
        self._book = Book(gate, get_ident())
        self._before = regions.set_states(dict(self._config.regions))
        slots.follow(self._stand_in_for)
        atexit.register(self.stop)

    def stop(self) -> Recording | None:
        """Stop, write the trace and its summary; returns the recording (the same one when called again).

        Called from another thread it waits for the owner's next region boundary and returns None. A region that is open
        is closed first, so that it stands in the trace.
        """
        window, book = self._window, self._book
        if window is None or book is None:
            if self._profiler is not None and self is _controller:
                self._forget()
            return self._recording
        if self._is_elsewhere(self.stop, "stop"):
            return None
        with uninterrupted():
            self._window = None
            book.close_all()
            try:
                window.stop()
            finally:
                self._forget()
            self._recording = self._write(window, book)
        return self._recording

    def note(self, error: BaseException | None) -> None:
        """What ended the code early, if anything did; the recording then says so."""
        self._error = error

    def pause(self) -> None:
        """Let nothing in till `resume()`, though a region is open: what a notebook displays is no work of the user's."""
        if self._book is not None and self._book.open:
            self._book.gate.switch(False)

    def resume(self) -> None:
        """Let the owner's operators in again."""
        if self._book is not None and self._book.open:
            self._book.gate.switch(True)

    def at_boundary(self) -> None:
        """Do what other threads asked for; called by the owner where it is safe."""
        if threading.current_thread() is self._owner:
            while self._requests:
                self._requests.popleft()()
            slots.refresh_slots()

    def _write(self, window: Window, book: Book) -> Recording:
        handled = getattr(window.profiler, "on_trace_ready", None) is not None
        info = replace(
            describe(window, book, self._error, kind=self._plan.kind, options=self._plan.options),
            cell=self._plan.cell,
            gated=True,
            run_steps=getattr(window.profiler, "step_num", 0) or None,
        )
        if handled or not info.regions:
            recording = empty(window, info, _HANDLED if handled else _why_empty(self._plan.label))
        else:
            recording = finish(window, info, self._path())
        if self._plan.with_summary and self._plan.path is not None:
            write_summary(recording, self._plan.path)
            recording.release()
            announce(recording.in_words())
        return recording

    def _path(self) -> Path | None:
        """Where the trace goes: as planned, else into the folder of the environment, else nowhere yet."""
        settings = read_settings()
        if self._plan.path is not None or settings.directory is None:
            return self._plan.path
        return files.unique_path(settings.directory, files.worker_name(settings.rank))

    def _forget(self) -> None:
        global _controller
        atexit.unregister(self.stop)
        if self is _controller:
            _controller = None
            slots.follow(None)
            regions.restore_states(written=self._config.regions, before=self._before)
        self._profiler = None
        self._requests.clear()

    def _is_elsewhere(self, request: Callable[[], object], what: str) -> bool:
        """Whether the call comes from a thread that doesn't own the recording; then it is queued."""
        if threading.current_thread() is self._owner or not self._owner.is_alive():
            return False
        self._requests.append(request)
        slots.follow(self._stand_in_for)
        announce(
            f"nbprof: {what} was asked for by thread {threading.current_thread().name!r}; it waits for the next region "
            f"boundary of thread {self._owner.name!r}, which owns the recording."
        )
        return True

    def _stand_in_for(self, slot: Slot) -> Named | None:
        if self._requests:
            return _Boundary(slot, self)
        return None if self._book is None else stand_in_for(slot, self._book, default_on=self._plan.default_on)


class _Boundary(Named):
    """Stands in for every slot while another thread's request waits: the owner serves it before it enters."""

    __slots__ = ("_controller", "_slot")

    def __init__(self, slot: Slot, controller: TorchProfilerController) -> None:
        super().__init__(slot.name)
        self._slot = slot
        self._controller = controller

    def __enter__(self) -> None:
        self._controller.at_boundary()
        stand_in = self._slot.stand_in
        self._slot.enter(None if isinstance(stand_in, _Boundary) else stand_in)

    def __exit__(self, kind: object = None, error: object = None, trace: object = None) -> None:
        self._slot.leave()


def _why_empty(label: str) -> str:
    known = ", ".join(region.name for region in regions.list_profiler_regions())
    return f"Nothing was recorded ({label}): no region that is on was entered. Registered: {known or 'none'}."
