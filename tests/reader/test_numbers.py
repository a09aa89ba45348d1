"""Times and integers, exactly."""

from __future__ import annotations

import json
from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbprof.reader.entries import MISSING, NO_TIME
from nbprof.reader.numbers import exact_nanoseconds, integers, nanoseconds


def read(text: str) -> list[int]:
    """Times as the reader takes them: decoded, with the texts at hand."""
    values = [NO_TIME if value is None else value for value in json.loads(text)]
    texts = ["" if part == "null" else part for part in text.strip("[]").split(", ")]
    return nanoseconds(values, lambda: [part.encode() for part in texts]).tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1, 2]", [1000, 2000]),
        ("[0.021, 5214560523868.470]", [21, 5214560523868470]),
        ("[1623143089861123, 0]", [1623143089861123000, 0]),
        # float64 steps by 250 ns here: .456 would come out as .500.
        ("[1623143089861123.456, 1623143089861123.457]", [1623143089861123456, 1623143089861123457]),
        ("[1623143089861123.456, 7]", [1623143089861123456, 7000]),
        ("[1.5, null]", [1500, MISSING]),
        ("[1623143089861123.456, null]", [1623143089861123456, MISSING]),
        ('["1.5", 2]', [1500, 2000]),
        ('["", "soon"]', [MISSING, MISSING]),
        ("[-1.5, 0.0004]", [-1500, 0]),
        ("[1e3, 2.5e-3]", [1000000, 2]),  # 2.5 ns: half to even
        ("[123456789012345678901234567890, 1]", [MISSING, 1000]),
    ],
)
def test_microseconds_become_whole_nanoseconds(text: str, expected: list[int]) -> None:
    assert read(text) == expected


def test_no_times() -> None:
    assert nanoseconds([], list).tolist() == []
    assert exact_nanoseconds([]).tolist() == []
    assert integers([]).tolist() == []


@given(st.lists(st.integers(0, 4 * 10**18), min_size=1), st.booleans())
def test_three_decimals_come_back_to_the_nanosecond_at_any_size(times: list[int], small: bool) -> None:
    wanted = [time % (8 * 10**15) for time in times] if small else times
    text = "[" + ", ".join(f"{time // 1000}.{time % 1000:03d}" for time in wanted) + "]"
    assert read(text) == wanted


@given(st.lists(st.decimals(0, 10**9, places=5), min_size=1))
def test_further_decimals_are_rounded_to_the_nearest(times: list[Decimal]) -> None:
    for got, time in zip(read("[" + ", ".join(map(str, times)) + "]"), times, strict=True):
        assert abs(Decimal(got) - time * 1000) <= Decimal("0.5000001")


@pytest.mark.parametrize("text", [b'"1e999999"', b'"1e400000"', b'"inf"', b'"nan"', b"12345678901234567890.5"])
def test_what_is_no_time_is_missing_however_large(text: bytes) -> None:
    assert exact_nanoseconds([text]).tolist() == [MISSING]


def test_times_do_not_depend_on_the_decimals_of_a_notebook() -> None:
    with localcontext(prec=5):
        assert exact_nanoseconds([b'"1700000000123456.789"']).tolist() == [1_700_000_000_123_456_789]


def test_an_integer_fits_64_bits_whatever_stands_beside_it() -> None:
    # A text beside it takes another way than a column of integers alone.
    for beside in (1, "1"):
        assert integers([(1 << 63) - 1, -(1 << 63), beside]).tolist() == [(1 << 63) - 1, -(1 << 63), 1]
    assert integers([1 << 63, "1"]).tolist() == [MISSING, 1]


def test_integers_from_whatever_stands_there() -> None:
    values = [7, "7", "0x10", "stream 7", "", "x", None, 2.0, float("inf"), 1 << 64, True, MISSING]
    expected = [7, 7, 16, 7, MISSING, MISSING, MISSING, 2, MISSING, MISSING, 1, MISSING]
    assert integers(values).tolist() == expected
