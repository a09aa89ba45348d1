"""Write the pages that repeat what the code declares: tables.md and tables/ from the schema and the analyses' docstrings,
magics.md from the magics' own options, repairs.md from the reader's kinds of problems.

In: nbprof. Out: these pages; run it after a change of one (a test says when).
"""

from __future__ import annotations

import argparse
import inspect
from pathlib import Path

from nbprof import analysis, schema
from nbprof.magics.known import MAGICS
from nbprof.reader.problems import KINDS

TABLES_OPENING = """# The tables

Each is a pandas DataFrame and a method of a trace: `nbprof.last.operators()`, `nbprof.load_trace(path).steps()`.
`events` is an attribute. Times are in microseconds (`_us`), but events keep whole nanoseconds (`_ns`); shares are
fractions between 0 and 1; what isn't there is NA. An empty trace gives empty tables with all their columns. Further
columns may stand behind those that the pages list.

Where our figures differ from another tool's, and why: [differences.md](differences.md). To draw one:
`from nbprof.view import charts; charts.steps(trace.steps())`.

| table | what a row is |
|---|---|"""
ROWS = {
    "events": "One row an event of the trace, in the order of the file.",
    "operators": "One row an operator: its time on host and device, its work and its backward; `by=` for finer rows.",
    "kernels": "One row a kernel of the device, or with `by=` a class, an operator, a stream, ...",
    "timeline": "One row a device: what its time from first start to last end was spent on. The parts sum to the span.",
    "idle": "One row a gap of a device, in which none of its streams runs anything; with `by=` of a stream, or in a step.",
    "idle_summary": "One row a device and reason.",
    "launches": "One row a device event whose launch is in the trace.",
    "queue_depth": "One row a launch or a start of a device event: how many wait on the stream from then on.",
    "communication": "One row a collective, by start. On the device: kernels of NCCL and its kin; on the host: Gloo's.",
    "memory": "One row an allocation or release, in order of time. Needs a recording with `profile_memory`.",
    "allocations": "One row a block of memory: its allocation joined with its release.",
    "memory_operators": "One row a device and operator: what the operator itself allocated and released.",
    "steps": "One row a step: what ran in its window, by priority from left to right. The parts sum to `wall_us`.",
    "regions": "One row a region under each region that it was entered from.",
    "region_steps": "One row a region and step: the entries of the region that began in the step.",
    "region_entries": "One row an entry of a region, by start: `nbprof.analysis.region_entries(trace.events)`.",
    "modules": "One row an nn.Module under each chain of modules that it was called from.",
    "critical_path": "One row a part of the path, by time. The parts sum to the path.",
    "sequences": "One row a chain of kernels under one operator. Chains may share kernels.",
    "flame": "One row a stack. `nbprof.analysis.folded(table)` and `speedscope(table)` are what flame graph tools read.",
    "findings": "One row a finding: what was measured, what it could give back at most, and what to try.",
    "comparison": "One row a name in either of two traces: `nbprof.compare(a, b).operators()` and its kin.",
    "health": "One row a check of what would make the numbers wrong.",
}

MADE_BY = {"comparison": "compare_tables"}
"""The analysis that makes a table, where it has another name."""

MAGICS_OPENING = """# The magics

`%load_ext nbprof` brings them. Each answers `?`, as in `%%region?`, with what stands here, and Tab completes region
names and options.

The cell behaves as if the magic weren't there: its last value is shown and is in `_`, a `;` at the end silences it, errors
show your own lines and stop "Run All", `await` works. Nothing in the line is expanded.
"""

REPAIRS_OPENING = """# What is wrong with a file, and what is done about it

Whatever wrote a trace, and however it ended: what can be read of it is read, and what was done is told.
`nbprof.load_trace` gives a trace, or raises one `nbprof.TraceFormatError` that names the file, the place and the way out.

What a file is shows in its content, never in its name: JSON in UTF-8, UTF-16 or UTF-32, plain or in gzip, in zstd (with
`pip install nbprof[zstd]`), or as the one trace of a zip archive. Of a packed file that is cut off or damaged, what comes
before is read. A file that inflates to more than 400 times its size, and more than 256 MB, is refused: traces pack to a
tenth or a thirtieth.

```python
health = trace.health()
health[health["check"].str.startswith("reading")]
#                             check   status  figure                                           detail
# 0                reading: cut off  warning     1.0  1 found: the list of events has no end. ...
# 1         reading: comma too many     note     3.0  3 found: repaired in {"ph": "X", "name": ...
```

A row stands there for each kind that was found: how often, and what and where (the byte of the text inside) the first was.
Where something is missing it is a warning, and stands above every report; where all is there, it is a note among the
report's facts. `trace.metadata.problems` holds the same as plain records.

| what was found | what is done about it | is anything missing? |
|---|---|---|"""


def pages() -> dict[str, str]:
    """File name -> the whole page."""
    return {
        "tables.md": "\n".join(
            [TABLES_OPENING, *(f"| [{name}](tables/{name}.md) | {row} |" for name, row in ROWS.items())]
        )
        + "\n",
        **{f"tables/{name}.md": table(name) for name in ROWS},
        "magics.md": "\n".join([MAGICS_OPENING, *(magic(one.sign + name, one.parser) for name, one in MAGICS.items())]),
        "repairs.md": "\n".join([REPAIRS_OPENING, *(repair(name) for name in KINDS), ""]),
    }


def magic(name: str, parser: argparse.ArgumentParser) -> str:
    """One magic: how it is written, what it does, its options."""
    usage = (parser.usage or "").replace("%%", "%")
    paragraphs = "\n".join(text.strip() for text in (parser.description or "").strip().splitlines())
    rows = [f"| {spelling(action)} | {meaning(action)} |" for action in parser._actions if action.dest != "help"]
    options = ["| option | meaning |", "|---|---|", *rows, ""] if rows else []
    return "\n".join([f"## `{name}`", "", "```", usage, "```", "", paragraphs, "", *options])


def spelling(action: argparse.Action) -> str:
    """`-o NAME`, `--shapes`, `--no-shapes`, or a word's name."""
    value = "" if action.nargs == 0 else " " + (action.metavar or action.dest.upper()) if not action.choices else ""
    names = [f"`{option}{value}`" for option in action.option_strings]
    return ", ".join(names) or f"`{(action.metavar or action.dest).upper()}`"


def meaning(action: argparse.Action) -> str:
    """The help with its default filled in, and the choices."""
    choices = f" ({', '.join(map(str, action.choices))})" if action.choices else ""
    return (action.help or "") % vars(action) + choices


def table(name: str) -> str:
    """One table: what a row is, how it is worked out, and its columns."""
    rows = [f"| `{c.name}` | {c.dtype} | {c.unit} | {c.meaning} |" for c in schema.TABLES[name]]
    columns = ["## Columns", "", "| column | type | unit | meaning |", "|---|---|---|---|", *rows, ""]
    definition = inspect.getdoc(getattr(analysis, MADE_BY.get(name, name), None)) if name != "events" else None
    worked_out = ["## Definition", "", definition, ""] if definition else []
    return "\n".join([f"# {name}", "", ROWS[name], "", *worked_out, *columns])


def repair(name: str) -> str:
    """One kind of problem as a row."""
    return f"| {name} | {KINDS[name].done} | {'no' if KINDS[name].is_mended else 'yes'} |"


if __name__ == "__main__":
    for name, text in pages().items():
        page = Path(__file__).parent / name
        page.parent.mkdir(exist_ok=True)
        page.write_text(text, encoding="utf-8")
