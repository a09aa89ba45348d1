"""Names and places of trace files: unique, rank-aware, written beside and renamed into place, pruned by manifest.

In: a directory, a label, a window's export. Out: complete files, or `TraceWriteError`; never a half-written one under
its final name.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nbprof.errors import TraceWriteError
from nbprof.metadata import METADATA_KEY, CaptureInfo
from nbprof.settings import Rank
from nbprof.writing import beside, pack, write_text

SUFFIX = ".pt.trace.json"
KEPT = 20
_OWN = re.compile(r"[^/\\]+\.\d+(\.pt)?\.trace\.json(\.gz)?")  # what `unique_path` makes; nothing else is ever deleted
_MANIFEST = ".nbprof-manifest.json"
_TAIL = 64
_INCOMPLETE = "the file came out incomplete (is the disk full?)"


def check_writable(directory: Path) -> None:
    """Make the directory where it is missing; raises TraceWriteError, before anything has run, where it can't be used."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=".nbprof-", dir=directory)
        os.close(descriptor)
        Path(name).unlink()
    except OSError as error:
        raise TraceWriteError(directory, _reason(error)) from error


def worker_name(rank: Rank) -> str:
    """`<host>_<pid>`, with the rank where there are several: what TensorBoard shows as the worker."""
    name = f"{socket.gethostname()}_{os.getpid()}"
    return name if rank.world_size <= 1 else f"{name}.rank{rank.rank}.local{rank.local_rank}"


def unique_path(directory: Path, worker: str) -> Path:
    """`<directory>/<worker>.<time in ns>.pt.trace.json`; blanks and signs in the name become `_`."""
    plain = re.sub(r"[^\w.-]+", "_", worker).strip("._").encode("utf-8", "replace")
    stem = plain[:100].decode("utf-8", "ignore") or "trace"
    stamp = time.time_ns()
    directory = directory.absolute()  # the working directory may be another one when it is written
    while (path := directory / f"{stem}.{stamp}{SUFFIX}").exists():
        stamp += 1
    return path


def write_trace(export: Callable[[Path], None], path: Path, info: CaptureInfo) -> int:
    """Let torch write beside `path`, add nbprof's key, check and rename into place; returns the size in bytes.

    A name that ends in .gz is gzipped.

    Raises TraceWriteError for an unusable folder (before torch is asked) and for a file that came out incomplete.
    """
    check_writable(path.parent)
    with beside(path) as part:
        export(part)
        if not part.exists():  # torch's C++ writer returns as if all were well, and logs a line
            raise OSError(_INCOMPLETE)
        _append_key(part, info)
        if path.suffix == ".gz":
            pack(part, path)
        else:
            part.replace(path)
    return path.stat().st_size


def copy_file(source: Path, path: Path) -> None:
    """An equal file at another path; raises TraceWriteError."""
    with beside(path) as part:
        shutil.copyfile(source, part)
        part.replace(path)


def packed_path(path: Path) -> Path:
    """`<path>.gz`."""
    return path.with_name(f"{path.name}.gz")


def compress(path: Path) -> Path:
    """Write `<path>.gz` beside `path`, at the speed of the disk (level 1); returns its path."""
    target = packed_path(path)
    pack(path, target)
    return target


def keep_newest(directory: Path, newest: Path, kept: int = KEPT) -> None:
    """Note `newest` in the directory's manifest and delete the oldest files beyond `kept`: those of the manifest only."""
    manifest = directory / _MANIFEST
    names = [name for name in _read_manifest(manifest) if name != newest.name and (directory / name).is_file()]
    names.append(newest.name)
    for name in names[:-kept]:
        with contextlib.suppress(OSError):
            (directory / name).unlink()
    write_text(manifest, json.dumps({"files": names[-kept:]}, indent=1))


def _read_manifest(manifest: Path) -> list[str]:
    try:
        names = json.loads(manifest.read_text(encoding="utf-8"))["files"]
        return [name for name in names if isinstance(name, str) and _OWN.fullmatch(name)]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _append_key(part: Path, info: CaptureInfo) -> None:
    """Put nbprof's key before the last brace; the file isn't read for that (torch ends it in `}`)."""
    with part.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL))
        tail = file.read()
        brace = tail.rstrip().rfind(b"}")
        if brace < 0 or brace != len(tail.rstrip()) - 1:
            raise OSError(_INCOMPLETE)
        file.seek(size - len(tail) + brace)
        file.write(b', "%s": %s\n}\n' % (METADATA_KEY.encode(), _json(info.to_dict())))
        file.truncate()


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
