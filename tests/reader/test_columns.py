from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from nbprof import schema
from nbprof.reader import container, read_events
from tests.generated import generated_text


def read(*rows: dict[str, Any], **outer: Any) -> pd.DataFrame:
    complete = [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 10, "dur": 1} | row for row in rows]
    return read_events(json.dumps({**outer, "traceEvents": complete}).encode())[0]


def first(events: pd.DataFrame, *names: str) -> list[Any]:
    return [events[name].iloc[0] for name in names]


def test_inputs_of_an_operator_in_one_spelling_however_lines_break() -> None:
    dims = '"Input Dims": [[2,\n 3], []], "Input type": ["float","Scalar"], "Input Strides": [[3, 1], []]'
    texts = [
        '{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": {' + args + "}}"
        for args in (dims, dims.replace(",\n ", ", "), '"Input Dims": null')
    ]
    events, _ = read_events(f"[{','.join(texts)}]".encode())
    assert first(events, "shapes", "dtypes", "strides") == ["[[2, 3], []]", '["float", "Scalar"]', "[[3, 1], []]"]
    assert events["shapes"].cat.categories.tolist() == ["[[2, 3], []]"]
    assert events["shapes"].isna().tolist() == [False, False, True]


def test_inputs_without_shapes_or_without_types_are_kept() -> None:
    events = read({"args": {"Input type": ["Int"]}}, {"args": {"Input Dims": [[4]]}})
    assert events["dtypes"].dropna().to_dict() == {0: '["Int"]'}
    assert events["shapes"].dropna().to_dict() == {1: "[[4]]"}


def test_what_a_kernel_says_of_its_launch() -> None:
    args = {"External id": 4, "device": 2, "stream": 7, "correlation": 9, "registers per thread": 32}
    args |= {"shared memory": 1024, "blocks per SM": 4.5, "warps per SM": 18, "grid": [564, 1, 1], "block": [128, 1, 1]}
    events = read({"cat": "kernel", "pid": 2, "tid": 7, "args": args | {"est. achieved occupancy %": 27}})
    assert first(events, "device", "stream", "correlation", "external_id") == [2, 7, 9, 4]
    assert first(events, "registers", "shared_memory_bytes", "blocks_per_sm", "warps_per_sm") == [32, 1024, 4.5, 18.0]
    assert first(events, "grid", "block") == ["[564, 1, 1]", "[128, 1, 1]"]
    assert first(events, "occupancy")[0] == pytest.approx(0.27)


def test_what_a_hip_launch_and_its_copy_say() -> None:
    launch = {"stream": "0x0", "grid": [1, 40, 1], "block": [256, 1, 1], "shared memory": 0, "kernel": "k"}
    copy = {"device": 2, "stream": 0, "bytes": 128, "memory bandwidth (GB/s)": 0.5, "kind": "DtoD"}
    events = read({"cat": "cuda_runtime", "args": launch}, {"cat": "gpu_memcpy", "args": copy})
    assert first(events, "stream", "grid", "shared_memory_bytes") == [0, "[1, 40, 1]", 0]
    assert first(events.iloc[1:], "bytes", "bandwidth_gbs", "stream") == [128, 0.5, 0]


def test_what_a_collective_says() -> None:
    args = {"Collective name": "allreduce", "In msg nelems": 6, "Out msg nelems": 12, "Group size": 2, "dtype": "Float"}
    events = read({"args": args | {"Process Group Name": "0"}}, {"args": args | {"Process Group Name": "mesh_tp"}})
    names = ("collective", "in_elements", "out_elements", "group_size", "element_type", "group")
    assert first(events, *names) == ["allreduce", 6, 12, 2, "Float", "0"]
    assert events["group"].iloc[1] == "mesh_tp"


