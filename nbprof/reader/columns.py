"""Typed events -> columns: codes and numbers piece by piece, one frame at the end.

In: decoded pieces. Out: the events frame of `schema.TABLES` (and `flow_id`, `seq`, `bytes` behind it), and the time that
it counts from. Nothing of a piece survives but its arrays and the text that its arguments are decoded from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nbprof.reader.arguments import ArgsArray, ArgsBuilder
from nbprof.reader.kinds import Kind, Kinds, kind_columns
from nbprof.reader.numbers import integers, nanoseconds
from nbprof.reader.pairs import paired
from nbprof.reader.pieces import MISSING, NO_ARGS, Args, Decoded, Scalar
from nbprof.reader.problems import Problems
from nbprof.schema import CATEGORY_FOLD, DEVICE_CATEGORIES

TIMELESS = "event without a time"
ZERO_RECORD = "device event with time zero"
NEGATIVE = "negative duration"
_LATE = 10**12
"""ns; a file whose other events begin later than this has no event at time zero."""


class _Times(msgspec.Struct, gc=False):
    ts: msgspec.Raw = msgspec.Raw()
    dur: msgspec.Raw = msgspec.Raw()


_times = msgspec.json.Decoder(list[_Times])


class ColumnBuilder:
    """Collects pieces; `finish` makes the frame."""

    def __init__(self, args: ArgsBuilder, problems: Problems) -> None:
        self._args = args
        self._problems = problems
        self._kinds = Kinds()
        self._parts: dict[str, list[NDArray[Any]]] = {
            name: [] for name in ("kind", "ts", "dur", "flow", "args", *Args.__struct_fields__)
        }
        self.count = 0
        """Entries so far, metadata rows (ph M) included."""

    def add(self, piece: Decoded) -> None:
        """Take the events of one piece."""
        events = piece.events
        if not events:
            return
        self.count += len(events)
        # One lookup an event for its five words: there are few different combinations, and a dict is the quickest way.
        words = [(event.ph, event.cat, event.name, event.pid, event.tid) for event in events]
        self._keep("kind", np.fromiter(map(self._kinds.__getitem__, words), np.int32, len(words)))
        self._keep("ts", nanoseconds([event.ts for event in events], lambda: _texts(piece, "ts")))
        self._keep("dur", nanoseconds([event.dur for event in events], lambda: _texts(piece, "dur")))
        self._keep("flow", integers([event.id for event in events]))
        for field, values in _columns([event.args or NO_ARGS for event in events]).items():
            self._keep(field, integers(values))
        first = self._args.add(piece.text, len(events))
        self._keep("args", np.arange(first, first + len(events)))

    def _keep(self, name: str, values: NDArray[Any]) -> None:
        self._parts[name].append(values)

    def finish(self, base_ns: int) -> tuple[pd.DataFrame, int]:
        """The frame and its zero: `base_ns` is added with integers to the earliest time, float64 could not hold it."""
        data = {
            name: _joined(self._parts.pop(name), np.int32 if name == "kind" else np.int64) for name in [*self._parts]
        }
        kinds = list(self._kinds)
        data = self._valid(data, kinds)
        data = self._paired(data, kinds)
        zero = int(data["ts"].min()) if len(data["ts"]) else 0
        data["ts"] -= zero
        return _frame(data, kinds, ArgsArray(self._args.finish(), data.pop("args"))), base_ns + zero

    def _valid(self, data: dict[str, NDArray[Any]], kinds: list[Kind]) -> dict[str, NDArray[Any]]:
        """Without metadata rows, which are no events, and what has no place in time."""
        data = _rows(data, ~_of_kind(data["kind"], kinds, lambda kind: kind[0] == "M"))
        times, durations = data["ts"], data["dur"]
        timed = times != MISSING
        self._tell(TIMELESS, int((~timed).sum()), "left out")
        at_zero = timed & (times == 0) & _of_kind(data["kind"], kinds, _is_device)
        if at_zero.any():
            rest = times[timed & (times != 0)]
            late = len(rest) > 0 and int(rest.min()) > _LATE
            at_zero &= late | (durations == 0)
            self._tell(ZERO_RECORD, int(at_zero.sum()), "lost records of the device tracer, left out")
        negative = (durations < 0) & (durations != MISSING)
        self._tell(NEGATIVE, int((timed & negative).sum()), "kept without a duration")
        data["dur"] = np.where(negative, MISSING, durations)
        return _rows(data, timed & ~at_zero)

    def _paired(self, data: dict[str, NDArray[Any]], kinds: list[Kind]) -> dict[str, NDArray[Any]]:
        """With begin and end events as complete ones."""
        begin = _of_kind(data["kind"], kinds, lambda kind: kind[0] == "B")
        end = _of_kind(data["kind"], kinds, lambda kind: kind[0] == "E")
        if not (begin.any() or end.any()):
            return data
        numbers: dict[tuple[str, str], int] = {}
        of_kind = [numbers.setdefault((str(kind[3]), str(kind[4])), len(numbers)) for kind in kinds]
        pairs = paired(data["ts"], begin, end, np.array(of_kind, np.int64)[data["kind"]], self._problems)
        codes = {kind: number for number, kind in enumerate(kinds)}
        for row in pairs.begins.tolist():  # only files that torch did not write have such rows
            complete: Kind = ("X", *kinds[data["kind"][row]][1:])
            if complete not in codes:
                codes[complete] = len(kinds)
                kinds.append(complete)
            data["kind"][row] = codes[complete]
        data["dur"][pairs.begins] = pairs.durations
        return _rows(data, ~end)

    def _tell(self, kind: str, count: int, detail: str) -> None:
        if count:
            self._problems.add(kind, None, detail, count=count)


def _columns(typed: Sequence[Args]) -> dict[str, list[Scalar | bool]]:
    # Written out: attrgetter takes twice as long, and tuples of all fields wake the garbage collector.
    return {
        "correlation": [args.correlation for args in typed],
        "stream": [args.stream for args in typed],
        "device": [args.device for args in typed],
        "external": [args.external for args in typed],
        "old_external": [args.old_external for args in typed],
        "seq": [args.seq for args in typed],
        "bytes": [args.bytes for args in typed],
        "allocated": [args.allocated for args in typed],
    }


def _texts(piece: Decoded, field: str) -> list[bytes]:
    return [bytes(getattr(times, field)) for times in _times.decode(piece.text)]


def _joined(parts: list[NDArray[Any]], dtype: type) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, dtype)


def _rows(data: dict[str, NDArray[Any]], keep: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    if not keep.all():
        for name in data:  # one at a time, so that the columns are never all there twice
            data[name] = data[name][keep]
    return data


def _of_kind(codes: NDArray[Any], kinds: Sequence[Kind], test: Callable[[Kind], bool]) -> NDArray[np.bool_]:
    mask: NDArray[np.bool_] = np.array([test(kind) for kind in kinds], bool)[codes]
    return mask


def _is_device(kind: Kind) -> bool:
    return CATEGORY_FOLD.get(str(kind[1]), kind[1]) in DEVICE_CATEGORIES


def _frame(data: dict[str, NDArray[Any]], kinds: list[Kind], args: ArgsArray) -> pd.DataFrame:
    words = kind_columns(data.pop("kind"), kinds)
    device_row = words.pop("is_device")
    row_number = words.pop("row_number")
    tid_number = words.pop("tid_number")
    device = _either(data.pop("device"), row_number)
    # Where neither the arguments nor the process name one (bare lists of old), there was one device.
    device = np.where(device_row, np.where(device == MISSING, 0, device), MISSING)
    fits = np.abs(device) < np.iinfo(np.int16).max
    stream = data.pop("stream")
    columns: dict[str, Any] = {
        **words,
        "ts_ns": data.pop("ts"),
        "dur_ns": _nullable(data.pop("dur")),
        "device": pd.array(np.where(fits, device, 0).astype(np.int16), dtype="Int16"),
        "stream": _nullable(np.where(device_row, _either(stream, tid_number), stream)),
        "correlation": _nullable(data.pop("correlation")),
        "external_id": _nullable(_either(data.pop("external"), data.pop("old_external"))),
        "in_region": np.ones(len(args), bool),
        "args": args,
        "flow_id": _nullable(data.pop("flow")),
        "seq": _nullable(data.pop("seq")),
        "bytes": _nullable(_either(data.pop("bytes"), data.pop("allocated"))),
    }
    columns["device"][~fits] = pd.NA
    return pd.DataFrame(columns, copy=False)


def _either(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    return np.where(first == MISSING, second, first)


def _nullable(values: NDArray[Any]) -> Any:
    return pd.arrays.IntegerArray(values, values == MISSING)
