"""A part of a trace: by region, step or time.

In: an events frame. Out: which rows are asked for, and the frame of these, with the same columns.
"""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbprof.markers import canonical_name
from nbprof.schema import REGION_MARKER
from nbprof.structure.flows import flow_ends, with_whole_flows
from nbprof.structure.masks import Mask
from nbprof.structure.openings import Openings, inside, region_openings, step_openings, working_rows
from nbprof.structure.times import Times, times

_FAR = float(1 << 62)


def select(events: pd.DataFrame, **asked: Any) -> pd.DataFrame:
    """The events that `selected` marks, as a frame of their own."""
    return events[selected(events, **asked)].reset_index(drop=True)


def selected(
    events: pd.DataFrame,
    *,
    region: str | Iterable[str] | None = None,
    step: int | Iterable[int] | None = None,
    time: tuple[float | None, float | None] | None = None,
) -> Mask:
    """The events that belong to a region (or several), a step (or several), and a span of time, all as asked for.

    What belongs to a region or a step stands in `structure/openings.py`; steps are those of the table `steps`. `time` is
    (start, end) in microseconds from the trace's start, None for an open end, and takes whatever overlaps it. Flows go
    with the events that they join; in a part, those are left out that lost, or never had, one of their ends.
    Raises ValueError for a region or step that the trace doesn't have, TypeError for what names none.
    """
    keep = np.ones(len(events), bool)
    when = times(events)
    if region is not None:
        keep &= _in_regions(events, when, _region_names(region))
    if step is not None:
        keep &= _in_steps(events, when, _step_numbers(step))
    if time is not None:
        keep &= _overlapping(when, *_span_ns(time))
    if not keep.all():
        keep = with_whole_flows(events, keep, flow_ends(events, when))
    return keep


def _in_regions(events: pd.DataFrame, when: Times, wanted: Sequence[str]) -> Mask:
    openings = region_openings(events, when)
    markers = events["name"].iloc[openings.markers].astype("str")
    names = markers.str.removeprefix(REGION_MARKER).tolist()
    wanted = [name if name in names else canonical_name(name) for name in wanted]
    _check("region", wanted, sorted(set(names)))
    return _held(events, openings, names, wanted)


def _in_steps(events: pd.DataFrame, when: Times, wanted: Sequence[int]) -> Mask:
    steps, openings = step_openings(events, when)
    numbers = steps.tolist()
    if not numbers and working_rows(events, when).any():
        _check("step", wanted, [0])
        return np.full(len(events), bool(wanted))
    _check("step", wanted, sorted(set(numbers)))
    return _held(events, openings, numbers, wanted)


def _held(events: pd.DataFrame, openings: Openings, labels: Sequence[Any], wanted: Sequence[Any]) -> Mask:
    asked = set(wanted)
    chosen = np.array([label in asked for label in labels], bool)
    return inside(events, openings, openings.markers[chosen])


def _check(word: str, wanted: Sequence[Any], known: Sequence[Any]) -> None:
    for one in wanted:
        if one not in known:
            raise ValueError(_unknown(word, one, list(map(str, known))))


def _unknown(word: str, name: Any, known: Sequence[str]) -> str:
    if not known:
        return f"This trace has no {word} {name!r}, and no {word}s at all."
    near = difflib.get_close_matches(str(name), known, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    rest = f" and {len(known) - 20} more" if len(known) > 20 else ""
    return f"This trace has no {word} {name!r}.{hint} It has: {', '.join(known[:20])}{rest}."


def _region_names(region: str | Iterable[str]) -> list[str]:
    names = [region] if isinstance(region, str) else list(region) if isinstance(region, Iterable) else [region]
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"region={region!r} names no region: give a name, or several in a list.")
    return names


def _step_numbers(step: int | Iterable[int]) -> list[int]:
    numbers = list(step) if isinstance(step, Iterable) and not isinstance(step, str) else [step]
    try:
        return [operator.index(number) for number in numbers]
    except TypeError:
        raise TypeError(f"step={step!r} numbers no step: give a whole number, or several in a list.") from None


def _span_ns(time: tuple[float | None, float | None]) -> tuple[int, int]:
    try:
        edges = zip(time, (-_FAR, _FAR), strict=True)
        start, end = (round(min(max(far if edge is None else float(edge) * 1000, -_FAR), _FAR)) for edge, far in edges)
    except (TypeError, ValueError):
        advice = "give (start, end) in microseconds from the trace's start, None for an open end."
        raise TypeError(f"time={time!r} is no span: {advice}") from None
    if not start < end:
        raise ValueError(f"time={time!r} is no span: the end must come after the start (microseconds).")
    return start, end


def _overlapping(when: Times, start: int, end: int) -> Mask:
    # What has no length is inside by its time alone.
    mask: Mask = (when.starts < end) & ((when.ends > start) | (when.starts >= start))
    return mask
