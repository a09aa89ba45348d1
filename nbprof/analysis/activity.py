"""What kind of work each row is: computation, communication, copies, fills, calls, data loading, operators.

In: events and their call tree. Out: a mask of rows for each kind, and the union of the intervals of a mask.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from nbprof import intervals
from nbprof.analysis.kernel_classes import COMMUNICATION, classify
from nbprof.intervals import Intervals
from nbprof.schema import (
    ANNOTATION_CATEGORIES,
    KERNEL_CATEGORIES,
    MEMCPY_CATEGORIES,
    MEMSET_CATEGORIES,
    OPERATOR_CATEGORIES,
    RUNTIME_CATEGORIES,
)
from nbprof.structure.calltree import CallTree
from nbprof.structure.masks import Mask, flagged, prefix_mask, value_mask

DATALOADER = ("enumerate(DataLoader)#", "enumerate(DataPipe)#")
HOST_COLLECTIVE = "gloo:"
_BLOCKING = re.compile(
    r"Synchronize|^hipMemcpyWithStream$|^(cuda|hip)Memcpy(?!.*(Async|WithStream))|^cuMemcpy\w*(DtoH|HtoD|DtoD)(?!Async)"
)


def activities(events: pd.DataFrame, tree: CallTree) -> dict[str, Mask]:
    """Rows of each kind of work, in order of priority, as `steps` names them; a row may be of two kinds."""
    known = tree.times.known
    kernel = tree.device & value_mask(events["category"], KERNEL_CATEGORIES)
    communication = kernel & _collective(events["name"], kernel)
    host_range = known & value_mask(events["category"], OPERATOR_CATEGORIES | ANNOTATION_CATEGORIES)
    return {
        "kernel": kernel & ~communication,
        "communication": communication | (host_range & prefix_mask(events["name"], HOST_COLLECTIVE)),
        "memcpy": tree.device & value_mask(events["category"], MEMCPY_CATEGORIES),
        "memset": tree.device & value_mask(events["category"], MEMSET_CATEGORIES),
        "runtime": known & value_mask(events["category"], RUNTIME_CATEGORIES),
        "dataloader": host_range & prefix_mask(events["name"], *DATALOADER),
        "cpu_op": tree.operators & known,
    }


def is_blocking(events: pd.DataFrame) -> Mask:
    """Calls that return only when the device is done."""
    names = (_BLOCKING.search(str(name)) is not None for name in events["name"].cat.categories)
    return flagged(events["name"], names) & value_mask(events["category"], RUNTIME_CATEGORIES)


def union_of(tree: CallTree, mask: Mask) -> Intervals:
    """The time in which at least one of the rows is under way."""
    return intervals.union((tree.times.starts[mask], tree.times.ends[mask]))


def _collective(names: pd.Series, kernel: Mask) -> Mask:
    codes = names.cat.codes.to_numpy()
    occurring = np.unique(codes[kernel])
    is_collective = np.zeros(len(names.cat.categories) + 1, bool)  # the code -1 (NA) reads the last entry
    text = names.cat.categories.to_numpy(object)[occurring]
    is_collective[occurring] = [kind == COMMUNICATION for kind in classify(text)]
    return np.asarray(is_collective[codes], bool)
