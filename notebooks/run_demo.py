"""Run the quickstart as a person would, and keep what it showed.

In: quickstart.ipynb. Out: out/quickstart.ipynb (executed), out/quickstart.html (a static page), and on the terminal
the progress, then where they are and the headline of each report. A page newer than the notebook and nbprof is kept
as it is. Exits with 1 and the cell's own error when a cell fails. `--store` puts the outputs into quickstart.ipynb
itself, without this machine's paths: for whoever changes the notebook or what it shows.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

# This environment's kernel, whatever others are called python3; read when jupyter_core is imported.
os.environ["JUPYTER_PATH"] = str(Path(sys.prefix, "share", "jupyter"))
os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"

if TYPE_CHECKING:
    from nbformat import NotebookNode

FOLDER = Path(__file__).resolve().parent
SOURCE = FOLDER / "quickstart.ipynb"
EXECUTED = FOLDER / "out" / "quickstart.ipynb"
PAGE = FOLDER / "out" / "quickstart.html"


def main() -> int:
    if is_current(PAGE):
        print(f"Nothing has changed since {shown(SOURCE)} was run last; these are its results.")
    elif failure := run():
        print(f"\nA cell of {shown(SOURCE)} failed:\n{failure}", file=sys.stderr)
        return 1
    if "--store" in sys.argv[1:]:
        SOURCE.write_text(EXECUTED.read_text(encoding="utf-8").replace(f"{FOLDER}/", ""), encoding="utf-8")
        os.utime(PAGE)  # it is still what the notebook shows
    print(summary(json.loads(EXECUTED.read_text(encoding="utf-8"))))
    return 0


def run() -> str:
    """Execute the notebook and save both files; the failing cell and its traceback, or nothing."""
    import nbformat
    from nbclient.exceptions import CellExecutionError

    try:
        save(executed(nbformat.read(SOURCE, as_version=4)))
    except CellExecutionError as error:
        return str(error)
    return ""


def is_current(page: Path) -> bool:
    """Whether the page is newer than all that it came from."""
    sources = [SOURCE, Path(__file__), *(FOLDER.parent / "nbprof").rglob("*.py")]
    return page.exists() and page.stat().st_mtime > max(source.stat().st_mtime for source in sources)


def executed(notebook: NotebookNode) -> NotebookNode:
    """The notebook with the outputs of a fresh kernel; one line a cell on the terminal meanwhile."""
    from nbclient import NotebookClient

    code_cells = [index for index, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    started = 0.0

    def announce(cell: NotebookNode, cell_index: int) -> None:
        nonlocal started
        started = time.monotonic()
        number = code_cells.index(cell_index) + 1
        first_line = next(iter(cell.source.splitlines()), "")
        print(f"cell {number} of {len(code_cells)}  {first_line[:60]:60}", end="", flush=True)

    def close_line(**_: object) -> None:
        print(f" {time.monotonic() - started:6.1f} s", flush=True)

    print(f"Running {shown(SOURCE)} in a fresh kernel", flush=True)
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=600,
        resources={"metadata": {"path": str(FOLDER)}},
        record_timing=False,
        extra_arguments=["--IPKernelApp.log_level=ERROR"],  # it warns of its own TCP ports otherwise
        on_cell_start=lambda cell, cell_index: announce(cell, cell_index) if cell.cell_type == "code" else None,
        on_cell_executed=close_line,
    )
    return client.execute()


def save(notebook: NotebookNode) -> None:
    """Write the executed notebook and a page that loads nothing from elsewhere."""
    import nbformat
    from nbconvert import HTMLExporter

    libraries = ("mathjax", "mermaid_js", "mermaid_layout_elk_js", "require_js", "jquery", "widget_renderer")
    exporter = HTMLExporter(**{f"{library}_url": "" for library in libraries})
    page, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": "nbprof quickstart"}})
    EXECUTED.parent.mkdir(exist_ok=True)
    nbformat.write(notebook, EXECUTED)
    PAGE.write_text(page, encoding="utf-8")


def summary(notebook: dict[str, Any]) -> str:
    """Where the results are, what the reports said, how to go on."""
    lines = ["", "What the reports said:", *(f"  {line}" for line in headlines(notebook))]
    lines += ["", f"As a page      {shown(PAGE)}", f"As a notebook  {shown(EXECUTED)}"]
    return "\n".join([*lines, "To try it live: make lab"])


def headlines(notebook: dict[str, Any]) -> list[str]:
    """The first sentence of each report in the outputs."""
    bundles = [output.get("data", {}) for cell in notebook["cells"] for output in cell.get("outputs", ())]
    reports = ["".join(one["text/plain"]) for one in bundles if "nbprof-report" in "".join(one.get("text/html", ""))]
    return [" ".join(text.split("\n\n")[0].split()) for text in reports]


def shown(path: Path) -> str:
    """The path as seen from where the person stands."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


if __name__ == "__main__":
    raise SystemExit(main())
