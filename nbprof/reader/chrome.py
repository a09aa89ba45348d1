"""Writing a trace for Perfetto, chrome://tracing and this reader.

In: an events frame and its metadata. Out: a JSON file of the Chrome trace format, packed as its name says.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nbprof.metadata import METADATA_KEY, TraceMetadata
from nbprof.reader.arguments import ArgsDtype
from nbprof.reader.entries import MISSING
from nbprof.reader.kinds import encoded_marker
from nbprof.reader.labels import json_value
from nbprof.reader.lanes import LANES_KEY, Lane, laid_out, lane_key, lane_labels
from nbprof.schema import DEVICE_CATEGORIES
from nbprof.structure.flows import flow_ends
from nbprof.structure.masks import Integers, value_mask
from nbprof.structure.times import times
from nbprof.writing import whole_file

_ROWS = 1 << 14
_LEAD_NS = 1_000
"""By so much all comes later where a device event begins at 0, since that would read as a lost record."""
_BINDING = {"f": ', "bp": "e"', "i": ', "s": "t"', "I": ', "s": "t"'}
_THOUSANDTHS = [f".{number:03d}" for number in range(1000)]
_JOINING = {
    "External id": "external_id",
    "correlation": "correlation",
    "stream": "stream",
    "device": "device",
    "Sequence number": "seq",
    "Fwd thread id": "forward_thread",
}
"""Arguments that join events, and their columns."""


def export_chrome(
    events: pd.DataFrame, metadata: TraceMetadata, path: str | os.PathLike[str], *, with_args: bool = True
) -> Path:
    """Write events as a Chrome trace; returns the path.

    A name that ends in .gz or .zst is packed. `with_args=False` leaves out all arguments but those that join events.
    An instant is written with its thread as its scope, and ids that are no whole numbers are not.
    Raises TraceWriteError where the file can't be written, and ValueError for what JSON can't hold.
    """
    target = Path(path)
    with whole_file(target) as file:
        for text in _texts(events, metadata, with_args):
            file.write(text.encode("utf-8", "replace"))
    return target


def _texts(events: pd.DataFrame, metadata: TraceMetadata, with_args: bool) -> Iterator[str]:
    when = times(events)
    lead = _LEAD_NS if ((when.starts == 0) & value_mask(events["category"], DEVICE_CATEGORIES)).any() else 0
    placed, lanes = laid_out(events, when, flow_ends(events, when), metadata.labels)
    keys = _keys(metadata, metadata.start_ns - lead, lanes)
    yield "{\n" + "".join(f"{_json(key)}: {_json(value)},\n" for key, value in keys.items()) + '"traceEvents": [\n'
    named = [_json(label) for label in (*metadata.labels, *lane_labels(lanes, metadata.labels))]
    blocks = filter(None, chain([named], _blocks(placed, when.starts + lead, with_args)))
    for number, lines in enumerate(blocks):
        yield (",\n" if number else "") + ",\n".join(lines)
    yield "\n]}\n"


def _keys(metadata: TraceMetadata, base_ns: int, lanes: Sequence[Lane]) -> dict[str, Any]:
    """All that stands in the file beside the events."""
    keys: dict[str, Any] = {**metadata.other, "baseTimeNanoseconds": base_ns}
    if metadata.devices:
        keys["deviceProperties"] = list(metadata.devices)
    if metadata.distributed:
        keys["distributedInfo"] = metadata.distributed
    if metadata.capture is not None:
        keys[METADATA_KEY] = metadata.capture.to_dict()
    if lanes:
        keys[LANES_KEY] = lane_key(lanes)
    return keys


def _json(value: object) -> str:
    # As UTF-8, since Perfetto shows escapes like \u00e9 as they stand there.
    return json.dumps(value, allow_nan=False, ensure_ascii=False)


def _blocks(events: pd.DataFrame, starts: Integers, with_args: bool) -> Iterator[list[str]]:
    """Each event as JSON, many at a time. A loop over events, since each has its own text to write."""
    codes, heads = _heads(events)
    durations, flows = (_numbers(events[name]) for name in ("dur_ns", "flow_id"))
    arguments = _arguments(events["args"]) if with_args else _joining(events)
    for rows in _slices(len(events)):
        columns = (
            [heads[code] for code in codes[rows].tolist()],
            _microseconds("", starts[rows]),
            _microseconds(', "dur": ', durations[rows]),
            _whole(', "id": ', flows[rows]),
            [f', "args": {text}' if text else "" for text in islice(arguments, _ROWS)],
        )
        yield ["".join(texts) + "}" for texts in zip(*columns, strict=True)]


def _heads(events: pd.DataFrame) -> tuple[Integers, list[str]]:
    """A code for each event, and for each code the JSON of its words, made once; up to the time."""
    names = ["ph", "category", "name", "pid", "tid"]
    codes = np.zeros(len(events), np.int64)
    for name in names:
        words = events[name].cat
        codes, _ = pd.factorize(codes * (len(words.categories) + 1) + words.codes.to_numpy() + 1)
    kinds = events.iloc[np.unique(codes, return_index=True)[1]][names].astype(object)
    return codes, [_head(*kind) for kind in kinds.where(kinds.notna(), None).itertuples(index=False, name=None)]


def _head(phase: str | None, category: str | None, name: str | None, pid: str | None, tid: str | None) -> str:
    words = {key: word for key, word in (("ph", phase), ("cat", category)) if word is not None}
    # chrome://tracing refuses a file with events that have no pid, but takes null for one.
    known = _json(words | {"name": encoded_marker(name or ""), "pid": json_value(pid), "tid": json_value(tid)})
    return f'{known[:-1]}{_BINDING.get(phase or "", "")}, "ts": '


def _slices(count: int) -> Iterator[slice]:
    return (slice(first, first + _ROWS) for first in range(0, count, _ROWS))


def _numbers(column: pd.Series[Any]) -> Integers:
    return column.to_numpy(dtype="int64", na_value=MISSING)


def _microseconds(key: str, nanoseconds: Integers) -> list[str]:
    wholes, rests = np.divmod(np.abs(nanoseconds), 1000)
    times = zip(nanoseconds.tolist(), wholes.tolist(), rests.tolist(), strict=True)
    return [
        "" if time == MISSING else f"{key}{'-' if time < 0 else ''}{whole}{_THOUSANDTHS[rest]}"
        for time, whole, rest in times
    ]


def _whole(key: str, numbers: Integers) -> list[str]:
    return ["" if number == MISSING else f"{key}{number}" for number in numbers.tolist()]


def _arguments(column: pd.Series[Any]) -> Iterator[str]:
    texts = column.astype(ArgsDtype()).array.texts()
    return ("" if text in (None, b"{}") else text.decode("utf-8", "replace") for text in texts)


def _joining(events: pd.DataFrame) -> Iterator[str]:
    columns = [(f', "{key}": ', _numbers(events[name])) for key, name in _JOINING.items()]
    for rows in _slices(len(events)):
        for texts in zip(*(_whole(key, numbers[rows]) for key, numbers in columns), strict=True):
            joined = "".join(texts)
            yield f"{{{joined[2:]}}}" if joined else ""
