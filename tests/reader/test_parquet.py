"""A trace comes back from Parquet exactly, other tools can read the file, and a damaged one is one clear error."""

from __future__ import annotations

import json
import pickle
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nbprof import schema
from nbprof.errors import TraceFormatError, TraceWriteError
from nbprof.metadata import CaptureInfo, ReadProblem, RegionCount, TraceMetadata
from nbprof.reader import parquet, read_events
from nbprof.reader.arguments import ArgsArray
from nbprof.reader.parquet import read_parquet, write_parquet
from tests.frames import kernel, launch, make_events, op
from tests.references import Reference

HUGE = 1180591620717411303424
CAPTURE = CaptureInfo("cell", "cell 3", gated=True, calls_us=(1.5, 2.0), regions=(RegionCount("r", None, 2, 0.1),))
METADATA = TraceMetadata(
    source="t.json",
    start_ns=1_796_064_455_000_000_001,
    bytes=5,
    text_bytes=77,
    capture=CAPTURE,
    devices=({"id": 0, "totalGlobalMem": HUGE},),
    distributed={"rank": 3, "world_size": 8, "pg_config": [{"pg_name": "0", "ranks": [0, 1]}]},
    labels=({"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "é \ud800"}},),
    problems=(ReadProblem("cut off", 1, 12, "the list of events has no end"),),
    other={"huge": HUGE, "tenth": 0.1, "nested": {"list": [None, True, "\u2028"]}},
)
FX = {"schema_version": 1, "huge": HUGE}


@pytest.fixture
def events() -> pd.DataFrame:
    frame = make_events(
        op("aten::mm", 0, 10.001, args={"k": HUGE, "deep": {"l": [1]}}),
        launch(2, 1, 7, args={}),
        kernel("k\n\u4e2d", 5, 4, 7, seq=1 << 61, occupancy=0.5, shapes="[[2, 3]]", args={"s": 'a"b'}),
        op("aten::mm", 20, None, args=None),
        op("", 30, 1, bytes=-64, in_region=False, args={"x": 1.5}),
    )
    names = frame["name"].cat.set_categories(["unused", "k\n\u4e2d", "", "cudaLaunchKernel", "aten::mm", "unused too"])
    return frame.assign(name=names, ts_ns=frame["ts_ns"] + (1 << 61))


@pytest.fixture(params=[2, 1 << 16], ids=["several row groups", "one row group"])
def written(request: pytest.FixtureRequest, events: pd.DataFrame, tmp_path: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "_ROWS", request.param)
        return write_parquet(events, METADATA, FX, tmp_path / "new" / "t.parquet")


def same(read: pd.DataFrame, expected: pd.DataFrame) -> None:
    assert list(read.columns) == list(expected.columns)
    assert isinstance(read["args"].array, ArgsArray)
    assert read["args"].tolist() == [item if isinstance(item, dict) else None for item in expected["args"]]
    for name in expected.columns.drop("args"):
        column = expected[name]
        if column.dtype == "category" and column.cat.categories.empty:  # of no type, where a test made them of nothing
            column = column.cat.set_categories(column.cat.categories.astype("str"))
        pd.testing.assert_series_equal(read[name], column, check_exact=True)


def test_a_trace_comes_back_exactly(written: Path, events: pd.DataFrame) -> None:
    read, metadata, fx = read_parquet(written.read_bytes(), "here.parquet")
    same(read, events)
    assert metadata == replace(METADATA, source="here.parquet", bytes=written.stat().st_size)
    assert fx == FX


def test_columns_of_ones_own_come_back_too(events: pd.DataFrame, tmp_path: Path) -> None:
    own = events.assign(
        late=pd.to_timedelta(range(5), unit="us"),
        word=pd.Categorical(["b", "a", None, "a", "b"], ["b", "a", "c"], ordered=True),
        text=["x", None, "y", "z", ""],
    )
    own = own[["late", *events.columns, "word", "text"]]
    read, _, _ = read_parquet(write_parquet(own, METADATA, None, tmp_path / "t.parquet").read_bytes(), "t")
    same(read, own)


def test_no_events(tmp_path: Path, no_events: pd.DataFrame) -> None:
    plain = TraceMetadata(source="t.json")
    path = write_parquet(no_events, plain, None, tmp_path / "t.parquet")
    read, metadata, fx = read_parquet(path.read_bytes(), "t.json")
    same(read, no_events)
    assert metadata == replace(plain, bytes=path.stat().st_size)
    assert fx is None


def test_recorded_traces_come_back_exactly(reference: Reference, tmp_path: Path) -> None:
    path = write_parquet(reference.events, reference.metadata, None, tmp_path / "t.parquet")
    read, metadata, _ = read_parquet(path.read_bytes(), reference.metadata.source)
    columns = [name for name in read.columns if name != "args"]
    assert list(read.columns) == list(reference.events.columns)
    pd.testing.assert_frame_equal(read[columns], reference.events[columns], check_exact=True)
    assert list(read["args"].array.texts()) == list(reference.events["args"].array.texts())
    assert replace(metadata, bytes=reference.metadata.bytes) == reference.metadata


def test_rows_in_another_order_are_numbered_anew(events: pd.DataFrame, tmp_path: Path) -> None:
    mixed = events.iloc[[4, 0, 3, 1]]
    read, _, _ = read_parquet(write_parquet(mixed, METADATA, None, tmp_path / "t.parquet").read_bytes(), "t")
    same(read, mixed.reset_index(drop=True))


def test_other_tools_find_plain_columns(written: Path) -> None:
    table = pq.read_table(written)
    assert table.schema.field("ts_ns").type == pa.int64()
    assert table.schema.field("device").type == pa.int16()
    assert table["name"].to_pylist() == ["aten::mm", "cudaLaunchKernel", "k\n\u4e2d", "aten::mm", ""]
    assert json.loads(table["args"][0].as_py()) == {"k": HUGE, "deep": {"l": [1]}}
    assert table["args"][3].as_py() is None
    frame = pd.read_parquet(written)
    assert frame["dur_ns"].tolist() == [10_001, 1000, 4000, pd.NA, 1000]
    assert frame["args"].iloc[1] == "{}"
    columns = pq.read_metadata(written).row_group(0)
    encodings = {columns.column(place).path_in_schema: columns.column(place).encodings for place in range(39)}
    assert "RLE_DICTIONARY" in encodings["name"]
    assert "RLE_DICTIONARY" not in encodings["args"]


def test_a_row_group_holds_only_its_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "_ROWS", 10)
    events = make_events(*(op(f"a name of its own, number {number}", number, 1) for number in range(300)))
    path = write_parquet(events, METADATA, None, tmp_path / "t.parquet")
    one = pq.read_metadata(path).row_group(20).column(0)
    assert one.path_in_schema == "name"
    assert one.total_uncompressed_size < 1000  # 10 names of 30 bytes, not 300 of them
    same(read_parquet(path.read_bytes(), "t")[0], events)


def test_arguments_are_unpacked_when_looked_at_and_need_no_file(written: Path, events: pd.DataFrame) -> None:
    read, _, _ = read_parquet(written.read_bytes(), "t")
    written.unlink()
    assert read["args"].iloc[4] == {"x": 1.5}
    assert read["args"].iloc[3] is None
    assert pickle.loads(pickle.dumps(read))["args"].tolist() == read["args"].tolist()
    part = pickle.loads(pickle.dumps(read["args"].iloc[4:]))
    assert part.tolist() == [{"x": 1.5}]
    assert part.array.nbytes < read["args"].array.nbytes
    joined = pd.concat([read["args"], part], ignore_index=True)
    assert joined.tolist() == [*read["args"], {"x": 1.5}]


def test_columns_without_values_take_no_memory(tmp_path: Path) -> None:
    events = make_events(*(op("a", number, 1) for number in range(1000)))
    read, _, _ = read_parquet(write_parquet(events, METADATA, None, tmp_path / "t.parquet").read_bytes(), "t")
    assert read["seq"].array._data.strides == (0,)
    assert read["occupancy"].to_numpy().strides == (0,)
    same(read, events)


def test_text_that_is_not_utf8_is_kept_as_far_as_it_goes(tmp_path: Path) -> None:
    events, metadata = read_events(b'[{"ph": "X", "name": "a", "ts": 1, "args": {"k": "\xff"}}]')
    path = write_parquet(events, metadata, None, tmp_path / "t.parquet")
    assert read_parquet(path.read_bytes(), "t")[0]["args"].tolist() == events["args"].tolist() == [{"k": "\ufffd"}]


@pytest.mark.parametrize("keep", [0, 4, 8, 100, -1])
def test_a_file_that_was_cut_off_is_one_clear_error(written: Path, keep: int) -> None:
    with pytest.raises(TraceFormatError, match=r"run\.parquet: this Parquet file is cut off"):
        read_parquet(written.read_bytes()[:keep], "run.parquet")


def test_every_damage_is_one_clear_error_before_anything_is_read(written: Path) -> None:
    whole = written.read_bytes()
    seed = 5
    dice = random.Random(seed)
    for number in range(500):
        mutant = bytearray(whole)
        mutant[dice.randrange(len(whole))] ^= 1 << dice.randrange(8)
        with pytest.raises(TraceFormatError, match=r"this Parquet file (is damaged|is cut off|holds no trace)\."):
            read_parquet(bytes(mutant), f"seed {seed}, mutant {number}")


def test_parquet_of_others_is_refused(tmp_path: Path, written: Path) -> None:
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "other.parquet")
    with pytest.raises(TraceFormatError, match=r"other: this Parquet file holds no trace\. to_parquet writes"):
        read_parquet((tmp_path / "other.parquet").read_bytes(), "other")
    pq.write_table(pq.read_table(written), tmp_path / "again.parquet")
    with pytest.raises(TraceFormatError, match="this Parquet file holds no trace"):
        read_parquet((tmp_path / "again.parquet").read_bytes(), "again")


