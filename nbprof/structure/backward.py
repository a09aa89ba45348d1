"""Which operator's backward each operator runs, by the sequence numbers that autograd gives its nodes.

In: an events frame and its call tree. Out: `Backward`, row positions and masks.

A backward frame carries the number of its node and the thread of the forward (`forward_thread`, from 1); forward
operators carry the number that the next node would get, and no thread (0). So the forward operator of a frame is the
last begun before it with its number, as torch draws its arrows. Numbers count by thread, and a trace doesn't say which
of its threads a `forward_thread` is: where several threads run forward at once (nn.DataParallel), the last begun on any
of them is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from nbprof.structure.calltree import CallTree
from nbprof.structure.masks import Integers, Mask
from nbprof.structure.times import Times


@dataclass(frozen=True)
class Backward:
    """What runs backward, and for what.

    `frames` are the outermost operators of each node's backward. `forward` says for every operator in a frame, itself
    included, which forward operator it is for; -1 for other rows, and where that isn't in the trace. `recomputed` are
    forward operators that begin in a frame: activation checkpointing (or a backward that is differentiated itself).
    """

    frames: Integers
    forward: Integers
    recomputed: Mask


def backward(events: pd.DataFrame, tree: CallTree) -> Backward:
    """The links of all rows."""
    numbers = events["seq"].to_numpy(dtype="int64", na_value=-1)
    threads = events["forward_thread"].to_numpy(dtype="int64", na_value=0)
    numbered = tree.operators & (numbers >= 0)
    frames = _outermost(np.flatnonzero(numbered & (threads > 0)), numbers, threads, tree)
    forwards = np.flatnonzero(numbered & (threads <= 0))
    frame = _innermost_frame(frames, tree)
    forward = np.full(len(numbers) + 1, -1, np.int64)  # the frame -1 reads the last entry
    forward[frames] = _last_before(frames, forwards, numbers, tree.times)
    recomputed = np.zeros(len(numbers), bool)
    recomputed[forwards] = frame[forwards] >= 0
    return Backward(frames, forward[frame], recomputed)


def _outermost(rows: Integers, numbers: Integers, threads: Integers, tree: CallTree) -> Integers:
    """Rows not directly inside another of the same node: the engine's frame holds the node's own operator."""
    around = tree.operator[rows]
    same = (around >= 0) & (numbers[around] == numbers[rows]) & (threads[around] == threads[rows])
    outermost: Integers = rows[~same]
    return outermost


def _innermost_frame(frames: Integers, tree: CallTree) -> Integers:
    """For every operator the frame that it is or that is nearest around it, or -1."""
    is_frame = np.zeros(len(tree.operator), bool)
    is_frame[frames] = True
    found = np.where(tree.operators, np.arange(len(is_frame)), -1)
    outside = np.flatnonzero(tree.operators & ~is_frame)
    while len(outside):
        found[outside] = tree.operator[found[outside]]
        outside = outside[(found[outside] >= 0) & ~is_frame[found[outside]]]
    return found


def _last_before(frames: Integers, forwards: Integers, numbers: Integers, when: Times) -> Integers:
    """Of the forward operators with each frame's number the last begun before it, or -1; of equals the innermost."""
    forwards = forwards[np.lexsort((-when.ends[forwards], when.starts[forwards]))]
    order = np.argsort(when.starts[frames], kind="stable")
    wanted, offered = (
        pd.DataFrame({"number": numbers[rows], "start": when.starts[rows], "row": rows})
        for rows in (frames[order], forwards)
    )
    joined = pd.merge_asof(wanted, offered, on="start", by="number", suffixes=("_of_frame", ""))
    links = np.empty(len(frames), np.int64)
    links[order] = joined["row"].to_numpy(dtype="int64", na_value=-1)
    return links
