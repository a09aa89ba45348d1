"""What the charts of devices and memory have in common: they draw any table, on any axes, and leave nothing behind."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from nbprof import schema
from nbprof.view import charts
from nbprof.view.charts import canvas
from tests.view.handmade import HOSTILE

TIMELINE = pd.DataFrame({"device": [0], "span_us": [2e7], "busy_us": [6e6]})


def row(number: int, name: str) -> dict[str, Any]:
    """One row that has what any of the charts reads; `name` in each column of names."""
    columns = ("name", "host_activity", "collective", "group", "operator", "kernel_class", "region")
    return dict.fromkeys(columns, name) | {
        # Unlike names, reasons are few.
        "reason": name if number < 20 else "host",
        "device": 0,
        "stream": 7,
        "start_us": 3.0 * number,
        "ts_us": 3.0 * number,
        "dur_us": 2.0 + number,
        "total_us": 2.0 + number,
        "device_total_us": 2.0 + number,
        "device_self_us": 2.0 + number,
        "exposed_us": 1.0,
        "bus_gbps": 100.0,
        "delay_us": 0.7 * number,
        "is_short": bool(number % 3),
        "depth": number % 5,
        "allocated_bytes": 1000 * number,
        "reserved_bytes": pd.NA,
        "flops": 1e6 * (number + 1),
        "moved_bytes": 1e4,
    }


def rows(names: list[str]) -> pd.DataFrame:
    return pd.DataFrame([row(number, name) for number, name in enumerate(names)]).astype({"reserved_bytes": "Int64"})


Draw = Callable[..., Axes]
# The chart, and the table of the schema that it draws.
DRAWN: dict[str, tuple[Draw, str]] = {
    "idle": (lambda table, **options: charts.idle(table, TIMELINE, **options), "idle_summary"),
    "idle_gaps": (charts.idle_gaps, "idle"),
    "launches": (charts.launches, "launches"),
    "queue_depth": (charts.queue_depth, "queue_depth"),
    "memory": (charts.memory, "memory"),
    "communication": (charts.communication, "communication"),
    "roofline": (charts.roofline, "operators"),
    "kernel_classes": (charts.kernel_classes, "kernels"),
}
TABLES = {
    "one row": rows(["aten::mm"]),
    "hostile names": rows(list(HOSTILE)),
    "many rows": rows([f"name {number}" for number in range(5000)]),
}


@pytest.fixture(params=sorted(DRAWN))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def _glyph_warnings_are_errors() -> None:
    warnings.simplefilter("error", UserWarning)


@pytest.mark.parametrize("which", sorted(TABLES))
def test_every_chart_draws_every_table_in_one_width_and_bounded_height(kind: str, which: str) -> None:
    picture = Image.open(io.BytesIO(charts.png(DRAWN[kind][0](TABLES[which]))))
    assert picture.width == round(canvas.WIDTH * 100) * 2
    assert picture.height < 1300


@pytest.mark.parametrize("kind", sorted(set(DRAWN) - {"idle"}))
def test_an_empty_table_says_so(kind: str) -> None:
    draw, name = DRAWN[kind]
    empty = schema.empty(name)
    missing = {column: pd.Series(dtype="float64") for column in ("flops", "moved_bytes") if column not in empty}
    (text,) = draw(empty.assign(**missing) if kind == "roofline" else empty).texts
    assert "0" in text.get_text()
    assert text.get_text().endswith(": nothing to draw")


def test_a_chart_draws_on_the_axes_it_is_given_and_leaves_the_rest(kind: str) -> None:
    mine, before = plt.get_fignums(), dict(mpl.rcParams)
    left, right = Figure().subplots(1, 2)
    place = right.get_position().bounds
    assert DRAWN[kind][0](TABLES["one row"], ax=right) is right
    assert right.get_position().bounds == place
    assert not left.patches and not left.texts
    assert plt.get_fignums() == mine
    assert dict(mpl.rcParams) == before


def test_the_table_stays_as_it_was(kind: str) -> None:
    table = TABLES["hostile names"]
    before = table.copy(deep=True)
    DRAWN[kind][0](table)
    pd.testing.assert_frame_equal(table, before)
