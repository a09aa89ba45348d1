"""The gate and the marker: what lets the calling thread's operators into the recording, and what names a stretch of it.

In: a torch profiler that has been started. Out: `Gate`s, in two makes: on torch's own cheap switches where this torch
has them, on its public toggle otherwise or when the device is to be switched too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import torch
from torch.profiler import ProfilerActivity, record_function

DeviceGating = Literal["filter", "toggle"]


@dataclass(frozen=True)
class Gate:
    """Three calls: `switch(on)` the calling thread's collection, `mark(name)` a stretch, `unmark(handle)` it."""

    switch: Callable[[bool], None]
    mark: Callable[[str], Any]
    unmark: Callable[[Any], None]


def make_gate(profiler: Any, activities: Iterable[ProfilerActivity], device_gating: DeviceGating = "filter") -> Gate:
    """The cheapest gate that this torch offers; `make bench` prints what each make costs."""
    if device_gating not in get_args(DeviceGating):
        raise ValueError(f"device_gating={device_gating!r} is unknown; use one of {', '.join(get_args(DeviceGating))}.")
    fast = _fast_gate() if device_gating == "filter" else None
    gate = fast or _public_gate(profiler, activities)
    return _with_nvtx(gate) if torch.cuda.is_available() else gate


def marker_only(gate: Gate) -> Gate:
    """The same marker, without a gate: for a window that records all it sees."""
    return replace(gate, switch=_nothing)


def open_for_good() -> None:
    """Whatever happened: later profilers on this thread must record again."""
    switch = getattr(torch.autograd, "_enable_record_function", None)
    if switch is not None:
        switch(True)


def _fast_gate() -> Gate | None:
    # Private names, there since torch 1.x and looked up each time a recording starts: without them the public way is taken.
    switch = getattr(torch.autograd, "_enable_record_function", None)
    autograd = getattr(torch._C, "_autograd", None)
    enter = getattr(autograd, "_record_function_with_args_enter", None)
    leave = getattr(autograd, "_record_function_with_args_exit", None)
    if switch is None or enter is None or leave is None:
        return None
    return Gate(switch, enter, leave)


def _public_gate(profiler: Any, activities: Iterable[ProfilerActivity]) -> Gate:
    # All activities at once: torch prints a warning for each toggle of the CPU alone.
    everything = {*activities, ProfilerActivity.CPU, ProfilerActivity.CUDA, ProfilerActivity.XPU}

    def toggle(on: bool) -> None:
        profiler.toggle_collection_dynamic(on, everything)

    def mark(name: str) -> record_function:
        marker = record_function(name)
        marker.__enter__()  # type: ignore[no-untyped-call]
        return marker

    def unmark(marker: record_function) -> None:
        marker.__exit__(None, None, None)

    return Gate(toggle, mark, unmark)


def _with_nvtx(gate: Gate) -> Gate:
    """Each marker an NVTX range as well, for Nsight."""

    def mark(name: str) -> Any:
        torch.cuda.nvtx.range_push(name)  # type: ignore[no-untyped-call]
        return gate.mark(name)

    def unmark(handle: Any) -> None:
        gate.unmark(handle)
        torch.cuda.nvtx.range_pop()  # type: ignore[no-untyped-call]

    return replace(gate, mark=mark, unmark=unmark)


def _nothing(on: bool) -> None:
    return None


NO_GATE = Gate(_nothing, lambda name: None, lambda handle: None)
"""Nothing is switched, nothing marked."""
