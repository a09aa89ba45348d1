"""The pages say what the code does: generated ones are current, links lead somewhere, variables are real ones."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\(([^)#\s]+)|(?:src|srcset)=\"([^\"]+)\"")


def test_the_pages_that_repeat_the_code_are_current() -> None:
    spec = importlib.util.spec_from_file_location("make_pages", ROOT / "docs" / "make_pages.py")
    assert spec is not None
    assert spec.loader is not None
    make_pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_pages)
    stale = [name for name, text in make_pages.pages().items() if written(name) != text]
    assert not stale, "run docs/make_pages.py"


def written(name: str) -> str:
    page = ROOT / "docs" / name
    return page.read_text(encoding="utf-8") if page.exists() else ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_that_exist(page: Path) -> None:
    targets = [a or b for a, b in LINK.findall(page.read_text(encoding="utf-8"))]
    missing = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_variables_on_the_pages_are_read_by_the_code(page: Path) -> None:
    from nbprof.settings import read_settings

    asked: set[str] = set()

    class Recorder(dict[str, str]):
        def get(self, key: str, default: str | None = None) -> str | None:  # type: ignore[override]
            asked.add(key)
            return default

    read_settings(Recorder())
    named = set(re.findall(r"\bNBPROF_[A-Z_]+[A-Z]\b", page.read_text(encoding="utf-8")))
    assert named <= asked | {"NBPROF_TORCH_PROFILE", "NBPROF_SCREENSHOTS", "NBPROF_REQUIRE_BROWSER"}


def test_the_readme_reaches_the_first_chart_before_line_40() -> None:
    opening = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:40]
    assert any("%load_ext nbprof" in line for line in opening)
    assert any("%%region" in line for line in opening)
    assert any("docs/images/report-" in line for line in opening)
