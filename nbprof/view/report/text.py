"""`Contents` -> plain text of at most 100 columns, for terminals and for whatever shows no HTML.

In: contents. Out: one string without control characters; bars are block characters.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence

from nbprof.view.quantities import literal, shorten, unbroken
from nbprof.view.report.contents import Contents, Finding
from nbprof.view.report.grid import Cell, Grid, Head

WIDTH = 100
_BAR, _NARROW_BAR = 12, 6
_CROWDED = 7
_EIGHTHS = " ▏▎▍▌▋▊▉"


def to_text(contents: Contents) -> str:
    """The report as text."""
    parts = [
        *(_wrapped(f"WARNING {warned.check}: {warned.detail}", "  ") for warned in contents.warnings),
        _wrapped("".join(piece.text for piece in contents.sentence)),
    ]
    if contents.tiles:
        parts.append(
            _wrapped("   ".join(f"{t.label} {t.figure} ({t.note})".replace(" ", "\u00a0") for t in contents.tiles))
        )
    if contents.findings:
        parts.append("\n".join(["What could be faster", *map(_finding, contents.findings)]))
    parts += [_table(grid) for grid in contents.grids]
    if contents.facts:
        parts.append("\n".join(["How the capture went", *(_fact(fact.label, fact.value) for fact in contents.facts)]))
    if contents.hints:
        longest = max(len(hint.code) for hint in contents.hints)
        parts.append("\n".join(["Next", *(f"  {hint.code:<{longest}}  {hint.meaning}" for hint in contents.hints)]))
    return "\n\n".join(parts)


def columns(text: str) -> int:
    """How many columns a terminal takes for `text`: two for wide characters, none for combining ones."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def bar(fraction: float, width: int) -> str:
    """A bar of block characters, to an eighth of a column."""
    eighths = round(max(0.0, min(1.0, fraction)) * width * 8)
    return "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")


def _table(grid: Grid) -> str:
    kept = [i for i, head in enumerate(grid.heads) if not head.minor or len(grid.heads) < _CROWDED]
    heads = [grid.heads[i] for i in kept]
    rows = grid.rows[: grid.visible]
    bars = _BAR if len(heads) < _CROWDED else _NARROW_BAR
    texts = [[_cell(row[i], grid.heads[i], bars) for i in kept] for row in rows]
    widths = [max([len(head.words), *(columns(row[i]) for row in texts)]) for i, head in enumerate(heads)]
    widths[0] = min(widths[0], WIDTH - 2 - sum(widths[1:]) - 2 * (len(widths) - 1))
    lines = [f"{grid.title}  {grid.note}", _line([head.words for head in heads], widths, heads)]
    lines += [_line(row, widths, heads) for row in texts]
    if grid.total > len(rows):
        lines.append(f"  … {grid.total - len(rows)} more: {grid.call}")
    return "\n".join(lines)


def _cell(cell: Cell, head: Head, width: int) -> str:
    if head.kind == "bar":
        return f"{cell.text:>6} {bar(cell.bar or 0.0, width):<{width}}"
    return "  " * cell.indent + cell.text


def _line(texts: list[str], widths: list[int], heads: Sequence[Head]) -> str:
    cells = [
        _padded(text, width, left=head.kind != "number") for text, width, head in zip(texts, widths, heads, strict=True)
    ]
    return ("  " + "  ".join(cells)).rstrip()


def _padded(text: str, width: int, *, left: bool) -> str:
    limit = width
    while columns(text) > width:
        text, limit = shorten(text, limit), limit - 1
    gap = " " * (width - columns(text))
    return text + gap if left else gap + text


def _finding(found: Finding) -> str:
    return _wrapped(f"  {found.severity + ':':<8}{found.advice} ({found.figures}) {found.evidence}", " " * 10)


def _fact(label: str, value: str) -> str:
    return _wrapped(f"  {label + ':':<24} {value}", " " * 27)


def _wrapped(text: str, indent: str = "") -> str:
    visible = unbroken(literal(text))
    lines = textwrap.wrap(visible, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
    return "\n".join(lines).replace("\u00a0", " ")
