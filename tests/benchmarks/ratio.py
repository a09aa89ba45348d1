"""What a benchmark hands back: one figure as a ratio against something measured in the same run.

In: two callables. Out: `Ratio`s, which `python -m tests.benchmarks` prints as one table.
A file `bench_<what>.py` defines `bench_<what>() -> list[Ratio]`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Ratio:
    """`value` measured, `limit` promised (inf where nothing is), both in the words of `unit_note`.

    A value of nan was not measured, and `unit_note` says why.
    """

    name: str
    value: float
    limit: float
    unit_note: str = ""

    @property
    def is_skipped(self) -> bool:
        return math.isnan(self.value)

    @property
    def is_kept(self) -> bool:
        return self.is_skipped or self.value <= self.limit


def interleaved(a: Callable[[], object], b: Callable[[], object], repeats: int = 21) -> float:
    """Median over turns of the time of `a` over the time of `b` right after it: the machine's moods hit both alike."""
    for subject in (a, b):
        subject()  # the first call pays for imports and caches
    return median(seconds(a) / seconds(b) for _ in range(repeats))


def seconds(subject: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    subject()
    return time.perf_counter() - start
