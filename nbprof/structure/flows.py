"""Flows, the arrows of a trace: what each of their ends binds to, and which have both.

In: an events frame. Out: row positions and masks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from nbprof.structure.masks import Integers, Mask, value_mask
from nbprof.structure.nesting import nesting
from nbprof.structure.threads import thread_codes
from nbprof.structure.times import Times


@dataclass(frozen=True)
class FlowEnds:
    """The rows that are ends of flows (or points on them), and for each the row that it binds to, or -1.

    An end has no length: it binds to the innermost call that is open on its thread at its time, which is as a rule the
    one that starts there.
    """

    rows: Integers
    bound: Integers


def flow_ends(events: pd.DataFrame, when: Times) -> FlowEnds:
    """All of them."""
    rows = np.flatnonzero(value_mask(events["ph"], {"s", "t", "f"}))
    if not len(rows):
        return FlowEnds(rows, rows)
    threads = thread_codes(events)
    # Ends at one place bind to one row: a single point stands for them, and comes after the calls that begin there.
    places = pd.DataFrame({"thread": threads[rows], "start": when.starts[rows]})
    of_end = places.groupby(["thread", "start"], sort=False).ngroup().to_numpy()
    points = rows[~places.duplicated().to_numpy()]
    calls = np.flatnonzero(when.lasting & np.isin(threads, threads[points]))
    both = np.concatenate((calls, points))
    found = nesting(threads[both], when.starts[both], np.append(when.ends[calls], when.starts[points])).parents
    bound = np.append(both, -1)[found[len(calls) :]]
    return FlowEnds(rows, bound[of_end])


def with_whole_flows(events: pd.DataFrame, keep: Mask, ends: FlowEnds) -> Mask:
    """`keep`, in which the ends of flows go with what they bind to, and flows without a start or an end are left out."""
    kept = keep.copy()
    rows = ends.rows[ends.bound >= 0]
    kept[rows] = keep[ends.bound[ends.bound >= 0]]
    rows = ends.rows[kept[ends.rows]]
    flows = events.iloc[rows].groupby(["category", "name", "flow_id"], observed=True, dropna=False, sort=False).ngroup()
    phases = events["ph"].iloc[rows]
    begun, ended = (flows.isin(flows[value_mask(phases, {phase})]) for phase in "sf")
    kept[rows] = (begun & ended).to_numpy()
    return kept
