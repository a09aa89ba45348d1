"""Files as older, foreign or interrupted writers leave them: read in full or in part, and said."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from nbprof.errors import TraceFormatError
from nbprof.metadata import ReadProblem, TraceMetadata
from nbprof.reader import read_events
from nbprof.schema import names

TWO = '{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "ka", "pid": 0, "tid": 7, "ts": 1, "dur": 5},\n'
TWO += ' {"ph": "X", "cat": "kernel", "name": "kb", "pid": 0, "tid": 7, "ts": 10, "dur": 7}]}'


def durations(events: pd.DataFrame) -> dict[str, float]:
    """Summed microseconds by name."""
    return {str(n): float(d) / 1000 for n, d in events.groupby("name", observed=True)["dur_ns"].sum().items()}


def kinds(metadata: TraceMetadata) -> dict[str, int]:
    return {problem.kind: problem.count for problem in metadata.problems}


def test_backslashes_that_were_not_escaped() -> None:
    text = rb"""{"traceEvents": [
 {"ph": "X", "cat": "python_function", "name": "C:\work\nets\blk.py(12): forward", "pid": 1, "tid": 1, "ts": 0, "dur": 30},
 {"ph": "X", "cat": "python_function", "name": "C:\work\new\tab.py(3): f", "pid": 1, "tid": 1, "ts": 1, "dur": 20},
 {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 2, "dur": 10,
  "args": {"Call stack": "C:\Users\me\x.py", "good": "a\\b\n"}}]}"""
    events, metadata = read_events(text)
    # \n, \b and \t in the first two are no escapes: the same strings hold \w, which can't be one.
    assert durations(events) == {
        r"C:\work\nets\blk.py(12): forward": 30,
        r"C:\work\new\tab.py(3): f": 20,
        "aten::mm": 10,
    }
    assert events["args"].iloc[2] == {"Call stack": r"C:\Users\me\x.py", "good": "a\\b\n"}
    assert kinds(metadata) == {"backslash that was not escaped": 3}
    assert metadata.problems[0].offset == text.index(b'{"ph": "X", "cat": "python_function", "name": "C:')


def test_control_characters_in_names() -> None:
    events, metadata = read_events(
        b'[{"ph": "X", "name": "a\x01b\tc", "ts": 1, "dur": 5}, {"ph": "X", "name": "d\ne", "ts": 9, "dur": 7}]'
    )
    assert durations(events) == {"a\x01b\tc": 5, "d\ne": 7}
    assert kinds(metadata) == {"control character in a text": 2}


def test_inf_and_nan_as_bare_words() -> None:
    events, metadata = read_events(b"""{"traceEvents": [
 {"ph": "X", "cat": "gpu_memcpy", "name": "copy", "pid": 0, "tid": 7, "ts": 1, "dur": 0, "args": {"bw": inf, "x": 1}},
 {"ph": "X", "cat": "gpu_memcpy", "name": "copy", "pid": 0, "tid": 7, "ts": 2, "dur": 4, "args": {"bw": -nan}},
 {"ph": "X", "cat": "gpu_memset", "name": "fill", "pid": 0, "tid": 7, "ts": 7, "dur": 3, "args": {"a": NaN, "b": -Infinity}},
 {"ph": "X", "cat": "cpu_op", "name": "aten::nanmean", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {"y": "nan: inf, x"}},
 {"ph": "X", "cat": "user_annotation", "name": "run: inf, nan, -inf", "pid": 1, "tid": 1, "ts": 1, "dur": 9}]}""")
    assert durations(events) == {"copy": 4, "fill": 3, "aten::nanmean": 2, "run: inf, nan, -inf": 9}
    assert events["args"].tolist() == [
        {"bw": None, "x": 1},
        {"bw": None},
        {"a": None, "b": None},
        {"y": "nan: inf, x"},
        {},
    ]
    assert kinds(metadata) == {"a number that JSON does not know": 3}


def test_bytes_that_are_not_utf8() -> None:
    events, metadata = read_events(TWO.encode().replace(b"ka", b"k\xc0\x80\xb9a"))
    assert events["dur_ns"].tolist() == [5000, 7000]
    assert events["name"].iloc[0] == "k���a"
    assert kinds(metadata) == {"bytes that are not UTF-8": 1}


def test_half_of_a_surrogate_pair() -> None:
    events, metadata = read_events(
        rb'[{"ph": "X", "name": "a\ud83d", "ts": 1}, {"ph": "X", "name": "\ud83d\ude00", "ts": 2}]'
    )
    assert events["name"].tolist() == ["a�", "😀"]
    assert kinds(metadata) == {"half of a surrogate pair": 1}


@pytest.mark.parametrize("name", ['say "hi" now', 'a "b", c', '"', '""', '5" disk', 'x": y'])
def test_quotes_that_were_not_escaped(name: str) -> None:
    text = """{
  "schemaVersion": 1,
  "traceEvents": [
  {
    "ph": "X", "cat": "user_annotation", "name": "NAME", "pid": 1, "tid": 1,
    "ts": 10.000, "dur": 50.500,
    "args": {
      "External id": 1
    }
  },
  {
    "ph": "X", "cat": "cpu_op", "name": "aten::mul", "pid": 1, "tid": 1,
    "ts": 12.000, "dur": 8.250,
    "args": {
      "External id": 2
    }
  }
  ],"traceName": "x.json" }""".replace("NAME", name)
    events, metadata = read_events(text.encode())
    assert durations(events) == {name: 50.5, "aten::mul": 8.25}
    assert kinds(metadata) == {"quote that was not escaped": 1}
    assert metadata.problems[0].offset == text.index('{\n    "ph"')
    assert metadata.other["traceName"] == "x.json"


def test_commas_too_many_and_entries_that_are_no_events() -> None:
    events, metadata = read_events(
        b'[{"ph": "X", "name": "a", "ts": 1, "args": {, "k": 1,}}, null, 7, [1, {"ph": "X"}], "x", '
        b'{"ph": "X", "name": "b", "ts": 2},]'
    )
    assert events["name"].tolist() == ["a", "b"]
    assert events["args"].iloc[0] == {"k": 1}
    assert kinds(metadata) == {
        "comma too many": 1,
        "entry that is no event": 3,
    }  # null, 7, and the list with what follows


def test_fields_of_unusual_types() -> None:
    events, metadata = read_events(
        b'[{"ph": "X", "name": {"a": 1}, "pid": [1], "tid": true, "ts": 1, "dur": 2, "args": [1, 2]},'
        b' {"ph": "X", "name": null, "ts": 2, "dur": 1, "args": {"stream": {"id": 3}, "correlation": 5}}]'
    )
    assert events["name"].tolist() == ['{"a": 1}', ""]
    assert events[["pid", "tid"]].iloc[0].tolist() == ["[1]", "True"]
    assert events["args"].tolist() == [{"args": [1, 2]}, {"stream": {"id": 3}, "correlation": 5}]
    assert events["correlation"].iloc[1] == 5
    assert events["stream"].isna().all()
    assert kinds(metadata) == {}


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + TWO.encode(),
        b"\n\n  " + TWO.encode(),
        TWO.replace("\n", "\r\n").encode(),
        TWO.encode("utf-16"),
        TWO.encode("utf-16-le"),
        TWO.encode("utf-16-be"),
        TWO.encode("utf-32"),
        gzip.compress(TWO.encode()),
        gzip.compress(gzip.compress(TWO.encode())),
        gzip.compress(TWO[:50].encode()) + gzip.compress(TWO[50:].encode()) + b"\0" * 9,
    ],
    ids=["bom", "space", "crlf", "utf16", "utf16le", "utf16be", "utf32", "gzip", "twice", "members"],
)
def test_what_a_file_is_shows_in_its_content(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "misnamed.txt"
    path.write_bytes(data)
    for source in (data, path, str(path), io.BytesIO(data)):
        events, metadata = read_events(source)
        assert durations(events) == {"ka": 5, "kb": 7}
        assert metadata.problems == ()
        assert metadata.bytes == len(data)


def test_a_zip_with_one_trace_and_with_two() -> None:
    def packed(*members: str) -> bytes:
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr("readme.txt", "x")
            for member in members:
                text = TWO.encode()
                archive.writestr(member, gzip.compress(text) if member.endswith(".gz") else text)
        return stream.getvalue()

    for member in ("a/trace.json", "trace.json.gz"):
        for source in (packed(member), io.BytesIO(packed(member))):
            assert durations(read_events(source)[0]) == {"ka": 5, "kb": 7}
    with pytest.raises(TraceFormatError, match=r"2 traces, not one \(a.json, b.json\)"):
        read_events(packed("a.json", "b.json"))


@pytest.mark.parametrize("length", [len(TWO) - 1, len(TWO) - 2, len(TWO) - 20, 100])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_killed_job_leaves_what_it_had_written(length: int, pack: type[bytes]) -> None:
    events, metadata = read_events(pack(TWO[:length].encode()))
    assert events["name"].tolist() == (["ka", "kb"] if length > len(TWO) - 10 else ["ka"])
    assert kinds(metadata) == {"cut off": 1}
    assert metadata.problems[0].offset == length


def test_a_compressed_file_that_was_cut_off_or_damaged() -> None:
    lines = [b'{"ph": "X", "name": "e%d", "ts": %d}' % (n, n) for n in range(5000)]
    data = gzip.compress(b"[" + b",\n".join(lines) + b"]")
    half = len(data) // 2
    for broken in (data[:half], data[:half] + b"\xff" * 40 + data[half + 40 :]):
        events, metadata = read_events(broken)
        assert events["name"].tolist()[:2000] == [f"e{n}" for n in range(2000)]
        assert "cut off" in kinds(metadata)


def test_metadata_that_was_cut_off_is_kept_up_to_there() -> None:
    _, metadata = read_events(b'{"traceEvents": [], "a": 1, "b": {"c": [1, 2')
    assert metadata.other == {"a": 1}
    assert kinds(metadata) == {"cut off": 1}


def test_broken_metadata_does_not_cost_the_events() -> None:
    events, metadata = read_events(b'{"path": "C:\\work", "x": nan, ' + TWO.encode()[1:])
    assert len(events) == 2
    assert metadata.other == {"path": "C:\\work", "x": None}
    events, metadata = read_events(b'{"path": oops oops, ' + TWO.encode()[1:])
    assert len(events) == 2
    assert kinds(metadata) == {"metadata that cannot be read": 1}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b" \n ", "the file is empty"),
        (b"<!DOCTYPE html><html>", "HTML"),
        (b"\x80\x04\x95\x10", "pickle"),
        (b"\x28\xb5\x2f\xfd0000", "zstd"),
        (b"PK\x03\x04....", "cannot be read"),
        (b"\x1f\x8b\x08\x00", "empty"),
        (b"hello", "begins with 'hello'"),
        (b"{}", "without a list of traceEvents"),
        (b"[1, 2]", "holds no events"),
        (b"[" * 100_000, "holds no events"),
    ],
)
def test_what_is_no_trace_is_one_clear_error(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(data)
    with pytest.raises(TraceFormatError, match=message) as error:
        read_events(path)
    assert str(path) in str(error.value)


def test_paths_that_hold_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_events(tmp_path / "missing.json")
    with pytest.raises(TraceFormatError, match="directory"):
        read_events(tmp_path)
    for path in ("a\0b", "x" * 5000):
        with pytest.raises(TraceFormatError, match="cannot be opened"):
            read_events(path)
    with pytest.raises(TraceFormatError, match="gives text, not bytes"):
        read_events(io.StringIO(TWO))  # type: ignore[arg-type]


def test_nesting_without_end_is_no_crash() -> None:
    deep = b'{"traceEvents": [{"ph": "X", "name": "a", "ts": 1}, {"ph": "X", "name": "b", "ts": 2, "args": '
    events, metadata = read_events(deep + b"[" * 100_000 + b"]" * 100_000 + b"}]}")
    assert events["name"].tolist() == ["a"]
    assert metadata.problems != ()


def test_problems_are_plain_records() -> None:
    _, metadata = read_events(b'[{"ph": "X", "name": "a", "ts": 1}, ')
    assert metadata.problems == (ReadProblem("cut off", 1, 36, "the list of events has no end"),)


def test_an_empty_trace_has_all_columns() -> None:
    for text in (b"[]", json.dumps({"traceEvents": []}).encode()):
        events, metadata = read_events(text)
        assert list(events.columns)[: len(names("events"))] == names("events")
        assert len(events) == 0
        assert metadata.problems == ()
