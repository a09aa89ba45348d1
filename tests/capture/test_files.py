from __future__ import annotations

import gzip
import json
from pathlib import Path

import msgspec
import pytest

from nbprof.capture import files
from nbprof.errors import TraceWriteError
from nbprof.metadata import CaptureInfo
from nbprof.settings import Rank

INFO = CaptureInfo(kind="once", label='say "hi" \\ é')


def whole(path: Path) -> None:
    path.write_text('{"traceEvents": [\n], "traceName": "x"\n}\n')


def test_our_key_is_put_before_the_last_brace(tmp_path: Path) -> None:
    size = files.write_trace(whole, tmp_path / "new" / "a.json", INFO)
    loaded = json.loads((tmp_path / "new" / "a.json").read_bytes())
    assert loaded["traceName"] == "x"
    assert msgspec.convert(loaded["nbprof"], CaptureInfo) == INFO
    assert size == (tmp_path / "new" / "a.json").stat().st_size
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["a.json"]


@pytest.mark.parametrize("text", ["", '{"traceEvents": [', '{"traceEvents": [{"name": "}"'])
def test_a_file_that_came_out_incomplete_is_an_error_and_leaves_nothing(tmp_path: Path, text: str) -> None:
    with pytest.raises(TraceWriteError, match=r"a\.json: the file came out incomplete \(is the disk full\?\)"):
        files.write_trace(lambda path: path.write_text(text) and None, tmp_path / "a.json", INFO)
    assert list(tmp_path.iterdir()) == []


def test_an_exporter_that_writes_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TraceWriteError, match="came out incomplete"):
        files.write_trace(lambda path: None, tmp_path / "a.json", INFO)


def test_an_older_file_stays_when_the_new_one_fails(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("old")
    with pytest.raises(TraceWriteError):
        files.write_trace(lambda path: None, tmp_path / "a.json", INFO)
    assert (tmp_path / "a.json").read_text() == "old"


def test_a_folder_under_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TraceWriteError, match="file/below: Not a directory") as raised:
        files.check_writable(tmp_path / "file" / "below")
    assert raised.value.path == tmp_path / "file" / "below"


def test_names_are_unique_and_made_of_plain_characters(tmp_path: Path) -> None:
    paths = set()
    for _ in range(50):
        path = files.unique_path(tmp_path, "%%region a/b é")
        assert path.name.startswith("region_a_b_é.")
        path.touch()
        paths.add(path)
    assert len(paths) == 50
    assert files.unique_path(tmp_path, "%%").name.startswith("trace.")


def test_a_worker_is_told_by_its_rank_where_there_are_several() -> None:
    assert ".rank" not in files.worker_name(Rank())
    assert files.worker_name(Rank(5, 1, 8)).endswith(".rank5.local1")


def test_compressing_keeps_the_content(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"x" * 3_000_000)
    packed = files.compress(tmp_path / "a.json")
    assert packed == tmp_path / "a.json.gz"
    assert gzip.decompress(packed.read_bytes()) == b"x" * 3_000_000


MANIFEST = ".nbprof-manifest.json"


def test_only_files_of_the_manifest_are_ever_deleted(tmp_path: Path) -> None:
    for name in ("mine.json", "manifest.json", "a.9.pt.trace.json"):
        (tmp_path / name).write_text("{}")
    for number in range(5):
        (tmp_path / f"a.{number}.pt.trace.json").write_text("")
        files.keep_newest(tmp_path, tmp_path / f"a.{number}.pt.trace.json", kept=2)
    left = ["a.3.pt.trace.json", "a.4.pt.trace.json", "a.9.pt.trace.json"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([MANIFEST, "mine.json", "manifest.json", *left])


@pytest.mark.parametrize(
    "text", ["", "{", '{"files": 3}', '{"files": ["../mine.1.pt.trace.json", "mine.json", 7]}', "[]"]
)
def test_a_damaged_manifest_deletes_nothing(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "traces"
    folder.mkdir()
    mine = [tmp_path / "mine.1.pt.trace.json", folder / "mine.json"]
    for path in mine:
        path.write_text("")
    (folder / MANIFEST).write_text(text)
    newest = folder / "a.2.pt.trace.json.gz"
    newest.write_text("")
    files.keep_newest(folder, newest, kept=1)
    assert all(path.exists() for path in mine)
    assert json.loads((folder / MANIFEST).read_text()) == {"files": [newest.name]}


def test_a_name_of_any_length_fits_into_a_folder(tmp_path: Path) -> None:
    path = files.unique_path(tmp_path, "漢" * 300)
    files.write_trace(whole, path, INFO)
    assert path.stat().st_size > 0
