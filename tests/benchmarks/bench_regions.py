"""What a region costs: idle, switched off, outermost and nested, against the standard library and torch's own marker."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from torch.profiler import ProfilerActivity, profile, record_function

import nbprof
from nbprof.capture import gate
from tests.benchmarks.ratio import Ratio, interleaved

CALLS = 2000


@contextlib.contextmanager
def empty() -> Iterator[None]:
    yield


def plain() -> None:
    for _ in range(CALLS):
        with empty():
            pass


def marker() -> None:
    for _ in range(CALLS):
        with record_function("marker"):
            pass


def on() -> None:
    for _ in range(CALLS):
        with nbprof.region("on"):
            pass


def off() -> None:
    for _ in range(CALLS):
        with nbprof.region("off"):
            pass


def bench_regions() -> list[Ratio]:
    for name in ("on", "off", "outer"):
        nbprof.register_profiler_region(name, "")
    idle = interleaved(on, plain)

    controller = _controller()
    nbprof.disable_region("off")
    switched_off = interleaved(off, plain)
    outermost = interleaved(on, marker)
    with nbprof.region("outer"):
        nested = interleaved(on, marker)
    controller.stop()

    fast = gate._fast_gate
    gate._fast_gate = lambda: None
    controller = _controller()
    public = interleaved(on, _toggled_marker, repeats=11)
    controller.stop()
    gate._fast_gate = fast
    return [
        Ratio("region, no controller / empty contextmanager", idle, 0.3),
        Ratio("region that is off, live controller / empty contextmanager", switched_off, 0.4),
        Ratio("outermost region that is on / record_function", outermost, 0.6),
        Ratio("nested region that is on / record_function", nested, 0.5),
        Ratio("outermost, public names / toggle + record_function + toggle", public, 1.4),
    ]


def _toggled_marker() -> None:
    own, everything = nbprof.get_global_profiler(), {ProfilerActivity.CPU, ProfilerActivity.CUDA, ProfilerActivity.XPU}
    assert own is not None
    for _ in range(CALLS):
        own.toggle_collection_dynamic(True, everything)
        with record_function("marker"):
            pass
        own.toggle_collection_dynamic(False, everything)


def _controller() -> nbprof.TorchProfilerController:
    config = nbprof.TorchProfilerConfig({"on": True, "outer": True})
    own = profile(activities=[ProfilerActivity.CPU])
    controller = nbprof.TorchProfilerController(own, [ProfilerActivity.CPU], config)
    controller.start()
    return controller
