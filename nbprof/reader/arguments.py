"""The `args` column: a dict for each event, made when it is looked at.

In: a store of JSON texts. Out: a pandas column, independent of the file, which pickles as bytes.
"""

from __future__ import annotations

import builtins
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.extensions import ExtensionArray, ExtensionDtype, register_extension_dtype
from pandas.api.indexers import check_array_indexer

from nbprof.reader.blocks import ArgsStore, Numbers, packed
from nbprof.reader.values import loaded


@register_extension_dtype
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

    def __init__(self, store: ArgsStore, numbers: Numbers) -> None:
        self._store = store
        self._numbers: Numbers = numbers.astype(np.int32 if store.count < 1 << 31 else np.int64, copy=False)

    def __reduce__(self) -> Any:
        return type(self), self._store.part(self._numbers)

    @classmethod
    def _from_sequence(cls, scalars: Iterable[Any], *, dtype: object = None, copy: bool = False) -> ArgsArray:
        if isinstance(scalars, cls):
            return scalars.copy() if copy else scalars
        items = [None if _is_missing(item) else item for item in scalars]
        if any(not isinstance(item, dict | None) for item in items):
            raise TypeError("A column of arguments holds dicts, and None where there are none.")
        there = np.fromiter((item is not None for item in items), bool, len(items))
        kept = [{"args": item} for item in items if item is not None]
        text = json.dumps(kept, allow_nan=False, ensure_ascii=False).encode("utf-8", "replace")
        store = ArgsStore([packed(text)], np.zeros(1, np.int64), int(there.sum()))
        return cls(store, np.where(there, np.cumsum(there) - 1, -1))

    @property
    def dtype(self) -> ArgsDtype:
        return ArgsDtype()

    @property
    def nbytes(self) -> int:
        return self._store.nbytes + int(self._numbers.nbytes)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, item: Any) -> Any:
        item = check_array_indexer(self, item)
        if isinstance(item, (int, np.integer)):
            return _loaded(self.text(int(item)))
        return type(self)(self._store, self._numbers[item])

    def __setitem__(self, key: Any, value: Any) -> None:
        if getattr(self, "_readonly", False):  # pandas 3 hands out arrays that must not be written
            raise ValueError("Cannot modify read-only array")
        if isinstance(value, np.floating):  # what pandas makes of a dict there, as if it were a Series
            raise TypeError("A dict is set with .at or .iat, or in a list: .loc and .iloc take it for a Series.")
        one = isinstance(value, dict) or pd.api.types.is_scalar(value)
        joined = self._concat_same_type([self, self._from_sequence([value] if one else value)])
        numbers = joined._numbers[: len(self)].copy()  # rows that others look at stay as they are
        added = joined._numbers[len(self) :]
        numbers[check_array_indexer(self, key)] = added[0] if one else added
        self._store, self._numbers = joined._store, numbers

    def text(self, position: int) -> bytes | None:
        """The JSON text of one row, or None."""
        number = int(self._numbers[position])
        return None if number < 0 else self._store.text(number)

    def texts(self) -> Iterator[bytes | None]:
        """The JSON texts of all rows in order, None where there is none; each block is unpacked once."""
        blocks = self._store.block_of(self._numbers)
        changes = np.flatnonzero(np.diff(blocks)) + 1
        if len(changes) > len(self._store.blocks):  # the rows go to and fro
            order = np.argsort(self._numbers, kind="stable")
            texts = np.empty(len(self), object)
            texts[order] = [*self[order].texts()]
            yield from texts
            return
        for run in np.split(np.arange(len(self)), changes):
            block = int(blocks[run[0]]) if len(run) else -1
            numbers = self._numbers[run]
            yield from [None] * len(run) if block < 0 else self._store.texts(block, numbers)

    def __iter__(self) -> Iterator[dict[str, Any] | None]:
        return map(_loaded, self.texts())

    def __array__(self, dtype: object = None, copy: bool | None = None) -> NDArray[Any]:
        values = np.empty(len(self), object)
        values[:] = list(self)
        return values

    def __eq__(self, other: object) -> Any:
        if isinstance(other, (pd.Series, pd.Index, pd.DataFrame)):
            return NotImplemented
        if isinstance(other, ArgsArray):
            pairs = zip(self.texts(), other.texts(), strict=True)
            return np.fromiter((a == b or _loaded(a) == _loaded(b) for a, b in pairs), bool, len(self))
        one = isinstance(other, dict) or pd.api.types.is_scalar(other)
        others: Any = repeat(other, len(self)) if one else other
        return np.fromiter((a == b for a, b in zip(self, others, strict=True)), bool, len(self))

    __hash__ = None  # type: ignore[assignment]  # a column, like any array, is no key

    def __arrow_array__(self, type: object = None) -> Any:
        import pyarrow

        texts = [None if text is None else text.decode("utf-8", "replace") for text in self.texts()]
        return pyarrow.array(texts, type or pyarrow.string())

    def isna(self) -> NDArray[np.bool_]:
        missing: NDArray[np.bool_] = self._numbers < 0
        return missing

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
        taken = type(self)(self._store, np.append(self._numbers, -1)[wanted])
        if not _is_missing(fill_value):
            taken[wanted < 0] = fill_value
        return taken

    @classmethod
    def _concat_same_type(cls, to_concat: Sequence[ArgsArray]) -> ArgsArray:
        parts = [(part._store, part._numbers) for part in to_concat]
        if len({id(store) for store, _ in parts}) == 1:
            return cls(parts[0][0], np.concatenate([numbers for _, numbers in parts]))
        parts = [store.part(numbers) for store, numbers in parts]
        before = np.cumsum([0, *(store.count for store, _ in parts)])
        blocks = [block for store, _ in parts for block in store.blocks]
        firsts = [store.firsts + start for (store, _), start in zip(parts, before, strict=False)]
        numbers = [np.where(own < 0, -1, own + start) for (_, own), start in zip(parts, before, strict=False)]
        return cls(ArgsStore(blocks, np.concatenate(firsts), int(before[-1])), np.concatenate(numbers))


def _is_missing(item: Any) -> bool:
    return pd.api.types.is_scalar(item) and bool(pd.isna(item))


def _loaded(text: bytes | None) -> dict[str, Any] | None:
    """The arguments of a text; what is no object is kept under one key, and null stands for none."""
    if text is None:
        return None
    if text == b"null":
        return {}
    try:
        value = loaded(text)
    except (ValueError, RecursionError):
        value = text.decode("utf-8", "replace")
    return value if isinstance(value, dict) else {"args": value}
