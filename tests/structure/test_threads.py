"""Codes of threads, and which of them are autograd's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from nbprof.structure.threads import engine_threads, thread_codes
from nbprof.structure.times import times
from tests.frames import make_events, op, region

FRAME = "autograd::engine::evaluate_function: MulBackward0"


def own_threads(*rows: dict[str, Any]) -> list[str]:
    """Thread ids of autograd's own."""
    events = make_events(*rows)
    codes = thread_codes(events)
    markers = np.flatnonzero((events["category"] == "user_annotation").to_numpy())
    own = np.isin(codes, engine_threads(events, codes, times(events), markers))
    return sorted(set(events["tid"][own].astype(str)))


def test_nothing_has_no_threads(no_events: pd.DataFrame) -> None:
    assert thread_codes(no_events).tolist() == []


def test_one_thread_id_in_two_processes_is_two_threads() -> None:
    events = make_events(op("a", 0, 1), op("a", 0, 1, "2"), op("a", 0, 1), op("a", 0, 1, pid="2"))
    assert thread_codes(events).tolist() == [0, 1, 0, 2]


def test_the_engines_frames_make_a_thread_its_own_unless_it_opens_regions_outside_of_them() -> None:
    rows = [op("mm", 0, 5, "1"), op(FRAME, 0, 10, "2"), op(FRAME, 20, 10, "3"), region("in a hook", 22, 5, "3")]
    assert own_threads(*rows) == ["2", "3"]
    assert own_threads(*rows, region("around", 15, 20, "3")) == ["2"]
