"""A part of a trace: by region, step or time; and writing one as a Chrome trace.

In: an events frame. Out: the frame of the rows asked for, or a JSON file that this reader and other viewers take.
"""

from __future__ import annotations

import difflib
import gzip
import json
import operator
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
from nbprof.metadata import METADATA_KEY, TraceMetadata
from nbprof.reader.arguments import ArgsArray
from nbprof.schema import FX_MARKER, REGION_MARKER, STEP_MARKER
from nbprof.structure.openings import Openings, inside, region_openings, step_openings
from nbprof.structure.times import Times, times

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

    What belongs to a region or a step stands in `structure/openings.py`. `time` is (start, end) in microseconds from the
    trace's start and takes whatever overlaps it.
    Raises ValueError for a region or step that the trace doesn't have, TypeError for what names none.
    """
    keep = np.ones(len(events), bool)
    when = times(events)
    if region is not None:
        keep &= _marked(events, region_openings(events, when), REGION_MARKER, _region_names(region))
    if step is not None:
        keep &= _marked(events, step_openings(events, when), STEP_MARKER, _step_names(step))
    if time is not None:
        keep &= _overlapping(when, *_span_ns(time))
    return events[keep].reset_index(drop=True)


def _marked(events: pd.DataFrame, openings: Openings, prefix: str, wanted: Sequence[str]) -> NDArray[np.bool_]:
    tails = events["name"].iloc[openings.markers].astype("str").str.removeprefix(prefix).to_numpy()
    known = sorted(set(tails))
    for name in wanted:
        if name not in known and name.lower() not in known:
            raise ValueError(_unknown("region" if prefix == REGION_MARKER else "step", name, known))
    chosen = np.isin(tails.astype(object), [*wanted, *(name.lower() for name in wanted)])
    return inside(events, openings, openings.markers[chosen])


def _unknown(word: str, name: str, known: Sequence[str]) -> str:
    if not known:
        return f"This trace has no {word} {name!r}, and no {word}s at all."
    near = difflib.get_close_matches(name, known, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"This trace has no {word} {name!r}.{hint} It has: {', '.join(known[:20])}."


def _region_names(region: str | Iterable[str]) -> list[str]:
    names = [region] if isinstance(region, str) else list(region) if isinstance(region, Iterable) else [region]
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"region={region!r} names no region: give a name, or several in a list.")
    return [name.strip() for name in names]


def _step_names(step: int | Iterable[int]) -> list[str]:
    numbers = list(step) if isinstance(step, Iterable) and not isinstance(step, str) else [step]
    try:
        return [str(operator.index(number)) for number in numbers]
    except TypeError:
        raise TypeError(f"step={step!r} numbers no step: give a whole number, or several in a list.") from None


def _span_ns(time: tuple[float, float]) -> tuple[int, int]:
    try:
        start, end = (round(min(max(float(edge) * 1000, -_FAR), _FAR)) for edge in time)
    except (TypeError, ValueError):
        advice = "give (start, end) in microseconds from the trace's start."
        raise TypeError(f"time={time!r} is no span: {advice}") from None
    if not start < end:
        raise ValueError(f"time={time!r} is no span: the end must come after the start (microseconds).")
    return start, end


def _overlapping(when: Times, start: int, end: int) -> NDArray[np.bool_]:
    # What has no length is inside by its time alone.
    mask: NDArray[np.bool_] = (when.starts < end) & ((when.ends > start) | (when.starts >= start))
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
    yield "{\n" + "".join(f"{json.dumps(key)}: {json.dumps(value, allow_nan=False)},\n" for key, value in keys.items())
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
    return [json.dumps(value, allow_nan=False) if isinstance(value, dict) else None for value in values]
