"""`Contents` -> GitHub-flavoured markdown.

In: contents. Out: one string, in which every name of a trace is escaped and shown as text.
"""

from __future__ import annotations

import re

from nbprof.view.quantities import literal
from nbprof.view.report.contents import Contents, Finding
from nbprof.view.report.facts import Fact
from nbprof.view.report.grid import Grid

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~$@])")


def to_markdown(contents: Contents) -> str:
    """The report as markdown."""
    blocks = [f"> **Warning: {escaped(w.check)}.** {escaped(w.detail)}" for w in contents.warnings]
    blocks.append("".join(f"**{escaped(p.text)}**" if p.strong else _spaced(p.text) for p in contents.sentence))
    if contents.tiles:
        blocks.append("\n".join(f"- {escaped(t.label)}: **{t.figure}** ({escaped(t.note)})" for t in contents.tiles))
    if contents.findings:
        blocks.append("\n".join(["### What could be faster", "", *map(_finding, contents.findings)]))
    blocks += [_table(grid) for grid in contents.grids]
    if contents.facts:
        blocks.append("\n".join(["### How the capture went", "", *map(_fact, contents.facts)]))
    if contents.hints:
        lines = [f"{hint.code}  # {hint.meaning}" for hint in contents.hints]
        blocks.append("\n".join(["### Next", "", "```python", *lines, "```"]))
    return "\n\n".join(blocks) + "\n"


def escaped(text: str) -> str:
    """`text` so that markdown and HTML show it as it is."""
    plain = literal(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\1", plain).strip()


def _spaced(text: str) -> str:
    """Escaped, the spaces at its ends kept."""
    body = text.strip()
    return text.replace(body, escaped(body)) if body else text


def _table(grid: Grid) -> str:
    rows = grid.rows[: grid.visible]
    marks = ["---:" if head.kind in ("number", "bar") else "---" for head in grid.heads]
    lines = [
        f"### {grid.title}",
        "",
        escaped(grid.note[0].upper() + grid.note[1:]) + ".",
        "",
        "| " + " | ".join(escaped(head.words) for head in grid.heads) + " |",
        "| " + " | ".join(marks) + " |",
    ]
    for row in rows:
        cells = ["&emsp;" * cell.indent + escaped(cell.text) for cell in row]
        lines.append("| " + " | ".join(cells) + " |")
    if grid.total > len(rows):
        lines += ["", f"{grid.total - len(rows)} more: `{grid.call}`"]
    return "\n".join(lines)


def _finding(found: Finding) -> str:
    return f"- **{found.severity}**: {escaped(found.advice)} ({escaped(found.figures)}): {escaped(found.evidence)}"


def _fact(fact: Fact) -> str:
    return f"- {escaped(fact.label)}: {escaped(fact.value)}"
