"""Memory: lines by device, the peak marked."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from nbprof.view import charts


def table(*rows: tuple[str, float, int | None, int | None, str | None]) -> pd.DataFrame:
    columns = ["device", "ts_us", "allocated_bytes", "reserved_bytes", "operator"]
    frame = pd.DataFrame(list(rows), columns=columns)
    return frame.astype({"allocated_bytes": "Int64", "reserved_bytes": "Int64", "operator": "category"})


def lines(ax: Axes) -> dict[str, list[float]]:
    return {str(line.get_gid()): line.get_ydata().tolist() for line in ax.lines if line.get_gid()}


def test_the_peak_says_how_much_when_and_in_what() -> None:
    ax = charts.memory(
        table(
            ("cuda:0", 10.0, 1_000_000, 4_000_000, None),
            ("cuda:0", 2_500.0, 3_200_000, 4_000_000, "aten::mm"),
            ("cuda:0", 3_000.0, 500_000, 4_000_000, None),
        )
    )
    assert [text.get_text().strip() for text in ax.texts] == ["peak 3.2 MB at 2.50 ms, aten::mm"]
    assert lines(ax) == {"cuda:0 allocated": [1e6, 3.2e6, 5e5, 5e5], "cuda:0 reserved": [4e6] * 4}
    assert ax.get_ylabel() == "memory, MB"
    assert "2" in [label.get_text() for label in ax.get_yticklabels()]
    assert ax.get_xlabel() == "time in the trace, ms"


def test_a_peak_outside_of_all_operators_names_none() -> None:
    ax = charts.memory(table(("cpu", 1.0, 512, None, None)))
    assert [text.get_text().strip() for text in ax.texts] == ["peak 512 B at 1.00 µs"]


def test_devices_with_the_highest_peaks_are_kept_and_the_rest_counted() -> None:
    rows = [(f"cuda:{number}", float(number), 1_000 * (number + 1), None, None) for number in range(4)]
    ax = charts.memory(table(*rows), top=2)
    assert list(lines(ax)) == ["cuda:3 allocated", "cuda:2 allocated"]
    assert ax.get_title(loc="left") == "Memory: top 2 of 4 devices"


def test_rows_out_of_order_are_drawn_by_time() -> None:
    ax = charts.memory(table(("cpu", 5.0, 2_000, None, None), ("cpu", 1.0, 1_000, None, None)))
    assert lines(ax) == {"cpu allocated": [1_000.0, 2_000.0, 2_000.0]}


def test_reserved_bytes_that_are_zero_throughout_have_no_line() -> None:
    assert list(lines(charts.memory(table(("cpu", 1.0, 1_000, 0, None))))) == ["cpu allocated"]
