"""Run every bench_<what>.py in a process of its own and print one table; exit 1 when a limit is passed.

`python -m tests.benchmarks regions import` runs only those named; those that promise nothing run only then.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from tests.benchmarks.ratio import Ratio

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
MARK = "@ratios "
ON_REQUEST = {"live"}


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--child"]:
        measure = getattr(import_module(f"tests.benchmarks.bench_{arguments[1]}"), f"bench_{arguments[1]}")
        print(MARK + json.dumps([asdict(ratio) for ratio in measure()]))
        return 0
    found = sorted(path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.py"))
    unknown = set(arguments) - set(found)
    if unknown:
        print(f"No benchmark {', '.join(sorted(unknown))}; there are {', '.join(found)}.", file=sys.stderr)
        return 2
    outcomes = [run(name) for name in arguments or sorted(set(found) - ON_REQUEST)]
    ratios = [ratio for one in outcomes if one for ratio in one]
    over, skipped = sum(not ratio.is_kept for ratio in ratios), sum(ratio.is_skipped for ratio in ratios)
    failed = outcomes.count(None)
    print(f"\n{over} over their limit, {skipped} skipped, {failed} benchmarks failed.")
    return 1 if over or failed else 0


def run(name: str) -> list[Ratio] | None:
    """The ratios of one file, printed as they come; None when it failed."""
    command = [sys.executable, "-m", "tests.benchmarks", "--child", name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith(MARK)]
    if done.returncode or not lines:
        print(f"{name}: failed with status {done.returncode}\n{done.stderr[-3000:]}", flush=True)
        return None
    ratios = [Ratio(**values) for values in json.loads(lines[-1].removeprefix(MARK))]
    for ratio in ratios:
        print(table_row(ratio), flush=True)
    return ratios


def table_row(ratio: Ratio) -> str:
    """One line of the table: what, ratio, limit, verdict, unit."""
    limit = "   none" if math.isinf(ratio.limit) else f"{ratio.limit:7.2f}"
    verdict = "skip" if ratio.is_skipped else "ok" if ratio.is_kept else "OVER"
    return f"{ratio.name:58.58} {ratio.value:8.3f}  limit {limit}  {verdict:4}  {ratio.unit_note}"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
