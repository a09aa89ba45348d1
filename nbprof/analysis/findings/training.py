"""Findings about training: the optimizer, recomputation, and measuring which kernel is fastest.

In: `Facts`. Out: a `Found`, or None.
"""

from __future__ import annotations

import numpy as np

from nbprof import intervals
from nbprof.analysis.findings.facts import Facts, Found, microseconds
from nbprof.structure.backward import backward
from nbprof.structure.masks import Mask

MANY_PIECES = 50
_CONVOLVES = r"^aten::(cudnn_|miopen_)?(_?convolution\w*)$"
_TUNES = r"benchmark_all_configs|autotune"


def optimizer_in_pieces(facts: Facts) -> Found | None:
    """An optimizer step that consists of very many small pieces, one by one for each parameter."""
    marked = facts.ranges(r"^Optimizer\.step#")
    steps = facts.union(marked)
    if not len(steps[0]):
        return None
    if facts.on_device:
        pieces = facts.launched_during(steps)
        save = microseconds(intervals.intersect(steps, facts.starved))
    else:
        pieces = facts.kinds["cpu_op"] & (intervals.locate(steps, facts.tree.times.starts) >= 0) & ~marked
        save = microseconds(intervals.subtract(steps, facts.union(pieces)))
    each = float(pieces.sum()) / len(steps[0])
    if each < MANY_PIECES:
        return None
    return Found(
        each,
        "kernels a step" if facts.on_device else "operators a step",
        save,
        facts.expression(marked),
        f"One optimizer step is {each:,.0f} {'kernels' if facts.on_device else 'operators'}. "
        "Give the optimizer fused=True, or foreach=True, which updates all parameters in a few.",
    )


def recomputed_forward(facts: Facts) -> Found | None:
    """Forward work done again during backward, to save memory."""
    again = backward(facts.events, facts.tree).recomputed
    if not again.any():
        return None
    work = facts.inside(again) & (facts.tree.device if facts.on_device else again)
    save = microseconds(facts.union(work))
    return Found(
        100 * save / facts.span_us,
        "% of the span",
        save,
        'trace.operators().query("recomputed_calls > 0")',
        "Forward work was done again during backward (activation checkpointing). If memory allows it, checkpoint fewer "
        "layers, or only cheap ones (a selective policy).",
    )


def autotuning(facts: Facts) -> Found | None:
    """Candidates were tried out inside the recording."""
    trying = facts.ranges(_TUNES) | _first_of_a_shape(facts)
    if not trying.any():
        return None
    return Found(
        int(trying.sum()),
        "calls",
        microseconds(facts.union(trying)),
        facts.expression(trying),
        "Kernels were tried out against each other inside the recording (cudnn.benchmark or Triton's autotuning). "
        "Warm up with all shapes before recording, and keep shapes the same.",
    )


def _first_of_a_shape(facts: Facts) -> Mask:
    """First calls of convolutions that launched over three times as many device events as those that followed."""
    operator = facts.tree.operator[facts.tree.device]
    launched = np.bincount(operator[operator >= 0], minlength=len(facts.tree.operator))
    has_shapes = facts.events["shapes"].notna().to_numpy()
    rows = np.flatnonzero(facts.ranges(_CONVOLVES) & has_shapes & (launched > 0))
    rows = rows[np.argsort(facts.tree.times.starts[rows], kind="stable")]
    calls = facts.events[["name", "shapes"]].iloc[rows].assign(launched=launched[rows])
    alike = calls.groupby(["name", "shapes"], observed=True, sort=False)["launched"]
    least = alike.transform("min").to_numpy()
    first = alike.cumcount().to_numpy() == 0
    found = np.zeros(len(facts.tree.operator), bool)
    found[rows[first & (calls["launched"].to_numpy() > 3 * least)]] = True
    return found
