"""Packed bytes -> what is inside, as a stream: gzip, zstd, zip archives, UTF-16 and UTF-32.

In: chunks as they stand in the file. Out: chunks of what they hold; what came before damage is kept, and the damage told.
"""

from __future__ import annotations

import codecs
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from nbprof.errors import TraceFormatError
from nbprof.reader.problems import TRAILING, Problems

ZIP = b"PK\x03\x04"
MAGIC = 4
"""Bytes by which everything here is known."""
_GZIP = re.compile(rb"\x1f\x8b")
_ZSTD = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18", re.DOTALL)
_SLICE = 1 << 8
"""Bytes unpacked at once, which become 8 MB at most: a block of zstd has 4 bytes or more, and holds up to 128 kB."""
_MEMBER_CHUNK = 1 << 14
_PACKED_NAMES = (".json", ".json.gz", ".json.zst")
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ZERO_BYTES: Mapping[tuple[bool, ...], str] = {
    (False, True, True, True): "utf-32-le",
    (True, True, True, False): "utf-32-be",
    (False, True, False, True): "utf-16-le",
    (True, False, True, False): "utf-16-be",
}
"""Encodings by which of the first four bytes are zero: JSON begins with two ASCII characters."""


class _Unpacker(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


@dataclass(frozen=True)
class Packing:
    """A format of compressed members (frames), one behind the other: how each begins, what undoes it, how that fails."""

    name: str
    magic: re.Pattern[bytes]
    unpacker: Callable[[], _Unpacker]
    error: type[Exception]


def packing(first: bytes, name: str) -> Packing | None:
    """How something that begins with `first` is compressed. Raises TraceFormatError where a package is missing for it."""
    if _GZIP.match(first):
        return Packing("gzip", _GZIP, lambda: zlib.decompressobj(wbits=31), zlib.error)
    if not _ZSTD.match(first):
        return None
    try:
        import zstandard
    except ImportError:
        advice = "Run pip install 'nbprof[zstd]', or unpack it first: zstd -d."
        raise TraceFormatError(
            name, "it is compressed with zstd, and zstandard isn't installed", advice=advice
        ) from None
    return Packing("zstd", _ZSTD, lambda: zstandard.ZstdDecompressor().decompressobj(), zstandard.ZstdError)


def unpacked(chunks: Iterator[bytes], packing: Packing, name: str, problems: Problems) -> Iterator[bytes]:
    """All members, one behind the other. Raises TraceFormatError where nothing can be had of the first."""
    slices = (chunk[at : at + _SLICE] for chunk in chunks for at in range(0, len(chunk), _SLICE))
    unpacker, written = packing.unpacker(), 0
    data = next(slices, b"")
    while data:
        try:
            text = unpacker.decompress(data)
        except packing.error as error:
            _tell_damage(written, error, name, problems)
            return
        written += len(text)
        yield text
        if unpacker.eof:
            data = _next_member(unpacker.unused_data, slices, packing)
            if not data:
                return
            if not packing.magic.match(data):
                problems.add(TRAILING, written, "what stands behind the compressed data is left out")
                return
            unpacker = packing.unpacker()
        else:
            data = next(slices, b"")
    if not written:
        raise TraceFormatError(name, f"its {packing.name} data is empty or cut off")
    problems.cut_off(written, "the compressed data ends early")


def _next_member(rest: bytes, slices: Iterator[bytes], packing: Packing) -> bytes:
    """What follows a finished member, zeros (padding) aside: enough of it to see what it is, or nothing."""
    rest = rest.lstrip(b"\0")
    while len(rest) < MAGIC and (more := next(slices, b"")):
        rest = (rest + more).lstrip(b"\0")
    return rest


def _tell_damage(written: int, error: Exception, name: str, problems: Problems) -> None:
    if not written:
        raise TraceFormatError(name, f"its compression is damaged ({error})") from error
    problems.cut_off(written, f"the compressed data is damaged ({error})")


def zip_member(stream: BinaryIO, name: str, problems: Problems) -> Iterator[bytes]:
    """The one trace of an archive."""
    try:
        archive = zipfile.ZipFile(stream)
        member = archive.open(_only_trace(archive, name))
    except TraceFormatError:
        raise
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, OSError) as error:
        advice = "If it is cut off or damaged, copy it again; else unpack it first."
        raise TraceFormatError(name, f"the zip archive cannot be read ({error})", advice=advice) from error
    written = 0
    with archive, member:
        try:
            while chunk := member.read(_MEMBER_CHUNK):
                written += len(chunk)
                yield chunk
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            _tell_damage(written, error, name, problems)


def _only_trace(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    # macOS puts a twin of each file under __MACOSX.
    files = [item for item in archive.infolist() if not item.is_dir() and not item.filename.startswith("__MACOSX/")]
    traces = files if len(files) == 1 else [item for item in files if item.filename.lower().endswith(_PACKED_NAMES)]
    if len(traces) != 1:
        held = ", ".join(item.filename for item in traces[:5]) or "none"
        advice = "Unpack it and give one of them."
        raise TraceFormatError(name, f"the archive holds {len(traces)} traces, not one ({held})", advice=advice)
    if traces[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise TraceFormatError(name, "the archive is packed by another way than deflate", advice="Unpack it first.")
    return traces[0]


def encoding(first: bytes) -> str | None:
    """The encoding of a text that begins so, where it isn't UTF-8."""
    for mark, found in _BYTE_ORDER_MARKS:
        if first.startswith(mark):
            return found
    return _ZERO_BYTES.get(tuple(byte == 0 for byte in first[:MAGIC]))


def recoded(chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """UTF-8 from another encoding; what is no character shows as an escape that JSON doesn't know, and is repaired."""
    decoder = codecs.getincrementaldecoder(encoding)(errors="backslashreplace")
    for chunk in chunks:
        yield decoder.decode(chunk).encode()
    yield decoder.decode(b"", final=True).encode()
