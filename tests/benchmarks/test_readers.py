"""The readers that are held against each other read the same events."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.readers import READERS
from tests.generated import write_generated

# One step: its marker and 200 blocks of eleven events, and two metadata rows. Of each block nine events have a duration,
# two are the ends of a flow.
EVENTS, METADATA, FLOWS = 1 + 200 * 11, 2, 200 * 2


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(write_generated(tmp_path / "generated.json", 1))


def test_nbprof_gives_each_event_a_row_but_metadata(path: str) -> None:
    assert len(READERS["nbprof"]()(path)) == EVENTS


def test_the_bare_decode_gives_each_entry_with_its_time_and_arguments(path: str) -> None:
    entries = READERS["msgspec"]()(path).traceEvents
    assert len(entries) == EVENTS + METADATA
    assert entries[0].ts == 1000.0  # the first step begins at 1,000,000 ns
    assert entries[1].args.external_id == 1


def test_pandas_gives_each_entry_a_row_with_its_arguments(path: str) -> None:
    frame = READERS["pandas"]()(path)
    assert len(frame) == EVENTS + METADATA
    assert "args.Input Dims" in frame


@pytest.mark.filterwarnings("ignore")  # its own, of pandas
def test_holistic_trace_analysis_gives_each_event_with_a_duration_a_row(path: str) -> None:
    pytest.importorskip("hta", reason="HolisticTraceAnalysis is not installed")
    _, frame, _ = READERS["hta"]()(path)
    assert len(frame) == EVENTS - FLOWS