def test_a_file_of_another_version_is_refused(
    events: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = write_parquet(events.drop(columns="seq"), METADATA, None, tmp_path / "lacking.parquet")
    with monkeypatch.context() as patch:
        patch.setattr(parquet, "_LAYOUT", 2)
        newer = write_parquet(events, METADATA, None, tmp_path / "newer.parquet")
    for path in (lacking, newer):
        with pytest.raises(TraceFormatError, match=f"nbprof {schema.VERSION} wrote this file otherwise"):
            read_parquet(path.read_bytes(), "t")


def test_a_place_that_cannot_be_written_leaves_nothing(events: pd.DataFrame, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    for place in (tmp_path / "folder", tmp_path / "file" / "t.parquet"):
        with pytest.raises(TraceWriteError, match="could not be written"):
            write_parquet(events, METADATA, None, place)
    unknown: Any = events.assign(odd=[object()] * len(events))
    with pytest.raises(ValueError, match="Could not convert <object"):
        write_parquet(unknown, METADATA, None, tmp_path / "t.parquet")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_what_was_there_stays_when_writing_fails(
    events: pd.DataFrame, written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = written.read_bytes()
    monkeypatch.setattr(parquet, "_as_arrow", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_parquet(events.iloc[:1], METADATA, None, written)
    assert written.read_bytes() == before
    assert [path.name for path in written.parent.iterdir()] == ["t.parquet"]
