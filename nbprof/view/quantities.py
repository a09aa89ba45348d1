"""Figures as people read them: the one place where times, shares, bytes, counts and names become text.

In: microseconds, fractions, bytes, counts, names as recorded. Out: short strings.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from typing import Any

MISSING = "–"
_FIGURE = re.compile(r"(?<=\d) (?=(?:%|µs|ms|s|min|[kMGT]?B)(?!\w))")
_NOISE = re.compile(r"^void |\(anonymous namespace\)::|\bat::native::|\bat::detail::")


@dataclass(frozen=True)
class Unit:
    """A unit of time and how many microseconds it is."""

    label: str
    microseconds: float

    def plain(self, microseconds: float, largest: float) -> str:
        """A time in this unit, without its label; as many decimals as suit the `largest` of its column."""
        if is_missing(microseconds):
            return MISSING
        value = microseconds / self.microseconds
        digits = 2 if largest < 1000 * self.microseconds else 1
        smallest = 10.0**-digits
        if 0 < value < smallest / 2:
            return f"<{smallest:.{digits}f}"
        return f"{value:,.{digits}f}"


MICROSECONDS = Unit("µs", 1.0)
MILLISECONDS = Unit("ms", 1e3)
SECONDS = Unit("s", 1e6)


def is_missing(value: Any) -> bool:
    """Whether `value` is None, NaN or NA."""
    try:
        return value is None or math.isnan(value)
    except TypeError:  # pandas.NA
        return True


def unit_for(microseconds: float) -> Unit:
    """The unit in which `microseconds`, the largest of several times, reads best."""
    if is_missing(microseconds) or microseconds < 1e3:
        return MICROSECONDS
    return MILLISECONDS if microseconds < 1e6 else SECONDS


def column_unit(largest: float) -> Unit:
    """The unit for a column of a table: smaller than the largest time would ask for, so that small ones show."""
    if is_missing(largest) or largest < 1e4:
        return MICROSECONDS
    return MILLISECONDS if largest < 6e7 else SECONDS


def duration(microseconds: float) -> str:
    """A time in three significant digits: `1.84 s`, `12.3 ms`, `850 µs`."""
    if is_missing(microseconds):
        return MISSING
    if microseconds >= 120e6:
        minutes, seconds = divmod(round(microseconds / 1e6), 60)
        return f"{minutes:,} min {seconds} s"
    # 999.6 us would be written "1000 µs": what rounds up to the next unit is given in it.
    unit = unit_for(microseconds * 1.0005)
    value = microseconds / unit.microseconds
    if value == 0:
        return "0 µs"
    if unit is MICROSECONDS and value < 0.01:
        return "<0.01 µs"
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f} {unit.label}"


def share(fraction: float) -> str:
    """A fraction as per cent: `62 %`, `3.4 %`, `<0.1 %`."""
    if is_missing(fraction):
        return MISSING
    percent = fraction * 100
    if percent == 0:
        return "0 %"
    if 0 < percent < 0.1:
        return "<0.1 %"
    return f"{percent:.1f} %" if percent < 9.95 else f"{percent:.0f} %"


def size(count: float) -> str:
    """Bytes in decimal units: `512 B`, `3.2 MB`."""
    if is_missing(count):
        return MISSING
    value = float(count)
    for label in ("B", "kB", "MB", "GB"):
        if value < 999.5:
            return f"{value:.0f} {label}" if label == "B" or value >= 99.95 else f"{value:.1f} {label}"
        value /= 1000
    return f"{value:.1f} TB"


def number(count: float) -> str:
    """A count with thousands apart: `12,345`."""
    return MISSING if is_missing(count) else f"{round(count):,}"


def counted(count: int, noun: str, nouns: str = "") -> str:
    """A count with its noun: `1 step`, `3 steps`."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def unbroken(text: str) -> str:
    """`text` with its figures tied to their units, so that no line ends between them."""
    return _FIGURE.sub("\u00a0", text)


def literal(name: object) -> str:
    """`name` as one visible line: control characters as escapes, a placeholder where it is empty or NA."""
    if not isinstance(name, str):
        return MISSING if is_missing(name) else str(name)
    if not name.strip():
        return "(no name)"
    return name if name.isprintable() else "".join(map(_visible, name))


def shorten(name: str, limit: int) -> str:
    """`name` in at most `limit` characters: what C++ repeats goes first, then the middle."""
    if len(name) <= limit:
        return name
    plain = _NOISE.sub("", _without_arguments(name))
    if len(plain) <= limit:
        return plain
    tail = (limit - 1) // 3
    return f"{plain[: limit - 1 - tail]}…{plain[len(plain) - tail :]}"


def cut_note(shown: int, total: int, noun: str, *, kept: str = "top") -> str:
    """What was left out: `top 20 of 184 operators`, or `3 operators` where nothing was."""
    return f"{kept} {shown:,} of {counted(total, noun)}" if shown < total else counted(total, noun)


def _without_arguments(name: str) -> str:
    """A C++ signature with `(…)` for its list of arguments; any other name as it is."""
    if not name.endswith(")"):
        return name
    depth = 0
    for place in range(len(name) - 1, 0, -1):
        depth += (name[place] == ")") - (name[place] == "(")
        if not depth:
            return f"{name[:place]}(…)"
    return name


def _visible(character: str) -> str:
    """A character that would break a line, reorder it or drive a terminal, as its escape."""
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    return character.encode("unicode_escape").decode("ascii")
