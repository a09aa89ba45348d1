"""Chains of kernels: the longest first, idle time behind."""

from __future__ import annotations

from nbprof.view import charts
from tests.view.charts.columns import table

SEQUENCES = table(
    "sequences",
    sequence=["relu", "gemm -> bias"],
    operator=["aten::relu", "aten::linear"],
    kernels=[1, 2],
    calls=[1, 40],
    total_us=[100.0, 300.0],
    gap_us=[0.0, 60.0],
    share=[0.1, 0.3],
)


def test_bars_are_the_kernels_time_with_the_gaps_paler_behind() -> None:
    ax = charts.sequences(SEQUENCES)
    assert [bar.get_width() for bar in ax.patches] == [360.0, 100.0, 300.0, 100.0]
    assert [text.get_text() for text in ax.texts] == [" 300 µs, 30 %, 40 runs", " 100 µs, 10 %, 1 run"]
    assert ax.get_yticklabels()[0].get_text() == "aten::linear (2): gemm → bias"


def test_names_are_bare_and_stay_reachable_in_full() -> None:
    chain = "void a::b::gemm<float, (c)2>(a::Params) -> void (anonymous namespace)::add(int) -> Memcpy DtoD (Device)"
    named = SEQUENCES.assign(sequence=["x", chain], operator="autograd::engine::evaluate_function: MmBackward0")
    ax = charts.sequences(named, top=1)
    assert ax.get_yticklabels()[0].get_text() == "MmBackward0 (2): gemm → …Memcpy DtoD"
    assert ax.patches[-1].get_gid() == f"autograd::engine::evaluate_function: MmBackward0: {chain}"
