"""From the end of a cell to its report: torch's own stop() aside, against what torch offers for the same events."""

from __future__ import annotations

import resource
import tempfile
import time
from pathlib import Path
from statistics import median

import torch
from torch.profiler import ProfilerActivity, profile

import nbprof
from nbprof.capture.process import start_recording
from nbprof.trace import packed_after
from tests.benchmarks.ratio import Ratio

EVENTS = 100_000


def bench_answer() -> list[Ratio]:
    nbprof.register_profiler_region("work", "")
    with tempfile.TemporaryDirectory() as folder:
        answer(1000, Path(folder))  # imports
        answers = [answer(EVENTS, Path(folder)) for _ in range(3)]
        large = answer(1_000_000, Path(folder))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / large[2]
    table = median(torch_table(EVENTS) for _ in range(2))
    ours = median(seconds for seconds, _, _ in answers)
    return [
        Ratio("end of cell to report, 100,000 events / key_averages().table()", ours / table, 0.1, f"{ours:.2f} s"),
        Ratio("the same for a million events / torch's stop()", large[0] / large[1], 1.0, f"{large[0]:.1f} s"),
        Ratio("peak memory till that report / till torch's stop() and export", peak, 1.0),
    ]


def work(events: int) -> None:
    x, half, one = torch.ones(8, 8), torch.full((8, 8), 0.5), torch.ones(8, 8)
    for _ in range(events // 2):  # tensors: a scalar would bring five more operators along
        x.mul_(half)
        x.add_(one)


def answer(events: int, folder: Path) -> tuple[float, float, int]:
    """Seconds from the end of the code to the report's HTML without torch's stop(), those of stop(), its peak memory."""
    controller = start_recording(folder, label="bench")
    with controller.cell_region("work"):
        work(events)
    start = time.perf_counter()
    recording = controller.stop()
    assert recording is not None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with packed_after(recording) as trace:
        assert len(trace.report().html) > 1000
        total = time.perf_counter() - start
    stop = (recording.info.stop_us or 0.0) / 1e6
    recording.release()
    return total - stop, stop, peak


def torch_table(events: int) -> float:
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
        work(events)
    start = time.perf_counter()
    assert "aten::mul_" in prof.key_averages().table()
    return time.perf_counter() - start
