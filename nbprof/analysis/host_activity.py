"""What threads of the host were doing in stretches of time.

In: events, their call tree, and stretches on threads. Out: one word for each stretch.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbprof import intervals
from nbprof.analysis.activity import activities, is_blocking
from nbprof.structure.calltree import CallTree
from nbprof.structure.masks import Integers, Mask
from nbprof.structure.nesting import nested_rows, outer_first
from nbprof.structure.threads import thread_codes
from nbprof.structure.times import Times

PYTHON = "python"
DATA_LOADING = "data loading"

_ENDS_OF_TIME = (np.iinfo(np.int64).min, np.iinfo(np.int64).max)


def host_activity(
    events: pd.DataFrame, tree: CallTree, rows: Integers, stretches: intervals.Intervals
) -> pd.Categorical:
    """What takes the largest part of each stretch [start, end) on the thread of its row; NA for row -1. None is empty.

    That is data loading, a call that waits for the device, the innermost operator, or, where none of these is open,
    `python`: code that nothing was recorded of (on autograd's own threads also waiting for work).
    """
    kinds = activities(events, tree)
    names = [str(name) for name in events["name"].cat.categories]
    blocking = is_blocking(events) & tree.times.known
    words = pd.Index(sorted({*names, PYTHON, DATA_LOADING}), dtype=object)
    python, data_loading, *codes = words.get_indexer(pd.Index([PYTHON, DATA_LOADING, *names, PYTHON]))
    of_rows = np.array(codes)[events["name"].cat.codes.to_numpy()]  # no name, -1, reads the last code
    word = np.append(np.where(kinds["dataloader"], data_loading, of_rows), python)
    threads = thread_codes(events)
    places = np.append(threads, -1)[rows]  # no row, -1, reads the last entry
    found = np.full(len(places), -1, np.int64)
    for thread in np.unique(places[places >= 0]):
        calls = np.flatnonzero((kinds["dataloader"] | blocking | kinds["cpu_op"]) & (threads == thread))
        bounds, innermost = _innermost(_not_inside(calls, kinds["dataloader"], tree.times), threads, tree.times)
        here = np.flatnonzero(places == thread)
        found[here] = _longest(bounds, word[innermost], (stretches[0][here], stretches[1][here]))
    return pd.Categorical.from_codes(found, categories=words).remove_unused_categories()


def _not_inside(rows: Integers, loading: Mask, when: Times) -> Integers:
    """Rows of one thread without what runs inside data loading, which is one activity."""
    loads = rows[loading[rows]]
    covers = intervals.union((when.starts[loads], when.ends[loads]))
    return rows[loading[rows] | (intervals.locate(covers, when.starts[rows]) < 0)]


def _innermost(rows: Integers, threads: Integers, when: Times) -> tuple[Integers, Integers]:
    """Bounds from the first to the last of all times, and the innermost row open between each two of them, or -1."""
    parent, _ = nested_rows(rows, threads, when.starts, when.ends)
    rows = rows[outer_first(threads[rows], when.starts[rows], when.ends[rows])]
    bounds = np.sort(np.concatenate((_ENDS_OF_TIME, when.starts[rows], when.ends[rows])))
    begins = bounds[:-1]
    found = np.append(rows, -1)[np.searchsorted(when.starts[rows], begins, side="right") - 1]
    ended = np.flatnonzero((found >= 0) & (when.ends[found] <= begins))
    while len(ended):
        found[ended] = parent[found[ended]]
        ended = ended[(found[ended] >= 0) & (when.ends[found[ended]] <= begins[ended])]
    return bounds, found


def _longest(bounds: Integers, codes: Integers, stretches: intervals.Intervals) -> Integers:
    """The code that holds for the largest part of each stretch; each code holds from one of the bounds to the next."""
    starts, ends = stretches
    first = np.searchsorted(bounds, starts, side="right") - 1
    counts = np.searchsorted(bounds, ends, side="left") - first
    stretch = np.repeat(np.arange(len(starts)), counts)
    piece = np.arange(len(stretch)) + np.repeat(first - np.cumsum(counts) + counts, counts)
    lengths = np.minimum(ends[stretch], bounds[piece + 1]) - np.maximum(starts[stretch], bounds[piece])
    width = int(codes.max()) + 1
    sums = pd.Series(lengths).groupby(stretch * width + codes[piece]).sum()
    keys = sums.index.to_numpy(np.int64)
    ranked = keys[np.lexsort((-sums.to_numpy(), keys // width))]
    longest: Integers = ranked[np.diff(ranked // width, prepend=-1) > 0] % width
    return longest
