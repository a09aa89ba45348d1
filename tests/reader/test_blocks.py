"""Texts in blocks: each is found again, whatever rows are asked for, and a part carries only what it needs."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from nbprof.reader import blocks
from nbprof.reader.arguments import ArgsArray
from nbprof.reader.blocks import ArgsBuilder, ArgsStore


def text(*values: int) -> bytes:
    return b"[" + b",".join(b'{"args": {"v": %d}}' % value for value in values) + b"]"


@pytest.fixture(params=[0, 1 << 20], ids=["compressed", "plain"])
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ArgsStore:
    """Twelve events, 0 to 11, in blocks of 3, 4, 0 and 5."""
    monkeypatch.setattr(blocks, "_PLAIN", request.param)
    with ArgsBuilder() as builder:
        firsts = [builder.add(text(*values), len(values)) for values in ([0, 1, 2], [3, 4, 5, 6], [], range(7, 12))]
    assert firsts == [0, 3, 7, 7]
    return builder.finish()


def values(array: ArgsArray) -> list[int | None]:
    return [item and item["v"] for item in array]


@pytest.fixture
def unpacked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The blocks that were unpacked."""
    seen: list[object] = []
    original = blocks._unpacked
    monkeypatch.setattr(blocks, "_unpacked", lambda block: (seen.append(block), original(block))[1])
    return seen


def test_each_event_has_its_own_text(store: ArgsStore) -> None:
    assert [store.text(number) for number in range(12)] == [b'{"v": %d}' % number for number in range(12)]


@pytest.mark.parametrize(
    "rows",
    [
        range(12),
        range(11, -1, -1),
        [2, 3, 4, 11],
        [0, 11, 1, 10, 2, 9, 5, 3],
        [5, 5, 5],
        [0, -1, 7, -1, 3, -1, 1],
        [-1],
        [],
    ],
)
def test_texts_of_any_rows_come_in_their_order(store: ArgsStore, rows: list[int]) -> None:
    expected = [None if row < 0 else row for row in rows]
    assert values(ArgsArray(store, np.array(rows, np.int64))) == expected


@pytest.mark.parametrize("rows", [range(12), [0, 11, 1, 10, 2, 9, 5, 3, 8, 4]])
def test_each_block_is_unpacked_once_for_all_rows(store: ArgsStore, unpacked: list[object], rows: list[int]) -> None:
    list(ArgsArray(store, np.array(rows, np.int64)).texts())
    assert len(unpacked) == 3  # the empty block has no rows


def test_a_block_that_was_looked_at_stays_unpacked_for_a_while(store: ArgsStore, unpacked: list[object]) -> None:
    for number in (0, 1, 4, 0, 2, 5):
        store.text(number)
    assert len(unpacked) == 2


def test_a_part_carries_only_its_blocks(store: ArgsStore) -> None:
    array = ArgsArray(store, np.array([8, -1, 1], np.int64))
    again = pickle.loads(pickle.dumps(array))
    assert values(again) == values(array) == [8, None, 1]
    assert len(again._store.blocks) == 2
    assert again._store.count == 8  # of blocks 0 and 3
    assert len(store.blocks) == 4


def test_joined_parts_keep_only_their_blocks(store: ArgsStore) -> None:
    other = pickle.loads(pickle.dumps(ArgsArray(store, np.arange(12))))
    joined = ArgsArray._concat_same_type([ArgsArray(store, np.array([11, -1])), other[3:5]])
    assert values(joined) == [11, None, 3, 4]
    assert len(joined._store.blocks) == 2
    same = ArgsArray._concat_same_type([other[:2], other[9:]])
    assert same._store is other._store


def test_row_numbers_take_four_bytes(store: ArgsStore) -> None:
    assert ArgsArray(store, np.arange(12))._numbers.dtype == np.int32


def test_the_packing_thread_is_gone_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_PLAIN", 0)
    with pytest.raises(KeyboardInterrupt), ArgsBuilder() as builder:
        builder.add(text(1), 1)
        threads = list(builder._packer._threads)
        assert threads
        raise KeyboardInterrupt
    assert not any(thread.is_alive() for thread in threads)


def test_nothing_was_added() -> None:
    with ArgsBuilder() as builder:
        pass
    store = builder.finish()
    assert store.count == store.nbytes == 0
    assert list(ArgsArray(store, np.empty(0, np.int64)).texts()) == []
