"""`Trace`: the one place where events, analyses and views meet. Every table is one call of the analysis of that name.

In: a trace file of any age, or the latest recording. Out: tables, reports, parts of itself, files.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from nbprof import analysis, reader, structure
from nbprof.errors import NothingRecordedError
from nbprof.metadata import TraceMetadata

if TYPE_CHECKING:
    import pandas as pd

    from nbprof.capture.recording import Recording
    from nbprof.structure import CallTree
    from nbprof.view.report import Report


class Trace:
    """A finished trace: columnar events, and what can be asked of them.

    `events` has the columns of `docs/tables.md`; its times count in nanoseconds from `metadata.start_ns`.
    """

    def __init__(self, events: pd.DataFrame, metadata: TraceMetadata) -> None:
        self.events = events
        self.metadata = metadata

    def __len__(self) -> int:
        return len(self.events)

    def __repr__(self) -> str:
        capture = self.metadata.capture
        return f"<nbprof.Trace of {capture.label if capture else self.metadata.source}: {len(self):,} events>"

    @cached_property
    def _tree(self) -> CallTree:
        return structure.call_tree(self.events)

    def operators(self) -> pd.DataFrame:
        """Host and device time by operator, largest first."""
        return analysis.operators(self.events, tree=self._tree)

    def kernels(self) -> pd.DataFrame:
        """Device time by kernel, largest first."""
        return analysis.kernels(self.events, tree=self._tree)

    def timeline(self) -> pd.DataFrame:
        """What each device did with its time; the parts sum to its span."""
        return analysis.timeline(self.events, tree=self._tree)

    def steps(self) -> pd.DataFrame:
        """One row a step; the parts sum to its window."""
        return analysis.steps(self.events, tree=self._tree)

    def regions(self) -> pd.DataFrame:
        """Time by region and parent, a tree from the top."""
        return analysis.regions(self.events, tree=self._tree)

    def region_steps(self) -> pd.DataFrame:
        """Wall and self time of each region in each step."""
        return analysis.region_steps(self.events, tree=self._tree)

    def health(self) -> pd.DataFrame:
        """What would make the numbers wrong, one row a check."""
        return analysis.health(self.events, self.metadata, tree=self._tree)

    def where(
        self,
        *,
        region: str | Sequence[str] | None = None,
        step: int | Sequence[int] | None = None,
        time: tuple[float, float] | None = None,
    ) -> Trace:
        """The part inside regions, steps, or a time window (start and end in microseconds from the trace's start)."""
        part = reader.select(self.events, region=region, step=step, time=time)
        if len(part) == len(self):
            return Trace(part, self.metadata)
        # The plan was one for the whole: a part is not short of it.
        capture = self.metadata.capture
        return Trace(part, replace(self.metadata, capture=capture and replace(capture, planned_steps=None)))

    def report(self, *, called: str = "trace") -> Report:
        """What took the time, in words, tables and a chart; shows itself in a notebook and in a terminal.

        `called` is the expression by which its reader reaches the trace, for the lines that it suggests.
        """
        from nbprof.view.report import report

        return report(self, called=called)

    def to_html(self, path: str | os.PathLike[str]) -> Path:
        """The report as a page of its own that opens offline."""
        from nbprof.view.report import document

        target = Path(path)
        target.write_text(document(self.report().html, title=repr(self).strip("<>")), encoding="utf-8")
        return target

    def to_markdown(self) -> str:
        """The report as GitHub-flavoured Markdown."""
        return self.report().markdown

    def export_chrome(
        self,
        path: str | os.PathLike[str],
        *,
        region: str | Sequence[str] | None = None,
        step: int | Sequence[int] | None = None,
        time: tuple[float, float] | None = None,
    ) -> Path:
        """Write the trace, or a part of it, as a file for Perfetto and chrome://tracing; returns its path."""
        part = self.where(region=region, step=step, time=time)
        return reader.export_chrome(part.events, part.metadata, path)


def load_trace(source: reader.Source) -> Trace:
    """Read what torch.profiler or nbprof wrote: a path, bytes, or an open binary file, plain or packed.

    Raises FileNotFoundError, and TraceFormatError that names the file, the place and the way out.
    """
    from nbprof.view.progress import reading

    with reading(f"Reading {source if isinstance(source, str | os.PathLike) else 'trace'}") as progress:
        return Trace(*reader.read_events(source, progress=progress))


def from_recording(recording: Recording) -> Trace:
    """The trace of a recording. Raises NothingRecordedError, saying why, for an empty one, or when its file is gone."""
    from nbprof.capture.recording import readable_path

    if recording.is_empty:
        raise NothingRecordedError(recording.problem)
    path = readable_path(recording)
    if not path.exists():
        raise NothingRecordedError(f"The file of the latest recording is gone: {path}.")
    return _remember(recording, load_trace(path))


@contextmanager
def packed_after(recording: Recording) -> Iterator[Trace]:
    """The trace of a recording; when the block ends, its file is gzipped and becomes what the trace says already."""
    from nbprof.capture import files
    from nbprof.capture.recording import make_latest

    trace = from_recording(recording)
    plain = recording.path
    if plain is None:
        yield trace
        return
    packed = files.packed_path(plain)
    trace.metadata = replace(trace.metadata, source=str(packed), bytes=0)  # how big isn't known yet
    try:
        yield trace
    finally:
        try:
            files.compress(plain)
            plain.unlink()
        except OSError:  # no room for both: the plain one stays
            packed = plain
        size = packed.stat().st_size
        trace.metadata = replace(trace.metadata, source=str(packed), bytes=size)
        _remember(make_latest(replace(recording, path=packed, bytes=size)), trace)


def latest_trace() -> Trace:
    """The trace of this process's latest recording, loaded when first asked for.

    Raises NothingRecordedError when there is none, or when the latest is empty: an older one is never handed out as new.
    """
    capture = sys.modules.get("nbprof.capture.recording")  # not loaded: nothing was recorded, perhaps without torch
    recording: Recording | None = capture.latest() if capture else None
    if recording is None:
        raise NothingRecordedError(
            "Nothing has been recorded in this process yet. Put %%region NAME on a cell, or run %profile_once EXPR."
        )
    remembered, trace = _remembered
    return trace if trace is not None and remembered is recording else from_recording(recording)


_remembered: tuple[Recording | None, Trace | None] = (None, None)


def _remember(recording: Recording, trace: Trace) -> Trace:
    global _remembered
    _remembered = (recording, trace)
    return trace
