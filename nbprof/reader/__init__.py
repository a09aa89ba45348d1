"""Trace file -> columnar events; the only package that knows the format."""

from __future__ import annotations

from nbprof.reader.container import Source
from nbprof.reader.reading import Progress, read_events
from nbprof.reader.select import export_chrome, select

__all__ = ["Progress", "Source", "export_chrome", "read_events", "select"]
