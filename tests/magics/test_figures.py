"""Charts as the last line of a cell: one picture each, and pyplot left alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

SETUP = """
import matplotlib
matplotlib.use("agg")
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "nbprof")
from nbprof import schema
from nbprof.view import charts
format = shell.display_formatter.format
chart = charts.regions(schema.empty("regions"))
"""


@pytest.mark.parametrize(
    "check",
    [
        'data, _ = format(chart); assert data["image/png"].startswith(b"\\x89PNG")',
        'data, metadata = format(chart.figure); assert metadata["image/png"]["width"] > 100',
        "import matplotlib.pyplot as plt; assert plt.get_fignums() == []",
        'import matplotlib.pyplot as plt; assert "image/png" not in format(plt.figure())[0]',
        'shell.run_line_magic("unload_ext", "nbprof"); assert "image/png" not in format(chart)[0]',
    ],
)
def test_a_bare_chart_is_one_picture_and_pyplot_is_left_alone(check: str) -> None:
    done = subprocess.run([sys.executable, "-c", SETUP + check], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
