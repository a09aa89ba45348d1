"""Whole files or none: what is left after success, after a failure, and what a name means."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest

from nbprof.errors import TraceWriteError
from nbprof.writing import beside, pack, whole_file, write_text


def entries(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_a_file_is_there_when_the_block_has_ended_and_nothing_beside_it(tmp_path: Path) -> None:
    with whole_file(tmp_path / "new" / "a.json") as file:
        file.write(b"one ")
        file.write(b"two")
        assert "a.json" not in entries(tmp_path / "new")
    assert entries(tmp_path / "new") == ["a.json"]
    assert (tmp_path / "new" / "a.json").read_bytes() == b"one two"


def test_what_fails_half_way_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("old")
    with pytest.raises(KeyboardInterrupt), whole_file(tmp_path / "a.json") as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert entries(tmp_path) == ["a.json"]
    assert (tmp_path / "a.json").read_text() == "old"


def test_what_the_system_refuses_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TraceWriteError, match=r"file/a\.json: (File exists|Not a directory)"):
        write_text(tmp_path / "file" / "a.json", "x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(TraceWriteError, match="folder: Is a directory"):
        write_text(tmp_path / "folder", "x")
    with pytest.raises(TraceWriteError, match=r"a\.json: No space left"), beside(tmp_path / "a.json") as part:
        part.write_bytes(b"half")
        raise OSError(28, "No space left on device")
    assert entries(tmp_path) == ["file", "folder"]
    with pytest.raises(TraceWriteError, match="this names no file"):
        write_text(Path(), "x")


def test_a_failed_write_inside_another_is_told_once(tmp_path: Path) -> None:
    with pytest.raises(TraceWriteError) as raised, beside(tmp_path / "outer"):
        pack(tmp_path / "missing", tmp_path / "inner")
    assert raised.value.path == tmp_path / "inner"


def test_torchs_own_leftover_goes_too(tmp_path: Path) -> None:
    with beside(tmp_path / "a.json") as part:
        part.with_name(part.name + ".tmp").write_text("")
    assert entries(tmp_path) == []


def test_a_name_that_ends_in_gz_is_packed_and_the_same_content_gives_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"x" * 3_000_000)
    for name in ("a.json.gz", "b.json.gz"):
        pack(tmp_path / "plain", tmp_path / name)
    packed = (tmp_path / "a.json.gz").read_bytes()
    assert len(packed) < 30_000
    assert gzip.decompress(packed) == b"x" * 3_000_000
    assert (tmp_path / "b.json.gz").read_bytes() == packed


def test_a_name_that_ends_in_zst_is_packed_where_zstandard_is_there(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    write_text(tmp_path / "a.json.zst", "x" * 3_000_000)
    packed = (tmp_path / "a.json.zst").read_bytes()
    assert len(packed) < 30_000
    assert zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed)).read() == b"x" * 3_000_000


def test_without_zstandard_the_way_out_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(TraceWriteError, match=r"a\.json\.zst: .*pip install nbprof\[zstd\]\), or end the name in \.gz"):
        write_text(tmp_path / "a.json.zst", "x")
    assert entries(tmp_path) == []


def test_text_that_utf8_cannot_hold_is_written_all_the_same(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "é \ud800")
    assert (tmp_path / "a.txt").read_bytes() == b"\xc3\xa9 \\ud800"
