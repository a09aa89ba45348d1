"""What each operator had to do: FLOPs and bytes, by the formulas of its name, and whether tensor cores can do it.

In: events with shapes and types, and their call tree. Out: `Work`, one entry a row.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nbprof.analysis.element_types import EIGHTS, ELEMENT_BYTES, HALF
from nbprof.analysis.formulas import FORMULAS, ON_TENSOR_CORES, Formula
from nbprof.structure.calltree import CallTree
from nbprof.structure.masks import Integers, Mask, flagged

_FOR_TENSOR_CORES = {*HALF, *EIGHTS, "float", "signed char"}
"""Types that tensor cores multiply (float as TF32, from compute capability 8.0 on)."""


@dataclass(frozen=True)
class Work:
    """`flops` and `moved_bytes` of each row, NaN where they aren't known; `eligible` says of products, convolutions and
    attention whether tensor cores can do them (1 or 0; NaN where the types aren't known); `is_heavy` marks these rows.
    """

    flops: NDArray[np.float64]
    moved_bytes: NDArray[np.float64]
    eligible: NDArray[np.float64]
    is_heavy: Mask


def work(events: pd.DataFrame, tree: CallTree) -> Work:
    """Each piece of work once, on the innermost operator that has a formula of its kind.

    `aten::linear` calls `aten::addmm`: the work stands on that. Bytes are the least that must move: each input that the
    formula reads once, and the output once.
    """
    names = events["name"].cat
    formulas = [FORMULAS.get(str(name)) for name in names.categories]
    rows = np.flatnonzero(tree.operators & flagged(events["name"], (f is not None for f in formulas)))
    combination, distinct = _combinations(events, rows, formulas)
    values = np.full((len(events), 3), np.nan)
    values[rows] = np.array([_counted(*call) for call in distinct], np.float64).reshape(-1, 3)[combination]
    numbers = {kind: number for number, kind in enumerate(sorted({f.kind for f in formulas if f is not None}))}
    kind = np.array([*(-1 if f is None else numbers[f.kind] for f in formulas), -1])[names.codes.to_numpy()]
    outer = _around_their_kind(rows[~np.isnan(values[rows, 0])], kind, tree)
    values[outer, :2] = np.nan
    heavy = flagged(events["name"], (f is not None and f.kind in ON_TENSOR_CORES for f in formulas))
    return Work(values[:, 0], values[:, 1], values[:, 2], heavy & tree.operators)


_Call: TypeAlias = tuple[Formula, str, str, str]


def _combinations(
    events: pd.DataFrame, rows: Integers, formulas: Sequence[Formula | None]
) -> tuple[Integers, list[_Call]]:
    """For each row the number of its call, and the distinct calls: formula, shapes, types and arguments as JSON texts."""
    codes = {column: events[column].cat.codes.to_numpy()[rows] for column in ("name", "shapes", "dtypes")}
    needing = np.array([f is not None and f.needs_arguments for f in formulas], bool)[codes["name"]]
    needing &= codes["shapes"] >= 0
    texts = ["[]", *(_arguments(args) for args in events["args"].iloc[rows[needing]])]
    found, distinct_texts = pd.factorize(np.array(texts, object))
    arguments = np.zeros(len(rows), np.int64)
    arguments[needing] = found[1:]
    calls = pd.DataFrame(codes | {"arguments": arguments})
    numbers = np.asarray(calls.groupby([*calls], sort=False).ngroup(), np.int64)
    shapes, dtypes = ([*map(str, events[column].cat.categories), "null"] for column in ("shapes", "dtypes"))
    distinct: list[_Call] = [
        (formula, shapes[shape], dtypes[dtype], distinct_texts[text])
        for name, shape, dtype, text in calls.drop_duplicates().to_numpy()
        if (formula := formulas[name]) is not None
    ]
    return numbers, distinct


def _arguments(args: Any) -> str:
    """The arguments that are no tensors, as recorded: a list of texts, `"[2, 2]"` or `"False"`."""
    return json.dumps(args.get("Concrete Inputs") or []) if isinstance(args, dict) else "[]"


def _counted(formula: Formula, shapes: str, dtypes: str, arguments: str) -> tuple[float, float, float]:
    """FLOPs, bytes, and whether tensor cores can do it, of one call."""
    types = _listed(dtypes)
    # What has no size (scalars, lists) is no tensor.
    sizes = [ELEMENT_BYTES.get(kind) if isinstance(kind, str) else None for kind in types]
    first = next((kind for kind, size in zip(types, sizes, strict=True) if size), None)
    eligible = np.nan if first is None or formula.kind not in ON_TENSOR_CORES else float(first in _FOR_TENSOR_CORES)
    try:
        inputs = _listed(shapes)
        if not inputs:
            raise LookupError("recorded without shapes")
        flops, written = formula.count(inputs, [_value(text) for text in _listed(arguments)])
        return float(flops), _moved(formula, inputs, sizes, written), eligible
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return np.nan, np.nan, eligible


def _moved(formula: Formula, shapes: list[Any], sizes: list[int | None], written: int | None) -> float:
    """What is read and what is written; NaN where a size isn't known."""
    places = range(len(shapes)) if formula.reads is None else formula.reads
    if any(place >= len(sizes) for place in places):  # shapes without types
        return np.nan
    read = [(shapes[place], sizes[place]) for place in places if shapes[place] or sizes[place]]
    widest = max((size for _, size in read if size), default=None)
    output = widest if formula.written is None else sizes[formula.written]
    if written is None or output is None or not all(size for _, size in read):
        return np.nan
    return float(sum(prod(shape) * size for shape, size in read if size) + written * output)


def _listed(text: str) -> list[Any]:
    """What a text holds, if that is a list."""
    try:
        found = json.loads(text)
    except ValueError:
        return []
    return found if isinstance(found, list) else []


def _value(text: Any) -> Any:
    """A recorded argument; None for those that are tensors or can't be read."""
    try:
        return json.loads(text.lower())
    except (AttributeError, ValueError):
        return None


def _around_their_kind(rows: Integers, kind: Integers, tree: CallTree) -> Integers:
    """The operators that hold one of the rows and are of its kind."""
    found = [np.empty(0, np.int64)]
    kinds, around = kind[rows], tree.operator[rows]
    while len(around):
        kinds, around = kinds[around >= 0], around[around >= 0]
        found.append(around[kind[around] == kinds])
        around = tree.operator[around]
    return np.concatenate(found)
