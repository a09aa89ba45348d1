"""From torch's stop() to columns in the same process: nbprof's way over the others that torch offers.

In: recordings of operators with shapes, each way in a process of its own, in turns. Out: ratios without a limit, for
`docs/reading_speed.md`: nothing is promised here, so that it runs only when asked for (some ten minutes).
"""

from __future__ import annotations

import math
from statistics import median
from typing import Any

from tests.benchmarks.child import outcome
from tests.benchmarks.ratio import Ratio

TURNS = 3
SMALL, LARGE = 100_000, 1_000_000
LARGE_WAYS = {
    "plain": "export_chrome_trace to .json, load_trace",
    "export": "that export alone",
    "activities": "trace_activities() and metadata_json()",
    "events": "kineto_results.events()",
    "python": "use_python_export=True, load_trace",
    "packed": "export_chrome_trace to .json.gz, load_trace",
}
WAYS = {SMALL: {**LARGE_WAYS, "objects": "prof.events()", "averages": "key_averages()"}, LARGE: LARGE_WAYS}


def bench_live() -> list[Ratio]:
    found: dict[tuple[int, str], list[Any]] = {(count, way): [] for count in WAYS for way in WAYS[count]}
    for _ in range(TURNS):
        for (count, way), outcomes in found.items():
            outcomes.append(outcome("tests.benchmarks.live_paths", way, count))
    return [
        Ratio(f"{count:,}: {WAYS[count][way]}", over(outcomes, found[count, "plain"]), math.inf, in_words(outcomes))
        for (count, way), outcomes in found.items()
    ]


def over(theirs: list[Any], ours: list[Any]) -> float:
    return float(median(a["seconds"] / b["seconds"] for a, b in zip(theirs, ours, strict=True)))


def in_words(outcomes: list[Any]) -> str:
    """Medians, and what arrives exactly."""
    seconds, peak, stop, before = (
        median(one[what] for one in outcomes) for what in ("seconds", "peak", "stop", "stop_peak")
    )
    exact = outcomes[0]["exact"]
    kept = [what for what in ("names", "times") if exact[what]] + [f"{len(exact['args'])} of {exact['of']} arguments"]
    after = f"{seconds:.2f} s and {peak / 1e6:.0f} MB after stop() ({stop:.2f} s, {before / 1e6:.0f} MB)"
    return f"{after}; exact: {', '.join(kept)}"
