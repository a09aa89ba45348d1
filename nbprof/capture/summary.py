"""The summary beside a trace: what the controller itself counted, as text and JSON, one of each a rank.

In: a `Recording`. Out: `<trace>.summary.txt` and `<trace>.summary.json`.
"""

from __future__ import annotations

import json
from pathlib import Path

from nbprof.capture import files
from nbprof.capture.recording import Recording
from nbprof.writing import write_text


def write_summary(recording: Recording, path: Path) -> None:
    """Write both files beside `path`, the place of the trace (also when the trace itself is empty or failed)."""
    stem = path.name.removesuffix(files.SUFFIX)
    try:
        write_text(path.with_name(f"{stem}.summary.json"), json.dumps(summary(recording), indent=1) + "\n")
        write_text(path.with_name(f"{stem}.summary.txt"), as_text(recording))
    except OSError:  # the trace's own problem stands in the recording, and is the same
        return


def summary(recording: Recording) -> dict[str, object]:
    """File, size, rank, steps and the counts of each region (`wall_us` in microseconds)."""
    info = recording.info
    return {
        "file": None if recording.path is None else recording.path.name,
        "bytes": recording.bytes,
        "problem": recording.problem,
        "rank": info.rank,
        "world_size": info.world_size,
        "planned_steps": info.planned_steps,
        "run_steps": info.run_steps,
        "regions": [vars(count) for count in info.regions],
        "options": dict(info.options),
        "nbprof": info.version,
        "torch": info.torch,
    }


def as_text(recording: Recording) -> str:
    """The same for people: one line a region."""
    info = recording.info
    lines = [f"nbprof {info.version}, rank {info.rank} of {info.world_size}, torch {info.torch}"]
    lines.append(recording.in_words())
    if info.planned_steps is not None or info.run_steps is not None:
        planned = "not planned" if info.planned_steps is None else f"{info.planned_steps} planned"
        lines.append(f"steps: {planned}, {info.run_steps or 0} run")
    lines += ["", f"{'region':<40} {'parent':<30} {'entries':>8} {'wall ms':>12}"]
    for count in sorted(info.regions, key=lambda row: -row.wall_us):
        parent = count.parent or "-"
        lines.append(f"{count.region:<40} {parent:<30} {count.entries:>8} {count.wall_us / 1e3:>12.3f}")
    return "\n".join(lines) + "\n"
