"""`Trace`: the one place where events, analyses and views meet. Every table is one call of the analysis of that name.

In: a trace file of any age, or the latest recording. Out: tables, reports, parts of itself, files.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from nbprof import reader, structure
from nbprof.errors import NothingRecordedError, TraceWriteError
from nbprof.metadata import TraceMetadata
from nbprof.structure.times import times
from nbprof.tables import Tables
from nbprof.view.quantities import counted, duration, literal, shorten
from nbprof.writing import write_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nbprof.capture.recording import Recording
    from nbprof.structure import CallTree
    from nbprof.structure.masks import Integers
    from nbprof.view.report import Report


class Trace(Tables):
    """A finished trace: columnar events, and what can be asked of them.

    `events` has the columns of `docs/tables.md`; its times count in nanoseconds from `metadata.start_ns`.
    `fx` is the payload of the FX file beside the trace, None where there is none. Parts of one trace can be combined:
    `&` is what both hold, `|` what either holds, `-` what only the first holds. A copy of a part is a trace of its own.
    """

    _cut: tuple[Trace, Integers] | None = None
    """The trace that a part was cut from, and its rows there."""

    def __init__(self, events: pd.DataFrame, metadata: TraceMetadata, fx: Mapping[str, Any] | None = None) -> None:
        self.events = events
        self.metadata = metadata
        self.fx = fx

    def __len__(self) -> int:
        return len(self.events)

    def __repr__(self) -> str:
        told = self.metadata
        label = shorten(literal((told.capture.label if told.capture else "") or told.source), 100)
        parts = [counted(len(self), "event"), duration(self._span_ns() / 1000)]
        if told.rank is not None and told.world_size != 1:
            parts.append(f"rank {told.rank}" + (f" of {told.world_size}" if told.world_size else ""))
        return f"<nbprof.Trace of {label}: {', '.join(parts)}>"

    def __getitem__(self, rows: slice | Sequence[bool] | NDArray[np.bool_] | pd.Series[bool]) -> Trace:
        """The part with these events: `trace[100:200]`, or by a mask, `trace[trace.events["stream"] == 7]`."""
        if isinstance(rows, slice):
            return self._part(np.sort(np.arange(len(self))[rows]))  # in the order of the file
        mask: Any = rows if hasattr(rows, "dtype") else np.asarray(rows)
        if mask.ndim != 1 or not pd.api.types.is_bool_dtype(mask.dtype):
            raise TypeError(
                f"A part of a trace is trace[100:200] or trace[mask], not trace[{type(rows).__name__}]. "
                "Its single events are the rows of trace.events."
            )
        if len(mask) != len(self):
            raise ValueError(
                f"The mask has {len(mask):,} entries, the trace {len(self):,} events: is it another trace's?"
            )
        # By position, not by label, since a part is numbered anew; NA is no.
        return self._part(np.flatnonzero(pd.array(mask, dtype="boolean").to_numpy(bool, na_value=False)))

    def __and__(self, other: Trace) -> Trace:
        return self._combined(other, np.intersect1d)

    def __or__(self, other: Trace) -> Trace:
        return self._combined(other, np.union1d)

    def __sub__(self, other: Trace) -> Trace:
        return self._combined(other, np.setdiff1d)

    def __getstate__(self) -> dict[str, Any]:
        return {"events": self.events, "metadata": self.metadata, "fx": self.fx}  # the rest is worked out anew

    def __deepcopy__(self, memo: object) -> Trace:
        # A frame of its own, which costs nothing where pandas (from 3.0 on) copies a column when it is written to.
        return Trace(self.events.reset_index(drop=True), self.metadata, self.fx)

    def where(
        self,
        *,
        region: str | Sequence[str] | None = None,
        step: int | Sequence[int] | None = None,
        time: tuple[float | None, float | None] | None = None,
    ) -> Trace:
        """The part inside regions, steps, or a time window (start and end in microseconds from the trace's start)."""
        return self[reader.selected(self.events, region=region, step=step, time=time)]

    @cached_property
    def _tree(self) -> CallTree:
        if self._cut is None:
            return structure.call_tree(self.events)
        return structure.part_tree(self.events, self._cut[0]._tree)

    def _combined(self, other: Trace, rows_of_both: Callable[[Integers, Integers], Integers]) -> Trace:
        if not isinstance(other, Trace):
            return NotImplemented
        (whole, rows), (its_whole, its_rows) = self._place(), other._place()
        if whole is not its_whole:
            raise ValueError(
                f"Only parts of one trace can be combined; these come from two, {whole!r} and {its_whole!r}. "
                "Cut both from the same one, with trace.where(...) or trace[...]."
            )
        return whole._part(rows_of_both(rows, its_rows))

    def _place(self) -> tuple[Trace, Integers]:
        return (self, np.arange(len(self))) if self._cut is None else self._cut

    def _part(self, rows: Integers) -> Trace:
        whole, own_rows = self._place()
        events = self.events.iloc[rows].reset_index(drop=True)
        part = Trace(events, self._metadata_of(events), self.fx)
        part._cut = (whole, own_rows[rows])
        return part

    def _metadata_of(self, events: pd.DataFrame) -> TraceMetadata:
        if len(events) == len(self):
            return self.metadata
        # The plan was one for the whole: a part is not short of it.
        capture = self.metadata.capture
        labels = reader.occurring_labels(self.metadata.labels, events)
        return replace(self.metadata, capture=capture and replace(capture, planned_steps=None), labels=labels)

    def _span_ns(self) -> int:
        when = times(self.events)
        placed = ~when.misplaced
        return int(when.ends.max() - when.starts[placed].min()) if placed.any() else 0

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
        write_text(target, document(self.report().html, title=repr(self).strip("<>")))
        return target

    def to_markdown(self) -> str:
        """The report as GitHub-flavoured Markdown."""
        return self.report().markdown

    def to_parquet(self, path: str | os.PathLike[str]) -> Path:
        """The trace as one Parquet file, which `load_trace` opens in no time and other tools read; returns its path.

        Takes pyarrow. Raises TraceWriteError.
        """
        try:
            from nbprof.reader.parquet import write_parquet
        except ImportError as error:
            reason = f"Parquet takes pyarrow ({error}). Install it: pip install nbprof[parquet]"
            raise TraceWriteError(Path(path), reason) from error
        return write_parquet(self.events, self.metadata, self.fx, path)

    def export_chrome(
        self,
        path: str | os.PathLike[str],
        *,
        region: str | Sequence[str] | None = None,
        step: int | Sequence[int] | None = None,
        time: tuple[float | None, float | None] | None = None,
        with_args: bool = True,
    ) -> Path:
        """Write the trace, or a part of it, as a file for Perfetto and chrome://tracing; returns its path.

        Packed where the name ends in .gz or .zst; smaller without arguments, of which those stay that join events.
        Raises TraceWriteError.
        """
        part = self.where(region=region, step=step, time=time)
        return reader.export_chrome(part.events, part.metadata, path, with_args=with_args)


def load_trace(source: reader.Source) -> Trace:
    """Read what torch.profiler or nbprof wrote, Parquet too: a path, bytes, or an open binary file, plain or packed.

    Raises FileNotFoundError, and TraceFormatError that names the file, the place and the way out.
    """
    from nbprof.view.progress import reading

    with reading(f"Reading {source if isinstance(source, str | os.PathLike) else 'trace'}") as progress:
        return Trace(*reader.read_trace(source, progress=progress))


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
