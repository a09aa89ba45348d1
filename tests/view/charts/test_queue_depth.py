"""Queue depth: a line a stream, the busiest first."""

from __future__ import annotations

import pandas as pd

from nbprof.analysis.launches import mean_queue_depth
from nbprof.view import charts

QUEUE = pd.DataFrame(
    [
        # Stream 7: depth 1 for 10 us, 2 for 30 us: mean (10 + 60) / 40 = 1.75.
        (0, 7, 0.0, 1),
        (0, 7, 10.0, 2),
        (0, 7, 40.0, 0),
        # Stream 9: depth 4 for 20 us.
        (0, 9, 5.0, 4),
        (0, 9, 25.0, 0),
    ],
    columns=["device", "stream", "ts_us", "depth"],
).astype({"device": "Int16", "stream": "Int64"})


def legend(table: pd.DataFrame, **options: int) -> list[str]:
    return [text.get_text() for text in charts.queue_depth(table, **options).get_legend().get_texts()]


def test_the_legend_gives_each_streams_mean_over_time() -> None:
    assert legend(QUEUE) == ["stream 9: mean 4.0", "stream 7: mean 1.8"]
    assert charts.queue_depth(QUEUE).get_xlabel() == "time in the trace, µs"
    assert charts.queue_depth(QUEUE).get_ylabel() == "launched, not yet started"


def test_streams_beyond_the_limit_are_counted() -> None:
    ax = charts.queue_depth(QUEUE, top=1)
    assert ax.get_title(loc="left") == "Queue of device events: top 1 of 2 streams"
    assert [line.get_ydata().tolist() for line in ax.lines] == [[4.0, 0.0, 0.0]]


def test_streams_of_several_devices_name_theirs() -> None:
    both = pd.concat([QUEUE, QUEUE[:3].assign(device=pd.array([1] * 3, dtype="Int16"))])
    assert "device 1, stream 7: mean 1.8" in legend(both)


def test_one_change_has_a_mean_of_zero() -> None:
    assert legend(QUEUE.head(1)) == ["stream 7: mean 0.0"]


def test_the_depths_on_the_axis_are_whole_numbers() -> None:
    ax = charts.queue_depth(QUEUE[:1])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0", "1"]


def test_the_mean_is_that_of_the_analysis() -> None:
    means = mean_queue_depth(QUEUE)
    assert [f"stream {stream}: mean {means[0, stream]:,.1f}" for stream in (9, 7)] == legend(QUEUE)
