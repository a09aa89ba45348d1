"""The FX payload in a file of its own: found beside its trace, and refused clearly when it is something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbprof.errors import TraceFormatError
from nbprof.reader.fx_file import load_fx, payload_beside

PAYLOAD = '{"schema_version": 1, "huge": 1180591620717411303424, "name": "é"}'
VALUES = {"schema_version": 1, "huge": 1180591620717411303424, "name": "é"}


def test_a_payload_is_read_as_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "run.json.fx.json"
    path.write_text(PAYLOAD, encoding="utf-8")
    assert load_fx(path) == load_fx(str(path)) == VALUES


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"", "it is no JSON"),
        (b"{", "it is no JSON"),
        (b"\xff\xfe", "it is no JSON"),
        (b"[" * 100_000, "it is no JSON"),
        (b"[]", "no JSON object with schema_version"),
        (b'{"traceEvents": []}', "no JSON object with schema_version"),
    ],
    ids=["empty", "cut", "not UTF-8", "deep", "a list", "a trace"],
)
def test_what_is_no_payload_is_a_clear_error(tmp_path: Path, text: bytes, problem: str) -> None:
    path = tmp_path / "run.json.fx.json"
    path.write_bytes(text)
    with pytest.raises(TraceFormatError, match=rf"run\.json\.fx\.json: this is no FX payload: {problem}"):
        load_fx(path)


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.fx\.json"):
        load_fx(tmp_path / "none.fx.json")
    with pytest.raises(TraceFormatError, match="it cannot be opened"):
        load_fx(tmp_path)


@pytest.mark.parametrize(
    ("trace", "beside"),
    [
        ("run.json", "run.json.fx.json"),
        ("run.json.gz", "run.json.fx.json"),
        ("run.json.zst", "run.json.fx.json"),
        ("run.json.gz", "run.json.gz.fx.json"),
        ("run", "run.fx.json"),
    ],
)
def test_it_is_found_beside_its_trace(tmp_path: Path, trace: str, beside: str) -> None:
    (tmp_path / beside).write_text(PAYLOAD, encoding="utf-8")
    assert payload_beside(tmp_path / trace) == (VALUES, None)
    assert payload_beside(tmp_path / "other.json.gz") == (None, None)


def test_a_broken_one_beside_is_told(tmp_path: Path) -> None:
    (tmp_path / "run.json.fx.json").write_text("{")
    payload, problem = payload_beside(tmp_path / "run.json")
    assert payload is None
    assert problem is not None
    assert problem.kind == "FX file that cannot be read"
    assert not problem.is_mended
    assert "run.json.fx.json: this is no FX payload" in problem.detail
