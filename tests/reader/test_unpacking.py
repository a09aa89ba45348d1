"""What a trace is packed in shows in its content; cut off or damaged, what came before is kept and the rest told."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import sys
import zipfile
from pathlib import Path

import pytest
import zstandard

from nbprof.errors import TraceFormatError
from nbprof.metadata import TraceMetadata
from nbprof.reader import read_events

ROWS = [{"ph": "X", "name": f"op{n}", "ts": n, "dur": n % 7} for n in range(4000)]
TEXT = json.dumps(ROWS).encode()
SKIPPABLE = b"\x52\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"notes"


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def blockwise(data: bytes) -> bytes:
    """One frame of many blocks, as a writer makes it that flushes as it goes."""
    packer = zstandard.ZstdCompressor().compressobj()
    blocks = [
        packer.compress(data[at : at + 4096]) + packer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
        for at in range(0, len(data), 4096)
    ]
    return b"".join(blocks) + packer.flush()


def zipped(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return stream.getvalue()


def names_of(data: bytes) -> list[str]:
    events, metadata = read_events(data)
    assert metadata.problems == ()
    return events["name"].tolist()


def kinds(metadata: TraceMetadata) -> dict[str, int]:
    return {problem.kind: problem.count for problem in metadata.problems}


@pytest.mark.parametrize(
    "data",
    [
        zstd(TEXT),
        blockwise(TEXT),
        zstd(TEXT[:300]) + zstd(b"") + zstd(TEXT[300:]),
        SKIPPABLE + zstd(TEXT[:300]) + SKIPPABLE + zstd(TEXT[300:]) + SKIPPABLE,
        zstd(TEXT) + b"\0" * 700,
        zstd(gzip.compress(TEXT)),
        gzip.compress(zstd(TEXT)),
        zipped(("a.json.zst", zstd(TEXT))),
        zipped(("a.json.gz", gzip.compress(TEXT))),
        gzip.compress(TEXT[:300]) + b"\0" * 700 + gzip.compress(TEXT[300:]),
        gzip.compress(gzip.compress(zstd(TEXT))),
        zipped(("a.json", TEXT), method=zipfile.ZIP_STORED),
        zipped(("odd name", TEXT)),
        zipped(("run/a.json", TEXT), ("run/", b""), ("__MACOSX/run/._a.json", b"\0\5\26\7"), ("notes.txt", b"x")),
        gzip.compress(TEXT.decode().encode("utf-16")),
        TEXT.decode().encode("utf-32-le"),
        TEXT.decode().encode("utf-32-be"),
        b" \r\n".decode().encode("utf-16-be") + TEXT.decode().encode("utf-16-be"),
    ],
)
def test_whatever_a_trace_is_packed_in_all_its_events_are_read(data: bytes) -> None:
    assert names_of(data) == [row["name"] for row in ROWS]


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_members_may_join_at_any_byte(pack: type[bytes]) -> None:
    text = TEXT[: TEXT.index(b"}, ", 300)] + b"}]"
    expected = [row["name"] for row in ROWS][: text.count(b"{")]
    for at in range(len(text)):
        assert names_of(pack(text[:at]) + pack(text[at:])) == expected


@pytest.mark.parametrize("pack", [gzip.compress, blockwise])
@pytest.mark.parametrize("damage", ["cut", "overwritten"])
def test_what_comes_before_a_cut_or_damage_is_kept(pack: type[bytes], damage: str) -> None:
    data = pack(TEXT)
    half = len(data) // 2
    broken = data[:half] if damage == "cut" else data[:half] + b"\xff" * 40 + data[half + 40 :]
    events, metadata = read_events(broken)
    # Half of the packed bytes are some half of the events; blocks of zstd are lost whole.
    assert events["name"].tolist()[:1500] == [row["name"] for row in ROWS[:1500]]
    assert kinds(metadata)["cut off"] == 1


def test_a_cut_in_the_second_member_keeps_the_first() -> None:
    for pack in (gzip.compress, zstd):
        events, metadata = read_events(pack(TEXT) + pack(TEXT)[:30])
        assert len(events) == len(ROWS)
        assert kinds(metadata)["cut off"] == 1


def test_a_damaged_archive_keeps_what_comes_before() -> None:
    data = bytearray(zipped(("a.json", TEXT)))
    at = len(data) // 2
    data[at : at + 40] = b"\xff" * 40
    events, metadata = read_events(bytes(data))
    # The text is unpacked 16 kB at a time, and one event has some 50 bytes.
    assert len(events) > 500
    assert events["name"].tolist()[:500] == [row["name"] for row in ROWS[:500]]
    assert "cut off" in kinds(metadata)


def test_other_bytes_behind_packed_data_are_told() -> None:
    for pack in (gzip.compress, zstd):
        events, metadata = read_events(pack(TEXT) + b"\0\0some more")
        assert len(events) == len(ROWS)
        assert kinds(metadata) == {"text after the end": 1}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (zstd(TEXT)[:9], "zstd data is empty or cut off"),
        (zstd(TEXT)[:6] + b"\xff" * 50, "compression is damaged"),
        (gzip.compress(TEXT)[:12], "gzip data is empty or cut off"),
        (gzip.compress(b""), "the file is empty"),
        (gzip.compress(gzip.compress(gzip.compress(gzip.compress(TEXT)))), "packed more than 3 times"),
        (zipped(("a.json", TEXT))[:-30], "zip archive cannot be read"),
        (zipped(("a.json", TEXT), ("b.json", TEXT)), r"2 traces, not one \(a.json, b.json\)"),
        (zipped(("a.txt", TEXT), ("b.txt", TEXT)), r"0 traces, not one \(none\)"),
        (zipped(("a.json", TEXT), method=zipfile.ZIP_BZIP2), "another way than deflate"),
        (gzip.compress(zipped(("a.json", TEXT))), "nested zip archive"),
        (b"BZh91AY&SY", "bzip2"),
        (b"\xfd7zXZ\x00", "xz"),
    ],
)
def test_what_cannot_be_unpacked_is_one_clear_error(data: bytes, message: str) -> None:
    with pytest.raises(TraceFormatError, match=message):
        read_events(data)


def test_without_the_package_for_zstd_the_error_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    path = tmp_path / "trace.json"
    path.write_bytes(zstd(TEXT))
    with pytest.raises(TraceFormatError, match=r"pip install 'nbprof\[zstd\]', or unpack it first: zstd -d") as error:
        read_events(path)
    assert str(path) in str(error.value)


def test_characters_that_are_none_are_told_in_every_encoding() -> None:
    for encoding in ("utf-16", "utf-32"):
        data = '[{"ph": "X", "name": "a\ud800b", "ts": 1}]'.encode(encoding, "surrogatepass")
        events, metadata = read_events(data)
        assert len(events) == 1
        assert events["name"].iloc[0].startswith("a\\x")
        assert kinds(metadata) == {"backslash that was not escaped": 1}


@pytest.mark.parametrize("unit", [b" ", b"1,"])
@pytest.mark.parametrize(
    "pack",
    [
        gzip.compress,
        zstd,
        lambda data: zipped(("a.json", data)),
        lambda data: gzip.compress(gzip.compress(data)),
        lambda data: zipped(("a.json.gz", gzip.compress(data))),
        lambda data: zstd(gzip.compress(zstd(data))),
    ],
    ids=["gzip", "zstd", "zip", "gzip twice", "gzip in zip", "three"],
)
def test_a_file_that_inflates_beyond_reason_is_refused(
    pack: type[bytes], unit: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nbprof.reader.container._PLAUSIBLE", 1 << 20)
    data = pack(b"[" + unit * (4_000_000 // len(unit)))
    # 4 MB of the same become 4 kB in gzip, a thousandth, and less in all others.
    with pytest.raises(TraceFormatError, match="inflates to more than 400 times its size"):
        read_events(data)


def test_no_slice_of_a_bomb_becomes_large() -> None:
    from nbprof.reader.problems import Problems
    from nbprof.reader.unpacking import packing, unpacked

    for data in (gzip.compress(b" " * 50_000_000), zstd(b" " * 50_000_000)):
        packed = packing(data, "bomb")
        assert packed is not None
        chunks = unpacked(iter([data]), packed, "bomb", Problems())
        # 256 bytes give at most 1,032 times as many in gzip, and 64 blocks of 128 kB in zstd.
        assert max(map(len, itertools.islice(chunks, 100))) <= 8 << 20
