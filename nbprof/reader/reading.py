"""A trace of any make -> its events as a frame, and what it says of itself.

In: a path, bytes or a stream. Out: `(events, metadata)`. Whatever is wrong with a file, this gives what can be read of
it and says so in `metadata.problems`, or raises one `TraceFormatError`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pandas as pd

from nbprof.errors import TraceFormatError
from nbprof.metadata import METADATA_KEY, CaptureInfo, TraceMetadata
from nbprof.reader.blocks import ArgsBuilder
from nbprof.reader.columns import events_frame
from nbprof.reader.container import Source, Text
from nbprof.reader.entries import MISSING
from nbprof.reader.gathering import Gatherer
from nbprof.reader.lanes import LANES_KEY, lanes_in, without_lanes
from nbprof.reader.numbers import integer
from nbprof.reader.outer import outer_keys
from nbprof.reader.pieces import Pieces
from nbprof.reader.problems import DROPPED, FOREIGN, UNREADABLE_FACTS, Problems
from nbprof.reader.repair import Rescuer
from nbprof.schema import conform
from nbprof.structure.openings import inside, region_openings
from nbprof.structure.times import times

Progress = Callable[[int, int | None, int], None]
"""(bytes of the file read, its size if known, events so far)."""

_BASE = "baseTimeNanoseconds"
_DEVICES = "deviceProperties"
_DISTRIBUTED = "distributedInfo"


def read_events(source: Source, *, progress: Progress | None = None) -> tuple[pd.DataFrame, TraceMetadata]:
    """The events of a Chrome trace, in the order of the file, and its metadata.

    `source` is a path, the bytes themselves or a binary stream; JSON (an object, or a bare list of events), plain or in
    gzip or in a zip archive with one trace. `progress` is called after every piece.
    Raises FileNotFoundError where nothing is, TraceFormatError for what is no trace.
    """
    problems = Problems()
    with Text(source, problems) as text, ArgsBuilder() as args:
        gathered = Gatherer(args)
        pieces = Pieces(text, text.name, Rescuer(problems), problems)
        for piece in pieces:
            gathered.add(piece)
            if progress is not None:
                progress(text.done, text.size, gathered.entries)
    outer = outer_keys(pieces.head, pieces.tail, pieces.read - len(pieces.tail), problems)
    unread = [problem for problem in problems.listed() if problem.kind in {DROPPED, FOREIGN}]
    if unread and not gathered.entries:
        detail, place = unread[0].detail, f"byte {unread[0].offset}"
        raise TraceFormatError(text.name, f"its list holds no events ({detail})", place=place)
    lanes = lanes_in(outer.get(LANES_KEY))
    if lanes:
        del outer[LANES_KEY]
    base = integer(_taken(outer, _BASE, (int, float, str), 0))
    frame, start_ns = events_frame(gathered, args.finish(), 0 if base == MISSING else base, problems, lanes)
    facts = outer.get(METADATA_KEY)
    capture = _capture(facts, problems)
    if capture is not None:
        del outer[METADATA_KEY]
    if _says_gated(facts):
        openings = region_openings(frame, times(frame))
        frame["in_region"] = inside(frame, openings, openings.markers)
    metadata = TraceMetadata(
        source=text.name,
        start_ns=start_ns,
        bytes=text.done,
        text_bytes=pieces.read,
        capture=capture,
        devices=tuple(item for item in _taken(outer, _DEVICES, list, []) if isinstance(item, dict)),
        distributed=_taken(outer, _DISTRIBUTED, dict, {}),
        labels=tuple(without_lanes(gathered.labels, lanes)),
        problems=problems.listed(),
        other=outer,
    )
    return conform(frame, "events"), metadata


def _capture(values: Any, problems: Problems) -> CaptureInfo | None:
    if values is None:
        return None
    try:
        return msgspec.convert(values, CaptureInfo)
    except msgspec.ValidationError as error:
        effect = "only what lies in regions counts" if _says_gated(values) else "whether regions limit it is unknown"
        problems.add(UNREADABLE_FACTS, None, f"{error}; {effect}")
        return None


def _says_gated(values: Any) -> bool:
    return isinstance(values, dict) and values.get("gated") is True


def _taken(outer: dict[str, Any], key: str, kind: type | tuple[type, ...], otherwise: Any) -> Any:
    """The value of a key; one of another kind stays among the other keys, so that a copy of the file keeps it."""
    return outer.pop(key) if isinstance(outer.get(key), kind) else otherwise
