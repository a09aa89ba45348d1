"""Typed events -> columns of numbers, piece by piece.

In: decoded pieces. Out: `Gatherer`, which holds kinds, times and arguments as arrays, as a rule only where there are values.
Nothing else of a piece survives but the text that its arguments are decoded from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from nbprof.reader.blocks import ArgsBuilder
from nbprof.reader.entries import GROUPS, LEADS, MISSING, NO_ARGS, Args, Event, Group, missing_leads
from nbprof.reader.kinds import Codes, Kinds
from nbprof.reader.numbers import figures, integers, nanoseconds
from nbprof.reader.pieces import Decoded
from nbprof.reader.values import loaded

Array: TypeAlias = NDArray[Any]

_ALL = slice(None)
SEPARATOR = b"\0"  # stands in no JSON text


class _Times(msgspec.Struct, gc=False):
    ts: msgspec.Raw = msgspec.Raw()
    dur: msgspec.Raw = msgspec.Raw()


_times = msgspec.json.Decoder(list[_Times])
_entries = msgspec.json.Decoder(list[msgspec.Raw])


class _Lacking(Codes):
    """Numbers the combinations of missing leads, and says which of them have a group."""

    def __init__(self) -> None:
        super().__init__()
        self._having = bytearray()

    def __missing__(self, key: tuple[bool, ...]) -> int:
        there = {lead for lead, is_missing in zip(LEADS, key, strict=True) if not is_missing}
        self._having += bytes(bool(group.leads & there) for group in GROUPS)
        return super().__missing__(key)

    def having(self, codes: Array) -> Iterator[tuple[Group, Array]]:
        """The groups that occur, each with the positions of the codes that have it."""
        flags = np.frombuffer(self._having, bool).reshape(-1, len(GROUPS))
        occurring = flags[np.flatnonzero(np.bincount(codes))].any(axis=0)
        for number in np.flatnonzero(occurring).tolist():
            yield GROUPS[number], np.flatnonzero(flags[:, number][codes])


class Gatherer:
    """Collects pieces; `column` then hands out each column once."""

    def __init__(self, args: ArgsBuilder) -> None:
        self._args = args
        self._columns: dict[str, _Growing] = {}
        self.kinds = Kinds()
        self._lacking = _Lacking()
        self.combinations = {group.texts or group.words: Codes() for group in GROUPS if group.texts or group.words}
        self.labels: list[dict[str, Any]] = []
        """The metadata rows (ph M), which name processes and threads."""
        self.entries = 0
        """Entries of the list so far, whatever they are."""
        self.rows = 0
        """Events so far: neither labels nor without a time."""
        self.timeless = 0

    def add(self, piece: Decoded) -> None:
        """Take the events of one piece."""
        events = piece.events
        if not events:
            return
        first = self._args.add(piece.text, len(events))
        self.entries += len(events)
        # One lookup an event for its five words: there are few different combinations, and a dict is the quickest way.
        words = [(event.ph, event.cat, event.name, event.pid, event.tid) for event in events]
        columns: dict[str, Array] = {
            "kind": np.fromiter(map(self.kinds.__getitem__, words), np.int32, len(words)),
            "ts": nanoseconds([event.ts for event in events], lambda: _texts(piece, "ts")),
            "dur": nanoseconds([event.dur for event in events], lambda: _texts(piece, "dur")),
            "args": np.arange(first, first + len(events), dtype=np.int32),
        }
        is_label = self.kinds.are_labels(columns["kind"])
        timed = columns["ts"] != MISSING
        kept = np.flatnonzero(timed & ~is_label)
        if len(kept) < len(events):
            self._keep_labels(piece, np.flatnonzero(is_label))
            self.timeless += int((~timed & ~is_label).sum())
            columns = {name: values[kept] for name, values in columns.items()}
            events = [events[row] for row in kept.tolist()]
        for name, values in columns.items():
            self._put(name, len(events), _ALL, values)
        self._gather(events)
        self.rows += len(events)

    def _gather(self, events: Sequence[Event]) -> None:
        args = [event.args or NO_ARGS for event in events]
        # These aren't looked for: the ids stand at most events. Written out, since attrgetter takes twice as long.
        self._put("flow_id", len(args), _ALL, integers([event.id for event in events]))
        self._put("external_id", len(args), _ALL, integers([one.external_id for one in args]))
        self._put("correlation", len(args), _ALL, integers([one.correlation for one in args]))
        lacking = missing_leads(args)
        codes = np.fromiter(map(self._lacking.__getitem__, lacking), np.int32, len(args))
        for group, rows in self._lacking.having(codes):
            self._gather_group(group, len(args), rows, [args[row] for row in rows.tolist()])

    def _gather_group(self, group: Group, count: int, rows: Array, having: Sequence[Args]) -> None:
        for name in group.integers:
            self._put(name, count, rows, integers(list(map(attrgetter(name), having))))
        for name in group.figures:
            self._put(name, count, rows, figures(list(map(attrgetter(name), having))))
        if categories := group.texts or group.words:
            # One code for all of them together: they have few combinations, and one lookup is a third of three.
            values: Iterable[Any] = map(attrgetter(*categories), having)
            keys = map(SEPARATOR.join, values) if group.texts else values
            codes = map(self.combinations[categories].__getitem__, keys)
            self._put(categories[0], count, rows, np.fromiter(codes, np.int32, len(having)))

    def _put(self, name: str, count: int, rows: Array | slice, values: Array) -> None:
        column = self._columns.get(name)
        if column is None:
            column = self._columns[name] = _Growing(values.dtype)
        column.put(self.rows, count, rows, values)

    def _keep_labels(self, piece: Decoded, rows: Array) -> None:
        if len(rows):
            texts = _entries.decode(piece.text)
            self.labels += [loaded(bytes(texts[row])) for row in rows.tolist()]

    def column(self, name: str) -> Array | None:
        """One value a row, missing ones as MISSING, NaN or the code -1; None where no row has one. Asked for once."""
        column = self._columns.pop(name, None)
        return None if column is None else column.whole(self.rows)


class _Growing:
    """A column that grows in place: parts of it, joined at the end, would be there twice."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._values = np.empty(0, dtype)
        self._missing = np.nan if dtype.kind == "f" else MISSING if dtype.itemsize == 8 else -1
        self._end = 0

    def put(self, first: int, count: int, rows: Array | slice, values: Array) -> None:
        """Values for some of `count` rows from `first` on; the others, and all before that had none, are missing."""
        end = first + count
        if end > len(self._values):
            # The memory moves with its pages, and is zeroed: an eighth more each time is neither many moves nor much.
            self._values.resize(max(end, len(self._values) * 9 // 8 + (1 << 12)), refcheck=False)
        self._values[self._end : end] = self._missing
        self._values[first:end][rows] = values
        self._end = end

    def whole(self, count: int) -> Array:
        """All of it."""
        self._values.resize(count, refcheck=False)
        self._values[self._end :] = self._missing
        return self._values


def _texts(piece: Decoded, field: str) -> list[bytes]:
    return [bytes(getattr(times, field)) for times in _times.decode(piece.text)]
