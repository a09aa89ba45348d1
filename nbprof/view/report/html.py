"""`Contents` and its charts -> one HTML fragment that needs nothing from outside, or a page of its own.

In: contents, and `<img>` tags that were drawn from its tables. Out: HTML in which every name of a trace is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from nbprof.view.quantities import counted, literal, unbroken
from nbprof.view.report.contents import Contents
from nbprof.view.report.facts import Fact
from nbprof.view.report.grid import Cell, Grid, Head
from nbprof.view.report.script import SCRIPT
from nbprof.view.report.style import PAGE, STYLE

_LONG = 64
_BREAKS = re.compile(r"(::|_|,|&lt;)(?=\w)")  # where a long name may go on in the next line
_CLASSES = {"name": "nbprof-name", "word": "nbprof-word", "number": "nbprof-number", "bar": "nbprof-share"}


def to_html(contents: Contents, charts: Sequence[str]) -> str:
    """The report as a fragment: one `<div class="nbprof-report">` with its style and script inside."""
    regions = [grid for grid in contents.grids if grid.title == "Regions"]
    others = [grid for grid in contents.grids if grid.title != "Regions"]
    parts = [
        f"<style>{STYLE}</style>",
        *(_warning(warned.check, warned.detail) for warned in contents.warnings),
        _lead(contents),
        _tiles(contents),
        _findings(contents),
        *map(_grid, others),
        _charts(contents, charts),
        *map(_grid, regions),
        _facts(contents.facts),
        _hints(contents),
        f"<script>{SCRIPT}</script>" if contents.grids else "",
    ]
    return f'<div class="nbprof-report">{"".join(parts)}</div>'


def document(report_html: str, title: str) -> str:
    """A whole page that shows a report and nothing else."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_text(title)}</title><style>{PAGE}</style></head>\n<body>{report_html}</body></html>\n"
    )


def _text(value: str) -> str:
    return escape(literal(value), quote=True)


def _warning(check: str, detail: str) -> str:
    return f'<div class="nbprof-warning"><strong>Warning: {_text(check)}.</strong> {_text(detail)}</div>'


def _lead(contents: Contents) -> str:
    pieces = [
        f"<strong>{escape(unbroken(piece.text))}</strong>"
        if piece.strong
        else f'<span class="nbprof-soft">{escape(piece.text)}</span>'
        for piece in contents.sentence
    ]
    return f'<p class="nbprof-lead">{"".join(pieces)}</p>'


def _tiles(contents: Contents) -> str:
    if not contents.tiles:
        return ""
    tiles = [
        f'<div><dt>{_text(tile.label)}</dt><dd><strong class="nbprof-figure">{_text(tile.figure)}</strong> '
        f'<span class="nbprof-aside">{_text(tile.note)}</span></dd></div>'
        for tile in contents.tiles
    ]
    return f'<dl class="nbprof-tiles">{"".join(tiles)}</dl>'


def _findings(contents: Contents) -> str:
    if not contents.findings:
        return ""
    rows = "".join(
        f'<li class="nbprof-{_text(one.severity)}"><span>{_text(one.advice)}</span> '
        f'<span class="nbprof-aside">{_text(one.figures)} · '
        f"<code>{_text(one.evidence)}</code></span></li>"
        for one in contents.findings
    )
    return f'<section><h4>What could be faster</h4><ul class="nbprof-findings">{rows}</ul></section>'


def _grid(grid: Grid) -> str:
    shown, folded = grid.rows[: grid.visible], grid.rows[grid.visible :]
    sortable = ' class="nbprof-sortable"' if grid.sortable else ""
    title = f'<h4>{_text(grid.title)} <span class="nbprof-aside">{_text(grid.note)}</span></h4>'
    rest = ""
    if folded:
        out_of = f" of {counted(grid.total, grid.noun)}" if grid.total > len(grid.rows) else ""
        more = f"{len(folded)} more rows" if len(folded) > 1 else "1 more row"
        rest = f"<details><summary>{more}{out_of}</summary>{_table(grid, folded)}</details>"
    hidden = grid.total - len(grid.rows)
    if hidden:
        rest += f'<p class="nbprof-aside">{counted(hidden, "row")} not shown: <code>{_text(grid.call)}</code></p>'
    return f"<section{sortable}>{title}{_table(grid, shown)}{rest}</section>"


