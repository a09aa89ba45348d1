"""A report in a real browser: sorting by a click, names that stay text, and what is left without styles and scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from nbprof.view.report import document
from tests.view.handmade import cpu_trace, gpu_trace, hostile_trace, operators_of, report_of

pytestmark = pytest.mark.browser


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    page = chromium.new_page(viewport={"width": 1000, "height": 900})
    page.set_default_timeout(20_000)
    yield page
    page.close()


def first_cells(page: Page, section: int = 0) -> list[str]:
    return page.locator(".nbprof-sortable").nth(section).locator("tbody tr td:first-child").all_inner_texts()


def test_a_click_on_a_heading_sorts_the_folded_rows_too_and_a_second_one_turns_them(page: Page) -> None:
    page.set_content(document(report_of(cpu_trace()).html, "cpu"))
    page.locator("details").first.evaluate("details => { details.open = true; }")
    before = first_cells(page)
    calls = page.locator(".nbprof-sortable").first.locator("thead th", has_text="calls").first
    calls.click()
    assert first_cells(page)[:4] == ["aten::addmm", "aten::linear", "aten::copy_", "aten::native_layer_norm"]
    assert calls.get_attribute("aria-sort") == "descending"
    calls.click()
    # The twenty small ones have 12 calls each and keep their order.
    assert first_cells(page)[0] == "aten::small_0"
    assert calls.get_attribute("aria-sort") == "ascending"
    assert sorted(first_cells(page)) == sorted(before)
    name = page.locator(".nbprof-sortable").first.locator("thead th").first
    name.click()
    assert first_cells(page) == sorted(before)
    assert page.locator(".nbprof-sortable").first.locator("tbody").first.locator("tr").count() == 10


def test_two_reports_in_a_page_sort_alone_and_once(page: Page) -> None:
    page.set_content(
        document(report_of(cpu_trace()).html + report_of(gpu_trace()).html + report_of(cpu_trace()).html, "three")
    )
    untouched = first_cells(page, 3)
    page.locator(".nbprof-sortable").nth(0).locator("thead th", has_text="calls").first.click()
    assert first_cells(page, 0)[:2] == ["aten::addmm", "aten::linear"]
    assert first_cells(page, 3) == untouched


def test_what_is_missing_sorts_last_both_ways(page: Page) -> None:
    html = report_of(cpu_trace()).html
    page.set_content(document(re.sub(r'data-value="240000">[^<]*<', 'data-value="">–<', html, count=1), "gap"))
    page.locator("details").first.evaluate("details => { details.open = true; }")
    head = page.locator(".nbprof-sortable").first.locator("thead th", has_text="host self").first
    for _ in range(2):
        head.click()
        assert first_cells(page)[-1] == "aten::scaled_dot_product_attention"


def test_hostile_names_run_nothing_and_add_no_element(page: Page) -> None:
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.set_content(document(report_of(hostile_trace()).html, "<script>alert(0)</script>"))
    page.wait_for_function("document.querySelector('.nbprof-report').classList.contains('nbprof-live')")
    assert dialogs == []
    assert page.locator(".nbprof-report img").count() == 2
    assert page.locator(".nbprof-report h1, .nbprof-report b, .nbprof-report a").count() == 0
    assert "<img src=x onerror=alert(1)>" in page.locator(".nbprof-lead").inner_text()


@pytest.mark.parametrize("width", [700, 1000, 1600])
def test_nothing_sticks_out_at_any_width(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    for trace in (gpu_trace(), hostile_trace()):
        page.set_content(document(report_of(trace).html, "wide"))
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("td.nbprof-name").first.evaluate("cell => cell.offsetWidth") > 120


LINE_ENDS = """cell => {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), ends = [];
    let range = document.createRange(), before = null, last = "";
    for (let node = walker.nextNode(); node; node = walker.nextNode())
        for (let at = 0; at < node.length; at++) {
            range.setStart(node, at); range.setEnd(node, at + 1);
            const top = range.getBoundingClientRect().top;
            if (before !== null && top > before + 4) ends.push(last);
            before = top; last = node.data[at];
        }
    return ends;
}"""


@pytest.mark.parametrize("width", [700, 1000])
@pytest.mark.parametrize("words", [2, 12])  # shown whole, and cut after two lines
def test_a_long_name_goes_on_in_the_next_line_between_its_words(page: Page, width: int, words: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    trace = cpu_trace()
    name = "extensions::" + "_".join(["quantized"] * words * 2)
    trace.tables["operators"] = operators_of([(name, 1, 2.0, 1.0, 0.0, 0.0)])
    page.set_content(document(report_of(trace).html, "long"))
    ends = page.locator("td.nbprof-name").first.evaluate(LINE_ENDS)
    assert ends and set(ends) <= {":", "_"}


def test_without_styles_and_scripts_the_tables_are_still_there(page: Page) -> None:
    html = report_of(cpu_trace()).html
    bare = re.sub(r"<style>.*?</style>|<script>.*?</script>| (?:class|style)=\"[^\"]*\"", "", html, flags=re.S)
    page.set_content(f"<body>{bare}</body>")
    assert page.locator("table").first.locator("tr").nth(1).inner_text().split() == [
        *("aten::addmm", "992.00", "63", "%", "1,000.0", "180", "5,555.6"),
    ]
