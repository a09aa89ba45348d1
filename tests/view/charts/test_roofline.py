"""Roofline: where each operator stands, and under which roof."""

from __future__ import annotations

import pandas as pd
import pytest
from matplotlib.axes import Axes

from nbprof.view import charts

OPERATORS = pd.DataFrame(
    [
        # 2e9 FLOPs over 1e7 bytes in 20 us: 200 FLOP/byte, 1e14 FLOP/s = 100 TFLOP/s.
        ("aten::mm", 2e9, 1e7, 20.0, 20.0, 900.0, 900.0),
        # 1e6 over 1e7 in 5 us: 0.1 FLOP/byte, 0.2 TFLOP/s.
        ("aten::add", 1e6, 1e7, 5.0, 4.0, 1.0, 1.0),
        ("aten::copy_", 0.0, 1e7, 5.0, 5.0, 1.0, 1.0),
        ("aten::sort", None, None, 5.0, 5.0, 1.0, 1.0),
        ("aten::view", 1.0, 1.0, 0.0, 0.0, 1.0, 1.0),
        # Leaves its work to aten::mm.
        ("aten::matmul", 2e9, 1e7, 20.0, 0.0, 950.0, 50.0),
    ],
    columns=[
        "name",
        "flops",
        "moved_bytes",
        "device_total_us",
        "device_self_us",
        "host_total_us",
        "host_self_us",
    ],
)


def places(ax: Axes) -> dict[str, list[list[float]]]:
    return {str(bubble.get_gid()): bubble.get_offsets().tolist() for bubble in ax.collections}


def test_bubbles_stand_at_their_intensity_and_speed() -> None:
    ax = charts.roofline(OPERATORS)
    # Shares of 25 us; what has no FLOPs, no bytes, no time, or none of its own, is left out.
    found = places(ax)
    assert list(found) == ["aten::mm, 80 %", "aten::add, 20 %"]
    assert found["aten::mm, 80 %"][0] == pytest.approx([200.0, 100.0])
    assert found["aten::add, 20 %"][0] == pytest.approx([0.1, 0.2])
    sizes = [bubble.get_sizes()[0] for bubble in ax.collections]
    assert sizes[0] == pytest.approx(4 * sizes[1])
    assert ax.get_title(loc="left") == "Roofline: 2 of 6 operators, those with known work"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("arithmetic intensity, FLOP/byte", "TFLOP/s")


def test_on_a_host_alone_the_time_is_the_hosts() -> None:
    # 1e6 FLOPs in 1 us: 1 TFLOP/s.
    ax = charts.roofline(OPERATORS[1:2].assign(device_total_us=0.0))
    assert places(ax)["aten::add, 100 %"][0] == pytest.approx([0.1, 1.0])


@pytest.mark.parametrize(
    ("roofs", "name", "left", "right"),
    [
        # The axis goes from 0.01 to 1000 FLOP/byte; x 2000 GB/s that is 0.02 to 2000 TFLOP/s.
        ({"peak_tflops": 900.0, "peak_gbs": 2000.0}, "roof: 900 TFLOP/s, 2,000 GB/s", 0.02, 900.0),
        ({"peak_tflops": 900.0}, "roof: 900 TFLOP/s", 900.0, 900.0),
        ({"peak_gbs": 2000.0}, "roof: 2,000 GB/s", 0.02, 2000.0),
    ],
)
def test_a_roof_is_the_lower_of_the_two_limits(roofs: dict[str, float], name: str, left: float, right: float) -> None:
    ax = charts.roofline(OPERATORS, **roofs)
    (roof,) = ax.lines
    assert ax.get_xlim() == pytest.approx((0.01, 1000.0))
    assert [roof.get_ydata()[0], roof.get_ydata()[-1]] == pytest.approx([left, right])
    assert ax.get_legend().get_texts()[-1].get_text() == name


def test_operators_beyond_the_largest_share_one_colour() -> None:
    ax = charts.roofline(OPERATORS, top=1)
    assert list(places(ax)) == ["aten::mm, 80 %", "other operators (1)"]


def test_rows_that_share_an_index_are_told_apart() -> None:
    twice = pd.concat([OPERATORS[:1], OPERATORS[1:2].set_axis([0])])
    assert list(places(charts.roofline(twice))) == ["aten::mm, 80 %", "aten::add, 20 %"]
