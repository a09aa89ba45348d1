"""A part of a trace: by region, step or time; and writing one as a Chrome trace.

In: an events frame. Out: the frame of the rows asked for, or a JSON file that this reader and other viewers take.
"""

from __future__ import annotations

import difflib
import gzip
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nbprof.errors import TraceWriteError
from nbprof.markers import encode_name
from nbprof.reader.arguments import ArgsArray
from nbprof.reader.inside import inside, marker_positions
from nbprof.schema import FX_MARKER, METADATA_KEY, REGION_MARKER, STEP_MARKER, TraceMetadata

_ROWS = 4096
_FAR = float(1 << 62)
_NUMBER = re.compile("0|-?[1-9][0-9]{0,17}")
_BINDING = {'"f"': ['"bp": "e"'], '"i"': ['"s": "t"'], '"I"': ['"s": "t"']}


def select(
    events: pd.DataFrame,
    *,
    region: str | Iterable[str] | None = None,
    step: int | Iterable[int] | None = None,
    time: tuple[float, float] | None = None,
) -> pd.DataFrame:
    """The events that belong to a region (or several), a step (or several), and a span of time, all as asked for.

    Host events belong by the marker's interval on its thread, or on a thread without markers meanwhile; device events by
    their launch. `time` is (start, end) in microseconds from the trace's start and takes whatever overlaps it.
    Raises ValueError for a region or step that the trace doesn't have.
    """
    keep = np.ones(len(events), bool)
    if region is not None:
        wanted = [region] if isinstance(region, str) else list(region)
        keep &= _marked(events, REGION_MARKER, [name.strip() for name in wanted], "region")
    if step is not None:
        numbers = [step] if isinstance(step, (int, np.integer)) else list(step)
        keep &= _marked(events, STEP_MARKER, [str(int(number)) for number in numbers], "step")
    if time is not None:
        keep &= _overlapping(events, *time)
    return events[keep].reset_index(drop=True)


def _marked(events: pd.DataFrame, prefix: str, wanted: Sequence[str], word: str) -> NDArray[np.bool_]:
    markers = marker_positions(events, prefix)
    tails = events["name"].iloc[markers].astype("str").str.removeprefix(prefix).to_numpy()
    known = sorted(set(tails))
    for name in wanted:
        if name not in known and name.lower() not in known:
            raise ValueError(_unknown(word, name, known))
    lowered = {name.lower() for name in wanted}
    chosen = np.array([tail in wanted or tail in lowered for tail in tails], bool)
    return inside(events, markers[chosen], markers, is_backward_only=word == "region")


def _unknown(word: str, name: str, known: Sequence[str]) -> str:
    if not known:
        return f"This trace has no {word} {name!r}, and no {word}s at all."
    near = difflib.get_close_matches(name, known, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"This trace has no {word} {name!r}.{hint} It has: {', '.join(known[:20])}."


def _overlapping(events: pd.DataFrame, start_us: float, end_us: float) -> NDArray[np.bool_]:
    if not start_us < end_us:
        raise ValueError(f"time=({start_us}, {end_us}) is no span: the end must come after the start (microseconds).")
    start, end = (round(min(max(edge * 1000, -_FAR), _FAR)) for edge in (start_us, end_us))
    starts = events["ts_ns"].to_numpy()
    ends = starts + events["dur_ns"].to_numpy(dtype="int64", na_value=0)
    # What has no length is inside by its time alone.
    mask: NDArray[np.bool_] = (starts < end) & ((ends > start) | (starts >= start))
    return mask


def export_chrome(events: pd.DataFrame, metadata: TraceMetadata, path: str | os.PathLike[str]) -> Path:
    """Write events as a Chrome trace (JSON, in gzip when the name ends in .gz); returns the path.

    Written beside and renamed into place, so that no half file is ever seen. Raises TraceWriteError.
    """
    target = Path(path)
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with beside.open("wb") as raw, _packed(raw, target) as file:
                for line in _lines(events, metadata):
                    file.write(line.encode("utf-8", "replace"))
            beside.replace(target)
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
    except OSError as error:
        raise TraceWriteError(target, error.strerror or str(error)) from error
    return target


def _packed(raw: BinaryIO, target: Path) -> AbstractContextManager[BinaryIO | gzip.GzipFile]:
    if target.name.endswith(".gz"):
        return gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=1)
    return nullcontext(raw)


def _lines(events: pd.DataFrame, metadata: TraceMetadata) -> Iterator[str]:
    keys: dict[str, Any] = {**metadata.other, "baseTimeNanoseconds": metadata.start_ns}
    if metadata.devices:
        keys["deviceProperties"] = list(metadata.devices)
    if metadata.distributed:
        keys["distributedInfo"] = metadata.distributed
    if metadata.capture is not None:
        keys[METADATA_KEY] = metadata.capture.to_dict()
    yield "{\n" + "".join(f"{json.dumps(key)}: {json.dumps(value)},\n" for key, value in keys.items())
    yield '"traceEvents": ['
    for start in range(0, len(events), _ROWS):
        yield (",\n" if start else "\n") + ",\n".join(_rows(events.iloc[start : start + _ROWS]))
    yield "\n]}\n"


def _rows(events: pd.DataFrame) -> Iterator[str]:
    """Each event as JSON. A loop over events, since each has its own text to write."""
    words = {name: _as_json(events[name]) for name in ("ph", "category", "name", "pid", "tid")}
    times = events["ts_ns"].tolist()
    durations = events["dur_ns"].astype(object).tolist()
    flows = events["flow_id"].astype(object).tolist() if "flow_id" in events else [pd.NA] * len(events)
    texts = _args_texts(events["args"])
    for row, (ph, category, name, pid, tid) in enumerate(zip(*words.values(), strict=True)):
        fields = [f'"ph": {ph}', f'"name": {name}', f'"ts": {_microseconds(times[row])}']
        fields += [f'"{key}": {word}' for key, word in (("cat", category), ("pid", pid), ("tid", tid)) if word]
        if durations[row] is not pd.NA:
            fields.append(f'"dur": {_microseconds(durations[row])}')
        if flows[row] is not pd.NA:
            fields.append(f'"id": {flows[row]}')
        fields += _BINDING.get(ph, [])
        if texts[row] not in {None, "{}"}:
            fields.append(f'"args": {texts[row]}')
        yield "{" + ", ".join(fields) + "}"


def _as_json(column: pd.Series[Any]) -> list[str | None]:
    """The JSON of a categorical's words, made once a word; None where there is none."""
    is_thread = column.name in {"pid", "tid"}
    of_code: list[str | None] = [_word(str(word), is_thread) for word in column.cat.categories]
    of_code.append(None)  # the code -1 reads the last entry
    return [of_code[code] for code in column.cat.codes.tolist()]


def _word(word: str, is_thread: bool) -> str:
    if is_thread and _NUMBER.fullmatch(word):
        return word
    for marker in (REGION_MARKER, FX_MARKER):
        if word.startswith(marker):
            word = marker + encode_name(word.removeprefix(marker))
    return json.dumps(word)


def _microseconds(nanoseconds: int) -> str:
    whole, rest = divmod(abs(nanoseconds), 1000)
    return f"{'-' if nanoseconds < 0 else ''}{whole}.{rest:03d}"


def _args_texts(column: pd.Series[Any]) -> list[str | None]:
    values = column.array
    if isinstance(values, ArgsArray):
        texts = (values.text(position) for position in range(len(values)))
        return [None if text is None else text.decode("utf-8", "replace") for text in texts]
    return [json.dumps(value) if isinstance(value, dict) else None for value in values]
