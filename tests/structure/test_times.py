"""Which rows count, and when they happen."""

from __future__ import annotations

import pandas as pd

from nbprof.structure.times import microseconds, times
from tests.frames import kernel, make_events, op


def test_nothing_has_no_times(no_events: pd.DataFrame) -> None:
    assert len(times(no_events).starts) == 0


def test_calls_count_in_regions_and_last_where_they_have_a_duration() -> None:
    rows = [
        op("a", 1, 4),
        op("outside", 2, 3, in_region=False),
        op("no duration", 3, None),
        op("instant", 4, 1, ph="i"),
    ]
    when = times(make_events(*rows))
    assert microseconds(when.starts).tolist() == [1, 2, 3, 4]
    assert microseconds(when.durations).tolist() == [4, 3, 0, 1]
    assert when.lasting.tolist() == [True, True, False, False]
    assert when.complete.tolist() == [True, False, True, False]
    assert when.known.tolist() == [True, False, False, False]
    assert not when.misplaced.any()


def test_a_device_record_of_no_length_an_hour_before_all_that_lasts_is_misplaced() -> None:
    hour = 3_600_000_000
    rows = [kernel("dropped", 0, 0), kernel("empty", hour - 5, 0), op("first", hour + 1, 2), kernel("k", hour + 9, 2)]
    when = times(make_events(*rows))
    assert when.misplaced.tolist() == [True, False, False, False]
    assert when.complete.tolist() == [False, True, True, True]
