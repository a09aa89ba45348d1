"""Who encloses whom on each thread.

In: thread, start and end of each row (integer nanoseconds, half-open). Out: for each row the position of its innermost
enclosing row, and how many rows neither nest nor stand apart.

A row is inside another of its thread when it starts in it and ends no later, or less than `TOLERANCE_NS` later. Of two
equal intervals the first one given is the outer. A row of no length is inside what is open at its start, not inside
what ends there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nbprof.structure.masks import Integers

TOLERANCE_NS = 1_000


@dataclass(frozen=True)
class Nesting:
    """`parents`: position of the innermost enclosing row, or -1; `conflicts`: rows that outlive what they start in."""

    parents: Integers
    conflicts: int


def nesting(threads: Integers, starts: Integers, ends: Integers) -> Nesting:
    """Parents of all rows; `threads` are codes from 0, and no row ends before it starts."""
    parents = np.full(len(starts), -1, np.int64)
    conflicts = 0
    order = outer_first(threads, starts, ends)
    for rows in _runs(order, threads):
        found, crossing = _on_one_thread(starts[rows], ends[rows])
        parents[rows] = np.where(found >= 0, rows[found], -1)
        conflicts += crossing
    return Nesting(parents, conflicts)


def nested_rows(rows: Integers, threads: Integers, starts: Integers, ends: Integers) -> tuple[Integers, int]:
    """The same among some rows of an events frame: parents for all rows of it, -1 for the others, and the conflicts."""
    parents = np.full(len(starts), -1, np.int64)
    nest = nesting(threads[rows], starts[rows], ends[rows])
    if len(rows):
        parents[rows] = np.where(nest.parents >= 0, rows[nest.parents], -1)
    return parents, nest.conflicts


def crossing_stretches(threads: Integers, starts: Integers, ends: Integers) -> list[Integers]:
    """Positions, outer first, of the rows about which some neither nest nor stand apart, not even by a nanosecond.

    One array a thread that has such rows; it begins and ends where nothing is open.
    """
    stretches = []
    for rows in _runs(outer_first(threads, starts, ends), threads):
        _, crossing = _as_if_nested(starts[rows], ends[rows], _closing(starts[rows], ends[rows]))
        if len(crossing):
            stretches.append(rows[crossing])
    return stretches


def outer_first(threads: Integers, starts: Integers, ends: Integers) -> Integers:
    """Positions sorted by thread, start and, where these are equal, longest first, then as given."""
    order = np.argsort(starts, kind="stable")
    order = order[np.argsort(_narrow(threads[order]), kind="stable")]
    same = (np.diff(starts[order]) == 0) & (np.diff(threads[order]) == 0)
    if same.any():
        # Only rows that share a start need the full sort: recorders write nearly in order of start.
        tied = np.flatnonzero(np.append(same, False) | np.concatenate(([False], same)))
        rows = np.sort(order[tied])
        order[tied] = rows[np.lexsort((-ends[rows], starts[rows], threads[rows]))]
    return order


def _runs(order: Integers, threads: Integers) -> Iterator[Integers]:
    if not len(order):
        return
    first = np.flatnonzero(np.diff(threads[order])) + 1
    yield from np.split(order, first)


def _narrow(codes: Integers) -> NDArray[np.integer]:
    """16-bit copies where they suffice: numpy then sorts by radix, some ten times faster."""
    return codes.astype(np.int16) if len(codes) and codes.max() < 2**15 else codes


def _on_one_thread(starts: Integers, ends: Integers) -> tuple[Integers, int]:
    closing = _closing(starts, ends)
    parents, redo = _as_if_nested(starts, ends, closing)
    if not len(redo):
        return parents, 0
    # The parents behind a crossing are not exact: sweep the stretches that hold one.
    found, conflicts = _sweep(starts[redo].tolist(), ends[redo].tolist(), closing[redo].tolist())
    parents[redo] = np.where(found >= 0, redo[found], -1)
    return parents, conflicts


def _closing(starts: Integers, ends: Integers) -> Integers:
    """Where a row stops holding others: one of no length holds what starts with it."""
    closing: Integers = np.maximum(ends, starts + 1)
    return closing


def _as_if_nested(starts: Integers, ends: Integers, closing: Integers) -> tuple[Integers, Integers]:
    """Parents that hold where all rows nest, and the rows of the stretches in which some do not.

    A row with nothing open at its start begins a stretch, which is independent of all before.
    """
    depths = np.arange(len(starts)) - np.searchsorted(np.sort(closing), starts, side="right")
    parents = _nearest_above(depths)
    crossing = (parents >= 0) & (ends > ends[parents])
    stretches = np.cumsum(depths == 0) - 1
    broken = np.zeros(len(starts), bool)  # there are no more stretches than rows
    broken[stretches[crossing]] = True
    return parents, np.flatnonzero(broken[stretches])


def _nearest_above(depths: Integers) -> Integers:
    """For each row the last row before it that is one level up: where rows nest, the innermost that is still open."""
    count = len(depths)
    by_depth = np.argsort(_narrow(depths), kind="stable")
    keys = depths[by_depth] * count + by_depth  # ascending
    found = np.searchsorted(keys, keys - count, side="right") - 1
    parents = np.full(count, -1, np.int64)
    parents[by_depth] = np.where(found >= 0, by_depth[found], -1)
    return parents


def _sweep(starts: list[int], ends: list[int], closing: list[int]) -> tuple[Integers, int]:
    """The same by a stack, for rows that cross; changes `closing`.

    A loop over rows, since each one's parent depends on what the rows before left open.
    """
    parents = [-1] * len(starts)
    conflicts = 0
    stack: list[int] = []
    for row, (start, end) in enumerate(zip(starts, ends, strict=True)):
        while stack and closing[stack[-1]] <= start:
            stack.pop()
        around = stack[-1] if stack else -1
        if around >= 0 and end >= ends[around] + TOLERANCE_NS:
            conflicts += 1
            holding = (
                outer for outer in reversed(stack) if closing[outer] > start and end < ends[outer] + TOLERANCE_NS
            )
            around = next(holding, -1)
        if around >= 0:
            parents[row] = around
            # A tolerated overhang must not hold what follows its parent.
            closing[row] = min(closing[row], closing[around])
        stack.append(row)
    return np.array(parents, np.int64), conflicts
