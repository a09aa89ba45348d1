"""Kernels that run one after another again and again: candidates for fusion.

In: events. Out: the table `sequences`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from nbprof.analysis.kernel_classes import classify
from nbprof.analysis.kernels import device_codes
from nbprof.schema import KERNEL_CATEGORIES, conform, empty
from nbprof.structure.calltree import CallTree, call_tree
from nbprof.structure.masks import Integers, Mask, value_mask
from nbprof.structure.statistics import sums_by_group
from nbprof.structure.times import microseconds

FUSIBLE = frozenset({"elementwise", "normalisation", "reduction", "copy/memory"})
"""Kernel classes that are bound by memory, and that compilers put into one kernel."""


def sequences(
    events: pd.DataFrame,
    *,
    tree: CallTree | None = None,
    length: tuple[int, int] = (2, 5),
    min_calls: int = 2,
    across_operators: bool = False,
) -> pd.DataFrame:
    """One row for each chain of `length` kernels under one operator that ran `min_calls` times or more, longest first.

    A chain is kernels that follow each other on one stream, with no copy or fill between, launched by one call of an
    outermost operator, or, `across_operators`, by any calls: `operator` is then that of its first kernel. A chain that
    only ever runs inside one longer chain is left out for that one; chains that are listed may share kernels all the
    same, so their times don't add up. Of the runs of a chain that overlap each other the first counts. `gap_us` is the
    time between its kernels in which the stream ran nothing, `share` of the summed time of all kernels. `is_fusible`
    says whether all its kernels are elementwise, normalisation, reduction or copy kernels (`kernels()` has the
    classes), the kinds that a compiler can put into one.
    """
    if not 2 <= length[0] <= length[1]:
        raise ValueError(f"length={length!r} must be (shortest, longest), with 2 <= shortest <= longest.")
    tree = call_tree(events) if tree is None else tree
    kernel = tree.device & value_mask(events["category"], KERNEL_CATEGORIES)
    queue = _queue(events, tree, kernel, across_operators)
    chains = [chain for chain in _chains(queue, length[1], min_calls) if chain.length >= length[0]]
    if not chains:
        return empty("sequences")
    names = events["name"].cat.categories.astype(object)
    table = pd.concat([_table(queue, chain, names, min_calls) for chain in chains])
    total = microseconds(tree.times.durations[kernel].sum())
    table = table.assign(
        sequence=pd.Categorical(table["sequence"]),
        operator=pd.Categorical(table["operator"]),
        mean_us=table["total_us"] / table["calls"],
        share=table["total_us"] / total if total else 0.0,
    )
    order = ["total_us", "kernels", "sequence", "operator"]
    table = table.sort_values(order, ascending=[False, False, True, True], ignore_index=True)
    return conform(table, "sequences")


@dataclass(frozen=True)
class _Queue:
    """Kernels launched by operators, by stream and start.

    `runs` numbers the stretches that chains lie in. `gaps` is for how long before each kernel its stream ran nothing.
    """

    names: Integers
    operators: Integers
    runs: Integers
    durations: Integers
    gaps: Integers


@dataclass(frozen=True)
class _Chains:
    """The places in the queue where chains of one length begin, and a number for the chain of each."""

    length: int
    places: Integers
    codes: Integers


def _queue(events: pd.DataFrame, tree: CallTree, kernel: Mask, across_operators: bool) -> _Queue:
    rows = np.flatnonzero(tree.device)
    streams = events["stream"].to_numpy(dtype="int64", na_value=-1)[rows]
    places = pd.DataFrame({"device": device_codes(events)[rows], "stream": streams})
    lanes = np.asarray(places.groupby(["device", "stream"]).ngroup(), np.int64)
    order = np.lexsort((tree.times.starts[rows], lanes))
    rows, lane = rows[order], lanes[order]
    outermost = _outermost(tree, rows)
    kept = kernel[rows] & (outermost >= 0)
    parting = (lane, kept) if across_operators else (lane, kept, outermost)
    apart = np.any([np.diff(of_row) != 0 for of_row in parting], axis=0)
    runs = np.append(0, np.cumsum(apart))[: len(rows)]
    codes = events["name"].cat.codes.to_numpy().astype(np.int64)
    return _Queue(
        names=codes[rows[kept]],
        operators=codes[outermost[kept]],
        runs=runs[kept],
        durations=tree.times.durations[rows[kept]],
        gaps=_gaps(lane, tree.times.starts[rows], tree.times.ends[rows])[kept],
    )


def _outermost(tree: CallTree, rows: Integers) -> Integers:
    """The outermost operator around each row's launch, or -1."""
    found = tree.operator[rows]
    inside = np.flatnonzero(found >= 0)
    while len(inside := inside[tree.operator[found[inside]] >= 0]):
        found[inside] = tree.operator[found[inside]]
    return found


