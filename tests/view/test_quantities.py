"""Figures and names as text."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbprof.view import quantities as q


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [
        (0.0, "0 µs"),
        (0.001, "<0.01 µs"),
        (0.5, "0.50 µs"),
        (12.34, "12.3 µs"),
        (850.0, "850 µs"),
        (999.6, "1.00 ms"),
        (12_300.0, "12.3 ms"),
        (999_700.0, "1.00 s"),
        (1_840_000.0, "1.84 s"),
        (119e6, "119 s"),
        (3_725e6, "62 min 5 s"),
        (float("nan"), "–"),
        (pd.NA, "–"),
    ],
)
def test_durations_have_three_significant_digits_in_the_unit_that_fits(microseconds: float, text: str) -> None:
    assert q.duration(microseconds) == text


@pytest.mark.parametrize(
    ("fraction", "text"),
    [(0.0, "0 %"), (0.0004, "<0.1 %"), (0.034, "3.4 %"), (0.0996, "10 %"), (0.62, "62 %"), (1.0, "100 %")],
)
def test_shares_are_per_cent_and_small_ones_are_not_called_nothing(fraction: float, text: str) -> None:
    assert q.share(fraction) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (512, "512 B"), (999, "999 B"), (1000, "1.0 kB"), (3_210_000, "3.2 MB"), (812_345, "812 kB")],
)
def test_sizes_are_decimal(count: int, text: str) -> None:
    assert q.size(count) == text


def test_a_count_of_one_is_singular() -> None:
    assert [q.counted(n, "copy", "copies") for n in (0, 1, 2)] == ["0 copies", "1 copy", "2 copies"]
    assert q.counted(12_345, "step") == "12,345 steps"


def test_what_was_cut_is_said_only_where_something_was() -> None:
    assert q.cut_note(20, 184, "operator") == "top 20 of 184 operators"
    assert q.cut_note(48, 60, "step", kept="first") == "first 48 of 60 steps"
    assert q.cut_note(3, 3, "operator") == "3 operators"
    assert q.cut_note(1, 1, "operator") == "1 operator"


def test_a_column_has_one_unit_that_small_times_survive() -> None:
    # 1.84 s at most: in seconds, 40 ms would read 0.04.
    unit = q.column_unit(1_840_000.0)
    assert [unit.plain(t, 1_840_000.0) for t in (1_840_000.0, 40_000.0, 12.0)] == ["1,840.0", "40.0", "<0.1"]
    assert q.column_unit(9_000.0).label == "µs"
    assert q.column_unit(7e7).label == "s"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("aten::mm", "aten::mm"),
        ("", "(no name)"),
        (" \t", "(no name)"),
        (None, "–"),
        (float("nan"), "–"),
        ("a\nb\x1b[31m\x00", "a\\nb\\x1b[31m\\x00"),
        ("\u202egnirts", "\\u202egnirts"),
        ("卷积 🔥", "卷积 🔥"),
    ],
)
def test_names_become_one_visible_line(name: object, text: str) -> None:
    assert q.literal(name) == text


@given(st.text(max_size=200), st.integers(min_value=4, max_value=60))
def test_no_name_breaks_the_line_or_the_limit(name: str, limit: int) -> None:
    shown = q.shorten(q.literal(name), limit)
    assert 0 < len(shown) <= limit
    assert shown.isprintable() or any(c.isspace() for c in shown)
    assert "\n" not in shown and "\x1b" not in shown


def test_shortening_keeps_both_ends() -> None:
    # 11 characters: 10 less the mark, 3 of them from the end.
    assert q.shorten("abcdefghijklmnop", 11) == "abcdefg…nop"


def test_shortening_drops_first_what_every_kernel_repeats() -> None:
    name = "void at::native::(anonymous namespace)::elementwise_kernel<4, Add<float>>(int, Add<float>, Array<char*, 3>)"
    assert q.shorten(name, len(name)) == name
    assert q.shorten(name, 60) == "elementwise_kernel<4, Add<float>>(…)"
    # 36 characters, to 20: 19 less the mark, 6 of them from the end.
    assert q.shorten(name, 20) == "elementwise_k…t>>(…)"


def test_a_figure_is_not_parted_from_its_unit() -> None:
    assert q.unbroken("62 % in 1.84 s") == "62\u00a0% in 1.84\u00a0s"
    assert q.unbroken("3 steps, 2 small") == "3 steps, 2 small"
