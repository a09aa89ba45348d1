"""Table -> table: pure functions, one file for each question.

In: an events frame, and for `health` the trace's metadata. Out: the tables of `nbprof.schema`. All take the events' call
tree as `tree`, so that who asks for several tables computes it once.
"""

from __future__ import annotations

from nbprof.analysis.entries import region_entries, region_steps
from nbprof.analysis.health import health
from nbprof.analysis.kernels import kernels
from nbprof.analysis.operators import operators
from nbprof.analysis.regions import regions
from nbprof.analysis.steps import steps
from nbprof.analysis.timeline import timeline

__all__ = [
    "health",
    "kernels",
    "operators",
    "region_entries",
    "region_steps",
    "regions",
    "steps",
    "timeline",
]
