"""What it costs to import the package, and to load the extension where torch is there already."""

from __future__ import annotations

import subprocess
import sys
from statistics import median

from tests.benchmarks.ratio import Ratio

LOAD = """
import time, torch
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
before = time.perf_counter()
shell.run_line_magic("load_ext", "nbprof")
print(time.perf_counter() - before)
"""
IMPORT = """
import time
before = time.perf_counter()
import nbprof
print(time.perf_counter() - before)
"""


def bench_import() -> list[Ratio]:
    return [
        Ratio("import nbprof", _milliseconds(IMPORT, repeats=11), 60, "ms over bare Python"),
        Ratio("%load_ext nbprof, torch loaded", _milliseconds(LOAD, repeats=5), 150, "ms"),
    ]


def _milliseconds(script: str, *, repeats: int) -> float:
    runs = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
        for _ in range(repeats)
    ]
    return 1e3 * median(float(run.split()[-1]) for run in runs)
