"""Collectives: how much they moved, how fast, and how much of them computation hid.

In: events. Out: the table `communication`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nbprof import intervals
from nbprof.analysis.activity import activities, union_of
from nbprof.analysis.collectives import RING_PASSES, WHOLE_INPUT, collective, tensor_bytes
from nbprof.analysis.element_types import ELEMENT_BYTES
from nbprof.schema import ANNOTATION_CATEGORIES, OPERATOR_CATEGORIES, conform, empty
from nbprof.structure.calltree import CallTree, call_tree
from nbprof.structure.masks import Integers, Mask, prefix_mask, value_mask
from nbprof.structure.nesting import nested_rows
from nbprof.structure.points import innermost_around
from nbprof.structure.threads import thread_codes
from nbprof.structure.times import microseconds

RANGES = ("nccl:", "gloo:", "xccl:", "hccl:")
"""How torch's process groups begin the names of the ranges around what they call."""
_ARGUMENTS = ["collective", "group", "group_size", "in_elements", "out_elements", "element_type"]


def communication(events: pd.DataFrame, *, tree: CallTree | None = None) -> pd.DataFrame:
    """One row a collective, by start: kernels whose name says so, and Gloo's on the host; copies are never any.

    What it is comes from the kernel's own arguments, or else from the operator around its launch that has them
    (`record_param_comms`), or else from the range around its launch (`nccl:all_reduce`) with its shapes, or else from
    the kernel's name. `bytes` is the larger side: what a rank puts in, but of an all-gather (and of a gather, on its
    root) what it takes out. `algorithm_gbps` = bytes / duration; `bus_gbps` = the same times 2 (n - 1) / n for an
    all-reduce, (n - 1) / n for an all-gather, reduce-scatter, all-to-all, gather or scatter, 1 for the others, where n
    is `group_size`: as nccl-tests defines them (doc/PERFORMANCE.md; its source for gather and scatter). A kernel's
    duration holds its waiting for the other ranks, so the wire may have been faster.

    `exposed_us` is the time in which no computation kernel runs on the same device, `overlap_share` the rest, as a
    share of the duration; both are NA on the host. Where collectives of a device overlap each other, each counts its
    own time in full: their sum then exceeds `exposed_comm_us` of `timeline`, which takes their union.
    """
    tree = call_tree(events) if tree is None else tree
    kinds = activities(events, tree)
    rows = np.flatnonzero(kinds["communication"] & tree.times.known)
    if not len(rows):
        return empty("communication")
    rows = rows[np.argsort(tree.times.starts[rows], kind="stable")]
    table = _described(rows, events, tree)
    dur_ns = tree.times.durations[rows]
    lasting_ns = np.where(dur_ns > 0, dur_ns, np.nan)
    hidden_ns = _hidden_ns(rows, kinds["kernel"] & tree.times.known, events, tree)
    algorithm = table["bytes"].to_numpy(float, na_value=np.nan) / lasting_ns  # bytes a nanosecond are GB/s
    table = table.assign(
        name=_words(events["name"].iloc[rows]),
        dur_us=microseconds(dur_ns),
        exposed_us=(dur_ns - hidden_ns) / 1_000,
        algorithm_gbps=algorithm,
        bus_gbps=algorithm * _factors(table),
        overlap_share=hidden_ns / lasting_ns,
        start_us=microseconds(tree.times.starts[rows]),
        device=events["device"].array[rows],
        stream=events["stream"].array[rows],
    )
    return conform(table, "communication")


