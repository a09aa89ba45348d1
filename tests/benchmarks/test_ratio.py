"""The table of ratios tells what is kept from what is not, and from what was not measured."""

from __future__ import annotations

import math

import pytest

from tests.benchmarks.__main__ import table_row
from tests.benchmarks.ratio import Ratio


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(0.9, "ok"), (1.0, "ok"), (1.1, "OVER"), (math.nan, "skip")],
    ids=["below", "at", "over", "nan"],
)
def test_a_row_says_whether_the_limit_is_kept_or_nothing_was_measured(value: float, verdict: str) -> None:
    ratio = Ratio("ours / theirs", value, 1.0, "a reason")
    assert table_row(ratio).split()[6] == verdict
    assert table_row(ratio).endswith("a reason")
    assert ratio.is_kept == (verdict != "OVER")
    assert ratio.is_skipped == (verdict == "skip")
