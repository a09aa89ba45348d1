"""Whatever holds a trace -> its events, its metadata, and the FX payload that goes with it.

In: a path, bytes or a stream; whether it is a Chrome trace or Parquet is seen from its first bytes. Out: what a `Trace`
is made of.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from nbprof.errors import TraceFormatError
from nbprof.reader.container import BYTES, Source, stream_name, unreadable
from nbprof.reader.fx_file import payload_beside
from nbprof.reader.reading import Progress, read_events

if TYPE_CHECKING:
    from nbprof.reader.parquet import Contents

_PARQUET = b"PAR1"


def read_trace(source: Source, *, progress: Progress | None = None) -> Contents:
    """What is in a Chrome trace, or in a Parquet file that was made of one.

    Raises FileNotFoundError where nothing is, TraceFormatError for what is no trace.
    """
    if _is_pipe(source):
        with Path(cast(str, source)).open("rb") as pipe:
            return read_trace(pipe, progress=progress)
    if not isinstance(source, (str, os.PathLike, bytes)) and hasattr(source, "read"):
        source = cast(BinaryIO, _Replayed(source))
    if _first_bytes(source) == _PARQUET:
        events, metadata, fx = _from_parquet(source)
    else:
        (events, metadata), fx = read_events(source, progress=progress), None
    if fx is None and isinstance(source, (str, os.PathLike)):
        fx, problem = payload_beside(source)
        if problem is not None:
            metadata = replace(metadata, problems=(*metadata.problems, problem))
    return events, metadata, fx


def _is_pipe(source: Source) -> bool:
    """Whether it is the path of one, which gives its first bytes only once."""
    with suppress(OSError, TypeError, ValueError):
        return isinstance(source, (str, os.PathLike)) and Path(source).is_fifo()
    return False


def _first_bytes(source: Source) -> bytes:
    if isinstance(source, bytes):
        return source[: len(_PARQUET)]
    if isinstance(source, _Replayed):
        return source.first
    with suppress(OSError, TypeError, ValueError):  # what is wrong with it is told when it is read
        path = Path(cast(str, source))
        if path.is_file():
            with path.open("rb") as file:
                return file.read(len(_PARQUET))
    return b""


def _from_parquet(source: Source) -> Contents:
    if isinstance(source, bytes):
        name, data = BYTES, source
    elif isinstance(source, (str, os.PathLike)):
        name, data = str(Path(source)), Path(source).read_bytes()
    else:
        name, data = source.name, source.read()
    try:
        from nbprof.reader.parquet import read_parquet
    except ImportError as error:
        advice = "Install it: pip install nbprof[parquet]"
        raise TraceFormatError(name, f"reading Parquet takes pyarrow ({error})", advice=advice) from error
    return read_parquet(data, name)


class _Replayed:
    """A stream whose first bytes have been looked at, and come again."""

    def __init__(self, stream: BinaryIO) -> None:
        self.name = stream_name(stream)
        self._stream = stream
        try:
            self.first = self._ahead = stream.read(len(_PARQUET))
        except (OSError, ValueError) as error:
            raise unreadable(self.name, error) from error

    def read(self, count: int = -1) -> bytes:
        """As a stream does: no more than `count` bytes at once, or all."""
        ahead, self._ahead = self._ahead, b""
        if not ahead:
            return self._stream.read(count)
        return ahead if count > 0 else ahead + self._stream.read()
