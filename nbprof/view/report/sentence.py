"""The sentence that a report leads with: what took the time.

In: the tables of a trace and what is known of its capture. Out: pieces of text, the figures among them marked.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from nbprof.metadata import CaptureInfo
from nbprof.view.quantities import counted, duration, literal, share, shorten


@dataclass(frozen=True)
class Piece:
    """A piece of a sentence; a `strong` one is what the reader looks for."""

    text: str
    strong: bool = False


Sentence = tuple[Piece, ...]

_MATRIX = ("matrix multiplication", "matrix multiplications")
_CONVOLUTION = ("convolution", "convolutions")
_ATTENTION = ("attention call", "attention calls")
_NORM = ("normalisation", "normalisations")
_COPY = ("copy", "copies")
_FAMILIES = {
    **dict.fromkeys(("mm", "addmm", "bmm", "baddbmm", "matmul", "linear", "_scaled_mm", "mkldnn_linear"), _MATRIX),
    **dict.fromkeys(("convolution", "_convolution", "cudnn_convolution", "mkldnn_convolution"), _CONVOLUTION),
    **dict.fromkeys(("miopen_convolution", "convolution_backward", "conv1d", "conv2d", "conv3d"), _CONVOLUTION),
    "scaled_dot_product_attention": _ATTENTION,
    "_scaled_dot_product_flash_attention": _ATTENTION,
    "_scaled_dot_product_flash_attention_for_cpu": _ATTENTION,
    "_scaled_dot_product_efficient_attention": _ATTENTION,
    "_flash_attention_forward": _ATTENTION,
    **dict.fromkeys(("native_layer_norm", "native_group_norm", "native_batch_norm", "cudnn_batch_norm"), _NORM),
    **dict.fromkeys(("copy_", "_to_copy", "clone"), _COPY),
}
_CLASSES = {
    "matmul": ("matrix multiplication", "matrix multiplications"),
    "convolution": ("convolution", "convolutions"),
    "attention": ("attention kernel", "attention kernels"),
    "normalisation": ("normalisation", "normalisations"),
    "communication": ("communication kernel", "communication kernels"),
}
_NAMED = 3
_WORTH_NAMING = 0.05


def wall_us(steps: pd.DataFrame, regions: pd.DataFrame, capture: CaptureInfo | None) -> float | None:
    """Wall time of what was recorded: outermost regions for a cell, else steps; None where neither is known."""
    if capture is not None and capture.kind == "once" and capture.calls_us:
        recorded = capture.calls_us[sum(capture.schedule.get(phase, 0) for phase in ("wait", "warmup")) :]
        if recorded:  # a step's window holds the profiler's own work as well
            return sum(recorded)
    outermost = regions[regions["parent"].isna()]["wall_us"]
    by_regions = capture is not None and capture.kind != "once"
    for times in (outermost, steps["wall_us"]) if by_regions else (steps["wall_us"], outermost):
        if len(times):
            return float(times.sum())
    return None


def leading(
    label: str,
    wall: float | None,
    steps: int,
    capture: CaptureInfo | None,
) -> Sentence:
    """`training_dit took 1.84 s.`, or what ended it early."""
    subject = Piece(shorten(literal(label), 80), strong=True)
    if wall is None:
        return (subject, Piece(" was recorded."))
    outcome = capture.outcome if capture else "complete"
    time = Piece(duration(wall), strong=True)
    if outcome == "failed":
        error = f" ({literal(capture.error)})" if capture and capture.error else ""
        return (subject, Piece(" failed after "), time, Piece(f"{error}; this is what was recorded till then."))
    if outcome == "interrupted":
        return (subject, Piece(" was interrupted after "), time, Piece("; this is what was recorded till then."))
    if capture and capture.kind == "once" and steps > 1:
        mean = Piece(duration(wall / steps), strong=True)
        return (subject, Piece(" took "), mean, Piece(f" a call, over {steps} recorded calls."))
    return (subject, Piece(" took "), time, Piece("."))


def spent(operators: pd.DataFrame, kernels: pd.DataFrame) -> Sentence:
    """Where the time went: by class of kernel where the trace has kernels, else by operator."""
    if len(kernels):
        return _by_kernel_class(kernels)
    if not len(operators):
        return (Piece(" No torch operator ran in it."),)
    top = operators.nlargest(_NAMED, "share")
    found = [
        (float(part), *_operator_words(str(name), int(calls)))
        for name, calls, part in zip(top["name"], top["calls"], top["share"], strict=True)
    ]
    return _listed(" Of the operators' self time, ", found)


def device_use(timeline: pd.DataFrame) -> Sentence:
    """How much of its span the device was idle, or that there is none."""
    span = float(timeline["span_us"].sum())
    if not span:
        return (Piece(" No GPU in this trace."),)
    who = "the GPU was idle " if len(timeline) == 1 else f"the {len(timeline)} GPUs were idle "
    return (
        Piece(f" Between its first and last work {who}"),
        Piece(share(float(timeline["idle_us"].sum()) / span), strong=True),
        Piece(" of the time."),
    )


def _by_kernel_class(kernels: pd.DataFrame) -> Sentence:
    groups = kernels.assign(kernel_class=kernels["kernel_class"].astype("object")).groupby("kernel_class")
    sums = groups[["share", "calls"]].sum().nlargest(_NAMED, "share")
    found = []
    for name, part, calls in zip(sums.index, sums["share"], sums["calls"], strict=True):
        words = _CLASSES.get(str(name), (f"{name} kernel", f"{name} kernels"))
        found.append((float(part), counted(int(calls), *words), ""))
    return _listed(" Of the kernels' time, ", found)


def _operator_words(name: str, calls: int) -> tuple[str, str]:
    family = _FAMILIES.get(name.removeprefix("aten::"))
    shown = shorten(literal(name), 60)
    if family is None:
        return f"{counted(calls, 'call')} of {shown}", ""
    return counted(calls, *family), f" ({shown})"


def _listed(opening: str, found: list[tuple[float, str, str]]) -> Sentence:
    named = [row for number, row in enumerate(found) if number == 0 or row[0] >= _WORTH_NAMING]
    pieces = [Piece(opening)]
    for number, (part, what, aside) in enumerate(named):
        last = number == len(named) - 1
        joint = "" if number == 0 else " and " if last else ", "
        verb = " went into " if number == 0 else " into "
        pieces += [Piece(joint), Piece(share(part), strong=True), Piece(f"{verb}{what}{aside}")]
    return (*pieces, Piece("."))
