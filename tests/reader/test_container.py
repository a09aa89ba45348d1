"""Anything that bytes can be read from is a source: how it gives them, and whose it is, makes no difference."""

from __future__ import annotations

import gzip
import io
import json
import os
import threading
import zipfile
from pathlib import Path

import pytest

from nbprof.errors import TraceFormatError
from nbprof.reader import read_events
from nbprof.reader.container import CHUNK, Text
from nbprof.reader.problems import Problems

TEXT = json.dumps([{"ph": "X", "name": f"op{n}", "ts": n} for n in range(9)]).encode()


def zipped(data: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("trace.json", data)
    return stream.getvalue()


class Dribble(io.RawIOBase):
    """Gives one byte at a time, and can't go back."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._data.read(1 if size > 0 else size)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zipped])
def test_a_stream_may_give_less_than_asked_for(pack: type[bytes]) -> None:
    stream = Dribble(pack(TEXT))
    events, metadata = read_events(stream)
    assert len(events) == 9
    assert metadata.bytes == len(pack(TEXT))


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zipped])
def test_a_pipe_is_read_to_its_end(pack: type[bytes]) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source:

        def write() -> None:
            with os.fdopen(writing, "wb") as sink:
                sink.write(pack(TEXT))

        writer = threading.Thread(target=write)
        writer.start()
        events, _ = read_events(source)
        writer.join()
    assert len(events) == 9


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zipped])
def test_a_stream_of_the_user_stays_open_and_is_read_from_where_it_stands(pack: type[bytes], tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_bytes(b"before" + pack(TEXT))
    with path.open("rb") as stream:
        stream.seek(len(b"before"))
        assert len(read_events(stream)[0]) == 9
        assert not stream.closed


def test_a_gzip_file_object_is_a_stream_too(tmp_path: Path) -> None:
    path = tmp_path / "trace.gz"
    path.write_bytes(gzip.compress(TEXT))
    with gzip.open(path) as stream:
        assert len(read_events(stream)[0]) == 9  # type: ignore[arg-type]
    path.write_bytes(gzip.compress(TEXT)[:-20])
    with gzip.open(path) as stream, pytest.raises(TraceFormatError, match="cannot be read"):
        read_events(stream)  # type: ignore[arg-type]


def test_streams_that_give_no_bytes_are_one_clear_error(tmp_path: Path) -> None:
    closed = io.BytesIO(TEXT)
    closed.close()
    with pytest.raises(TraceFormatError, match="closed file"):
        read_events(closed)
    with (tmp_path / "new").open("wb") as stream, pytest.raises(TraceFormatError, match="cannot be read"):
        read_events(stream)

    class Silent(Dribble):
        def read(self, size: int = -1) -> bytes:
            return None  # type: ignore[return-value]  # as a stream that doesn't block does

    with pytest.raises(TraceFormatError, match="gives NoneType, not bytes"):
        read_events(Silent(TEXT))


def test_a_file_of_ours_is_closed_also_after_an_error(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(b"no trace")
    text = Text(path, Problems())
    with pytest.raises(TraceFormatError), text:
        list(text)
    assert text._stream.closed


def test_chunks_are_of_one_size_however_the_text_is_packed() -> None:
    text = b"[" + b" " * (3 * CHUNK) + b"]"
    for data in (text, gzip.compress(text), zipped(text)):
        with Text(data, Problems()) as source:
            chunks = list(source)
        assert [len(chunk) for chunk in chunks] == [CHUNK] * 3 + [2]
        assert b"".join(chunks) == text
        assert source.done == len(data)
