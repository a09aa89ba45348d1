"""Table -> matplotlib Axes, one file for each table. Importing this loads matplotlib; nothing is left in pyplot.

In: a table, and the user's Axes or none. Out: the Axes, drawn on.
"""

from __future__ import annotations

from nbprof.view.charts.communication import communication
from nbprof.view.charts.comparison import comparison
from nbprof.view.charts.critical_path import critical_path
from nbprof.view.charts.findings import findings
from nbprof.view.charts.flame import flame
from nbprof.view.charts.idle import idle, idle_gaps
from nbprof.view.charts.kernels import kernel_classes, kernels
from nbprof.view.charts.lanes import lanes
from nbprof.view.charts.launches import launches
from nbprof.view.charts.memory import memory
from nbprof.view.charts.modules import modules, region_tree
from nbprof.view.charts.operators import operators
from nbprof.view.charts.picture import image, png
from nbprof.view.charts.queue_depth import queue_depth
from nbprof.view.charts.regions import regions, regions_by_step
from nbprof.view.charts.roofline import roofline
from nbprof.view.charts.sequences import sequences
from nbprof.view.charts.steps import steps
from nbprof.view.charts.timeline import timeline

__all__ = [
    "communication",
    "comparison",
    "critical_path",
    "findings",
    "flame",
    "idle",
    "idle_gaps",
    "image",
    "kernel_classes",
    "kernels",
    "lanes",
    "launches",
    "memory",
    "modules",
    "operators",
    "png",
    "queue_depth",
    "region_tree",
    "regions",
    "regions_by_step",
    "roofline",
    "sequences",
    "steps",
    "timeline",
]
