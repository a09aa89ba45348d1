"""Whether two traces hold the same events, whatever they count their times from."""

from __future__ import annotations

import pandas as pd

from nbprof.metadata import TraceMetadata


def assert_same_events(found: tuple[pd.DataFrame, TraceMetadata], expected: tuple[pd.DataFrame, TraceMetadata]) -> None:
    """The same rows in the same order: every column, times as absolute ones, arguments letter by letter."""
    pd.testing.assert_frame_equal(_plain(*found), _plain(*expected))
    assert list(found[0]["args"].array.texts()) == list(expected[0]["args"].array.texts())


def _plain(events: pd.DataFrame, metadata: TraceMetadata) -> pd.DataFrame:
    # Categories that have no row in a part don't count.
    words = {name: column.astype(object) for name, column in events.items() if column.dtype == "category"}
    return events.drop(columns="args").assign(**words, ts_ns=events["ts_ns"] + metadata.start_ns)