def _table(grid: Grid, rows: Sequence[tuple[Cell, ...]]) -> str:
    crowded = " nbprof-crowded" if len(grid.heads) > 6 else ""
    columns = "".join(f'<col class="{_class(head)}">' for head in grid.heads)
    heads = "".join(
        f'<th scope="col" class="{_class(head)}" title="{_text(head.hint or head.text)}">{_head(head)}</th>'
        for head in grid.heads
    )
    body = "".join(
        "<tr>" + "".join(_cell(cell, head) for cell, head in zip(row, grid.heads, strict=True)) + "</tr>"
        for row in rows
    )
    return (
        f'<table class="nbprof-table{crowded}"><colgroup>{columns}</colgroup>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    )


def _class(head: Head) -> str:
    return f"{_CLASSES[head.kind]} nbprof-minor" if head.minor else _CLASSES[head.kind]


def _head(head: Head) -> str:
    if head.kind == "bar":
        return f'<span class="nbprof-percent">{_text(head.text)}</span>'
    unit = f' <span class="nbprof-unit">{_text(head.unit)}</span>' if head.unit else ""
    return _text(head.text) + unit


def _cell(cell: Cell, head: Head) -> str:
    if head.kind == "name":
        return f'<td class="{_class(head)}">{_name(cell)}</td>'
    if head.kind == "word":
        return f'<td class="{_class(head)}"><span class="nbprof-soft">{_text(cell.text)}</span></td>'
    value = f' data-value="{"" if cell.value is None else f"{cell.value:.9g}"}"'
    if head.kind != "bar":
        return f'<td class="{_class(head)}"{value}>{_text(cell.text)}</td>'
    width = max(0.0, min(1.0, cell.bar or 0.0)) * 100
    filled = f'<span class="nbprof-bar" style="width:{width:.1f}%"></span>' if width else ""
    return (
        f'<td class="{_class(head)}"{value}><span class="nbprof-percent">{_text(cell.text)}</span> '
        f'<span class="nbprof-track">{filled}</span></td>'
    )


def _name(cell: Cell) -> str:
    branch = f'<span class="nbprof-branch">{"&emsp;" * (cell.indent - 1)}└ </span>' if cell.indent else ""
    text = _text(cell.text)
    name = _BREAKS.sub(r"\1<wbr>", text)
    if len(cell.text) > _LONG:
        name = f'<span class="nbprof-long" tabindex="0" title="{text}">{name}</span>'
    return branch + name


def _charts(contents: Contents, charts: Sequence[str]) -> str:
    if not charts:
        return ""
    words = [word for word, table in (("region", contents.regions), ("step", contents.steps)) if len(table) > 1]
    title = f"By {' and '.join(words) or 'step'}"
    return f'<section><h4>{title}</h4><div class="nbprof-charts">{"".join(charts)}</div></section>'


def _facts(facts: Sequence[Fact]) -> str:
    rows = "".join(f"<dt>{_text(fact.label)}</dt><dd>{_text(fact.value)}</dd>" for fact in facts)
    return f'<section><h4>How the capture went</h4><dl class="nbprof-facts">{rows}</dl></section>' if rows else ""


def _hints(contents: Contents) -> str:
    rows = "".join(f"<dt><code>{_text(hint.code)}</code></dt><dd>{_text(hint.meaning)}</dd>" for hint in contents.hints)
    return f'<section><h4>Next</h4><dl class="nbprof-facts">{rows}</dl></section>' if rows else ""
