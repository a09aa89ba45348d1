"""The process's one controller: a torch profiler that runs all the time and collects only inside regions that are on.

In: a torch profiler, a configuration, entries from `region()`. Out: at `stop()`, a `Recording`: the trace and what the
controller itself counted.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from threading import get_ident
from typing import Any

from torch.profiler import ProfilerActivity

from nbprof.capture import owner, regions, slots
from nbprof.capture.config import TorchProfilerConfig
from nbprof.capture.ending import Plan, conclude, give_up
from nbprof.capture.gate import NO_GATE, make_gate
from nbprof.capture.notices import announce, warn
from nbprof.capture.places import NOBODY, Book, Place
from nbprof.capture.placing import place_of
from nbprof.capture.recording import Recording
from nbprof.capture.slots import Slot
from nbprof.capture.window import Window, uninterrupted
from nbprof.errors import NbprofError
from nbprof.settings import read_settings

_controller: TorchProfilerController | None = None


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

    def region(self, name: str) -> Slot:
        """Context manager and decorator for a region of this controller; a no-op when it isn't the live one."""
        return slots.region(name) if self is _controller else slots.NOTHING

    def cell_region(self, name: str) -> Slot:
        """The region that a person put on a cell: its default means on; only an explicit off leaves it out."""
        region = regions.resolve_profiler_region(name)
        if self._book is None or region is None or not regions.is_wanted(region, default_on=True):
            return slots.NOTHING
        slot = Slot(region.name)
        slot.place = self._book.place(region.name)
        return slot

    def start(self) -> None:
        """Start the profiler with collection off; does nothing the second time.

        Raises ProfilerBusyError where another torch profiler is at work in this process; then this controller is
        gone, and another may be made.
        """
        if self._recording is not None:
            warn(f"This controller has been stopped ({self._plan.label}) and starts no more; make another.")
        if self._profiler is None or self._window is not None or self._is_elsewhere(self.start, "start"):
            return
        settings = read_settings()
        self._plan = self._plan.settled(settings)
        options = self._plan.options
        window = Window(
            self._profiler,
            self._plan.label,
            foreign_made=options is None,
            keeps_memory=(options or settings.options).memory,
            on_loss=self._lose,
        )
        try:
            gate = make_gate(self._profiler, self._activities, self._plan.device_gating)
            window.start()
            gate.switch(False)
            self._window, self._book = window, Book(gate, ask_owner=self._ask_owner)
            self._before = regions.set_states(dict(self._config.regions))
            slots.follow(self._place_of)
            atexit.register(self._at_exit)
        except BaseException:
            self._window = None
            self._forget()
            window.stop()
            raise

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
            if get_ident() == book.owner:
                book.close_all()
            else:  # the owner has ended
                book.abandon()
            try:
                window.stop()
            finally:
                self._forget()
            self._recording = conclude(window, book, self._plan, self._error)
        return self._recording

    def _at_exit(self) -> None:
        """Stop at the end of the process; a recording whose owner still runs then can't be stopped by anyone else."""
        if self._owner is threading.current_thread() or not self._owner.is_alive():
            self.stop()
        elif self._window is not None and self._book is not None:
            reason = f"thread {self._owner.name!r}, which owns the recording, was still running at exit"
            give_up(self._window, self._book, self._plan, reason)

    def _lose(self) -> None:
        """Another profiler took the recording over: regions go on as if nobody recorded."""
        slots.follow(None)
        if self._book is not None:
            self._book.abandon()

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
                try:
                    self._requests.popleft()()
                except NbprofError as error:  # it was another thread's wish; the owner's code goes on
                    warn(str(error))
            slots.refresh_slots()

    def _forget(self) -> None:
        global _controller
        atexit.unregister(self._at_exit)
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
        self._ask_owner(request)
        announce(
            f"nbprof: {what} was asked for by thread {threading.current_thread().name!r}; it waits for the next region "
            f"boundary of thread {self._owner.name!r}, which owns the recording."
        )
        return True

    def _ask_owner(self, request: Callable[[], object]) -> None:
        self._requests.append(request)
        slots.follow(self._place_of)

    def _place_of(self, name: str) -> Place | None:
        if self._requests:
            return _Boundary(name, self)
        return None if self._book is None else place_of(name, self._book, default_on=self._plan.default_on)


class _Boundary(Place):
    """Where every slot leads while another thread's request waits: the owner serves it before it enters."""

    __slots__ = ("_controller",)

    def __init__(self, name: str, controller: TorchProfilerController) -> None:
        super().__init__(name, controller._book or Book(NO_GATE))
        self.owner = NOBODY
        self._controller = controller

    def turn_away(self, slot: Slot) -> None:
        """Nobody enters here, but where the slot leads then."""
        self._controller.at_boundary()
        if not isinstance(slot.place, _Boundary):
            slot.__enter__()


def _forget_parents() -> None:
    """After a fork: the recording is the parent's, and so are its file and its stop at exit."""
    live = _controller
    owner.release()
    slots.follow(None)
    if live is not None:
        live._window = None
        live._forget()


os.register_at_fork(after_in_child=_forget_parents)
