"""One window of torch.profiler that nbprof owns: started, stopped, exported and released without a sound.

In: options, activities, a schedule. Out: a trace file. torch's own lines on stderr are kept away, Ctrl-C waits until a
stop is complete, and what the recording held is given back to the system.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import inspect
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter_ns
from types import FrameType
from typing import Any

import torch
from torch.profiler import ProfilerAction, ProfilerActivity, profile

from nbprof.capture import gate, owner
from nbprof.capture.intruders import watched
from nbprof.capture.quiet import first_use_is_quiet, quiet
from nbprof.capture.schedule import Schedule
from nbprof.settings import CaptureOptions


class Window:
    """A torch profiler, from claim to release; everything is called by the thread that started it.

    `on_loss` is called when another profiler, started by the user's code, takes the recording; torch isn't touched any
    more then, so that the other one's data stays whole.
    """

    def __init__(
        self,
        profiler: Any,
        label: str,
        *,
        foreign_made: bool = False,
        keeps_memory: bool = False,
        on_loss: Callable[[], object] = lambda: None,
    ) -> None:
        self.profiler = profiler
        self.label = label
        self.is_open = False
        self.is_lost = False
        self.stop_us = 0.0
        self._foreign_made = foreign_made
        self._keeps_memory = keeps_memory
        self._on_loss = on_loss
        self._undo = contextlib.ExitStack()
        self._own_call: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext
        self._is_exported = False

    def start(self) -> None:
        """Claim the process and start; a failed or interrupted start leaves nothing claimed and nothing running."""
        try:
            with uninterrupted(), contextlib.ExitStack() as undo:
                owner.claim(self.label)
                undo.callback(owner.release)
                undo.enter_context(quiet(keeps_memory=self._keeps_memory))
                self._own_call = undo.enter_context(watched(self._lose))
                with first_use_is_quiet(), self._own_call():
                    self.profiler.start()
                self.is_open = True
                self._undo = undo.pop_all()
        except BaseException:
            self.stop()
            raise

    def step(self) -> None:
        """Advance the schedule; the last active step is where torch stops collecting."""
        if self.is_lost:
            return
        with uninterrupted(), first_use_is_quiet(), self._own_call():
            before = perf_counter_ns()
            self.profiler.step()
            self.stop_us = (perf_counter_ns() - before) / 1e3

    def stop(self) -> None:
        """Stop collecting and let others in; does nothing the second time."""
        if not self.is_open:
            return
        self.is_open = False
        before = perf_counter_ns()
        try:
            if not self.is_lost:
                with self._own_call():
                    self.profiler.stop()
        finally:
            self.stop_us = max(self.stop_us, (perf_counter_ns() - before) / 1e3)
            gate.open_for_good()
            self._undo.close()

    def _lose(self) -> None:
        if not self.is_lost:
            self.is_lost = True
            gate.open_for_good()
            self._on_loss()

    @property
    def why_nothing(self) -> str:
        """Why there is nothing to export; empty where there is something."""
        results = getattr(getattr(self.profiler, "profiler", None), "kineto_results", None)
        if self.is_lost:
            return "the code started a torch profiler of its own, which takes the recording over"
        if results is None:
            return "torch's profiler never collected (was its schedule stepped?)"
        # torch gives an emptied result after the thread that started it has ended; exporting one ends the process.
        started = getattr(results, "trace_start_ns", lambda: 1)
        return "" if started() else "torch's profiler was emptied (has the thread that started it ended?)"

    def export(self, path: Path) -> None:
        """Write the trace as torch writes it; may be called again, for another path."""
        # torch's C++ writer works once for each recording; its Python writer is slower and works again.
        again, self._is_exported = self._is_exported, True
        if not again:
            self.profiler.export_chrome_trace(str(path))
        elif "use_python_export" in inspect.signature(self.profiler.export_chrome_trace).parameters:
            self.profiler.export_chrome_trace(str(path), use_python_export=True)
        else:
            raise OSError(f"torch {torch.__version__} writes a recording only once")
        _trim_memory()  # what stopping needed for itself, so that reading the file sets no new peak

    def release(self) -> None:
        """Drop torch's results (`profile` objects form cycles) and hand the memory back."""
        inner = getattr(self.profiler, "profiler", None)
        if inner is None or self._foreign_made:
            return
        inner.kineto_results = None
        self.profiler.profiler = None
        _trim_memory()


def make_profiler(options: CaptureOptions, plan: Schedule | None = None) -> profile:
    """A torch profiler over the host and whatever device is there, not started yet."""
    return profile(
        activities=available_activities(),
        record_shapes=options.shapes,
        profile_memory=options.memory,
        with_stack=options.stack,
        with_flops=options.flops,
        experimental_config=_trace_only() if not options.stack else None,
        schedule=None if plan is None else lambda step: _action(plan, step),
    )


def _trace_only() -> Any:
    """Leave out what only `profile.events()` needs, which a million operators with shapes take 2 of 11 s to stop for.

    With stacks the trace itself needs it. None where this torch doesn't know the option.
    """
    try:
        return torch._C._profiler._ExperimentalConfig(trace_only=True)
    except TypeError:
        return None


def _action(plan: Schedule, step: int) -> ProfilerAction:
    if step < plan.wait or step >= plan.total:
        return ProfilerAction.NONE
    if step < plan.wait + plan.warmup:
        return ProfilerAction.WARMUP
    return ProfilerAction.RECORD if step < plan.total - 1 else ProfilerAction.RECORD_AND_SAVE


def available_activities() -> Sequence[ProfilerActivity]:
    """The host, and the devices that this build and machine have."""
    supported = torch.profiler.supported_activities()  # type: ignore[no-untyped-call]
    return sorted(supported, key=lambda activity: int(activity.value))


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C waits for the end of the block, where a recording would be lost half-way."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[tuple[int, FrameType | None]] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: arrived.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if arrived:
            signal.raise_signal(signal.SIGINT)


@functools.cache
def _malloc_trim() -> Callable[[int], int] | None:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return None


def _trim_memory() -> None:
    trim = _malloc_trim()
    if trim is not None:
        trim(0)
