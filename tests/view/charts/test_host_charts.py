"""What all charts of code, paths, findings and comparisons hold to: any table draws, and says what was left out."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from nbprof import schema
from nbprof.view import charts
from nbprof.view.charts import canvas
from tests.frames import make_events, op
from tests.view.charts.columns import table
from tests.view.handmade import HOSTILE

Make = Callable[[Sequence[str]], pd.DataFrame]


def _times(names: Sequence[str]) -> list[float]:
    return [1000.0 + 10 * place for place in range(len(names), 0, -1)]


def _flame(names: Sequence[str]) -> pd.DataFrame:
    return table(
        "flame", stack=names, depth=[0] * len(names), name=names, kind=["operator"] * len(names), total_us=_times(names)
    )


def _events(names: Sequence[str]) -> pd.DataFrame:
    rows = [op(name, 100.0 * place, 90) for place, name in enumerate(names)]
    return make_events(*rows) if rows else schema.empty("events")


def _critical_path(names: Sequence[str]) -> pd.DataFrame:
    times = _times(names)
    starts = np.cumsum([0.0, *times])[:-1]
    kinds = ["host"] * len(names)
    return table("critical_path", start_us=starts, dur_us=times, kind=kinds, name=names, place=names)


def _modules(names: Sequence[str]) -> pd.DataFrame:
    times = _times(names)
    return table(
        "modules", module=names, host_total_us=times, host_self_us=times, device_total_us=times, depth=_deep(names)
    )


def _regions(names: Sequence[str]) -> pd.DataFrame:
    times = _times(names)
    return table("regions", region=names, wall_us=times, self_us=times, device_us=times, depth=_deep(names))


def _deep(names: Sequence[str]) -> list[int]:
    return [place % 20 for place in range(len(names))]


def _sequences(names: Sequence[str]) -> pd.DataFrame:
    times = _times(names)
    return table("sequences", sequence=names, operator=names, total_us=times, gap_us=times, share=times)


def _findings(names: Sequence[str]) -> pd.DataFrame:
    return table("findings", finding=names, severity=["high"] * len(names), could_save_us=_times(names))


def _comparison(names: Sequence[str]) -> pd.DataFrame:
    signs = [(-1) ** place for place in range(len(names))]
    differences = [sign * time for sign, time in zip(signs, _times(names), strict=True)]
    return table("comparison", name=names, difference_us=differences)


CHARTS: dict[str, tuple[Callable[..., Axes], Make]] = {
    "comparison": (charts.comparison, _comparison),
    "critical_path": (charts.critical_path, _critical_path),
    "findings": (charts.findings, _findings),
    "flame": (charts.flame, _flame),
    "lanes": (charts.lanes, _events),
    "modules": (charts.modules, _modules),
    "region_tree": (charts.region_tree, _regions),
    "sequences": (charts.sequences, _sequences),
}


@pytest.fixture(params=sorted(CHARTS))
def chart(request: pytest.FixtureRequest) -> tuple[Callable[..., Axes], Make]:
    return CHARTS[request.param]


@pytest.fixture(autouse=True)
def _glyph_warnings_are_errors() -> None:
    warnings.simplefilter("error", UserWarning)


@pytest.mark.parametrize("count", [1, 2, 5, 5000])
def test_any_number_of_rows_draws_in_a_picture_of_bounded_height(
    chart: tuple[Callable[..., Axes], Make], count: int
) -> None:
    draw, make = chart
    picture = Image.open(io.BytesIO(charts.png(draw(make([f"name {place}" for place in range(count)])))))
    assert picture.width == round(canvas.WIDTH * 100) * 2
    assert picture.height < 3000


def test_an_empty_table_says_so(chart: tuple[Callable[..., Axes], Make]) -> None:
    draw, make = chart
    ax = draw(make([]))
    (text,) = ax.texts
    assert text.get_text().endswith(": nothing to draw")
    assert not ax.axison


def test_hostile_names_draw_literally(chart: tuple[Callable[..., Axes], Make]) -> None:
    draw, make = chart
    charts.png(draw(make(HOSTILE)))


def test_a_chart_draws_on_the_axes_it_is_given_and_leaves_nothing_in_pyplot(
    chart: tuple[Callable[..., Axes], Make],
) -> None:
    draw, make = chart
    left, right = Figure().subplots(1, 2)
    place = right.get_position().bounds
    assert draw(make(["a", "b"]), ax=right) is right
    assert right.get_position().bounds == place
    assert not left.patches and not left.texts and not left.collections
    assert plt.get_fignums() == []


def test_the_axis_of_time_has_a_label_with_its_unit() -> None:
    labels = {name: draw(make(["a", "b"])).get_xlabel() for name, (draw, make) in CHARTS.items()}
    # Times of 1,020 and 1,010 us, but for the two operators, which end at 190 us.
    assert labels == {
        "comparison": "difference, b less a, ms; hatched: only in one",
        "critical_path": "time in the trace, ms",
        "findings": "time that it could give back, at most, ms",
        "flame": "time, what a frame calls included, ms",
        "lanes": "time in the trace, µs",
        "modules": "time; pale: in modules called inside, ms",
        "region_tree": "time; pale: in nested regions, ms",
        "sequences": "device time; pale: idle between kernels, ms",
    }


def test_what_is_cut_is_said() -> None:
    names = [f"name {place}" for place in range(50)]
    titles = {name: draw(make(names)).get_title(loc="left") for name, (draw, make) in CHARTS.items()}
    assert titles == {
        "comparison": "top 20 of 50 names",
        # 50 times of 1,500 down to 1,010 us: 62,750 us.
        "critical_path": "Critical path: 62.8 ms in 50 parts",
        "findings": "top 20 of 50 findings",
        "flame": "50 frames",
        "lanes": "1 lane",
        "modules": "top 30 of 50 modules",
        "region_tree": "top 30 of 50 regions",
        "sequences": "top 20 of 50 chains",
    }
