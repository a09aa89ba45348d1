"""Trace file -> columnar events; the only package that knows the format."""

from __future__ import annotations

from nbprof.reader.chrome import export_chrome
from nbprof.reader.container import Source
from nbprof.reader.fx_file import load_fx
from nbprof.reader.labels import occurring_labels
from nbprof.reader.opening import read_trace
from nbprof.reader.reading import Progress, read_events
from nbprof.reader.select import select, selected

__all__ = [
    "Progress",
    "Source",
    "export_chrome",
    "load_fx",
    "occurring_labels",
    "read_events",
    "read_trace",
    "select",
    "selected",
]
