"""Any source is opened by its content, and left as it was when reading is broken off."""

from __future__ import annotations

import gzip
import io
import os
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from nbprof.errors import TraceFormatError
from nbprof.reader import read_trace
from nbprof.reader.parquet import write_parquet

TRACE = b'{"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 2, "args": {"k": 1}}]}'


class Pipe:
    """What gives its bytes once, a few at a time."""

    def __init__(self, data: bytes, *, breaks: BaseException | None = None) -> None:
        self._data = io.BytesIO(data)
        self._breaks = breaks

    def read(self, count: int = -1) -> bytes:
        chunk = self._data.read(count if count < 0 else min(count, 7))
        if self._breaks and not chunk:
            raise self._breaks
        return chunk


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    return write_parquet(*read_trace(TRACE), tmp_path / "t.parquet")


def test_a_trace_and_its_parquet_are_the_same_from_every_source(tmp_path: Path, parquet: Path) -> None:
    plain = tmp_path / "t.json"
    plain.write_bytes(TRACE)
    for path in (plain, parquet):
        with path.open("rb") as stream:
            sources: list[Any] = [path, str(path), path.read_bytes(), stream, Pipe(path.read_bytes())]
            for source in sources:
                events, metadata, fx = read_trace(source)
                assert (events["name"].tolist(), events["args"].tolist(), fx) == (["a"], [{"k": 1}], None)
                assert metadata.bytes == path.stat().st_size
            assert not stream.closed
            with pytest.raises(TraceFormatError, match="the file is empty"):
                read_trace(stream)  # it was read to its end
    assert read_trace(parquet)[1].source == str(parquet)
    assert read_trace(Pipe(parquet.read_bytes()))[1].source == "<stream>"


def test_a_named_pipe_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(TRACE,))
    writer.start()
    assert len(read_trace(path)[0]) == 1
    writer.join()


@pytest.mark.parametrize("source", [b"", b"PA", b"[]", b"{}"])
def test_what_is_shorter_than_its_first_bytes(source: bytes) -> None:
    if source == b"[]":
        assert len(read_trace(source)[0]) == 0
    else:
        with pytest.raises(TraceFormatError):
            read_trace(source)


def test_streams_of_no_use_are_clear_errors(tmp_path: Path) -> None:
    with pytest.raises(TraceFormatError, match="gives text, not bytes"):
        read_trace(io.StringIO(TRACE.decode()))  # type: ignore[arg-type]
    closed = io.BytesIO(TRACE)
    closed.close()
    with pytest.raises(TraceFormatError, match="cannot be read"):
        read_trace(closed)
    with pytest.raises(TraceFormatError, match=r"<stream>: it cannot be read \(gone\)"):
        read_trace(Pipe(b"", breaks=OSError("gone")))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="read from a path"):
        read_trace(5)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        read_trace(tmp_path / "nowhere.json")


def test_breaking_off_leaves_nothing_half_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nbprof.reader.blocks._PLAIN", 0)  # so that there is a thread that packs
    opened: list[Any] = []
    original = Path.open
    monkeypatch.setattr(Path, "open", lambda *args, **more: opened.append(original(*args, **more)) or opened[-1])
    path = tmp_path / "t.json"
    path.write_bytes(TRACE[:-2] + b"," + TRACE[17:-2] * 40_000 + b"]}")
    packing: list[threading.Thread] = []

    def interrupt(*_: object) -> None:
        packing.extend(thread for thread in threading.enumerate() if thread.name.startswith("nbprof-args"))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_trace(path, progress=interrupt)
    with pytest.raises(KeyboardInterrupt):
        read_trace(Pipe(TRACE[:-2], breaks=KeyboardInterrupt()))
    assert packing
    assert not any(thread.is_alive() for thread in packing)
    assert opened
    assert all(file.closed for file in opened)


def test_parquet_without_pyarrow_says_what_to_install(parquet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "nbprof.reader.parquet", None)
    with pytest.raises(
        TraceFormatError, match=r"t\.parquet: reading Parquet takes pyarrow .*pip install nbprof\[parquet\]"
    ):
        read_trace(parquet)


@pytest.mark.parametrize("kind", ["zip", "parquet"])
def test_a_named_pipe_may_hold_whatever_a_file_may(tmp_path: Path, parquet: Path, kind: str) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.json", TRACE)
    path = tmp_path / "pipe"
    os.mkfifo(path)
    data = packed.getvalue() if kind == "zip" else parquet.read_bytes()
    writer = threading.Thread(target=path.write_bytes, args=(data,))
    writer.start()
    assert read_trace(path)[0]["name"].tolist() == ["a"]
    writer.join()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("", "the path is empty"),
        (TRACE.decode(), r"<text>: this is the text of a trace, not a path\. Give it as bytes: text\.encode\(\)"),
        (gzip.compress(b"PAR1" + bytes(20)), "a Parquet file that was packed once more"),
    ],
)
def test_what_was_meant_is_said(source: Any, words: str) -> None:
    with pytest.raises(TraceFormatError, match=words):
        read_trace(source)


def test_a_file_open_for_writing_is_to_be_opened_anew(tmp_path: Path) -> None:
    with (tmp_path / "t.json").open("wb") as file, pytest.raises(TraceFormatError, match="Open it anew, in mode 'rb'"):
        read_trace(file)


def test_a_pipe_is_not_named_by_its_number() -> None:
    reading, writing = os.pipe()
    os.write(writing, TRACE)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        assert read_trace(pipe)[1].source == "<stream>"
