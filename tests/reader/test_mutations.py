"""Traces changed at random: each reads as a table that tells what was wrong, or is one clear error; never anything else."""

from __future__ import annotations

import faulthandler
import gzip
import io
import json
import random
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest
import zstandard

from nbprof import schema
from nbprof.errors import TraceFormatError
from nbprof.reader import export_chrome, read_events
from tests.generated import generated_text

FILES = 520
"""Of each make; 5,200 with the ten makes that need no recorded trace."""
SIGNIFICANT = [
    b'"',
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\n",
    b"\0",
    b"\xff",
    b"-",
    b"e",
    b"nan",
    b"\xed\xa0\x80",
]
HANG_SECONDS = 240

Mutation = Callable[[bytes, random.Random], bytes]


@pytest.fixture(autouse=True)
def end_of_patience() -> Iterator[None]:
    """A reader that hangs ends the run with a traceback of where."""
    faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def excerpt(text: str, events: int) -> bytes:
    """The first events of a trace as Kineto lays it out, with what stands around the list."""
    head, opening, rest = text.partition('"traceEvents": [\n')
    body, closing, tail = rest.rpartition("\n  ],")
    return "".join([head, opening, ",\n  {".join(body.split(",\n  {")[:events]), closing, tail]).encode()


def zipped(data: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("trace.json"), data, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


KINETO = excerpt("".join(generated_text(1)), 40)
RECORDED = excerpt((Path(__file__).parents[1] / "data" / "region_torch213_cpu.json").read_text(encoding="utf-8"), 30)
OLD_ROWS = [
    {"name": "aten::mul", "ph": "X", "ts": 10.5, "dur": 20, "tid": 1, "pid": "CPU functions", "args": {}},
    {"name": "k_add", "ph": "X", "ts": 30, "dur": 9, "tid": "stream 7", "pid": "CUDA functions", "args": {}},
    {"name": "x", "ph": "s", "ts": 10.5, "tid": 1, "pid": "CPU functions", "id": 3, "cat": "cpu_to_cuda"},
    {"name": "b", "ph": "B", "ts": "40", "tid": 1, "pid": 2},
    {"name": "", "ph": "E", "ts": "50.25", "tid": 1, "pid": 2},
    {"name": "[memory]", "ph": "i", "s": "t", "ts": 60, "tid": 1, "pid": 2, "args": {"Bytes": -512, "Addr": 1 << 47}},
]
OLD = json.dumps(OLD_ROWS * 4).encode()
HARD_NAMES = ['a"b', "C:\\new\\table", "}, {", '"ph": "X"', "größe\u2028", "\t\n", "[1, 2", "nan"]
HARD_ROWS = [
    {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 1.5e15 + n, "dur": 1, "args": {"v": name}}
    for n, name in enumerate(HARD_NAMES)
]
HARD = json.dumps({"traceEvents": HARD_ROWS, "nbprof": {"kind": "cell", "gated": True}, "big": 2**70}).encode()

MAKES = {
    "kineto": KINETO,
    "kineto in one line": json.dumps(json.loads(KINETO), separators=(",", ":")).encode(),
    "old list": OLD,
    "hard names": HARD,
    "recorded": RECORDED,
    "kineto, gzip": gzip.compress(KINETO, mtime=0),
    "old list, two gzip members": gzip.compress(OLD[:400], mtime=0) + gzip.compress(OLD[400:], mtime=0),
    "recorded, zstd": zstandard.ZstdCompressor().compress(RECORDED),
    "hard names, zip": zipped(HARD),
    "UTF-16": OLD.decode().encode("utf-16"),
}


def cut(data: bytes, dice: random.Random) -> bytes:
    return data[: dice.randrange(len(data))]


def flip(data: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << dice.randrange(8))]) + data[at + 1 :]


def insert(data: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(data))
    added = dice.choice(SIGNIFICANT) if dice.random() < 0.8 else dice.randbytes(dice.randrange(1, 9))
    return data[:at] + added + data[at:]


def duplicate(data: bytes, dice: random.Random) -> bytes:
    start, end, at = places(data, dice)
    return data[:at] + data[start:end] + data[at:]


