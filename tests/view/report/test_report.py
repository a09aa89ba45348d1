"""The report as a whole: what each format holds, and that no name can become anything but text."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

from nbprof.view.quantities import literal
from nbprof.view.report import Report, document
from nbprof.view.report.script import SCRIPT
from nbprof.view.report.style import STYLE
from nbprof.view.report.text import bar, columns
from tests.view.handmade import (
    HOSTILE,
    TRACES,
    HandmadeTrace,
    cpu_trace,
    empty_trace,
    gpu_trace,
    hostile_trace,
    report_of,
)

VOID = {"wbr", "img", "col", "meta", "br"}


class Page(HTMLParser):
    """Elements with their attributes, the text outside style and script, and whether every element is closed."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("style", "script"):
            self.text += data

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.elements)


def test_every_trace_gives_one_well_formed_root(any_trace: HandmadeTrace) -> None:
    page = Page(report_of(any_trace).html)
    assert page.open == []
    assert page.elements[0] == ("div", {"class": "nbprof-report"})
    assert page.count("style") == 1
    assert page.count("html") == page.count("body") == page.count("link") == 0


def test_nothing_comes_from_outside_and_no_id_can_clash(any_trace: HandmadeTrace) -> None:
    html = report_of(any_trace).html
    page = Page(html)
    sources = [attrs["src"] for _, attrs in page.elements if "src" in attrs]
    assert all(source and source.startswith("data:image/png;base64,") for source in sources)
    assert not any("href" in attrs or "id" in attrs for _, attrs in page.elements)
    assert "@import" not in html and "url(" not in html


def test_every_rule_of_the_style_is_inside_the_report() -> None:
    flat = re.sub(r"@(?:supports|container) *\([^{]*\)\{", "", STYLE)
    selectors = [part.strip(" }") for rule in re.findall(r"([^{}]+)\{", flat) for part in rule.split(",")]
    assert len(selectors) > 40
    assert [one for one in selectors if not one.startswith(".nbprof-report")] == []
    assert f"<style>{STYLE}</style>" in report_of(cpu_trace()).html


def test_every_class_with_a_rule_stands_in_some_report() -> None:
    pages = [Page(report_of(make()).html) for make in TRACES.values()]
    used = {name for page in pages for _, attrs in page.elements for name in (attrs.get("class") or "").split()}
    scripted = set(re.findall(r'classList\.add\("([\w-]+)"\)', SCRIPT))
    assert set(re.findall(r"\.(nbprof[\w-]*)", STYLE)) - used - scripted == set()


def test_hostile_names_are_text_in_html() -> None:
    page = Page(report_of(hostile_trace()).html)
    assert page.count("script") == 1 and page.count("style") == 1 and page.count("h1") == page.count("b") == 0
    assert page.count("img") == 2
    assert not any(name.startswith("on") for _, attrs in page.elements for name in attrs)
    values = [value for _, attrs in page.elements for name, value in attrs.items() if name in ("href", "src")]
    assert not any("javascript:" in (value or "") for value in values)
    for name in HOSTILE:
        assert literal(name) in page.text
    assert f"/tmp/{HOSTILE[0]}.json" in page.text


def test_hostile_names_are_text_in_markdown() -> None:
    markdown = report_of(hostile_trace()).markdown
    assert "<" not in markdown.replace("&lt;", "")
    assert "\\`tick\\` \\| pipe \\*star\\* \\[link\\]\\(http://x\\)" in markdown
    tables = [line for line in markdown.splitlines() if line.startswith("|")]
    # Unescaped bars part cells: 7 operators' columns, 6 kernels', 8 regions'.
    assert {len(re.findall(r"(?<!\\)\|", line)) - 1 for line in tables} == {6, 7, 8}


def test_text_fits_a_hundred_columns_without_control_characters(any_trace: HandmadeTrace) -> None:
    text = report_of(any_trace).text
    assert max(columns(line) for line in text.splitlines()) <= 100
    assert all(character == "\n" or character.isprintable() for character in text)


def test_the_text_says_all_that_matters() -> None:
    text = report_of(cpu_trace()).text
    first = text.splitlines()[0]
    assert first.startswith("training_dit took 1.84 s.")
    for part in (
        "No GPU in this trace.",
        "top 10 of 25 operators, by host self time",
        "… 15 more: nbprof.last.operators()",
        "  training_dit",
        "    mlp",
        "training_dit.pt.trace.json (3.2 MB)",
        "ui.perfetto.dev",
    ):
        assert part in text


def test_warnings_stand_before_everything_else() -> None:
    shown = report_of(gpu_trace())
    assert shown.text.startswith("WARNING launches without kernels: 12 launches have no kernel")
    assert shown.markdown.startswith("> **Warning: launches without kernels.**")
    assert shown.html.index("nbprof-warning") < shown.html.index("12 launches") < shown.html.index('"nbprof-lead"')


