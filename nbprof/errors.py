"""The errors that nbprof raises; each builds its own message from the facts.

    NbprofError
    ├── ProfilerBusyError      (RuntimeError)   somebody's profiler is already at work
    ├── NothingRecordedError   (LookupError)    the latest recording is empty, or there is none
    ├── TraceFormatError       (ValueError)     a file that is no trace
    └── TraceWriteError        (OSError)        a trace that could not be written

Wrong arguments are plain `ValueError` or `TypeError`.
In: facts. Out: one sentence of what happened, and one of the way out.
"""

from __future__ import annotations

from pathlib import Path


class NbprofError(Exception):
    """Any state that nbprof itself reports."""


class ProfilerBusyError(NbprofError, RuntimeError):
    """Another profiler is warming up or collecting in this process."""

    def __init__(self, owner: str, *, foreign: bool = False) -> None:
        self.owner = owner
        self.foreign = foreign
        if foreign:
            what = f"A torch profiler is already running in this process ({owner})."
            way_out = "Stop it first: torch would silently empty the outer recording."
        else:
            what = f"Another recording is under way ({owner})."
            way_out = "Stop it with %profiler stop, or wait for it to end."
        super().__init__(f"{what} {way_out}")


class NothingRecordedError(NbprofError, LookupError):
    """There is no latest trace: nothing was recorded yet, or the latest recording is empty."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class TraceFormatError(NbprofError, ValueError):
    """A source that holds no readable trace.

    `source` names the file, `place` the line, column or byte (may be empty), `problem` what was
    found there, `advice` what to do.
    """

    def __init__(self, source: str, problem: str, *, place: str = "", advice: str = "") -> None:
        self.source = source
        self.problem = problem
        self.place = place
        self.advice = advice
        where = f"{source}, {place}" if place else source
        super().__init__(f"{where}: {problem}." + (f" {advice}" if advice else ""))


class TraceWriteError(NbprofError, OSError):
    """A trace that could not be written; it stays in memory for another path."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"The trace could not be written to {path}: {reason}")

    def __str__(self) -> str:
        return f"The trace could not be written to {self.path}: {self.reason}"
