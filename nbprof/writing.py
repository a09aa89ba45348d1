"""Files that are there whole or not at all: written beside their place and renamed into it.

In: a path, and what writes. Out: the file, packed as its name says, or `TraceWriteError` and what was there before.
"""

from __future__ import annotations

import gzip
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

from nbprof.errors import TraceWriteError

if TYPE_CHECKING:
    from zstandard import ZstdCompressor

_BLOCK = 1 << 20


class Sink(Protocol):
    """What bytes can be written to."""

    def write(self, data: bytes, /) -> object: ...


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """A path to write to, in the folder of `path`, which is made where it is missing; gone when the block ends.

    What is whole is put into its place by `replace(path)`. Raises TraceWriteError, naming `path`, for what the system
    refuses inside the block.
    """
    if not path.name:
        raise TraceWriteError(path, "this names no file")
    # A name of its own length: with `path`'s name in it, the longest that a folder takes would no longer fit.
    part = path.with_name(f".nbprof-{os.getpid()}-{time.time_ns()}.part.json")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield part
    except TraceWriteError:
        raise
    except OSError as error:
        raise TraceWriteError(path, error.strerror or str(error)) from error
    finally:
        for left in (part, part.with_name(f"{part.name}.tmp")):  # torch's own, where its writing failed
            with suppress(OSError):
                left.unlink()


@contextmanager
def whole_file(path: Path) -> Iterator[Sink]:
    """A file to write into, packed where the name of `path` ends in .gz or .zst; in its place when the block ends.

    Raises TraceWriteError, also for .zst where zstandard is not installed.
    """
    with beside(path) as part:
        with part.open("wb") as raw, _packed(raw, path) as file:
            yield file
        part.replace(path)


def write_text(path: Path, text: str) -> None:
    """A whole text file in UTF-8; raises TraceWriteError."""
    with whole_file(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def pack(plain: Path, path: Path) -> None:
    """Write what is in `plain` to `path`, packed as the name of `path` says; raises TraceWriteError."""
    with whole_file(path) as file, plain.open("rb") as source:
        shutil.copyfileobj(source, file, _BLOCK)


@contextmanager
def _packed(raw: IO[bytes], path: Path) -> Iterator[Sink]:
    """`raw`, behind a packer where the name of `path` asks for one, at the speed of the disk (level 1)."""
    if path.suffix == ".gz":
        with gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=1, mtime=0) as file:
            yield file
    elif path.suffix == ".zst":
        with _zstandard(path).stream_writer(raw, closefd=False) as file:
            yield file
    else:
        yield raw


def _zstandard(path: Path) -> ZstdCompressor:
    try:
        import zstandard
    except ImportError:
        advice = "Install it (pip install nbprof[zstd]), or end the name in .gz."
        raise TraceWriteError(path, f"a .zst file takes the package zstandard. {advice}") from None
    return zstandard.ZstdCompressor(level=1)
