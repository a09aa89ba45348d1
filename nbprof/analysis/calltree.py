"""Which operator, which launch and which region each event belongs to: computed once, shared by all tables.

In: an events frame. Out: a `CallTree` of row positions, as long as the frame; -1 says "none".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from nbprof.analysis.counted import MARKERS, Mask, Times, prefix_mask, thread_codes, times, value_mask
from nbprof.analysis.nesting import Integers, nesting
from nbprof.analysis.openings import Openings
from nbprof.reader.inside import backward_threads
from nbprof.reader.launches import launch_positions
from nbprof.schema import (
    ANNOTATION_CATEGORIES,
    DEVICE_CATEGORIES,
    OPERATOR_CATEGORIES,
    REGION_MARKER,
    RUNTIME_CATEGORIES,
)


@dataclass(frozen=True)
class CallTree:
    """Rows of the events by kind, and what encloses or launched them.

    `parent` is the innermost operator or runtime call around an operator or runtime call, `operator` the innermost
    operator around it (for a device event: around its launch), `launch` the runtime call that launched a device event,
    `entry` the marker of the innermost region that a host event began in (a device event: its launch), and for a
    region's marker the one that encloses it. `conflicts` counts operators and runtime calls that outlive what they
    started in, `crossings` region entries that do.
    """

    times: Times
    operators: Mask
    device: Mask
    markers: Mask
    parent: Integers
    operator: Integers
    launch: Integers
    entry: Integers
    conflicts: int
    crossings: int


def call_tree(events: pd.DataFrame) -> CallTree:
    """Nesting of host events on their threads, and what joins device events to them."""
    when = times(events)
    threads = thread_codes(events)
    annotation = value_mask(events["category"], ANNOTATION_CATEGORIES)
    operator = value_mask(events["category"], OPERATOR_CATEGORIES)
    markers = (annotation | operator) & prefix_mask(events["name"], (REGION_MARKER,)) & when.known
    operators = operator & ~prefix_mask(events["name"], MARKERS) & when.complete
    runtime = value_mask(events["category"], RUNTIME_CATEGORIES) & when.complete
    device = value_mask(events["category"], DEVICE_CATEGORIES) & when.complete
    launch = launch_positions(events)

    parent, conflicts = _nested((operators | runtime) & when.known, threads, when)
    around, crossings = _nested(markers, threads, when)
    enclosing = _through(launch, _innermost(parent, operators))
    entry = around.copy()
    host = np.flatnonzero((operators | runtime) & when.known)
    openings = Openings.of(np.flatnonzero(markers), threads, when, around)
    entry[host] = _entries_of(host, events, threads, openings)
    return CallTree(
        when, operators, device, markers, parent, enclosing, launch, _through(launch, entry), conflicts, crossings
    )


def _nested(mask: Mask, threads: Integers, when: Times) -> tuple[Integers, int]:
    rows = np.flatnonzero(mask)
    parents = np.full(len(mask), -1, np.int64)
    nest = nesting(threads[rows], when.starts[rows], when.ends[rows])
    if len(rows):
        parents[rows] = np.where(nest.parents >= 0, rows[nest.parents], -1)
    return parents, nest.conflicts


def _innermost(parent: Integers, wanted: Mask) -> Integers:
    """The nearest of the enclosing rows that is wanted; runtime calls inside one another are looked through."""
    found = parent.copy()
    skipped = np.flatnonzero((found >= 0) & ~wanted[found])
    while len(skipped):
        found[skipped] = parent[found[skipped]]
        skipped = skipped[(found[skipped] >= 0) & ~wanted[found[skipped]]]
    return found


def _through(launch: Integers, of_host: Integers) -> Integers:
    """What holds for the launch holds for the device event."""
    return np.where(launch >= 0, of_host[launch], of_host)


def _entries_of(rows: Integers, events: pd.DataFrame, threads: Integers, openings: Openings) -> Integers:
    """The region entry open on the row's thread when it starts; on a backward thread without one, open meanwhile."""
    starts = openings.when.starts[rows]
    entry = openings.on_thread(threads[rows], starts)
    lone = np.flatnonzero((entry < 0) & np.isin(threads[rows], backward_threads(events, threads)))
    entry[lone] = openings.meanwhile(events["pid"].cat.codes.to_numpy(), rows[lone], starts[lone])
    return entry