def delete(data: bytes, dice: random.Random) -> bytes:
    start, end, _ = places(data, dice)
    return data[:start] + data[end:]


def swap(data: bytes, dice: random.Random) -> bytes:
    """Two neighbouring slices change places."""
    start, middle, _ = places(data, dice)
    end = min(len(data), middle + dice.choice([1, 5, 50, 500]))
    return data[:start] + data[middle:end] + data[start:middle] + data[end:]


def strike(data: bytes, dice: random.Random) -> bytes:
    """One byte that means something to JSON is taken out."""
    found = [at for at in (dice.randrange(len(data)) for _ in range(200)) if data[at : at + 1] in SIGNIFICANT]
    return data[: found[0]] + data[found[0] + 1 :] if found else delete(data, dice)


def places(data: bytes, dice: random.Random) -> tuple[int, int, int]:
    """Start and end of a slice, and another place."""
    start = dice.randrange(len(data))
    return start, min(len(data), start + dice.choice([1, 5, 50, 500])), dice.randrange(len(data))


MUTATIONS: list[Mutation] = [cut, flip, insert, duplicate, delete, swap, strike]


def mutated(data: bytes, seed: int) -> tuple[bytes, str]:
    """The data after one to three changes, and what they were."""
    dice = random.Random(seed)
    chosen = dice.choices(MUTATIONS, k=dice.choice([1, 1, 2, 3]))
    for mutation in chosen:
        data = mutation(data, dice) if data else data
    return data, ", ".join(mutation.__name__ for mutation in chosen)


def check(data: bytes, tmp_path: Path, *, write: bool) -> None:
    try:
        events, metadata = read_events(data)
    except TraceFormatError as error:
        assert "<bytes>" in str(error)
        return
    assert list(events.columns) == schema.names("events")
    assert (events["ts_ns"] >= 0).all()
    assert len(events["args"].tolist()) == len(events)
    assert metadata.problems or is_sound(data)
    if write:
        again, _ = read_events(export_chrome(events, metadata, tmp_path / "again.json"))
        assert again["name"].tolist() == events["name"].tolist()
        assert again["ts_ns"].tolist() == events["ts_ns"].tolist()


def is_sound(data: bytes) -> bool:
    """Whether strict tools see nothing wrong with what is inside."""
    try:
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        elif data.startswith(b"\x28\xb5\x2f\xfd"):
            data = zstandard.ZstdDecompressor().decompress(data, max_output_size=1 << 24)
        elif data.startswith(b"PK"):
            data = zipfile.ZipFile(io.BytesIO(data)).read("trace.json")
        text = data.decode("utf-16" if data.startswith(b"\xff\xfe") else "utf-8-sig")
        # Many writers leave a comma before the end of a list.
        json.loads(re.sub(r",\s*\]", "]", text), strict=False)
    except RecursionError:
        return True
    except (ValueError, OSError, EOFError, KeyError, zlib.error, zipfile.BadZipFile, zstandard.ZstdError):
        return False
    return True


def check_all(name: str, data: bytes, files: int, tmp_path: Path) -> None:
    for seed in range(files):
        changed, how = mutated(data, seed)
        try:
            check(changed, tmp_path, write=seed % 20 == 0)
        except Exception as error:
            raise AssertionError(f"{name}, seed {seed}: {how}: {type(error).__name__}: {error}") from error


@pytest.mark.parametrize("make", MAKES)
def test_a_changed_file_is_a_table_or_a_clear_error(make: str, tmp_path: Path) -> None:
    check_all(make, MAKES[make], FILES, tmp_path)


@pytest.mark.parametrize("name", ["hta_mi250_minitoy", "tl_h100_bert_small", "kineto_v100_resnet50_w0"])
def test_changed_parts_of_recorded_traces_too(name: str, traces: Path, tmp_path: Path) -> None:
    with gzip.open(traces / f"{name}.json.gz") as file:
        text = b"".join(islice(file, 600))
    check_all(name, text, 200, tmp_path)


def test_unchanged_files_are_read_without_a_word() -> None:
    for data in MAKES.values():
        assert read_events(data)[1].problems == ()
