"""A file, bytes or a stream -> the UTF-8 text inside, in chunks of about 2 MB.

In: whatever the user gave; what it is (gzip, zip, UTF-16, ...) is seen from its content, never from its name.
Out: `Text`, which yields bytes that begin with `{` or `[`, and counts what it has read of the file.
"""

from __future__ import annotations

import codecs
import io
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import BinaryIO, TypeAlias

from nbprof.errors import TraceFormatError
from nbprof.reader.problems import Problems

Source: TypeAlias = str | os.PathLike[str] | bytes | BinaryIO

CHUNK = 2 << 20
_BLOCK = 1 << 17
_GZIP, _ZIP, _ZSTD = b"\x1f\x8b", b"PK\x03\x04", b"\x28\xb5\x2f\xfd"
_ENCODINGS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"{\x00", "utf-16-le"),
    (b"[\x00", "utf-16-le"),
    (b"\x00{", "utf-16-be"),
    (b"\x00[", "utf-16-be"),
)
_FOREIGN = (
    (b"<", "it looks like an HTML or XML page", "Was a login or error page saved instead of the file?"),
    (b"\x80", "it looks like a Python pickle", "Only Chrome trace JSON is read; pickles are never opened."),
    (_ZSTD, "it is compressed with zstd", "Decompress it first (zstd -d)."),
    (b"PK", "it is a damaged or nested zip archive", "Unpack it and give the trace inside."),
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
        try:
            chunks = _unpacked(self._raw(), self.name, self._problems)
            begun = False
            for chunk in chunks:
                if not begun and (first := chunk.lstrip()):
                    if first[:1] not in b"{[":
                        raise _foreign(self.name, first)
                    begun = True
                yield chunk
            if not begun:
                raise TraceFormatError(self.name, "the file is empty")
        except (OSError, RuntimeError, NotImplementedError, zipfile.BadZipFile) as error:
            raise TraceFormatError(self.name, f"it cannot be read ({error})") from error

    def _raw(self) -> Iterator[bytes]:
        first = self._read(CHUNK)
        if not first.startswith(_ZIP):
            yield first
            yield from iter(lambda: self._read(CHUNK), b"")
            return
        seekable = self._stream if self._owned else io.BytesIO(first + self._stream.read())
        yield from _zip_member(seekable, self.name, self._problems)
        self.done = self.size or self.done

    def _read(self, count: int) -> bytes:
        chunk = self._stream.read(count)
        if not isinstance(chunk, bytes):
            raise TraceFormatError(self.name, "the stream gives text, not bytes", advice="Open it in mode 'rb'.")
        self.done += len(chunk)
        return chunk


def _opened(source: Source) -> tuple[str, BinaryIO, int | None]:
    if isinstance(source, bytes):
        return "<bytes>", io.BytesIO(source), len(source)
    if not isinstance(source, (str, os.PathLike)):
        if not hasattr(source, "read"):
            kind = type(source).__name__
            raise TypeError(f"A trace is read from a path, bytes or a file open in mode 'rb', not from {kind}.")
        return str(getattr(source, "name", "<stream>")), source, None
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


def _peek(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes (at least four, where there are so many), and an iterator that still has them."""
    first = b""
    for chunk in chunks:
        first += chunk
        if len(first) >= 4:
            break
    return first, chain([first], chunks)


def _unpacked(chunks: Iterator[bytes], name: str, problems: Problems, depth: int = 0) -> Iterator[bytes]:
    first, chunks = _peek(chunks)
    if first.startswith(_GZIP) and depth < 3:
        return _unpacked(_gunzip(chunks, name, problems), name, problems, depth + 1)
    if first.startswith(codecs.BOM_UTF8):
        return chain([next(chunks)[3:]], chunks)
    for mark, encoding in _ENCODINGS:
        if first.startswith(mark):
            return _recoded(chunks, encoding)
    return chunks


def _gunzip(chunks: Iterator[bytes], name: str, problems: Problems) -> Iterator[bytes]:
    inflate = zlib.decompressobj(wbits=31)
    written = 0
    for block in (chunk[at : at + _BLOCK] for chunk in chunks for at in range(0, len(chunk), _BLOCK)):
        rest = block
        while rest:
            text, damage = _inflated(inflate, rest)
            written += len(text)
            if damage and not written:
                raise TraceFormatError(name, f"its compression is damaged ({damage})")
            yield text
            if damage:
                problems.cut_off(written, f"the compressed data is damaged ({damage})")
                return
            rest = inflate.unconsumed_tail
            if inflate.eof:  # another member may follow; anything else after the end is padding
                rest = inflate.unused_data if inflate.unused_data.startswith(_GZIP) else b""
                inflate = zlib.decompressobj(wbits=31) if rest else inflate
    if not inflate.eof:
        problems.cut_off(written, "the compressed data ends early")


def _inflated(inflate: zlib._Decompress, data: bytes) -> tuple[bytes, str]:
    """Text out of some data, or what comes before the byte that makes no sense, and the complaint about it."""
    before = inflate.copy()
    try:
        return inflate.decompress(data, CHUNK), ""
    except zlib.error as error:
        text = bytearray()
        with suppress(zlib.error):
            for at in range(len(data)):
                text += before.decompress(data[at : at + 1])
        return bytes(text), str(error)


def _zip_member(stream: BinaryIO, name: str, problems: Problems) -> Iterator[bytes]:
    with zipfile.ZipFile(stream) as archive:
        members = [item for item in archive.infolist() if item.filename.endswith((".json", ".json.gz"))]
        if len(members) != 1:
            held = ", ".join(item.filename for item in members[:5]) or "none"
            advice = "Unpack it and give one of them."
            raise TraceFormatError(name, f"the archive holds {len(members)} traces, not one ({held})", advice=advice)
        with archive.open(members[0]) as member:
            try:
                yield from iter(lambda: member.read(CHUNK), b"")
            except (zipfile.BadZipFile, zlib.error, EOFError) as error:
                problems.cut_off(None, f"the archive is damaged ({error})")


def _recoded(chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    for chunk in chunks:
        yield decoder.decode(chunk).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")


def _foreign(name: str, first: bytes) -> TraceFormatError:
    for mark, what, advice in _FOREIGN:
        if first.startswith(mark):
            return TraceFormatError(name, f"this is no trace: {what}", advice=advice)
    shown = first[:20].decode("utf-8", "backslashreplace")
    advice = "A trace is a JSON object with traceEvents, or a JSON list of events."
    return TraceFormatError(name, f"this is no trace: it begins with {shown!r}", advice=advice)
