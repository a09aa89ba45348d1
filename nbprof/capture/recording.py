"""What a finished recording is: its file, its outcome, what nbprof knows of it; and which one is the latest.

In: a stopped `Window` and a `CaptureInfo`. Out: a frozen `Recording`. One that could not be written keeps torch's
results until it is saved to another path or the next recording takes its place.
"""

from __future__ import annotations

import tempfile
from asyncio import CancelledError
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from nbprof.capture import files
from nbprof.capture.places import Book
from nbprof.capture.window import Window
from nbprof.errors import NothingRecordedError, TraceWriteError
from nbprof.metadata import CaptureInfo, Kind, Outcome
from nbprof.schema import VERSION
from nbprof.settings import Rank


@dataclass(frozen=True)
class Recording:
    """A finished recording. `path` is None when nothing was written; `problem` then says why.

    `window` holds torch's own results: those of a recording that could not be written, or still to be let go.
    """

    info: CaptureInfo
    path: Path | None = None
    bytes: int = 0
    problem: str = ""
    window: Window | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to look at."""
        return self.path is None and self.window is None

    def release(self) -> None:
        """Let torch's results go, once they stand in a file; takes a while, so it comes after the report."""
        if self.path is not None and self.window is not None:
            self.window.release()

    def save(self, path: str | Path) -> Path:
        """Write the trace to `path`: a copy of the file, or what is still in memory. Twice gives two equal files.

        Raises NothingRecordedError for an empty recording and TraceWriteError naming the path.
        """
        target = Path(path)
        if self.path is not None:
            files.copy_file(self.path, target)
        elif self.window is not None:
            files.write_trace(self.window.export, target, self.info)
        else:
            raise NothingRecordedError(self.problem)
        return target

    def in_words(self) -> str:
        """One sentence: where the trace is and how big, or why there is none."""
        if self.path is None:
            return f"nbprof: no trace file. {self.problem}"
        return f"nbprof: trace of {self.bytes:,} bytes in {self.path} (view it with nbprof.load_trace or in Perfetto)."


def outcome_of(error: BaseException | None) -> Outcome:
    """How code went that ended with `error`, or with none. A cell that awaits is cancelled by Ctrl-C."""
    if error is None:
        return "complete"
    return "interrupted" if isinstance(error, KeyboardInterrupt | CancelledError) else "failed"


_IN_MEMORY = "It is still in memory: nbprof.last.export_chrome(path) or recording.save(path) writes it."
_latest: Recording | None = None


def latest() -> Recording | None:
    """The latest recording of this process, empty ones included, or None before the first."""
    return _latest


def make_latest(recording: Recording) -> Recording:
    """`recording`, from now on the latest; torch's results of the one before are let go."""
    global _latest
    if _latest is not None and _latest.window is not None and _latest.window is not recording.window:
        _latest.window.release()
    _latest = recording
    return recording


def finish(window: Window, info: CaptureInfo, path: Path | None) -> Recording:
    """Write what a stopped window holds to `path` and make it the latest recording.

    A failed write is no exception here: the recording says what happened (`problem`) and keeps the results, as it does
    without a path.
    """
    if window.why_nothing:
        return empty(window, info, f"Nothing was recorded ({info.label}): {window.why_nothing}.")
    if path is None:
        return make_latest(Recording(info, problem=f"No folder was named for the trace. {_IN_MEMORY}", window=window))
    try:
        size = files.write_trace(window.export, path, info)
    except TraceWriteError as error:
        return make_latest(Recording(info, problem=f"{error}. {_IN_MEMORY}", window=window))
    return make_latest(Recording(info, path, size, window=window))


def nothing(label: str, kind: Kind, reason: str) -> Recording:
    """What was to be recorded and was not, and why; the latest, so that no older one is taken for it."""
    return make_latest(Recording(CaptureInfo(kind=kind, label=label, outcome="empty"), problem=reason))


def empty(window: Window, info: CaptureInfo, reason: str) -> Recording:
    """A recording of nothing, and why; the latest, so that no older one is taken for it."""
    window.release()
    return make_latest(Recording(replace(info, outcome="empty"), problem=reason))


def describe(window: Window, book: Book, error: BaseException | None, *, kind: Kind, rank: Rank) -> CaptureInfo:
    """What every recording can say of itself; `error` is what ended the code early."""
    return CaptureInfo(
        kind=kind,
        label=window.label,
        outcome=outcome_of(error),
        error=None if error is None else type(error).__name__,
        stop_us=window.stop_us,
        regions=book.region_counts(),
        rank=rank.rank,
        world_size=rank.world_size,
        version=VERSION,
        torch=torch.__version__,
    )


def readable_path(recording: Recording) -> Path:
    """A file to read the recording from; one still in memory is written to the system's temporary folder."""
    if recording.path is not None:
        return recording.path
    return recording.save(Path(tempfile.mkdtemp(prefix="nbprof-")) / "unsaved.pt.trace.json")
