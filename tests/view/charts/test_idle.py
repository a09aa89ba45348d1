"""Idle: a staircase from span to busy, and the longest gaps."""

from __future__ import annotations

import pandas as pd

from nbprof import schema
from nbprof.view import charts

TIMELINE = pd.DataFrame({"device": [0, 1], "span_us": [1000.0, 1000.0], "busy_us": [600.0, 700.0]})
SUMMARY = pd.DataFrame(
    [(0, "host", 300.0), (0, "launch_latency", 100.0), (1, "host", 250.0), (1, "unknown", 50.0)],
    columns=["device", "reason", "total_us"],
)


def test_the_steps_lead_from_span_down_to_busy() -> None:
    ax = charts.idle(SUMMARY, TIMELINE)
    # Of 2000: host 300 + 250 from 2000 to 1450, launch latency 100 to 1350, unknown 50 to 1300, which is busy 600 + 700.
    assert [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches] == [
        (0.0, 2000.0),
        (1450.0, 2000.0),
        (1350.0, 1450.0),
        (1300.0, 1350.0),
        (0.0, 1300.0),
    ]
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["span", "idle: host", "idle: launch latency", "idle: unknown", "busy"]
    assert [text.get_text() for text in ax.texts][1] == " 550 µs, 28 %"
    assert ax.get_title(loc="left") == "2 devices, idle 35 % of the span"
    assert ax.get_xlabel() == "time from the first to the last device event, ms"


def test_a_device_that_is_never_idle_has_no_steps_between() -> None:
    busy = pd.DataFrame({"device": [0], "span_us": [10.0], "busy_us": [10.0]})
    ax = charts.idle(schema.empty("idle_summary"), busy)
    assert [bar.get_width() for bar in ax.patches] == [10.0, 10.0]
    assert ax.get_title(loc="left") == "1 device, idle 0 % of the span"


def test_without_devices_there_is_nothing_to_draw() -> None:
    ax = charts.idle(schema.empty("idle_summary"), schema.empty("timeline"))
    assert [text.get_text() for text in ax.texts] == ["Idle time of 0 devices: nothing to draw"]


def test_gaps_are_the_longest_with_place_reason_and_activity() -> None:
    gaps = pd.DataFrame(
        [
            (0, 1_000.0, 5.0, "dependency", None),
            (0, 2_000_123.0, 80.0, "host", "aten::item"),
            (0, 3_000.0, 20.0, "launch_latency", None),
        ],
        columns=["device", "start_us", "dur_us", "reason", "host_activity"],
    )
    ax = charts.idle_gaps(gaps, top=2)
    assert [bar.get_width() for bar in ax.patches] == [80.0, 20.0]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["at 2,000.123 ms", "at 3.000 ms"]
    assert [text.get_text() for text in ax.texts] == [" 80.0 µs, host: aten::item", " 20.0 µs, launch latency"]
    assert ax.get_title(loc="left") == "top 2 of 3 idle gaps"
    assert ax.get_xlabel() == "length of the gap, µs"


def test_gaps_of_several_devices_name_theirs() -> None:
    gaps = pd.DataFrame(
        [(0, 1.0, 5.0, "host", None), (1, 2.0, 4.0, "host", None)],
        columns=["device", "start_us", "dur_us", "reason", "host_activity"],
    )
    names = [label.get_text() for label in charts.idle_gaps(gaps).get_yticklabels()]
    assert names == ["device 0, at 0.001 ms", "device 1, at 0.002 ms"]
