"""`compare`: two traces or parts side by side, in tables and in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

import nbprof
from nbprof import schema
from nbprof.metadata import TraceMetadata
from tests.frames import kernel, launch, make_events, marker, memory, op, region, row
from tests.references import read_reference


def trace_of(*rows: dict[str, object]) -> nbprof.Trace:
    return nbprof.Trace(make_events(*rows), TraceMetadata("run.json"))


def steps_of(*lengths: float) -> list[dict[str, object]]:
    """Steps 100 us apart, each with a region that holds one multiplication, and 2 us beside it."""
    rows: list[dict[str, object]] = []
    for number, length in enumerate(lengths):
        start = 100 * number
        rows += [
            marker(f"ProfilerStep#{number}", start, length + 2),
            region("block", start, length),
            op("aten::mm", start, length, shapes=f"[[{int(length)}]]"),
        ]
    return rows


@pytest.fixture
def on_host() -> nbprof.Trace:
    return trace_of(*steps_of(10, 10, 30, 50))


def test_parts_of_one_trace_compare(on_host: nbprof.Trace) -> None:
    compared = nbprof.compare(on_host.where(step=[0, 1]), on_host.where(step=[2, 3]))
    mm = row(compared.operators(), name="aten::mm")
    assert (mm["calls_a"], mm["calls_b"], mm["time_a_us"], mm["time_b_us"], mm["ratio"]) == (2, 2, 20, 80, 4)
    assert row(compared.regions(), name="block", parent=None)["difference_us"] == 60
    # by place: 12 -> 32 and 12 -> 52
    assert compared.steps()[["name", "difference_us"]].to_numpy().tolist() == [[1, 40.0], [0, 20.0]]
    assert compared.kernels().empty
    assert compared.timeline().empty


def test_the_summary_says_what_takes_longer_by_step_and_which_rows_explain_it(on_host: nbprof.Trace) -> None:
    # a step: 12 us in steps 0 and 1, 52 in step 3, of which 40 more in the one operator
    a, b = on_host.where(step=[0, 1]), on_host.where(step=3)
    assert nbprof.compare(a, b).summary == (
        "b takes 52.0 µs a step (1 step), a 12.0 µs (2 steps): 333 % longer. "
        "By what ran: operators on the host +40.0 µs. By operators: aten::mm +40.0 µs."
    )
    assert repr(nbprof.compare(b, a)).startswith("<nbprof.Comparison: b takes 12.0 µs a step (2 steps), a 52.0 µs")
    assert "77 % less. By what ran: operators on the host -40.0 µs." in nbprof.compare(b, a).summary
    assert nbprof.compare(a, a).summary == "b takes 12.0 µs a step (2 steps), a 12.0 µs (2 steps): no change."


def on_device(copy_us: float, gap_us: float) -> nbprof.Trace:
    """One launch each of a matrix product of 10 us and a copy, which come after each other with a gap."""
    return trace_of(
        op("aten::mm", 0, 2),
        launch(0, 1, 1),
        launch(2, 1, 2),
        kernel("gemm", 1, 10, 1),
        memory("Memcpy DtoH", 11 + gap_us, copy_us, 2),
    )


def test_the_timeline_says_which_part_grew_and_sums_to_the_span() -> None:
    compared = nbprof.compare(on_device(5, 0), on_device(25, 3))
    parts = compared.timeline().set_index("name")["difference_us"]
    assert parts.to_dict() == {"exposed_memory": 20.0, "idle": 3.0, "computation": 0.0, "exposed_comm": 0.0}
    assert row(compared.operators(), name="aten::mm")["time_a_us"] == 10  # on the device
    assert row(compared.operators(time="host_total_us"), name="aten::mm")["time_a_us"] == 2
    assert "By what ran: copies +20.0 µs" in compared.summary


def test_only_the_rows_that_explain_most_are_named() -> None:
    a = trace_of(*(op(name, 100 * place, 10) for place, name in enumerate("xyz")))
    b = trace_of(op("x", 0, 11), op("y", 100, 95), op("z", 200, 14))
    # y explains 85 of 90: enough
    assert nbprof.compare(a, b).summary.endswith("By operators: y +85.0 µs.")


def test_by_shape_too(on_host: nbprof.Trace) -> None:
    compared = nbprof.compare(on_host.where(step=[0, 1]), on_host.where(step=2)).operators(by=("name", "shape"))
    assert list(compared.columns) == [*schema.names("comparison"), "shape"]
    assert row(compared, shape="[[10]]")["only_in"] == "a"
    assert row(compared, shape="[[30]]")["only_in"] == "b"


def test_empty_traces_compare_to_empty_tables(on_host: nbprof.Trace) -> None:
    nothing = on_host[:0]
    for a, b in ((nothing, nothing), (nothing, on_host)):
        compared = nbprof.compare(a, b)
        for table in ("operators", "kernels", "regions", "steps", "timeline"):
            frame = getattr(compared, table)()
            assert list(frame.columns)[: len(schema.names("comparison"))] == schema.names("comparison")
        assert compared.summary == "Nothing to compare: a trace without work."


def test_what_is_no_trace_is_refused(on_host: nbprof.Trace) -> None:
    with pytest.raises(TypeError, match=r"two traces, not DataFrame: open files with nbprof\.load_trace"):
        nbprof.compare(on_host, on_host.events)  # type: ignore[arg-type]


def test_the_recorded_pair_says_what_it_says(traces: Path) -> None:
    pair = (read_reference(traces, name) for name in ("hta_a100_diff_control", "hta_v100_diff_test"))
    a, b = (nbprof.Trace(one.events, one.metadata) for one in pair)
    compared = nbprof.compare(a, b)
    assert (len(compared.steps()), compared.steps()["only_in"].notna().sum()) == (6, 0)
    for trace, side in ((a, "time_a_us"), (b, "time_b_us")):  # recorded on devices of different numbers
        assert compared.timeline()[side].sum() == trace.timeline()["span_us"].sum()
    assert "longer" in compared.summary


def test_names_come_first_whatever_the_order_of_keys() -> None:
    trace = nbprof.Trace(make_events(op("mm", 0, 5, shapes="[[2, 2]]")), TraceMetadata("run.json"))
    table = nbprof.compare(trace, trace).operators(by=("shape", "name"))
    assert list(table.columns[:1]) == ["name"]
    assert table["name"].tolist() == ["mm"]
