"""How tests run cells: in a shell of this process, or as a notebook in a kernel of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from IPython.utils.capture import CapturedIO, capture_output
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from nbprof.trace import Trace


@dataclass
class Ran:
    """What came of one cell."""

    result: ExecutionResult
    io: CapturedIO

    def raise_error(self) -> Ran:
        self.result.raise_error()
        return self

    @property
    def value(self) -> Any:
        return self.result.result

    @property
    def out(self) -> str:
        return str(self.io.stdout)

    @property
    def err(self) -> str:
        return str(self.io.stderr)

    @property
    def reports(self) -> list[str]:
        """The text of what was displayed, reports that is; values go through the display hook."""
        return [output.data["text/plain"] for output in self.io.outputs]


class LightReport:
    """Stands in for the report of a trace."""

    def __init__(self, trace: Trace, *, called: str) -> None:
        self.label = trace.metadata.capture.label if trace.metadata.capture else ""
        self.called = called

    def __repr__(self) -> str:
        return f"report of {self.label}, called {self.called}"


class Shell:
    """Runs cells as a notebook would."""

    def __init__(self, ip: InteractiveShell) -> None:
        self.ip = ip

    def run(self, cell: str) -> Ran:
        with capture_output() as io:
            result = self.ip.run_cell(cell, store_history=True)
        return Ran(result, io)

    def __getitem__(self, name: str) -> Any:
        return self.ip.user_ns[name]


class Notebook:
    """Cells that were run in a real kernel, and what stands below each."""

    def __init__(self, node: NotebookNode) -> None:
        self.cells = node.cells

    def values(self, index: int) -> list[str]:
        """The text of the values below a cell."""
        return [o.data["text/plain"] for o in self.cells[index].outputs if o.output_type == "execute_result"]

    def reports(self, index: int) -> list[str]:
        """The text of the reports below a cell."""
        return [o.data["text/plain"] for o in self.cells[index].outputs if o.output_type == "display_data"]

    def errors(self, index: int) -> list[Any]:
        return [o for o in self.cells[index].outputs if o.output_type == "error"]

    def stream(self, index: int, name: str) -> str:
        return "".join(o.text for o in self.cells[index].outputs if o.output_type == "stream" and o.name == name)


def run_notebook(cells: list[str], folder: Path, *, allow_errors: bool = False) -> Notebook:
    """Run cells in a kernel of their own, as a notebook."""
    start = "%load_ext nbprof\nimport torch, nbprof\nnbprof.register_profiler_region('training_dit', 'a model')"
    node = new_notebook(cells=[new_code_cell(cell) for cell in [start, *cells]])
    client = NotebookClient(node, timeout=120, kernel_name="python3", allow_errors=allow_errors)
    client.execute(cwd=str(folder))
    return Notebook(node)
