"""A file, bytes or a stream -> the UTF-8 text inside, in chunks of about a quarter of a megabyte.

In: whatever the user gave; what it is (gzip, zstd, zip, UTF-16, ...) is seen from its content, never from its name.
Out: `Text`, which yields bytes that begin with `{` or `[`, and counts what it has read of the file.
"""

from __future__ import annotations

import codecs
import io
import os
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO, TypeAlias

from nbprof.errors import TraceFormatError
from nbprof.reader.problems import Problems
from nbprof.reader.unpacking import MAGIC, ZIP, encoding, packing, recoded, unpacked, zip_member

Source: TypeAlias = str | os.PathLike[str] | bytes | BinaryIO

BYTES = "<bytes>"
"""Name of a source that has none."""
CHUNK = 1 << 18
_LAYERS = 3
"""A file may be packed so many times over."""
_PLAUSIBLE, _RATIO = 256 << 20, 400
"""Traces pack to a tenth or thirtieth, at best to a hundredth of their size; a file of zeros packs to a thousandth."""
_TEXT = ('{"', "[{", "{\n", "[\n")
_FOREIGN = (
    (b"<", "it looks like an HTML or XML page", "Was a login or error page saved instead of the file?"),
    (b"\x80", "it looks like a Python pickle", "Only Chrome trace JSON is read; pickles are never opened."),
    (b"\x1f\x8b", f"it is packed more than {_LAYERS} times over", "Unpack it first."),
    (b"BZh", "it is compressed with bzip2", "Unpack it first: bunzip2."),
    (b"\xfd7zXZ", "it is compressed with xz", "Unpack it first: unxz."),
    (b"PK", "it is a damaged, empty or nested zip archive", "Unpack it and give the trace inside."),
    (b"PAR1", "it is a Parquet file that was packed once more", "Unpack it first."),
)


class Text:
    """The text of one trace; iterate over it once, inside `with`."""

    def __init__(self, source: Source, problems: Problems) -> None:
        self.name, self._stream, self.size = _opened(source)
        self._owned = not hasattr(source, "read")
        self._problems = problems
        self.done = 0
        """Bytes of the file read so far."""

    def __enter__(self) -> Text:
        return self

    def __exit__(self, *_: object) -> None:
        if self._owned:
            self._stream.close()

    def __iter__(self) -> Iterator[bytes]:
        begun = False
        try:
            for chunk in _grouped(self._plain(self._raw(), _LAYERS)):
                if not begun and (first := chunk.lstrip()):
                    if first[:1] not in b"{[":
                        raise _foreign(self.name, first)
                    begun = True
                yield chunk
        except (OSError, EOFError, RuntimeError, zlib.error) as error:
            raise TraceFormatError(self.name, f"it cannot be read ({error})") from error
        if not begun:
            read = "" if self._owned or self.name == BYTES else " (or was it read to its end before?)"
            raise TraceFormatError(self.name, f"the file is empty{read}")

    def _raw(self) -> Iterator[bytes]:
        first, chunks = _peek(iter(lambda: self._read(CHUNK), b""))
        if not first.startswith(ZIP):
            yield from chunks
            return
        # An archive has its table of contents at the end.
        archive = self._stream if self._owned and self._stream.seekable() else io.BytesIO(b"".join(chunks))
        for chunk in zip_member(archive, self.name, self._problems):
            self.done = archive.tell()
            yield chunk
        self.done = archive.seek(0, os.SEEK_END)

    def _read(self, count: int) -> bytes:
        try:
            chunk = self._stream.read(count)
        except ValueError as error:  # a stream that is closed, or not open for reading
            raise unreadable(self.name, error) from error
        if not isinstance(chunk, bytes):
            kind = "text" if isinstance(chunk, str) else type(chunk).__name__
            raise TraceFormatError(self.name, f"the stream gives {kind}, not bytes", advice="Open it in mode 'rb'.")
        self.done += len(chunk)
        return chunk

    def _plain(self, chunks: Iterator[bytes], layers: int) -> Iterator[bytes]:
        first, chunks = _peek(self._checked(chunks))
        if layers and (packed := packing(first, self.name)):
            return self._plain(unpacked(chunks, packed, self.name, self._problems), layers - 1)
        if first.startswith(codecs.BOM_UTF8):
            return chain([next(chunks)[len(codecs.BOM_UTF8) :]], chunks)
        other = encoding(first)
        return recoded(chunks, other) if other else chunks

    def _checked(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """The chunks, as long as so much may come out of what was read of the file."""
        size = 0
        for chunk in chunks:
            size += len(chunk)
            if size > max(_PLAUSIBLE, _RATIO * self.done):
                problem = f"this is no trace: it inflates to more than {_RATIO} times its size"
                raise TraceFormatError(self.name, problem, advice="If it is one all the same, unpack it first.")
            yield chunk


def _opened(source: Source) -> tuple[str, BinaryIO, int | None]:
    if isinstance(source, bytes):
        return BYTES, io.BytesIO(source), len(source)
    if not isinstance(source, (str, os.PathLike)):
        if not hasattr(source, "read"):
            kind = type(source).__name__
            raise TypeError(f"A trace is read from a path, bytes or a file open in mode 'rb', not from {kind}.")
        return stream_name(source), source, None
    if isinstance(source, str) and source.lstrip().startswith(_TEXT):
        advice = "Give it as bytes: text.encode()."
        raise TraceFormatError("<text>", "this is the text of a trace, not a path", advice=advice)
    if not os.fspath(source):
        raise TraceFormatError("''", "the path is empty")
    path = Path(source)
    try:
        if path.is_dir():
            raise TraceFormatError(str(path), "this is a directory", advice="Give the trace file inside it.")
        return str(path), path.open("rb"), path.stat().st_size
    except (FileNotFoundError, TraceFormatError):
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise TraceFormatError(str(path), f"it cannot be opened ({reason})") from error


def stream_name(stream: BinaryIO) -> str:
    """The name of a stream; a pipe's is a number, which says nothing."""
    name = getattr(stream, "name", None)
    return name if isinstance(name, str) else "<stream>"


def unreadable(name: str, error: Exception) -> TraceFormatError:
    """For a stream that refuses to be read: it is closed, or open for something else."""
    return TraceFormatError(name, f"it cannot be read ({error})", advice="Open it anew, in mode 'rb'.")


def _peek(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes, enough to see what they are (where there are so many), and an iterator that still has them."""
    first = b""
    for chunk in chunks:
        first += chunk
        if len(first) >= MAGIC:
            break
    return first, chain([first], chunks)


def _grouped(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes in chunks of one size, the last one aside."""
    held: list[bytes] = []
    size = 0
    for chunk in chunks:
        held.append(chunk)
        size += len(chunk)
        if size >= CHUNK:
            whole = b"".join(held)
            even = size - size % CHUNK
            yield from (whole[at : at + CHUNK] for at in range(0, even, CHUNK))
            held, size = [whole[even:]], size - even
    yield b"".join(held)


def _foreign(name: str, first: bytes) -> TraceFormatError:
    for mark, what, advice in _FOREIGN:
        if first.startswith(mark):
            return TraceFormatError(name, f"this is no trace: {what}", advice=advice)
    shown = first[:20].decode("utf-8", "backslashreplace")
    advice = "A trace is a JSON object with traceEvents, or a JSON list of events."
    return TraceFormatError(name, f"this is no trace: it begins with {shown!r}", advice=advice)
