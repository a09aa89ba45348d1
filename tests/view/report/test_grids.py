"""Tables as rows of cells."""

from __future__ import annotations

from nbprof import schema
from nbprof.view.report.grids import kernels_grid, operators_grid, regions_grid
from tests.view.handmade import cpu_trace, gpu_trace, operators_of, regions_of


def test_operators_are_sorted_by_host_self_time_without_a_device() -> None:
    grid = operators_grid(cpu_trace().operators(), "trace")
    assert [head.words for head in grid.heads] == [
        *("operator", "host self, ms", "share", "host total, ms", "calls", "mean, µs"),
    ]
    # 992 of 1,564 ms; 1,000,000 us in 180 calls.
    assert [cell.text for cell in grid.rows[0]] == ["aten::addmm", "992.00", "63 %", "1,000.0", "180", "5,555.6"]
    assert grid.note == "top 10 of 25 operators, by host self time"
    assert (grid.total, len(grid.rows), grid.call) == (25, 25, "trace.operators()")


def test_operators_are_sorted_by_device_self_time_with_one() -> None:
    grid = operators_grid(gpu_trace().operators(), "trace")
    assert [row[0].text for row in grid.rows][:2] == ["aten::mm", "aten::_flash_attention_forward"]
    assert [head.text for head in grid.heads if head.minor] == ["device total"]


def test_at_most_fifty_rows_are_shown_and_all_are_counted() -> None:
    rows = [(f"op{number}", 1, 100.0 - number, 100.0 - number, 0.0, 0.0) for number in range(80)]
    grid = operators_grid(operators_of(rows), "trace")
    assert (len(grid.rows), grid.total) == (50, 80)
    assert grid.rows[0][0].text == "op0"


def test_empty_tables_give_grids_without_rows() -> None:
    for make, name in ((operators_grid, "operators"), (kernels_grid, "kernels"), (regions_grid, "regions")):
        grid = make(schema.empty(name), "trace")
        assert grid.rows == () and grid.total == 0


def test_regions_stand_under_the_region_that_they_were_entered_from() -> None:
    rows = regions_grid(cpu_trace().regions(), "trace").rows
    assert [(row[0].text, row[0].indent) for row in rows] == [
        ("training_dit", 0),
        ("mlp", 1),
        ("gelu", 2),
        ("attention", 1),
    ]


def test_the_first_fifty_regions_are_shown_in_the_tables_own_order_and_all_are_counted() -> None:
    rows = [(depth, f"r{depth}", f"r{depth - 1}", 1, 9.0 + depth, 1.0, 1.0, 0.0, None, 0.1) for depth in range(60)]
    grid = regions_grid(regions_of(rows), "trace")
    assert [(row[0].text, row[0].indent) for row in grid.rows] == [(f"r{depth}", depth) for depth in range(50)]
    assert (grid.total, grid.note) == (60, "top 50 of 60 regions")
    assert not grid.sortable


def test_what_is_missing_is_a_dash_that_sorts_last() -> None:
    regions = regions_of([(0, "a", None, 1, 9.0, 9.0, 1.0, 3.0, None, 1.0)])
    idle = regions_grid(regions, "trace").rows[0][6]
    assert (idle.text, idle.value) == ("–", None)
