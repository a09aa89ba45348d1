"""The `args` column: JSON texts, compressed in large traces, that are decoded when looked at.

In: the text of one piece after another. Out: a pandas column of dicts, independent of the file, which pickles as bytes.
"""

from __future__ import annotations

import builtins
import json
import zlib
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import msgspec
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.extensions import ExtensionArray, ExtensionDtype

_CACHED = 4
_WAITING = 3
_PLAIN = 8 << 20
"""Bytes of a trace that are kept as they are: packing takes about as long as decoding, and a small trace has no need."""


class _HasArgs(msgspec.Struct, gc=False):
    args: msgspec.Raw = msgspec.Raw(b"{}")


_block = msgspec.json.Decoder(list[_HasArgs])


class ArgsStore:
    """JSON lists of events, plain or compressed; block b holds those from number `firsts[b]` on."""

    def __init__(self, blocks: Sequence[bytes], firsts: NDArray[np.int64], count: int) -> None:
        self.blocks = blocks
        self.firsts = firsts
        self.count = count
        self._recent: dict[int, list[_HasArgs]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_recent": {}}

    @property
    def nbytes(self) -> int:
        """Size in memory."""
        return sum(map(len, self.blocks)) + self.firsts.nbytes

    def text(self, number: int) -> bytes:
        """The JSON text of one event's arguments."""
        block = int(np.searchsorted(self.firsts, number, side="right")) - 1
        events = self._recent.get(block)
        if events is None:
            packed = self.blocks[block]
            events = _block.decode(packed if packed.startswith(b"[") else zlib.decompress(packed))
            if len(self._recent) >= _CACHED:
                self._recent.pop(next(iter(self._recent)), None)
            self._recent[block] = events
        return bytes(events[number - int(self.firsts[block])].args)


class ArgsBuilder:
    """Takes the texts of one piece after another; compresses them beside the reading thread, inside `with`."""

    def __init__(self) -> None:
        # zlib lets go of the interpreter while it works, so where there is a second core this costs no time.
        self._packer = ThreadPoolExecutor(1, "nbprof-args")
        self._blocks: list[bytes | Future[bytes]] = []
        self._packing: deque[Future[bytes]] = deque()
        self._plain = 0
        self._firsts: list[int] = []
        self._count = 0

    def __enter__(self) -> ArgsBuilder:
        return self

    def __exit__(self, *_: object) -> None:
        self._packer.shutdown()

    def add(self, text: bytes, count: int) -> int:
        """Keep a JSON list of `count` events; returns the number of the first."""
        first = self._count
        self._firsts.append(first)
        self._count += count
        if self._plain + len(text) <= _PLAIN:
            self._plain += len(text)
            self._blocks.append(text)
            return first
        if len(self._packing) >= _WAITING:
            self._packing.popleft().result()  # no more texts than this wait in memory
        # Level 1 packs a trace to a tenth; level 6 takes several times as long for little more.
        packing = self._packer.submit(zlib.compress, text, 1)
        self._packing.append(packing)
        self._blocks.append(packing)
        return first

    def finish(self) -> ArgsStore:
        """What was kept."""
        blocks = [block if isinstance(block, bytes) else block.result() for block in self._blocks]
        return ArgsStore(blocks, np.array(self._firsts, np.int64), self._count)


class ArgsDtype(ExtensionDtype):
    """Type of the `args` column."""

    name = "args"
    type = dict
    na_value = None

    @classmethod
    def construct_array_type(cls) -> builtins.type[ArgsArray]:
        return ArgsArray


class ArgsArray(ExtensionArray):
    """Rows of an `ArgsStore`; each item is a dict, made anew when asked for, or None."""

    def __init__(self, store: ArgsStore, numbers: NDArray[np.int64]) -> None:
        self._store = store
        self._numbers = numbers

    @classmethod
    def _from_sequence(cls, scalars: Iterable[Any], *, dtype: object = None, copy: bool = False) -> ArgsArray:
        items = list(scalars)
        if any(not isinstance(item, dict) and item is not None and item is not pd.NA for item in items):
            raise TypeError("A column of arguments holds dicts, and None where there are none.")
        there = np.fromiter((isinstance(item, dict) for item in items), bool, len(items))
        text = json.dumps([{"args": item} for item in items if isinstance(item, dict)], allow_nan=False).encode()
        store = ArgsStore([zlib.compress(text, 1)], np.zeros(1, np.int64), int(there.sum()))
        return cls(store, np.where(there, np.cumsum(there) - 1, -1).astype(np.int64))

    @property
    def dtype(self) -> ArgsDtype:
        return ArgsDtype()

    @property
    def nbytes(self) -> int:
        return self._store.nbytes + int(self._numbers.nbytes)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, item: Any) -> Any:
        if isinstance(item, (int, np.integer)):
            text = self.text(int(item))
            return None if text is None else _loaded(text)
        if isinstance(item, list):
            item = np.asarray(item, bool if item and isinstance(item[0], (bool, np.bool_)) else np.int64)
        return type(self)(self._store, self._numbers[item])

    def text(self, position: int) -> bytes | None:
        """The JSON text of one row, or None."""
        number = int(self._numbers[position])
        return None if number < 0 else self._store.text(number)

    def __array__(self, dtype: object = None, copy: bool | None = None) -> NDArray[Any]:
        values = np.empty(len(self), object)
        values[:] = [self[position] for position in range(len(self))]
        return values

    def __eq__(self, other: object) -> Any:
        if isinstance(other, ArgsArray):
            pairs = zip(self, other, strict=True)
            return np.fromiter((mine == theirs for mine, theirs in pairs), bool, len(self))
        return np.fromiter((mine == other for mine in self), bool, len(self))

    __hash__ = None  # type: ignore[assignment]  # a column, like any array, is no key

    def isna(self) -> NDArray[np.bool_]:
        return self._numbers < 0

    def map(self, mapper: Any, na_action: Any = None) -> Any:
        return pd.Series(np.asarray(self), dtype=object).map(mapper, na_action=na_action).to_numpy()

    def copy(self) -> ArgsArray:
        return type(self)(self._store, self._numbers.copy())

    def take(self, indices: Any, *, allow_fill: bool = False, fill_value: object = None) -> ArgsArray:
        wanted = np.asarray(indices, np.int64)
        if not allow_fill:
            return type(self)(self._store, self._numbers[wanted])
        if (wanted < -1).any():
            raise ValueError("Indices below -1 have no meaning when missing rows are filled.")
        numbers = np.append(self._numbers, -1)
        return type(self)(self._store, numbers[np.where(wanted < 0, len(self), wanted)])

    @classmethod
    def _concat_same_type(cls, to_concat: Sequence[ArgsArray]) -> ArgsArray:
        blocks: list[bytes] = []
        firsts, numbers, before = [], [], 0
        for part in to_concat:
            blocks += part._store.blocks
            firsts.append(part._store.firsts + before)
            numbers.append(np.where(part._numbers < 0, -1, part._numbers + before))
            before += part._store.count
        return cls(ArgsStore(blocks, np.concatenate(firsts), before), np.concatenate(numbers))


def _loaded(text: bytes) -> dict[str, Any]:
    """Integers of any size stay exact, so the standard parser; text that is no object is kept under one key."""
    try:
        value = json.loads(text.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        value = text.decode("utf-8", "replace")
    return value if isinstance(value, dict) else {"args": value}
