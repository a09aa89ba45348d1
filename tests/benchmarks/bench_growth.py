"""200 recordings in one process, each read and reported: nothing piles up."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from nbprof import register_profiler_region
from nbprof.capture.process import start_recording
from nbprof.trace import packed_after
from tests.benchmarks.bench_answer import work
from tests.benchmarks.ratio import Ratio

PAGE = os.sysconf("SC_PAGE_SIZE")


def bench_growth() -> list[Ratio]:
    register_profiler_region("work", "")
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(20):
            record(Path(folder))
        memory, files = resident(), open_files()
        for _ in range(180):
            record(Path(folder))
        grown, left = (resident() - memory) / 1e6, open_files() - files
    return [
        Ratio("growth from the 20th to the 200th recording", grown, 20.0, "MB of resident memory"),
        Ratio("open files more at the 200th than at the 20th recording", left, 0.0, "files"),
    ]


def record(folder: Path) -> None:
    controller = start_recording(folder, label="bench")
    with controller.cell_region("work"):
        work(200)
    recording = controller.stop()
    assert recording is not None
    with packed_after(recording) as trace:
        assert trace.report().html
    recording.release()
    Path(trace.metadata.source).unlink()


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
