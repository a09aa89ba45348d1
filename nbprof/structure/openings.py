"""Which region entry, or which step, a row belongs to: the one rule that gating, selecting and all tables follow.

In: events. Out: `Openings`, which answer with positions of markers (-1 where none is open), and masks of what is inside.

A host event belongs to the innermost marker that is open on its thread when it starts. Where none is, it may *follow*
other threads, and belongs to the marker of its process that was opened last and is still open: for regions, events on
autograd's own threads follow, for steps all. A device event belongs to what its launch belongs to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from nbprof.schema import (
    ANNOTATION_CATEGORIES,
    DEVICE_CATEGORIES,
    OPERATOR_CATEGORIES,
    REGION_MARKER,
    RUNTIME_CATEGORIES,
    STEP_MARKER,
)
from nbprof.structure.launches import launch_positions
from nbprof.structure.masks import Integers, Mask, marker_mask, value_mask
from nbprof.structure.nesting import nested_rows, outer_first
from nbprof.structure.threads import engine_threads, thread_codes
from nbprof.structure.times import Times

_WORK = ANNOTATION_CATEGORIES | DEVICE_CATEGORIES | OPERATOR_CATEGORIES | RUNTIME_CATEGORIES | {"python_function"}


@dataclass(frozen=True)
class Openings:
    """The rows `markers`, and who follows them.

    `around` says for every row which marker encloses it (-1 for rows that are no markers), `crossings` how many markers
    outlive what they start in. `by_thread` holds the markers of each thread, outer ones first. `processes` has one
    number for each process, -1 for rows that any process's markers may hold.
    """

    markers: Integers
    around: Integers
    crossings: int
    by_thread: Mapping[int, Integers]
    threads: Integers
    processes: Integers
    follows: Mask
    when: Times

    def of(self, rows: Integers) -> Integers:
        """The innermost marker that each row belongs to; for a marker the one around it."""
        starts, threads = self.when.starts[rows], self.threads[rows]
        found = np.full(len(rows), -1, np.int64)
        for thread, markers in self.by_thread.items():
            here = np.flatnonzero(threads == thread)
            found[here] = self._innermost(markers, starts[here])
        lone = np.flatnonzero((found < 0) & self.follows[rows])
        found[lone] = self._meanwhile(rows[lone])
        is_marker = np.isin(rows, self.markers)
        found[is_marker] = self.around[rows[is_marker]]
        return found

    def _meanwhile(self, rows: Integers) -> Integers:
        """The latest opened of the markers open on any thread of each row's process when it starts."""
        found = np.full(len(rows), -1, np.int64)
        starts, processes = self.when.starts[rows], self.processes[rows]
        for markers in self.by_thread.values():
            there = (processes == self.processes[markers[0]]) | (processes < 0)
            candidate = np.where(there, self._innermost(markers, starts), -1)
            newer = (candidate >= 0) & ((found < 0) | (self.when.starts[candidate] > self.when.starts[found]))
            found = np.where(newer, candidate, found)
        return found

    def _innermost(self, markers: Integers, at: Integers) -> Integers:
        """The latest started one, or, where it has ended, the nearest around it that has not."""
        latest = np.searchsorted(self.when.starts[markers], at, side="right") - 1
        found = np.where(latest >= 0, markers[latest], -1)
        ended = np.flatnonzero((found >= 0) & (self.when.ends[found] <= at))
        while len(ended):
            found[ended] = self.around[found[ended]]
            ended = ended[(found[ended] >= 0) & (self.when.ends[found[ended]] <= at[ended])]
        return found


def region_openings(events: pd.DataFrame, when: Times, threads: Integers | None = None) -> Openings:
    """Entries of regions; followed by what runs on autograd's own threads."""
    threads = thread_codes(events) if threads is None else threads
    markers = np.flatnonzero(marker_mask(events, REGION_MARKER) & when.lasting)
    follows = np.isin(threads, engine_threads(events, threads, when, markers))
    return _openings(markers, threads, _processes(events), follows, when)


