"""Begin and end events (ph B and E) -> complete events (ph X).

In: columns of times, phases and threads. Out: which rows begin one that ends, and its duration.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nbprof.reader.problems import UNCLOSED, UNOPENED, Problems


@dataclass(frozen=True)
class Pairs:
    """Row positions: `begins[i]` lasts `durations[i]` ns, until `ends[i]`."""

    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    durations: NDArray[np.int64]


def paired(
    times: NDArray[np.int64],
    is_begin: NDArray[np.bool_],
    is_end: NDArray[np.bool_],
    thread: NDArray[np.int64],
    problems: Problems,
) -> Pairs:
    """Each end closes the latest open begin of its thread; what has no partner is tallied."""
    rows = np.flatnonzero(is_begin | is_end)
    rows = rows[np.argsort(times[rows], kind="stable")]
    open_: dict[int, list[int]] = {}
    begins: list[int] = []
    closed_at: list[int] = []
    unopened = 0
    # A loop over events: nesting needs a stack, and only files that torch did not write hold such events at all.
    for row, key, begin in zip(rows.tolist(), thread[rows].tolist(), is_begin[rows].tolist(), strict=True):
        stack = open_.setdefault(key, [])
        if begin:
            stack.append(row)
        elif stack:
            begins.append(stack.pop())
            closed_at.append(row)
        else:
            unopened += 1
    unclosed = sum(map(len, open_.values()))
    if unopened:
        problems.add(UNOPENED, None, "left out", count=unopened)
    if unclosed:
        problems.add(UNCLOSED, None, "kept without a duration", count=unclosed)
    begun, closed = np.array(begins, np.int64), np.array(closed_at, np.int64)
    return Pairs(begun, closed, times[closed] - times[begun])
