"""Trace file -> columnar events; the only package that knows the format."""

from __future__ import annotations

from nbprof.reader.launches import launch_positions
from nbprof.reader.reading import read_events
from nbprof.reader.select import export_chrome, select

__all__ = ["export_chrome", "launch_positions", "read_events", "select"]
