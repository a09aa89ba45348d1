"""Time by stack: what flame graphs are drawn from.

In: events. Out: the table `flame`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbprof.analysis.modules import MODULE_MARKER
from nbprof.schema import ANNOTATION_CATEGORIES, REGION_MARKER, RUNTIME_CATEGORIES, STEP_MARKER, conform
from nbprof.structure.calltree import CallTree, call_tree
from nbprof.structure.masks import Integers, marker_mask, prefix_mask, value_mask
from nbprof.structure.nesting import nested_rows
from nbprof.structure.stacks import Stacks, stacks
from nbprof.structure.stretches import stretches
from nbprof.structure.threads import thread_codes
from nbprof.structure.times import microseconds

KINDS = ("region", "annotation", "module", "python", "operator", "runtime", "device")
_DEVICE = KINDS.index("device")
_PREFIXES = {"region": REGION_MARKER, "module": MODULE_MARKER}
_ESCAPES = str.maketrans({";": "%3B", "\n": "%0A", "\r": "%0D"})


def flame(events: pd.DataFrame, *, tree: CallTree | None = None, device: bool = False) -> pd.DataFrame:
    """One row for each distinct stack, in the order of a tree: each before those inside it, larger ones first.

    Frames are regions and other annotations (no steps, which would part equal stacks), modules and Python calls where
    they were recorded, operators and runtime calls, nested by time on their thread; stacks of all threads are merged.
    `self_us` is the time in which the frame is the innermost that is open, `total_us` the sum of `self_us` of the frame
    and of all inside it: `self_us` sums to the time that the frames cover on each thread.

    With `device` the time is that of device events, each a frame inside the call that launched it (at the top, where
    the trace has no launch), and only stacks that launched some are listed; `self_us` then sums to their durations.

    `stack` writes `;`, which joins frames, as %3B where it stands in a name, and line ends as %0A and %0D.
    """
    tree = call_tree(events) if tree is None else tree
    kinds = _kinds(events, tree)
    rows = np.flatnonzero((kinds >= 0) & (kinds != _DEVICE))
    threads = thread_codes(events)
    parent, _ = nested_rows(rows, threads, tree.times.starts, tree.times.ends)
    own = stretches(rows, parent, threads, tree.times).own_times(len(events))
    if device:
        own = np.where(tree.device, tree.times.durations, 0)
        launched = np.flatnonzero(kinds == _DEVICE)
        launch = tree.launch[launched]
        parent[launched] = np.where((launch >= 0) & (kinds[launch] >= 0), launch, -1)
        rows = np.concatenate((rows, launched))
    labels = events["name"].cat.codes.to_numpy().astype(np.int64) * len(KINDS) + kinds
    chains = stacks(rows, parent, labels)
    table = _table(chains, rows, own, events["name"].cat.categories)
    if device:
        is_launched = (kinds[rows] == _DEVICE).astype(np.int64)
        table = table[chains.with_inner(chains.sums(rows, is_launched))[table.index] > 0]
    return conform(table.reset_index(drop=True), "flame")


def _kinds(events: pd.DataFrame, tree: CallTree) -> Integers:
    """The place in KINDS of each row that is a frame, -1 for others."""
    python = value_mask(events["category"], {"python_function"})
    annotation = value_mask(events["category"], ANNOTATION_CATEGORIES)
    steps, regions = marker_mask(events, STEP_MARKER), marker_mask(events, REGION_MARKER)
    masks = {
        "region": regions,
        "annotation": annotation & ~steps & ~regions,
        "module": python & prefix_mask(events["name"], MODULE_MARKER),
        "python": python & ~prefix_mask(events["name"], MODULE_MARKER),
        "operator": tree.operators,
        "runtime": value_mask(events["category"], RUNTIME_CATEGORIES),
        "device": tree.device,
    }
    kinds = np.full(len(events), -1, np.int64)
    for kind, mask in masks.items():
        kinds[mask & tree.times.known] = KINDS.index(kind)
    return kinds


def _table(chains: Stacks, rows: Integers, own: Integers, names: pd.Index) -> pd.DataFrame:
    """All stacks in the order of a tree; the index is the node."""
    kinds, codes = chains.labels % len(KINDS), chains.labels // len(KINDS)
    plain = [
        str(names[code]).removeprefix(_PREFIXES.get(KINDS[kind], "")) for code, kind in zip(codes, kinds, strict=True)
    ]
    self_ns = chains.sums(rows, own[rows])
    total_ns = chains.with_inner(self_ns)
    table = pd.DataFrame(
        {
            "stack": pd.Series(_texts(chains, plain), dtype="str"),
            "depth": chains.depths,
            "name": pd.Categorical(plain),
            "kind": pd.Categorical.from_codes(kinds, categories=pd.Index(KINDS)),
            "calls": chains.sums(rows, np.ones(len(rows), np.int64)),
            "total_us": microseconds(total_ns),
            "self_us": microseconds(self_ns),
        }
    )
    return table.iloc[chains.depth_first(total_ns)]


def _texts(chains: Stacks, plain: list[str]) -> list[str]:
    """The text of each stack; a loop over distinct stacks, each of which needs that of the one around it."""
    texts: list[str] = []
    for parent, name in zip(chains.parents.tolist(), plain, strict=True):
        texts.append((texts[parent] + ";" if parent >= 0 else "") + name.translate(_ESCAPES))
    return texts
