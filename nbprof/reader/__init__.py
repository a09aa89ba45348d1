"""Trace file -> columnar events; the only package that knows the format."""
