"""nbprof: a profiler for PyTorch that lives in the notebook.

A table of contents: every name is loaded when it is first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nbprof.capture.callsite import TorchTraceProfileContext as TorchTraceProfileContext
    from nbprof.capture.callsite import TorchTraceProfiler as TorchTraceProfiler
    from nbprof.capture.callsite import profile_once as profile_once
    from nbprof.capture.config import TorchProfilerConfig as TorchProfilerConfig
    from nbprof.capture.controller import TorchProfilerController as TorchProfilerController
    from nbprof.capture.controller import get_global_controller as get_global_controller
    from nbprof.capture.controller import get_global_profiler as get_global_profiler
    from nbprof.capture.decorator import profile_region as profile_region
    from nbprof.capture.process import get_or_create_profiler as get_or_create_profiler
    from nbprof.capture.regions import ProfilerRegion as ProfilerRegion
    from nbprof.capture.regions import disable_region as disable_region
    from nbprof.capture.regions import enable_region as enable_region
    from nbprof.capture.regions import list_profiler_regions as list_profiler_regions
    from nbprof.capture.regions import register_profiler_region as register_profiler_region
    from nbprof.capture.regions import reset_region as reset_region
    from nbprof.capture.regions import resolve_profiler_region as resolve_profiler_region
    from nbprof.capture.slots import region as region
    from nbprof.comparison import Comparison as Comparison
    from nbprof.comparison import compare as compare
    from nbprof.errors import NbprofError as NbprofError
    from nbprof.errors import NothingRecordedError as NothingRecordedError
    from nbprof.errors import ProfilerBusyError as ProfilerBusyError
    from nbprof.errors import TraceFormatError as TraceFormatError
    from nbprof.errors import TraceWriteError as TraceWriteError
    from nbprof.reader.fx_file import load_fx as load_fx
    from nbprof.trace import Trace as Trace
    from nbprof.trace import load_trace as load_trace

    last: Trace

_HOMES = {
    "nbprof.capture.callsite": ("TorchTraceProfileContext", "TorchTraceProfiler", "profile_once"),
    "nbprof.capture.config": ("TorchProfilerConfig",),
    "nbprof.capture.controller": ("TorchProfilerController", "get_global_controller", "get_global_profiler"),
    "nbprof.capture.decorator": ("profile_region",),
    "nbprof.capture.process": ("get_or_create_profiler",),
    "nbprof.capture.regions": (
        "ProfilerRegion",
        "disable_region",
        "enable_region",
        "list_profiler_regions",
        "register_profiler_region",
        "reset_region",
        "resolve_profiler_region",
    ),
    "nbprof.capture.slots": ("region",),
    "nbprof.comparison": ("Comparison", "compare"),
    "nbprof.errors": (
        "NbprofError",
        "NothingRecordedError",
        "ProfilerBusyError",
        "TraceFormatError",
        "TraceWriteError",
    ),
    "nbprof.reader.fx_file": ("load_fx",),
    "nbprof.trace": ("Trace", "load_trace"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted([*_HOME_OF, "last", "load_ipython_extension", "unload_ipython_extension"])  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    """Load a name from where it lives; `last` is looked up anew each time."""
    if name == "last":
        from nbprof.trace import latest_trace

        return latest_trace()
    if name == "__version__":
        from nbprof.schema import VERSION

        return VERSION
    if name not in _HOME_OF:
        raise AttributeError(f"module 'nbprof' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_HOME_OF[name]), name)
    return value


def __dir__() -> list[str]:
    """What there is, loaded or not."""
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext nbprof`: the magics, once."""
    from nbprof import magics

    magics.load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext nbprof`: everything back as it was, and no recording under way."""
    from nbprof import magics

    magics.unload(shell)
