"""The words of events (phase, category, name, process, thread) as one number each, and back as categorical columns.

In: tuples of words as they stand in the file. Out: text categoricals, with older words folded to today's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nbprof.markers import decode_name, encode_name
from nbprof.reader.entries import Scalar
from nbprof.reader.numbers import integer
from nbprof.schema import CATEGORY_FOLD, DEVICE_CATEGORIES, FX_MARKER, MARKERS, REGION_MARKER

Kind: TypeAlias = tuple[Scalar, Scalar, Scalar, Scalar, Scalar]
"""ph, cat, name, pid, tid."""

_MEMORY = "[memory]"
_OLDEST = {"CPU functions": "cpu_op", "CUDA functions": "kernel"}
"""Before Kineto, torch wrote a bare list without categories, where the process tells what an event is."""


class Codes(dict[Any, int]):
    """Numbers new keys in the order of their first sight."""

    def __missing__(self, key: Any) -> int:
        self[key] = number = len(self)
        return number


class Kinds(Codes):
    """The same for kinds, and which of them are metadata rows (ph M)."""

    def __init__(self) -> None:
        super().__init__()
        self._is_label = bytearray()

    def __missing__(self, key: Kind) -> int:
        self._is_label.append(key[0] == "M")
        return super().__missing__(key)

    def are_labels(self, codes: NDArray[Any]) -> NDArray[np.bool_]:
        """Which codes are those of metadata rows."""
        flags: NDArray[np.bool_] = np.frombuffer(self._is_label, bool)[codes]
        return flags


def kind_columns(codes: NDArray[Any], kinds: Sequence[Kind]) -> dict[str, Any]:
    """Categoricals `name category ph pid tid`, and arrays for device rows: `is_device`, `row_number` (of the pid) and
    `tid_number`, with MISSING where there is no number."""
    used = np.zeros(len(kinds), bool)
    used[codes] = True
    present = [kind for kind, there in zip(kinds, used.tolist(), strict=True) if there]
    codes = (np.cumsum(used) - 1)[codes]
    folded = [_folded(kind) for kind in present]
    columns: dict[str, Any] = {
        name: categorical([words[place] for words in folded], codes)
        for place, name in enumerate(("name", "category", "ph", "pid", "tid"))
    }
    device = np.array([words[1] in DEVICE_CATEGORIES for words in folded], bool)
    columns["is_device"] = device[codes]
    columns["row_number"] = np.array([integer(kind[3]) for kind in present], np.int64)[codes]
    columns["tid_number"] = np.array([integer(kind[4]) for kind in present], np.int64)[codes]
    return columns


def _folded(kind: Kind) -> tuple[str | None, ...]:
    phase, category, name, pid, tid = (None if word is None else _text(word) for word in kind)
    category = CATEGORY_FOLD.get(category, category) if category else None
    if name is not None and name.startswith(MARKERS) and category in {"cpu_op", None}:
        category = "user_annotation"
    if category is None:
        category = "cpu_instant_event" if name == _MEMORY else _OLDEST.get(str(pid)) if phase == "X" else None
    return "" if name is None else _decoded(name), category, phase, pid, tid


def _text(word: Scalar) -> str:
    # A number may be written 7 or 7.0.
    if isinstance(word, float) and word.is_integer():
        word = int(word)
    return str(word)


def encoded_marker(name: str) -> str:
    """The name of an event as it may stand in a file."""
    return _with_marked(name, encode_name)


def _decoded(name: str) -> str:
    return _with_marked(name, decode_name)


def _with_marked(name: str, change: Callable[[str], str]) -> str:
    marker = next((marker for marker in (REGION_MARKER, FX_MARKER) if name.startswith(marker)), None)
    return name if marker is None else marker + change(name.removeprefix(marker))


def categorical(words: Sequence[str | None], codes: NDArray[Any]) -> pd.Categorical:
    """Row r has `words[codes[r]]`, or nothing for the code -1; equal words become one category."""
    numbers: dict[str, int] = {}
    of_kind = [-1 if word is None else numbers.setdefault(word, len(numbers)) for word in words]
    of_kind.append(-1)  # which the code -1 reads
    return pd.Categorical.from_codes(np.array(of_kind, np.int64)[codes], pd.Index(list(numbers), dtype="str"))
