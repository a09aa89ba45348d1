"""Table -> matplotlib Axes, one file for each table. Importing this loads matplotlib; nothing is left in pyplot.

In: a table, and the user's Axes or none. Out: the Axes, drawn on.
"""

from __future__ import annotations

from nbprof.view.charts.kernels import kernels
from nbprof.view.charts.operators import operators
from nbprof.view.charts.picture import image, png
from nbprof.view.charts.regions import regions, regions_by_step
from nbprof.view.charts.steps import steps
from nbprof.view.charts.timeline import timeline

__all__ = ["image", "kernels", "operators", "png", "regions", "regions_by_step", "steps", "timeline"]
