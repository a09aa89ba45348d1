"""A trace -> everything that its report says, as plain data; nothing is drawn yet.

In: a trace by the protocol of `schema`. Out: `Contents`, which the renderers for text, HTML and markdown take.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath

import pandas as pd

from nbprof import schema
from nbprof.metadata import CaptureInfo
from nbprof.view.quantities import counted, duration, is_missing, literal, number, share, shorten
from nbprof.view.report.facts import Fact, capture_facts, file_fact, why_empty
from nbprof.view.report.grid import Grid
from nbprof.view.report.grids import kernels_grid, operators_grid, regions_grid
from nbprof.view.report.sentence import Piece, Sentence, device_use, leading, spent, wall_us

_MOST_FINDINGS = 4
_TRACE = re.compile(r"\btrace\.")  # how the evidence of a finding calls the trace


@dataclass(frozen=True)
class Warned:
    """A check of `health` that found something wrong."""

    check: str
    detail: str


@dataclass(frozen=True)
class Tile:
    """A headline figure."""

    label: str
    figure: str
    note: str


@dataclass(frozen=True)
class Finding:
    """What to look at first, what was measured and how much time it could give back, and what to type to see why."""

    severity: str
    advice: str
    figures: str
    evidence: str


@dataclass(frozen=True)
class Hint:
    """What to type next, and what it gives."""

    code: str
    meaning: str


@dataclass(frozen=True)
class Contents:
    """All that a report says, in its order; the tables at the end are what its charts are drawn from."""

    warnings: tuple[Warned, ...]
    sentence: Sentence
    tiles: tuple[Tile, ...]
    findings: tuple[Finding, ...]
    grids: tuple[Grid, ...]
    facts: tuple[Fact, ...]
    hints: tuple[Hint, ...]
    steps: pd.DataFrame
    regions: pd.DataFrame
    region_steps: pd.DataFrame


def contents(trace: schema.TraceLike, called: str) -> Contents:
    """What the report of `trace` says; `called` is the expression by which the reader reaches the trace."""
    capture = trace.metadata.capture
    operators, kernels, regions, steps = trace.operators(), trace.kernels(), trace.regions(), trace.steps()
    timeline, health = trace.timeline(), trace.health()
    label = (capture.label if capture else "") or PurePath(trace.metadata.source).name or "The recording"
    warned = health[health["status"] == "warning"]
    notes = health[health["status"] == "note"]
    facts = (
        *capture_facts(capture, trace.metadata),
        *(Fact(f"Note: {check}", str(detail)) for check, detail in zip(notes["check"], notes["detail"], strict=True)),
        file_fact(trace.metadata),
    )
    warnings = tuple(Warned(str(c), str(d)) for c, d in zip(warned["check"], warned["detail"], strict=True))
    if _is_empty(capture, operators, kernels, regions):
        lead = Piece(f"Nothing was recorded for {shorten(literal(label), 80)}.", strong=True)
        why = Piece(" " + why_empty(capture))
        return Contents(
            warnings, (lead, why), (), (), (), facts, (), schema.empty("steps"), regions, schema.empty("region_steps")
        )
    wall = wall_us(steps, regions, capture)
    grids = [operators_grid(operators, called)] if len(operators) else []
    grids += [kernels_grid(kernels, called)] if len(kernels) else []
    grids += [regions_grid(regions, called)] if len(regions) else []
    return Contents(
        warnings=warnings,
        sentence=(*leading(label, wall, len(steps), capture), *spent(operators, kernels), *device_use(timeline)),
        tiles=_tiles(wall, steps, operators, kernels, timeline),
        findings=_findings(trace.findings(), called),
        grids=tuple(grids),
        facts=facts,
        hints=_hints(called, bool(len(kernels)), bool(len(regions))),
        steps=steps,
        regions=regions,
        region_steps=trace.region_steps(),
    )


def _is_empty(capture: CaptureInfo | None, *tables: pd.DataFrame) -> bool:
    return (capture is not None and capture.outcome == "empty") or not any(len(table) for table in tables)


def _tiles(
    wall: float | None,
    steps: pd.DataFrame,
    operators: pd.DataFrame,
    kernels: pd.DataFrame,
    timeline: pd.DataFrame,
) -> tuple[Tile, ...]:
    host = float(operators["host_self_us"].sum())
    tiles = []
    if wall is not None:
        tiles.append(Tile("wall time", duration(wall), "profiling included"))
    if len(steps) > 1:
        times = steps["wall_us"]
        note = f"{duration(float(times.min()))} to {duration(float(times.max()))}"
        tiles.append(Tile("steps", number(len(steps)), note))
    if len(operators):
        note = f"{share(host / wall)} of wall time" if wall and host <= wall else "summed over threads"
        tiles.append(Tile("host operators", duration(host), note))
    span = float(timeline["span_us"].sum())
    if span:
        busy = float(timeline["busy_us"].sum())
        tiles.append(Tile("device busy", duration(busy), f"{share(busy / span)} of its span"))
    if len(operators):
        calls = int(operators["calls"].sum())
        tiles.append(Tile("operator calls", number(calls), f"of {counted(len(operators), 'operator')}"))
    if len(kernels):
        runs = int(kernels["calls"].sum())
        tiles.append(Tile("kernel runs", number(runs), f"of {counted(len(kernels), 'kernel')}"))
    return tuple(tiles)


def _findings(table: pd.DataFrame, called: str) -> tuple[Finding, ...]:
    """The first of them, by what they could give back."""
    shown = table.head(_MOST_FINDINGS)
    columns = (shown[name] for name in ("severity", "advice", "figure", "unit", "could_save_us", "evidence"))
    return tuple(
        Finding(
            str(severity),
            str(advice),
            f"{figure:,.{0 if figure >= 10 else 1}f} {unit}" + _saving(saving),
            _TRACE.sub(lambda _: f"{called}.", str(evidence)),
        )
        for severity, advice, figure, unit, saving, evidence in zip(*columns, strict=True)
    )


def _saving(microseconds: float) -> str:
    return "" if is_missing(microseconds) else f", could give back up to {duration(float(microseconds))}"


def _hints(called: str, device: bool, regions: bool) -> tuple[Hint, ...]:
    hints = [Hint(f"{called}.operators()", "all operators, as a DataFrame")]
    if device:
        hints.append(Hint(f"{called}.kernels()", "all kernels"))
    if regions:
        hints.append(Hint(f"{called}.regions()", "all regions"))
    hints.append(Hint(f"{called}.findings()", "all that could be faster, with the figures behind it"))
    return (
        *hints,
        Hint(f"{called}.events", "every event, with its times to the nanosecond"),
        Hint(f'{called}.export_chrome("trace.json")', "a file to open at ui.perfetto.dev"),
    )
