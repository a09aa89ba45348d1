"""Charts: what is drawn, from which figures, and that nothing is left behind."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from nbprof import schema
from nbprof.view import charts
from nbprof.view.charts import canvas
from nbprof.view.charts.bars import Part, Stacks, stacked
from tests.view.handmade import HOSTILE, HandmadeTrace, cpu_trace, gpu_trace, hostile_trace, operators_of

Draw = Callable[..., Axes]
DRAWN: dict[str, Callable[[HandmadeTrace], Draw]] = {
    "operators": lambda trace: lambda **options: charts.operators(trace.operators(), **options),
    "kernels": lambda trace: lambda **options: charts.kernels(trace.kernels(), **options),
    "steps": lambda trace: lambda **options: charts.steps(trace.steps(), **options),
    "regions": lambda trace: lambda **options: charts.regions(trace.regions(), **options),
    "regions_by_step": lambda trace: lambda **options: charts.regions_by_step(trace.region_steps(), **options),
    "timeline": lambda trace: lambda **options: charts.timeline(trace.timeline(), **options),
}


@pytest.fixture(params=sorted(DRAWN))
def chart(request: pytest.FixtureRequest) -> Callable[[HandmadeTrace], Draw]:
    return DRAWN[request.param]


@pytest.fixture(autouse=True)
def _glyph_warnings_are_errors() -> None:
    warnings.simplefilter("error", UserWarning)


def test_every_chart_draws_every_trace(any_trace: HandmadeTrace, chart: Callable[[HandmadeTrace], Draw]) -> None:
    picture = Image.open(io.BytesIO(charts.png(chart(any_trace)())))
    assert picture.format == "PNG"
    assert picture.width == round(canvas.WIDTH * 100) * 2


@pytest.mark.parametrize(("kind", "times"), [(kind, 25 if kind in ("regions", "steps") else 2) for kind in DRAWN])
def test_nothing_stays_in_pyplot_and_no_setting_changes(kind: str, times: int) -> None:
    # pyplot warns from the 21st figure on: one chart of bars and one of stacks are drawn more often than that.
    mine = plt.figure()
    before, count = dict(mpl.rcParams), plt.get_fignums()
    for _ in range(times):
        DRAWN[kind](cpu_trace())()
    charts.png(DRAWN[kind](cpu_trace())())
    assert plt.get_fignums() == count
    assert dict(mpl.rcParams) == before
    plt.close(mine)
    assert plt.get_fignums() == []


def test_a_chart_draws_on_the_axes_it_is_given(chart: Callable[[HandmadeTrace], Draw]) -> None:
    left, right = Figure().subplots(1, 2)
    place = right.get_position().bounds
    assert chart(gpu_trace())(ax=right) is right
    assert right.get_position().bounds == place
    assert not left.patches and not left.texts


def test_axes_are_labelled_with_units_and_say_what_was_cut() -> None:
    ax = charts.operators(cpu_trace().operators(), top=20)
    assert ax.get_title(loc="left") == "top 20 of 25 operators"
    assert ax.get_xlabel() == "self time on the host, ms"
    assert charts.steps(cpu_trace().steps()).get_xlabel() == "wall time, ms"
    assert charts.kernels(gpu_trace().kernels()).get_xlabel() == "time on the device, ms"


def test_bars_are_as_long_as_their_times_largest_at_the_top() -> None:
    ax = charts.operators(cpu_trace().operators(), top=3)
    assert [bar.get_width() for bar in ax.patches] == [992_000.0, 240_000.0, 160_000.0]
    assert ax.get_yticklabels()[0].get_text() == "aten::addmm"
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    # 992 of 1,564 ms in all: 992 + 240 + 160 + 80 + 10 + 20 small ones of 6,000 - 200 n us, 82 ms together.
    assert ax.texts[0].get_text() == " 992 ms, 63 %"


def test_a_column_of_zeros_is_drawn_without_shares() -> None:
    idle = operators_of([("aten::empty", 1, 2.0, 1.0, 0.0, 0.0)])
    ax = charts.operators(idle, by="device_total_us")
    assert [text.get_text() for text in ax.texts] == [" 0 µs"]


def test_operators_are_drawn_by_the_column_asked_for() -> None:
    table = gpu_trace().operators()
    assert [bar.get_width() for bar in charts.operators(table, top=1).patches] == [366_000.0]
    assert [bar.get_width() for bar in charts.operators(table, top=1, by="host_total_us").patches] == [60_000.0]
    with pytest.raises(ValueError, match="by='time' is none of"):
        charts.operators(table, by="time")


def test_regions_show_wall_behind_self_time() -> None:
    ax = charts.regions(cpu_trace().regions(), top=2)
    # mlp: 860 of 900 ms; attention: 700 of 700.
    assert [bar.get_width() for bar in ax.patches] == [900_000.0, 700_000.0, 860_000.0, 700_000.0]
    assert [text.get_text() for text in ax.texts] == [" 860 ms of 900 ms", " 700 ms"]


def test_regions_by_step_stack_to_the_steps_sum() -> None:
    table = pd.DataFrame(
        [(0, "a", 30.0), (0, "b", 10.0), (1, "a", 5.0), (1, "a", 5.0)], columns=["step", "region", "self_us"]
    )
    ax = charts.regions_by_step(table)
    # step 0: a 30, then b 10 on top; step 1: a 5 + 5.
    assert spans(ax) == {"a": [(0, 30.0), (0, 10.0)], "b": [(30.0, 40.0), (10.0, 10.0)]}


def test_many_regions_are_gathered_in_one_part_that_says_so() -> None:
    rows = [(0, f"r{number}", 100.0 - number) for number in range(9)]
    ax = charts.regions_by_step(pd.DataFrame(rows, columns=["step", "region", "self_us"]), top=6)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["r0", "r1", "r2", "r3", "r4", "r5", "other regions (3)"]
    start, end = spans(ax)["other regions (3)"][0]
    assert (start, end - start) == (100.0 + 99.0 + 98.0 + 97.0 + 96.0 + 95.0, 94.0 + 93.0 + 92.0)


def test_steps_beyond_the_limit_are_left_out_and_counted() -> None:
    table = pd.concat([cpu_trace().steps()] * 20, ignore_index=True)
    ax = charts.steps(table, most=48)
    assert ax.get_title(loc="left") == "What ran in each step: first 48 of 60 steps"
    # Parts that are zero in all steps are left out.
    assert {name: len(bars) for name, bars in spans(ax, axis=1).items()} == dict.fromkeys(
        ["data loading", "operators", "other"], 48
    )
    assert ax.get_xlabel() == "step"


def test_a_device_bar_adds_up_to_its_span() -> None:
    ax = charts.timeline(gpu_trace().timeline())
    # computation 540, copies 50, idle 410 ms; no communication in it, so no such part.
    assert spans(ax) == {
        "computation": [(0, 540_000.0)],
        "exposed copies": [(540_000.0, 590_000.0)],
        "idle": [(590_000.0, 1_000_000.0)],
    }
    assert ax.get_title(loc="left") == "1 device, busy 59 % of the span"


def test_empty_tables_say_so() -> None:
    ax = charts.kernels(schema.empty("kernels"))
    assert [text.get_text() for text in ax.texts] == ["0 kernels: nothing to draw"]


def test_names_are_shown_literally_and_stay_reachable_in_full() -> None:
    ax = charts.regions(hostile_trace().regions(), top=len(HOSTILE))
    shown = [label.get_text().strip() for label in ax.get_yticklabels()]
    assert {"$x^$", "$\\badcmd$", "_private_step", "(no name)", "<script>alert(2)</script>"} <= set(shown)
    assert max(map(len, shown)) <= canvas.LABEL_LIMIT
    long = next(name for name in HOSTILE if name.startswith("long::"))
    assert long in {bar.get_gid() for bar in ax.patches}


def test_a_name_that_begins_with_an_underscore_has_a_legend_entry() -> None:
    parts = [Part("_private_step", "#3b7dd8", [1.0]), Part("$x^$", "#e8871e", [2.0])]
    ax = stacked(Stacks(parts, ["0"], "wall time", "step", "two parts"))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["_private_step", "$x^$"]
    charts.png(ax)


def test_what_the_font_lacks_becomes_a_box_and_the_rest_stays() -> None:
    assert canvas.drawable("aten::mm ±") == "aten::mm ±"
    assert canvas.drawable("卷 \U0001fae0") == "\u25a1 \u25a1"


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(max_size=60), min_size=1, max_size=4))
def test_any_name_draws(names: list[str]) -> None:
    table = operators_of([(name, 1, 2.0, 1.0, 0.0, 0.0) for name in dict.fromkeys(names)])
    assert charts.png(charts.operators(table)).startswith(b"\x89PNG")


def test_the_users_mathtext_and_tight_boxes_do_not_reach_our_pictures() -> None:
    plain = charts.png(charts.regions(cpu_trace().regions()))
    hostile = {"savefig.bbox": "tight", "axes.facecolor": "red", "text.color": "lime", "axes.grid": True}
    with mpl.rc_context({**hostile, "figure.dpi": 50, "xtick.labelcolor": "lime"}):
        assert charts.png(charts.regions(cpu_trace().regions())) == plain


def test_an_image_tag_carries_its_picture_width_and_escaped_alt() -> None:
    tag = charts.image(charts.regions(cpu_trace().regions()), 'a "chart" of <b>')
    assert tag.startswith('<img src="data:image/png;base64,iVBOR')
    assert f'width="{round(canvas.WIDTH * 100)}" alt="a &quot;chart&quot; of &lt;b&gt;">' in tag


def test_the_ground_is_transparent_and_text_reads_on_light_and_dark() -> None:
    picture = Image.open(io.BytesIO(charts.png(charts.regions(cpu_trace().regions())))).convert("RGBA")
    assert picture.getpixel((0, 0))[3] == 0
    for ground in ("#ffffff", "#111111"):
        assert _contrast(canvas.INK, ground) > 4.2
        for color in (*canvas.PALETTE, canvas.GREY):
            assert _contrast(color, ground) > 2.2


def spans(ax: Axes, axis: int = 0) -> dict[str, list[tuple[float, float]]]:
    """Where each bar of a stack begins and ends, by part."""
    return {
        str(bars.get_gid()): [
            (float(path.vertices[:, axis].min()), float(path.vertices[:, axis].max())) for path in bars.get_paths()
        ]
        for bars in ax.collections
    }


def _contrast(one: str, other: str) -> float:
    """Contrast ratio by the web's formula (relative luminance)."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_what_has_no_time_has_no_bar_and_is_counted_as_cut() -> None:
    table = operators_of([("a", 1, 5.0, 5.0, 0.0, 0.0), ("b", 1, 3.0, 3.0, 0.0, 0.0)])
    table.loc[1, "host_self_us"] = None
    ax = charts.operators(table)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a"]
    assert ax.get_title(loc="left") == "top 1 of 2 operators"
    table.loc[0, "host_self_us"] = None
    charts.png(charts.operators(table))
