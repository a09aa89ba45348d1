"""Which operator, which launch and which region each event belongs to: computed once, shared by all tables.

In: an events frame. Out: a `CallTree` of row positions, as long as the frame; -1 says "none".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from nbprof.schema import DEVICE_CATEGORIES, OPERATOR_CATEGORIES, RUNTIME_CATEGORIES
from nbprof.structure.launches import launch_positions
from nbprof.structure.masks import Integers, Mask, value_mask
from nbprof.structure.nesting import nested_rows
from nbprof.structure.openings import region_openings
from nbprof.structure.threads import thread_codes
from nbprof.structure.times import Times, times

_LONG_AGO = np.iinfo(np.int64).min


@dataclass(frozen=True)
class CallTree:
    """Rows of the events by kind (`markers` are the positions of region markers), and what encloses or launched them.

    `parent` is the innermost operator or runtime call around an operator or runtime call, `operator` the innermost
    operator around it (for a device event: around its launch), `launch` the runtime call that launched a device event,
    `entry` the marker of the innermost region that a host event began in (a device event: its launch), and for a
    region's marker the one that encloses it. `conflicts` counts operators and runtime calls that outlive what they
    started in, `crossings` region entries that do. In a part of a trace, `busy_until` is when the devices are through
    with what was launched before it.
    """

    times: Times
    operators: Mask
    device: Mask
    markers: Integers
    parent: Integers
    operator: Integers
    launch: Integers
    entry: Integers
    conflicts: int
    crossings: int
    busy_until: int = _LONG_AGO


def call_tree(events: pd.DataFrame) -> CallTree:
    """Nesting of host events on their threads, and what joins device events to them."""
    when = times(events)
    threads = thread_codes(events)
    operators = value_mask(events["category"], OPERATOR_CATEGORIES) & when.complete
    runtime = value_mask(events["category"], RUNTIME_CATEGORIES) & when.complete
    device = value_mask(events["category"], DEVICE_CATEGORIES) & when.complete
    launch = launch_positions(events)
    host = np.flatnonzero((operators | runtime) & when.known)
    parent, conflicts = nested_rows(host, threads, when.starts, when.ends)
    openings = region_openings(events, when, threads)
    entry = openings.around.copy()
    entry[host] = openings.of(host)
    return CallTree(
        times=when,
        operators=operators,
        device=device,
        markers=openings.markers,
        parent=parent,
        operator=_through(launch, _innermost(parent, operators)),
        launch=launch,
        entry=_through(launch, entry),
        conflicts=conflicts,
        crossings=openings.crossings,
    )


def part_tree(events: pd.DataFrame, whole: CallTree) -> CallTree:
    """The same for a part of a trace, whose own first step begins where earlier work ends, as in the whole."""
    tree = call_tree(events)
    host = tree.times.known & ~tree.device
    if not host.any():
        return tree
    launched = np.flatnonzero(whole.device & (whole.launch >= 0))
    earlier = launched[whole.times.starts[whole.launch[launched]] < tree.times.starts[host].min()]
    return replace(tree, busy_until=int(whole.times.ends[earlier].max(initial=_LONG_AGO)))


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
