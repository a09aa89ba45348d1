"""Each table of a trace of 1.1 million events over the time that reading it took, and over HolisticTraceAnalysis' own.

In: a generated trace, gzipped. Out: ratios within a turn, of medians of three turns.
"""

from __future__ import annotations

import gzip
import math
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from tests.benchmarks.child import outcome
from tests.benchmarks.ratio import Ratio
from tests.generated import write_generated

EVENTS = 1_100_000
TURNS = 3
EACH, ALL, PEER = 0.25, 1.5, 1 / 10

Turns = list[dict[str, float]]


def bench_tables() -> list[Ratio]:
    with tempfile.TemporaryDirectory() as name:
        plain = write_generated(Path(name) / "generated.json", EVENTS)
        path = Path(f"{plain}.gz")
        with plain.open("rb") as source, gzip.open(path, "wb", compresslevel=6) as packed:
            shutil.copyfileobj(source, packed, 1 << 20)
        readers = ["nbprof", *(["hta"] if find_spec("hta") else [])]
        turns: dict[str, Turns] = {reader: [] for reader in readers}
        for _ in range(TURNS):
            for reader, found in turns.items():
                found.append(outcome("tests.benchmarks.tables_time", reader, path))
        return [*over_reading(turns["nbprof"]), *over_peer(turns["nbprof"], turns.get("hta"))]


def over_reading(ours: Turns) -> list[Ratio]:
    """Each table and all of them, over reading the file."""
    tables = [name for name in ours[0] if name != "read"]
    ratios = [Ratio(f"{name} / load_trace", over(ours, name, "read"), EACH, typical(ours, name)) for name in tables]
    value = median(sum(turn[name] for name in tables) / turn["read"] for turn in ours)
    return [*ratios, Ratio("all tables / load_trace", value, ALL, typical(ours, "read"))]


def over_peer(ours: Turns, theirs: Turns | None) -> list[Ratio]:
    """The same answer of both, from a trace that is read already. Neither pays for its join of launches and kernels: HTA's
    is part of its reading, ours, the call tree, stands above in a row of its own."""
    if theirs is None:
        return [Ratio("tables / HolisticTraceAnalysis", math.nan, PEER, "it isn't installed: make bench installs it")]
    names = [name for name in theirs[0] if name != "read"]
    values = {name: median(a[name] / b[name] for a, b in zip(ours, theirs, strict=True)) for name in names}
    return [
        Ratio(f"{name} / HolisticTraceAnalysis", value, PEER, f"{typical(ours, name)} of {typical(theirs, name)}")
        for name, value in values.items()
    ]


def over(turns: Turns, name: str, base: str) -> float:
    return median(turn[name] / turn[base] for turn in turns)


def typical(turns: Turns, name: str) -> str:
    return f"{median(turn[name] for turn in turns):.2f} s"
