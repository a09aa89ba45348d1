"""Which rows share a thread, and which threads are autograd's own.

In: an events frame. Out: codes of threads.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbprof import intervals
from nbprof.structure.masks import Integers, prefix_mask
from nbprof.structure.times import Times

ENGINE_FRAME = "autograd::engine::evaluate_function"
"""Operators that only the backward engine opens."""


def thread_codes(events: pd.DataFrame) -> Integers:
    """One small number, from 0, for each pid and tid that occur together."""
    pids, tids = (events[side].cat.codes.to_numpy().astype(np.int64) for side in ("pid", "tid"))
    codes, _ = pd.factorize(pids * (tids.max(initial=0) + 2) + tids)
    return np.asarray(codes, np.int64)


def engine_threads(events: pd.DataFrame, threads: Integers, when: Times, markers: Integers) -> Integers:
    """Codes of the threads on which autograd's engine works for whichever thread called backward.

    A thread that opens a marker outside the engine's frames is not the engine's own: on the CPU it works for the thread
    that called it on that thread. Inside a frame (in a hook, in a custom function) any code may open one.
    """
    frames = np.flatnonzero(prefix_mask(events["name"], ENGINE_FRAME))
    return np.array(
        [
            thread
            for thread in np.unique(threads[frames])
            if _all_begin_in(markers[threads[markers] == thread], frames[threads[frames] == thread], when)
        ],
        np.int64,
    )


def _all_begin_in(markers: Integers, frames: Integers, when: Times) -> bool:
    working = intervals.union((when.starts[frames], when.ends[frames]))
    return bool((intervals.locate(working, when.starts[markers]) >= 0).all())
