"""The quickstart as a person sees it: JupyterLab, Run All, the report under the cell, light and dark.

`NBPROF_SCREENSHOTS=docs/images pytest tests/browser` renews the pictures of the README.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

QUICKSTART = Path(__file__).resolve().parents[2] / "notebooks" / "quickstart.ipynb"
RUN_ALL_MS = 300_000

pytestmark = pytest.mark.browser


@pytest.fixture
def without_outputs(tmp_path: Path) -> Path:
    """The quickstart as it is before anyone has run it, so that what is seen is new."""
    notebook = nbformat.read(QUICKSTART, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    path = tmp_path / "quickstart.ipynb"
    nbformat.write(notebook, path)
    return path


@pytest.fixture
def screenshots(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("NBPROF_SCREENSHOTS") or tmp_path / "screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def run_all(page: Page) -> None:
    """Run every cell and wait until each has its number."""
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.locator("[data-command='runmenu:run-all']").click()
    prompts = page.locator(".jp-CodeCell .jp-InputPrompt")
    expect(prompts.last).to_have_text("[" + str(prompts.count()) + "]:", timeout=RUN_ALL_MS)
    page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").wait_for()


def down_to_the_chart(cell: Locator, report: Locator) -> FloatRect:
    """The part of the page from the cell's code to the end of the first chart."""
    cell.evaluate("element => element.scrollIntoView()")
    box, chart = cell.bounding_box(), report.locator("img:visible").first.bounding_box()
    assert box is not None
    assert chart is not None
    return {"x": box["x"], "y": box["y"], "width": box["width"], "height": chart["y"] + chart["height"] - box["y"]}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_report_stands_under_the_cell(
    theme: str, without_outputs: Path, open_notebook: Callable[[Path, str], Page], screenshots: Path
) -> None:
    page = open_notebook(without_outputs, theme)
    expect(page.locator("body")).to_have_attribute("data-jp-theme-light", "true" if theme == "light" else "false")
    run_all(page)

    cell = page.locator(".jp-CodeCell", has=page.locator(".nbprof-report")).first
    report = cell.locator(".nbprof-report")
    expect(cell.locator(".jp-InputArea-editor")).to_contain_text("%%region training_dit")
    expect(report).to_have_count(1)
    expect(report.locator("table").first).to_be_visible()
    widths = report.locator("img:visible").evaluate_all("images => images.map(image => image.naturalWidth)")
    assert widths
    assert all(widths)
    errors = page.locator("[data-mime-type='application/vnd.jupyter.stderr'], [data-mime-type*='error']")
    assert errors.all_inner_texts() == []

    page.screenshot(path=screenshots / f"report-{theme}.png", clip=down_to_the_chart(cell, report))