def step_openings(events: pd.DataFrame, when: Times) -> tuple[Integers, Openings]:
    """The steps' numbers, and what they hold: what starts meanwhile on any thread.

    Also on threads of processes (and devices' rows) that mark no step themselves.
    """
    regions = region_openings(events, when)
    numbers, markers = step_markers(events, when, regions.markers[regions.around[regions.markers] < 0])
    processes = _processes(events)
    processes[~np.isin(processes, processes[markers])] = -1
    return numbers, _openings(markers, thread_codes(events), processes, np.ones(len(events), bool), when)


def step_markers(events: pd.DataFrame, when: Times, outermost: Integers) -> tuple[Integers, Integers]:
    """Numbers and rows of the steps, in order of time.

    These are the profiler's own, or, where there are none, 0, 1, ... for the outermost entries of regions.
    """
    numbers, rows = profiler_steps(events, when)
    if not len(rows):
        rows = outermost[np.lexsort((when.ends[outermost], when.starts[outermost]))]
        numbers = np.arange(len(rows))
    return numbers, rows


def working_rows(events: pd.DataFrame, when: Times) -> Mask:
    """What makes up step 0 where nothing marks steps."""
    return when.known & value_mask(events["category"], _WORK)


def profiler_steps(events: pd.DataFrame, when: Times) -> tuple[Integers, Integers]:
    """Numbers and rows of the `ProfilerStep#N` windows on the host, in order of time; not their twins on the device.

    They divide time and are no work: in a gated file they count though they begin outside the regions.
    """
    of_category = [_step_number(str(name)) for name in events["name"].cat.categories]
    numbers = np.array([*of_category, -1], np.int64)[events["name"].cat.codes.to_numpy()]
    rows = np.flatnonzero((numbers >= 0) & marker_mask(events, STEP_MARKER) & when.lasting)
    rows = rows[np.argsort(when.starts[rows], kind="stable")]
    return numbers[rows], rows


def _step_number(name: str) -> int:
    """N of `ProfilerStep#N`, -1 for other names."""
    digits = name.removeprefix(STEP_MARKER) if name.startswith(STEP_MARKER) else ""
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 19 else -1


def inside(events: pd.DataFrame, openings: Openings, chosen: Integers) -> Mask:
    """Rows that belong to one of the `chosen` markers, or to a marker inside one; and these themselves.

    A Python call must lie wholly inside: the marker's own enter and exit straddle its edge.
    """
    holder = _outermost_chosen(openings, chosen)[openings.of(np.arange(len(events)))]
    straddles = value_mask(events["category"], {"python_function"}) & (openings.when.ends > openings.when.ends[holder])
    mask: Mask = (holder >= 0) & ~straddles
    mask[chosen] = True
    device = np.flatnonzero(value_mask(events["category"], DEVICE_CATEGORIES))
    launch = launch_positions(events)[device]
    mask[device] = (launch >= 0) & mask[launch]
    return mask


def _openings(markers: Integers, threads: Integers, processes: Integers, follows: Mask, when: Times) -> Openings:
    around, crossings = nested_rows(markers, threads, when.starts, when.ends)
    ordered = markers[outer_first(threads[markers], when.starts[markers], when.ends[markers])]
    by_thread = {int(thread): ordered[threads[ordered] == thread] for thread in np.unique(threads[ordered])}
    return Openings(markers, around, crossings, by_thread, threads, processes, follows, when)


def _processes(events: pd.DataFrame) -> Integers:
    return events["pid"].cat.codes.to_numpy().astype(np.int64)


def _outermost_chosen(openings: Openings, chosen: Integers) -> Integers:
    """For each marker the outermost chosen one among itself and those around it, or -1; one entry more, for "none"."""
    is_chosen = np.zeros(len(openings.around) + 1, bool)
    is_chosen[chosen] = True
    found = np.full(len(openings.around) + 1, -1, np.int64)
    at = openings.markers
    while (at >= 0).any():
        found[openings.markers] = np.where(is_chosen[at], at, found[openings.markers])
        at = np.where(at >= 0, openings.around[at], -1)
    return found
