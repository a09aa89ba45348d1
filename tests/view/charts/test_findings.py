"""Findings: what each could give back, coloured by severity."""

from __future__ import annotations

from matplotlib.colors import to_hex

from nbprof.view import charts
from nbprof.view.charts.canvas import GREY, ORANGE, ROSE, SAND
from tests.view.charts.columns import table

FINDINGS = table(
    "findings",
    finding=["small kernels", "no estimate here", "idle device", "pageable copies", "new kind"],
    severity=["medium", "low", "high", "low", "unheard of"],
    could_save_us=[200.0, None, 500.0, 10.0, 5.0],
)


def test_the_most_promising_comes_first_and_those_without_a_bound_last() -> None:
    ax = charts.findings(FINDINGS)
    assert [bar.get_width() for bar in ax.patches] == [500.0, 200.0, 10.0, 5.0, 0.0]
    assert [text.get_text() for text in ax.texts] == [
        " 500 µs, high",
        " 200 µs, medium",
        " 10.0 µs, low",
        " 5.00 µs, unheard of",
        " no estimate, low",
    ]


def test_colours_say_the_severity() -> None:
    found = [to_hex(bar.get_facecolor()) for bar in charts.findings(FINDINGS).patches]
    assert found == [ROSE, ORANGE, SAND, GREY, SAND]
