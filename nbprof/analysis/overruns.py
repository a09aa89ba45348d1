"""Device events that last into the next one on their stream.

In: events and their call tree. Out: `Overruns`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from nbprof.analysis.calltree import CallTree
from nbprof.analysis.nesting import Integers

SWALLOWED_NS = 1_000


@dataclass(frozen=True)
class Overruns:
    """`overlapping`: how many run into the next one; `swallowing`: rows that outlast it by 1 us or more, longest first.

    A stream starts a kernel before the last one has ended under dependent launch, and in a graph; it never runs one
    to its end inside another, unless the durations are wrong or branches of a graph run side by side.
    """

    overlapping: int
    swallowing: Integers


def overruns(events: pd.DataFrame, tree: CallTree) -> Overruns:
    """Neighbours on each device and stream, in order of start."""
    rows = np.flatnonzero(tree.device & tree.times.known)
    device, stream = (events[side].to_numpy(dtype="int64", na_value=-1)[rows] for side in ("device", "stream"))
    starts, ends = tree.times.starts[rows], tree.times.ends[rows]
    order = np.lexsort((ends, starts, stream, device))
    rows, device, stream, starts, ends = (column[order] for column in (rows, device, stream, starts, ends))
    same = (np.diff(device) == 0) & (np.diff(stream) == 0)
    overlapping = same & (ends[:-1] > starts[1:])
    swallowing = rows[:-1][overlapping & (ends[:-1] >= ends[1:] + SWALLOWED_NS)]
    return Overruns(int(overlapping.sum()), swallowing[np.argsort(-tree.times.durations[swallowing], kind="stable")])
