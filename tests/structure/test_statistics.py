"""Sums and spread of durations by group, against numpy on each group alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbprof.structure.statistics import by_group, shares
from nbprof.structure.times import times
from tests.frames import make_events, op

calls = st.lists(st.tuples(st.integers(0, 3), st.none() | st.integers(0, 50)), max_size=15)


def test_nothing_has_no_statistics(no_events: pd.DataFrame) -> None:
    stats = by_group(np.empty(0, np.int64), 0, np.empty(0, np.int64), times(no_events))
    assert [len(values) for values in (stats.calls, stats.known, stats.total_ns, *stats.times.values())] == [0] * 9


@given(calls)
def test_each_group_has_the_statistics_of_its_known_durations(rows: list[tuple[int, int | None]]) -> None:
    events = make_events(op("other", 0, 1), *(op("mm", 100 * at, dur) for at, (_, dur) in enumerate(rows)))
    groups = np.array([group for group, _ in rows], np.int64)
    stats = by_group(groups, 4, np.arange(1, len(rows) + 1), times(events))
    for group in range(4):
        lengths = [dur for of, dur in rows if of == group and dur is not None]
        assert stats.calls[group] == (groups == group).sum()
        assert stats.known[group] == len(lengths)
        assert stats.total_ns[group] == 1000 * sum(lengths)
        found = [values[group] for values in stats.times.values()]
        if lengths:
            percentiles = np.percentile(lengths, [0, 100, 50, 95])
            assert found == pytest.approx([np.mean(lengths), *percentiles, np.std(lengths)])
        else:
            assert np.isnan(found).all()


def test_shares_of_nothing_are_nothing() -> None:
    assert shares(np.array([0.0, 0.0])).tolist() == [0, 0]
    assert shares(np.array([1.0, np.nan, 3.0]))[[0, 2]].tolist() == [0.25, 0.75]
