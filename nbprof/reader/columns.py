"""Gathered columns of numbers -> the frame of events.

In: a `Gatherer` that has seen all pieces. Out: the events frame of `schema.TABLES`, and the time that it counts from.
A column without any value is one value broadcast: it takes no memory, and can't be written into.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nbprof.reader.arguments import ArgsArray
from nbprof.reader.blocks import ArgsStore
from nbprof.reader.entries import MISSING
from nbprof.reader.gathering import SEPARATOR, Array, Gatherer
from nbprof.reader.kinds import Kind, categorical, kind_columns
from nbprof.reader.lanes import Threads, folded
from nbprof.reader.pairs import paired
from nbprof.reader.problems import NEGATIVE, TIMELESS, ZERO_RECORD, Problems
from nbprof.reader.values import loaded
from nbprof.schema import CATEGORY_FOLD, DEVICE_CATEGORIES, TABLES

_LATE = 10**12
"""ns; a file whose other events begin later than this has no event at time zero."""


def events_frame(
    gathered: Gatherer, store: ArgsStore, base_ns: int, problems: Problems, lanes: Threads
) -> tuple[pd.DataFrame, int]:
    """The frame and its zero: `base_ns` is added with integers to the earliest time, float64 could not hold it."""
    kinds = folded(gathered.kinds, lanes)
    core = {name: _always(gathered.column(name)) for name in ("kind", "ts", "dur")}
    if gathered.timeless:
        problems.add(TIMELESS, None, "left out", count=gathered.timeless)
    args = ArgsArray(store, _always(gathered.column("args")))
    kept = _without_invalid(core, kinds, problems) & _with_pairs_completed(core, kinds, args, problems)
    rows: Array | slice = slice(None) if kept.all() else np.flatnonzero(kept)

    def column(name: str) -> Array | None:
        values = gathered.column(name)
        return None if values is None else values[rows]

    core = {name: values[rows] for name, values in core.items()}
    zero = int(core["ts"].min()) if len(core["ts"]) else 0
    core["ts"] -= zero
    frame = _frame(core, kinds, args[rows], column, gathered.combinations)
    return frame, base_ns + zero


def _always(values: Array | None) -> Array:
    return np.empty(0, np.int64) if values is None else values


def _without_invalid(core: Mapping[str, Array], kinds: Sequence[Kind], problems: Problems) -> NDArray[np.bool_]:
    """All rows but lost records of the device tracer; negative durations are taken off."""
    times, durations = core["ts"], core["dur"]
    lost = (times == 0) & _of_kind(core["kind"], kinds, _is_device)
    if lost.any():
        rest = times[times != 0]
        late = len(rest) > 0 and int(rest.min()) > _LATE
        lost &= late | (durations == 0)
        if lost.any():
            detail = "lost records of the device tracer, left out"
            problems.add(ZERO_RECORD, None, detail, count=int(lost.sum()))
    negative = (durations < 0) & (durations != MISSING)
    if negative.any():
        problems.add(NEGATIVE, None, "kept without a duration", count=int(negative.sum()))
        durations[negative] = MISSING
    kept: NDArray[np.bool_] = ~lost
    return kept


def _with_pairs_completed(
    core: Mapping[str, Array], kinds: list[Kind], args: ArgsArray, problems: Problems
) -> NDArray[np.bool_]:
    """All rows but end events (ph E); the begin events (ph B) that they end are complete ones (ph X) from now on.

    These take over the arguments of their ends.
    """
    begin = _of_kind(core["kind"], kinds, lambda kind: kind[0] == "B")
    end = _of_kind(core["kind"], kinds, lambda kind: kind[0] == "E")
    inside: NDArray[np.bool_] = ~end
    if not (begin.any() or end.any()):
        return inside
    numbers: dict[tuple[str, str], int] = {}
    of_kind = [numbers.setdefault((str(kind[3]), str(kind[4])), len(numbers)) for kind in kinds]
    pairs = paired(core["ts"], begin, end, np.array(of_kind, np.int64)[core["kind"]], problems)
    codes = {kind: number for number, kind in enumerate(kinds)}
    for row in pairs.begins.tolist():  # only files that torch did not write have such rows
        complete: Kind = ("X", *kinds[core["kind"][row]][1:])
        if complete not in codes:
            codes[complete] = len(kinds)
            kinds.append(complete)
        core["kind"][row] = codes[complete]
    core["dur"][pairs.begins] = pairs.durations
    more = np.array([text not in (None, b"{}", b"null") for text in args[pairs.ends].texts()], bool)
    if more.any():
        begins, ends = pairs.begins[more], pairs.ends[more]
        args[begins] = [{**(a or {}), **(b or {})} for a, b in zip(args[begins], args[ends], strict=True)]
    return inside


def _of_kind(codes: Array, kinds: Sequence[Kind], test: Callable[[Kind], bool]) -> NDArray[np.bool_]:
    mask: NDArray[np.bool_] = np.array([test(kind) for kind in kinds], bool)[codes]
    return mask


def _is_device(kind: Kind) -> bool:
    return CATEGORY_FOLD.get(str(kind[1]), kind[1]) in DEVICE_CATEGORIES


def _frame(
    core: dict[str, Array],
    kinds: Sequence[Kind],
    args: ArgsArray,
    column: Callable[[str], Array | None],
    combinations: Mapping[tuple[str, ...], Iterable[Any]],
) -> pd.DataFrame:
    count = len(args)
    named = kind_columns(core.pop("kind"), kinds)
    is_device, row_number, tid_number = (named.pop(name) for name in ("is_device", "row_number", "tid_number"))
    device, stream = column("device"), column("stream")
    if is_device.any():
        # Where neither the arguments nor the process name one (bare lists of old), there was one device.
        index = row_number if device is None else np.where(device == MISSING, row_number, device)
        device = np.where(is_device, np.where(index == MISSING, 0, index), MISSING)
        stream = _either(stream, np.where(is_device, tid_number, MISSING))
    occupancy = column("occupancy")

    def integers(values: Array | None) -> Any:
        return _nullable(values, count)

    columns: dict[str, Any] = {
        **named,
        "ts_ns": core.pop("ts"),
        "dur_ns": integers(core.pop("dur")),
        "device": _small(device if is_device.any() else None, count),
        "stream": integers(stream),
        "correlation": integers(column("correlation")),
        "external_id": integers(_either(column("external_id"), column("old_external_id"))),
        "in_region": np.ones(count, bool),
        "args": args,
        "bytes": integers(_either(column("bytes"), column("memory_bytes"))),
        "occupancy": _floats(None if occupancy is None else occupancy / 100, count),
    }
    for one in TABLES["events"]:
        if one.name not in columns and one.dtype in ("Int64", "float64"):
            values = column(one.name)
            columns[one.name] = integers(values) if one.dtype == "Int64" else _floats(values, count)
    for names, combined in combinations.items():
        columns |= _categories(names, list(combined), column(names[0]), count)
    return pd.DataFrame(columns, copy=False)


def _either(first: Array | None, second: Array | None) -> Array | None:
    if first is None or second is None:
        return second if first is None else first
    return np.where(first == MISSING, second, first)


def _nullable(values: Array | None, count: int) -> Any:
    if values is None or not (there := values != MISSING).any():
        return pd.arrays.IntegerArray(np.broadcast_to(np.int64(1), count), np.broadcast_to(True, count))
    return pd.arrays.IntegerArray(values, ~there)


def _small(values: Array | None, count: int) -> Any:
    whole = np.broadcast_to(np.int64(MISSING), count) if values is None else values
    fits = np.abs(whole) < np.iinfo(np.int16).max
    return pd.arrays.IntegerArray(np.where(fits, whole, 1).astype(np.int16), ~fits)


def _floats(values: Array | None, count: int) -> Array:
    return np.broadcast_to(np.nan, count) if values is None else values


def _categories(names: Sequence[str], combined: Sequence[Any], codes: Array | None, count: int) -> dict[str, Any]:
    """One categorical a name out of the codes of their combinations: tuples of words, or JSON texts joined."""
    whole = np.broadcast_to(np.int8(-1), count) if codes is None else codes
    columns = {}
    for place, name in enumerate(names):
        words = [
            _word(one[place]) if isinstance(one, tuple) else _json_text(one.split(SEPARATOR)[place]) for one in combined
        ]
        columns[name] = categorical(words, whole)
    return columns


def _json_text(text: bytes) -> str | None:
    """One spelling for each value, however the writer breaks lines."""
    if text in (b"", b"null"):
        return None
    return json.dumps(loaded(text), ensure_ascii=False).encode("utf-8", "replace").decode()


def _word(word: object) -> str | None:
    return None if word is None else str(word)
