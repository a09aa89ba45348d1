"""One-shot sessions: run something wait + warmup + active times, record the active part once.

In: a schedule, and whoever runs the code in each of its steps. Out: a `Recording`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter_ns

from nbprof.capture import files, slots
from nbprof.capture.gate import make_gate, marker_only
from nbprof.capture.places import Book
from nbprof.capture.placing import place_of
from nbprof.capture.recording import Recording, describe, empty, finish
from nbprof.capture.schedule import Schedule
from nbprof.capture.window import Window, available_activities, make_profiler, uninterrupted
from nbprof.metadata import CaptureInfo
from nbprof.settings import CaptureOptions, read_settings


class OneShot:
    """A session: `start()`, run the code once in each of `steps()`, `close()` in every case."""

    def __init__(self, plan: Schedule, path: Path, *, label: str, cell: str | None, options: CaptureOptions) -> None:
        self.plan = plan
        self.recording: Recording | None = None
        self._path = path
        self._cell = cell
        self._options = options
        self._calls_us: list[float] = []
        self._began_ns: int | None = None  # of the call that runs
        self._cut_us: tuple[float, ...] = ()  # of a call that was not completed
        self._rank = read_settings().rank  # now: what the environment says later must not lose the recording
        self._window = Window(
            make_profiler(options, plan), label, keeps_memory=options.memory, on_loss=self._leave_regions
        )
        self._book = Book(marker_only(make_gate(self._window.profiler, available_activities())))

    def start(self) -> None:
        """Start waiting. Raises ProfilerBusyError, and TraceWriteError for a folder that can't be used."""
        files.check_writable(self._path.parent)
        self._window.start()

    def steps(self) -> Iterator[int]:
        """The numbers of the calls; the profiler is stepped after each."""
        for number in range(self.plan.total):
            if number == self._first_active:
                slots.follow(lambda name: place_of(name, self._book, default_on=True, nested_only=False))
            self._began_ns = perf_counter_ns()
            yield number
            self._calls_us.append((perf_counter_ns() - self._began_ns) / 1e3)
            self._began_ns = None
            if number == self.plan.total - 1:
                self._leave_regions()
            self._window.step()

    def leave(self) -> None:
        """The code is through, or failed: profiler off. What comes before `close()` is no part of the session."""
        with uninterrupted():
            if self._window.is_open and self._began_ns is not None:
                self._cut_us = ((perf_counter_ns() - self._began_ns) / 1e3,)
            self._leave_regions()
            self._window.stop()

    def close(self, error: BaseException | None = None) -> Recording:
        """Profiler off, trace written; the second call returns the same recording.

        `error` is what ended the code early: what was captured in the active part till then is kept.
        """
        if self.recording is None:
            with uninterrupted():
                self.leave()
                reached = len(self._calls_us) >= self._first_active
                info = self._info(error)
                if reached or self._window.is_lost:
                    self.recording = finish(self._window, info, self._path)
                else:
                    self.recording = empty(self._window, info, self._why_empty(error))
        return self.recording

    @property
    def label(self) -> str:
        """What is profiled, in words."""
        return self._window.label

    @property
    def _first_active(self) -> int:
        return self.plan.wait + self.plan.warmup

    def _leave_regions(self) -> None:
        self._book.close_all()
        if slots.is_followed():
            slots.follow(None)

    def _info(self, error: BaseException | None) -> CaptureInfo:
        return replace(
            describe(self._window, self._book, error, kind="once", rank=self._rank),
            options=vars(self._options),
            cell=self._cell,
            schedule=vars(self.plan),
            planned_steps=self.plan.total,
            run_steps=len(self._calls_us),
            calls_us=(*self._calls_us, *self._cut_us),
        )

    def _why_empty(self, error: BaseException | None) -> str:
        cause = f" ({type(error).__name__})" if error is not None else ""
        return (
            f"Nothing was recorded ({self._window.label}): {len(self._calls_us)} of {self.plan.total} steps ran "
            f"({self.plan.in_words()}){cause}; the active part was never reached."
        )