@pytest.mark.parametrize("phase", [{"ph": "i", "s": "t"}, {"ph": "X", "dur": 0}])
def test_memory_instants_as_both_writers_write_them(phase: dict[str, Any]) -> None:
    args = {"Device Type": 1, "Device Id": 0, "Addr": 2**47, "Bytes": -512, "Total Allocated": 4096}
    events = read({"cat": "cpu_instant_event", "name": "[memory]", "args": args | {"Total Reserved": 8192}} | phase)
    names = ("bytes", "address", "allocated_bytes", "reserved_bytes", "device_type", "device_id")
    assert first(events, *names) == [-512, 2**47, 4096, 8192, 1, 0]


def test_sequence_numbers_and_their_threads() -> None:
    events = read({"args": {"Sequence number": 5, "Fwd thread id": 1}}, {"args": {}})
    assert events["seq"].tolist() == [5, pd.NA]
    assert events["forward_thread"].tolist() == [1, pd.NA]


def test_numbers_of_any_make() -> None:
    # 2**70 fits no column, so it is missing there, and whole in args
    args = {"correlation": 7.0, "stream": "stream 20", "bytes": 2**70, "memory bandwidth (GB/s)": "2.5"}
    events = read({"cat": "gpu_memcpy", "args": args})
    assert first(events, "correlation", "stream", "bandwidth_gbs") == [7, 20, 2.5]
    assert first(events, "bytes") == [pd.NA]
    assert events["args"].iloc[0]["bytes"] == 2**70


def test_a_column_that_begins_late_is_missing_before() -> None:
    plain = [{"ts": n} for n in range(5)]
    events = read(*plain, {"cat": "kernel", "args": {"grid": [1, 1, 1], "registers per thread": 16}}, {"ts": 9})
    assert events["registers"].tolist() == [pd.NA] * 5 + [16, pd.NA]
    assert events["grid"].astype("str").tolist()[5] == "[1, 1, 1]"
    assert events["grid"].isna().sum() == 6


@pytest.mark.parametrize("chunk", [300, 4096, 1 << 16])
def test_the_size_of_pieces_does_not_show(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(generated_text(2000)).encode()
    whole, said = read_events(text)
    monkeypatch.setattr(container, "CHUNK", chunk)
    pieces, again = read_events(text)
    assert_frame_equal(whole.drop(columns="args"), pieces.drop(columns="args"))
    assert whole["args"].tolist()[::97] == pieces["args"].tolist()[::97]
    assert (said.labels, said.other, said.problems) == (again.labels, again.other, ())


def test_metadata_rows_are_labels_not_events() -> None:
    label = {"name": "process_name", "ph": "M", "pid": 0, "tid": 0, "args": {"name": "python", "big": 2**70}}
    events, metadata = read_events(json.dumps([label, {"ph": "X", "name": "a", "ts": 1, "dur": 1}]).encode())
    assert len(events) == 1
    assert metadata.labels == (label,)


def test_all_columns_are_there_in_their_types_also_in_an_empty_trace() -> None:
    for events in (read(), read({}), read_events(b"[]")[0]):
        assert list(events.columns) == schema.names("events")
        kinds = {column.name: column.dtype for column in schema.TABLES["events"] if column.dtype != "object"}
        assert {name: str(events[name].dtype) for name in kinds} == kinds


def test_rank_and_groups_where_the_file_tells() -> None:
    groups = [{"pg_name": "0", "pg_desc": "default_pg", "ranks": [0, 1]}]
    info = {"backend": "nccl", "rank": 3, "world_size": 4, "pg_config": groups}
    told = read_events(json.dumps({"traceEvents": [], "distributedInfo": info}).encode())[1]
    assert (told.rank, told.world_size, told.process_groups) == (3, 4, tuple(groups))
    silent = read_events(b'{"traceEvents": []}')[1]
    assert (silent.rank, silent.world_size, silent.process_groups) == (None, None, ())


def test_a_column_of_events_can_be_changed_by_its_owner() -> None:
    events = read({}, {"ts": 11})  # nothing tells a stream: one value broadcast
    events["stream"] = pd.array([1, pd.NA], dtype="Int64")
    changed = events.copy()
    changed.loc[0, "bytes"] = 5
    assert changed["bytes"].tolist() == [5, pd.NA]
    assert events["bytes"].isna().all()