def test_ten_rows_stand_open_and_the_rest_is_folded() -> None:
    page = report_of(cpu_trace()).html
    operators = page[page.index("<h4>Operators") : page.index("By region and step")]
    open_part, folded = operators.split("<details>")
    assert open_part.count("<tr>") == 1 + 10
    assert folded.count("<tr>") == 1 + 15
    assert "15 more rows" in folded


def test_kernels_are_shown_only_where_there_are_some() -> None:
    assert "<h4>Kernels" in report_of(gpu_trace()).html
    assert "<h4>Kernels" not in report_of(cpu_trace()).html
    assert "kernels()" not in report_of(cpu_trace()).text


def test_charts_are_drawn_by_region_and_step() -> None:
    page = Page(report_of(cpu_trace()).html)
    alts = [attrs["alt"] for tag, attrs in page.elements if tag == "img"]
    assert alts == [
        "Bar chart of 4 regions: mlp has the largest self time, 860 ms; by step",
        "Chart of what ran in 3 steps, 1.86 s in all",
    ]


def test_an_empty_recording_says_so_and_why() -> None:
    shown = report_of(empty_trace())
    assert shown.text.startswith("Nothing was recorded for model(x). 2 of 5 planned steps ran")
    assert "<table" not in shown.html and "<img" not in shown.html
    assert len(shown.text.splitlines()) < 12


def test_a_report_brings_nothing_that_a_second_one_in_the_page_could_clash_with() -> None:
    page = Page(report_of(cpu_trace()).html + report_of(gpu_trace()).html)
    assert page.open == []
    named = [attrs for _, attrs in page.elements if {"id", "name", "for", "usemap", "aria-labelledby"} & set(attrs)]
    assert named == []
    # All that the script leaves in the page is one mark, which keeps a second run from listening again.
    assert re.findall(r"(?:document|window)\.(\w+)\s*=[^=]", SCRIPT) == ["nbprofSorts"]
    assert SCRIPT.startswith("(function(){") and SCRIPT.index("if(document.nbprofSorts)return") < SCRIPT.index(
        "document.addEventListener"
    )


def test_the_bundle_holds_text_and_html_and_honours_what_is_excluded() -> None:
    shown = report_of(cpu_trace())
    assert sorted(shown._repr_mimebundle_()) == ["text/html", "text/plain"]
    assert sorted(shown._repr_mimebundle_(exclude={"text/html"})) == ["text/plain"]
    assert sorted(shown._repr_mimebundle_(include={"text/plain"})) == ["text/plain"]
    assert str(shown) == shown.text


def test_text_alone_draws_nothing() -> None:
    code = (
        "import sys; from tests.view.handmade import cpu_trace, report_of\n"
        "shown = report_of(cpu_trace()); shown.text; shown.markdown; assert 'matplotlib' not in sys.modules\n"
        "shown.html; assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_report_cannot_be_changed() -> None:
    shown = report_of(cpu_trace())
    with pytest.raises(AttributeError):
        shown.contents = None  # type: ignore[misc,assignment]
    assert isinstance(shown, Report)


def test_the_readers_own_name_of_the_trace_is_used_in_the_hints() -> None:
    assert "before.operators()" in report_of(cpu_trace(), "before").text


def test_each_table_of_the_trace_is_computed_once() -> None:
    trace = cpu_trace()
    shown = report_of(trace)
    _ = (shown.text, shown.html, shown.markdown)
    assert sorted(set(trace.asked)) == sorted(trace.asked)
    assert "events" not in trace.asked


def test_a_document_is_a_whole_page_with_an_escaped_title() -> None:
    page = Page(document(report_of(cpu_trace()).html, HOSTILE[4]).replace("<!DOCTYPE html>", ""))
    assert page.open == [] and page.count("html") == page.count("body") == 1
    assert page.text.startswith("\n" + HOSTILE[4])


@pytest.mark.parametrize(
    ("fraction", "drawn"), [(0.0, ""), (0.5, "██"), (1.0, "████"), (0.28, "█▏"), (-1.0, ""), (7.0, "████")]
)
def test_bars_are_exact_to_an_eighth(fraction: float, drawn: str) -> None:
    # 0.28 of 4 columns is 8.96 eighths, rounded to 9: one full block and one eighth.
    assert bar(fraction, 4) == drawn


def test_wide_characters_take_two_columns() -> None:
    assert columns("a卷🔥e\u0301") == 1 + 2 + 2 + 1


def test_what_could_be_faster_stands_before_the_tables_with_what_to_type() -> None:
    report = report_of(gpu_trace())
    for text in (report.text, Page(report.html).text, report.markdown.replace("\\", "")):
        assert text.index("What could be faster") < text.index("Operators")
        assert text.index("The device waited. Launch more at once.") < text.index("Memory is nearly full")
        assert "40 %, could give back up to 400 ms" in text.replace("\n", " ")
        assert "nbprof.last.idle()" in text
        assert "Small thing 1" in text
        assert "Small thing 2" not in text  # the first four; the rest is told by nbprof.last.findings()
        assert "nbprof.last.findings()" in text
    assert "What could be faster" not in report_of(cpu_trace()).text  # nothing was found
