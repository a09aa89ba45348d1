"""Reads one file, then makes every table of it, in a process of its own.

In: who does it (nbprof, or HolisticTraceAnalysis with its breakdowns) and the file. Out: a line of JSON: seconds by name.
`python -m tests.benchmarks.tables_time nbprof trace.json`
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from typing import Any

from tests.benchmarks.ratio import seconds

TABLES = (
    *("operators", "kernels", "timeline", "steps", "idle", "idle_summary", "launches", "queue_depth", "communication"),
    *("memory", "allocations", "memory_operators", "regions", "modules", "critical_path", "sequences", "flame"),
    *("findings", "health"),
)


def nbprof(path: str) -> dict[str, float]:
    """Each table of a trace that has made none yet; `tree`, which they share, is counted by itself."""
    from nbprof.trace import load_trace

    load_trace(path).health()  # what is imported or compiled at the first call is nobody's time
    traces: list[Any] = []
    found = {"read": seconds(lambda: traces.append(load_trace(path)))}
    (trace,) = traces
    found["tree"] = seconds(lambda: trace._tree)
    return found | {name: seconds(getattr(trace, name)) for name in TABLES}


def hta(path: str) -> dict[str, float]:
    """The breakdowns that have a table here, of a trace that is parsed already."""
    from hta.trace_analysis import TraceAnalysis

    traces: list[Any] = []
    found = {"read": seconds(lambda: traces.append(TraceAnalysis(trace_files={0: path})))}
    (trace,) = traces
    asked: dict[str, Callable[[], Any]] = {
        "timeline": lambda: trace.get_temporal_breakdown(visualize=False),
        "idle_summary": lambda: trace.get_idle_time_breakdown(ranks=[0], visualize=False),
        "kernels": lambda: trace.get_gpu_kernel_breakdown(visualize=False),
        "launches": lambda: trace.get_cuda_kernel_launch_stats(ranks=[0], visualize=False),
    }
    return found | {name: seconds(call) for name, call in asked.items()}


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # HolisticTraceAnalysis' own, of pandas
    print(json.dumps({"nbprof": nbprof, "hta": hta}[sys.argv[1]](sys.argv[2])))
