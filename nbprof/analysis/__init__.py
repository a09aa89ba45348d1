"""Table -> table: pure functions, one file for each question.

In: an events frame, and for `health` the trace's metadata. Out: the tables of `nbprof.schema`. All take the events' call
tree as `tree`, so that who asks for several tables computes it once.
"""

from __future__ import annotations

from nbprof.analysis.allocations import allocations, memory_operators
from nbprof.analysis.communication import communication
from nbprof.analysis.compare import compare_tables
from nbprof.analysis.critical_path import critical_path
from nbprof.analysis.entries import region_entries, region_steps
from nbprof.analysis.findings import findings
from nbprof.analysis.flame import flame
from nbprof.analysis.folded import folded, speedscope
from nbprof.analysis.health import health
from nbprof.analysis.idle import idle, idle_summary
from nbprof.analysis.kernels import kernels
from nbprof.analysis.launches import launches, mean_queue_depth, queue_depth
from nbprof.analysis.memory import memory
from nbprof.analysis.modules import modules
from nbprof.analysis.operators import operators
from nbprof.analysis.regions import regions
from nbprof.analysis.sequences import sequences
from nbprof.analysis.steps import steps
from nbprof.analysis.timeline import timeline

__all__ = [
    "allocations",
    "communication",
    "compare_tables",
    "critical_path",
    "findings",
    "flame",
    "folded",
    "health",
    "idle",
    "idle_summary",
    "kernels",
    "launches",
    "mean_queue_depth",
    "memory",
    "memory_operators",
    "modules",
    "operators",
    "queue_depth",
    "region_entries",
    "region_steps",
    "regions",
    "sequences",
    "speedscope",
    "steps",
    "timeline",
]
