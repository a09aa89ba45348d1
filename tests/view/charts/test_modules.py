"""Trees of modules and regions: indented names, a bar for each side, paler where the time is not the row's own."""

from __future__ import annotations

from nbprof.view import charts
from tests.view.charts.columns import table
from tests.view.handmade import cpu_trace

MODULES = table(
    "modules",
    module=["Model_0", "Block_0", "Linear_0", "Block_1"],
    parent=[None, "Model_0", "Block_0", "Model_0"],
    depth=[0, 1, 2, 1],
    host_total_us=[900.0, 500.0, 300.0, 200.0],
    host_self_us=[200.0, 200.0, 300.0, 200.0],
    device_total_us=[700.0, 600.0, 600.0, 100.0],
    device_self_us=[0.0, 0.0, 600.0, 100.0],
)


def test_each_row_has_a_bar_for_host_and_device_and_says_their_times() -> None:
    ax = charts.modules(MODULES)
    # Four bars each: totals and own time of the host, then of the device.
    widths = [round(bar.get_width()) for bar in ax.patches]
    assert widths == [900, 500, 300, 200, 200, 200, 300, 200, 700, 600, 600, 100, 0, 0, 600, 100]
    assert [text.get_text() for text in ax.texts][:2] == [" 900 µs, 700 µs", " 500 µs, 600 µs"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["host", "device"]
    assert [text.get_position()[0] for text in ax.texts] == [900.0, 600.0, 600.0, 200.0]


def test_names_are_indented_by_depth_and_stand_at_one_edge() -> None:
    ax = charts.modules(MODULES)
    labels = ax.get_yticklabels()
    assert [text.get_text() for text in labels] == ["Model_0", "  Block_0", "    Linear_0", "  Block_1"]
    ax.get_figure(root=True).canvas.draw()
    (edge,) = {round(text.get_window_extent().x0) for text in labels}
    assert edge >= 0
    assert max(text.get_window_extent().x1 for text in labels) < ax.bbox.x0


def test_the_largest_rows_stay_in_the_order_of_the_tree() -> None:
    ax = charts.modules(MODULES, top=3)
    assert [text.get_text().strip() for text in ax.get_yticklabels()] == ["Model_0", "Block_0", "Linear_0"]
    assert ax.get_title(loc="left") == "top 3 of 4 modules"


def test_without_a_device_there_is_one_bar_a_row_and_no_legend() -> None:
    ax = charts.modules(MODULES.assign(device_total_us=0.0, device_self_us=0.0))
    assert len(ax.patches) == 2 * len(MODULES)
    assert ax.get_legend() is None
    assert ax.texts[0].get_text() == " 900 µs"


def test_deep_names_are_indented_up_to_a_limit() -> None:
    count = 40
    deep = table("modules", module=["M"] * count, depth=list(range(count)), host_total_us=[1.0] * count)
    ax = charts.modules(deep, top=count)
    assert max(len(text.get_text()) for text in ax.get_yticklabels()) == 17


def test_regions_read_as_a_tree_with_their_own_time_solid() -> None:
    ax = charts.region_tree(cpu_trace().regions())
    shown = [text.get_text() for text in ax.get_yticklabels()]
    assert shown == ["training_dit", "  mlp", "    gelu", "  attention"]
    # Wall, then own time; nothing ran on a device.
    widths = [bar.get_width() / 1000 for bar in ax.patches]
    assert widths == [1840.0, 900.0, 40.0, 700.0, 240.0, 860.0, 40.0, 700.0]
