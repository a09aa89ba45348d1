"""Kernels by class: a bar each, with its share."""

from __future__ import annotations

import pandas as pd

from nbprof.view import charts


def kernels(*rows: tuple[str, float]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=["kernel_class", "total_us"]).astype({"kernel_class": "category"})


def test_classes_are_summed_largest_first_with_their_share() -> None:
    ax = charts.kernel_classes(kernels(("reduction", 10.0), ("matmul", 30.0), ("matmul", 30.0), ("other", 30.0)))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["matmul", "other", "reduction"]
    assert [bar.get_width() for bar in ax.patches] == [60.0, 30.0, 10.0]
    # Of 100 us.
    assert [text.get_text() for text in ax.texts] == [" 60.0 µs, 60 %", " 30.0 µs, 30 %", " 10.0 µs, 10 %"]
    assert ax.get_title(loc="left") == "3 kernel kinds"
    assert ax.get_xlabel() == "time on the device, µs"
