"""nbprof: a profiler for PyTorch that lives in the notebook."""

from __future__ import annotations

__version__ = "0.1.0"