def _gaps(lanes: Integers, starts: Integers, ends: Integers) -> Integers:
    """Time before each row in which its lane ran nothing, 0 for the first of a lane; rows are by lane and start."""
    # A running maximum of ends, since rows of one stream may overlap.
    reach = pd.Series(ends).groupby(lanes).cummax().to_numpy()
    gaps = np.where(np.diff(lanes) == 0, starts[1:] - reach[:-1], 0)
    return np.append(0, np.maximum(gaps, 0))[: len(lanes)]


def _chains(queue: _Queue, longest: int, min_calls: int) -> Iterator[_Chains]:
    """Of each length from 1 the chains that don't always run inside one chain that is a kernel longer."""
    width = int(queue.names.max(initial=0)) + 1
    places = np.arange(len(queue.names))
    _, codes, calls = np.unique(queue.operators * width + queue.names, return_inverse=True, return_counts=True)
    for length in range(1, longest + 1):
        if not (calls >= min_calls).any():
            return
        longer = places[places + length < len(queue.names)]
        longer = longer[queue.runs[longer] == queue.runs[longer + length]]
        key = codes[longer] * width + queue.names[longer + length]
        _, found, longer_calls = np.unique(key, return_inverse=True, return_counts=True)
        is_listed = np.ones(len(calls), bool)
        if length < longest:
            most = np.zeros(len(calls), np.int64)
            np.maximum.at(most, codes[longer], longer_calls[found])
            np.maximum.at(most, codes[longer + 1], longer_calls[found])
            is_listed = calls > most
        listed = places[is_listed[codes[places]]]
        yield _Chains(length, listed, codes[listed])
        places, calls = longer, longer_calls
        codes = np.full(len(queue.names), -1, np.int64)
        codes[longer] = found


def _table(queue: _Queue, chains: _Chains, names: pd.Index, min_calls: int) -> pd.DataFrame:
    """Calls and sums of the chains of one length."""
    begins, length = _not_overlapping(chains), chains.length
    _, first, groups, calls = np.unique(
        chains.codes[begins], return_index=True, return_inverse=True, return_counts=True
    )
    places, count = chains.places[begins], len(calls)
    durations, gaps = (np.append(0, np.cumsum(of_kernel)) for of_kernel in (queue.durations, queue.gaps))
    kept = np.flatnonzero(calls >= min_calls)
    example = places[first[kept]]
    kernels = queue.names[example[:, None] + np.arange(length)]
    table = {
        "sequence": [" -> ".join(names[codes]) for codes in kernels],
        "operator": names[queue.operators[example]],
        "kernels": length,
        "calls": calls[kept],
        "total_us": microseconds(sums_by_group(groups, durations[places + length] - durations[places], count)[kept]),
        "gap_us": microseconds(sums_by_group(groups, gaps[places + length] - gaps[places + 1], count)[kept]),
        "is_fusible": _fusible(kernels, names),
    }
    return pd.DataFrame(table)


def _not_overlapping(chains: _Chains) -> Integers:
    """Of the runs of each chain those that begin when the one counted before has ended, as places in `chains`."""
    order = np.lexsort((chains.places, chains.codes))
    places, codes = chains.places[order], chains.codes[order]
    width = int(places.max(initial=0)) + chains.length + 1
    keys = codes * width + places
    is_first = np.append(True, np.diff(keys) >= chains.length)[: len(keys)]
    following = np.searchsorted(keys, keys + chains.length)
    chosen = np.zeros(len(keys), bool)
    at = np.flatnonzero(is_first)
    while len(at):  # as often as a chain overlaps itself in one stretch
        chosen[at] = True
        at = following[at]
        at = at[at < len(keys)]
        at = at[~is_first[at]]
    return order[chosen]


def _fusible(kernels: Integers, names: pd.Index) -> Mask:
    """Whether all kernels of a chain, one chain a row, are of fusible classes."""
    used, place = np.unique(kernels, return_inverse=True)
    flags = np.array([kind in FUSIBLE for kind in classify(names[used])], bool)
    return np.asarray(flags[place.reshape(kernels.shape)].all(axis=1))