def _described(rows: Integers, events: pd.DataFrame, tree: CallTree) -> pd.DataFrame:
    """`collective`, `group`, `bytes`, `group_size` and `element_type` of the rows."""
    told = _at(_told_by(rows, events["collective"].notna().to_numpy(bool), tree), events[_ARGUMENTS])
    ranges = prefix_mask(events["name"], *RANGES) & tree.times.known
    ranges &= value_mask(events["category"], ANNOTATION_CATEGORIES | OPERATOR_CATEGORIES)
    announced = _at(_announced_by(rows, np.flatnonzero(ranges), events, tree), events[["name", "shapes", "dtypes"]])
    own = _forms(events["name"].iloc[rows].reset_index(drop=True))
    names = _forms(told["collective"]).fillna(_forms(announced["name"])).fillna(own)
    elements = told[["in_elements", "out_elements"]].max(axis=1).astype("Int64")
    sizes = elements * told["element_type"].astype(object).map(ELEMENT_BYTES).astype("Int64")
    return pd.DataFrame(
        {
            "collective": _words(names),
            "group": _words(told["group"]),
            "bytes": sizes.fillna(_announced_bytes(announced).where(names.isin(WHOLE_INPUT))),
            "group_size": told["group_size"],
            "element_type": _words(told["element_type"]),
        }
    )


def _told_by(rows: Integers, tells: Mask, tree: CallTree) -> Integers:
    """The row itself, or the nearest of the operators around it (around its launch), that tells of a collective, or -1."""
    found = np.full(len(rows), -1, np.int64)
    at = rows
    while (at >= 0).any():
        found = np.where((at >= 0) & tells[at], at, found)
        at = np.where((at >= 0) & (found < 0), tree.operator[at], -1)
    return found


def _announced_by(rows: Integers, ranges: Integers, events: pd.DataFrame, tree: CallTree) -> Integers:
    """The innermost of the ranges around the row (around its launch), or -1; a range of Gloo's is its own."""
    places = np.where(tree.launch[rows] >= 0, tree.launch[rows], rows)
    around, _ = nested_rows(ranges, thread_codes(events), tree.times.starts, tree.times.ends)
    return innermost_around(places, ranges, around, events, tree.times)


def _at(rows: Integers, columns: pd.DataFrame) -> pd.DataFrame:
    """These rows of the columns, NA for -1."""
    chosen = columns.iloc[rows].reset_index(drop=True)
    return chosen.where(np.broadcast_to((rows >= 0)[:, None], chosen.shape))


def _forms(names: pd.Series) -> pd.Series:
    words = names.astype(object)
    return words.map({word: collective(str(word)) for word in words.dropna().unique()}).astype(object)


def _words(words: pd.Series) -> pd.Categorical:
    """Only the words that occur, in their own order."""
    return pd.Categorical(words.astype(object))


def _announced_bytes(announced: pd.DataFrame) -> pd.Series:
    """Size of the tensors that each range was given; NA where it tells none."""
    texts = list(zip(announced["shapes"].astype(object), announced["dtypes"].astype(object), strict=True))
    sizes = {pair: tensor_bytes(*pair) for pair in set(texts)}
    return pd.Series([sizes[pair] for pair in texts], dtype="Int64")


def _hidden_ns(rows: Integers, compute: Mask, events: pd.DataFrame, tree: CallTree) -> NDArray[np.float64]:
    """For how much of each row its device also computes; NaN on the host."""
    hidden = np.full(len(rows), np.nan)
    devices = events["device"].to_numpy(dtype="int64", na_value=-1)
    starts, ends = tree.times.starts[rows], tree.times.ends[rows]
    for device in np.unique(devices[rows]):
        here = tree.device[rows] & (devices[rows] == device)
        running = union_of(tree, compute & (devices == device))
        hidden[here] = intervals.overlap(running, (starts[here], ends[here]))
    return hidden


def _factors(table: pd.DataFrame) -> NDArray[np.float64]:
    """Bus by algorithm bandwidth; NaN where the collective, or the number of ranks that it needs, isn't known."""
    ranks = table["group_size"].to_numpy(float, na_value=np.nan)
    passes = table["collective"].astype(object).map(RING_PASSES).to_numpy(float)
    once = np.where(table["collective"].notna(), 1.0, np.nan)
    return np.where(np.isnan(passes), once, passes * (ranks - 1) / np.where(ranks > 0, ranks, np.nan))
