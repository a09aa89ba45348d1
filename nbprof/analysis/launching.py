"""What launches and device events say of each other.

In: events and their call tree. Out: counts and masks.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from nbprof.analysis.calltree import CallTree
from nbprof.analysis.counted import Mask, value_mask
from nbprof.schema import RUNTIME_CATEGORIES

_LAUNCHES_KERNEL = re.compile(r"Launch(Cooperative)?Kernel|LaunchKernelEx|GraphLaunch", re.IGNORECASE)


def launches_without_work(events: pd.DataFrame, tree: CallTree) -> int:
    """Calls that launch kernels (copies may run on the host alone) and that no device event names."""
    names = events["name"].cat
    launching = np.array([*(bool(_LAUNCHES_KERNEL.search(str(name))) for name in names.categories), False])
    rows = launching[names.codes.to_numpy()] & tree.times.complete
    rows &= value_mask(events["category"], RUNTIME_CATEGORIES)
    with_work = np.zeros(len(rows), bool)
    with_work[tree.launch[tree.launch >= 0]] = True
    return int(np.sum(rows & ~with_work))


def kernels_before_launch(tree: CallTree) -> Mask:
    """Device events that start before the call that launched them does."""
    starts = tree.times.starts
    early: Mask = (tree.launch >= 0) & (starts < starts[tree.launch])
    return early
