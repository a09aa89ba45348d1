"""Collectives: bytes, bandwidths and what computation hides of them."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from nbprof import schema
from nbprof.analysis.communication import communication
from nbprof.analysis.timeline import timeline
from tests.frames import kernel, launch, make_events, marker, memory, op, row
from tests.references import Reference, read_reference

NCCL = "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)"


def arguments(name: str, taken: int, given: int, ranks: int | None = 4, kind: str = "Float") -> dict[str, Any]:
    return {
        "collective": name,
        "group": "default_pg",
        "group_size": ranks,
        "in_elements": taken,
        "out_elements": given,
        "element_type": kind,
    }


def one(*rows: dict[str, Any]) -> dict[str, Any]:
    return row(communication(make_events(*rows)))


def test_nothing_and_a_trace_without_collectives_give_an_empty_table(no_events: pd.DataFrame) -> None:
    for events in (no_events, make_events(op("mm", 0, 10), kernel("sgemm", 0, 10))):
        table = communication(events)
        assert table.empty
        assert list(table.columns) == schema.names("communication")
        assert table.dtypes.astype(str).equals(schema.empty("communication").dtypes.astype(str))


@pytest.mark.parametrize(
    ("name", "taken", "given", "expected", "in_bytes", "factor"),
    [
        ("allreduce", 1000, 1000, "allreduce", 4000, 1.5),  # 2 * 3 / 4
        ("_allgather_base", 1000, 4000, "allgather", 16000, 0.75),  # 3 / 4 of what comes out
        ("_reduce_scatter_base", 4000, 1000, "reduce_scatter", 16000, 0.75),
        ("all_to_all", 4000, 4000, "alltoall", 16000, 0.75),
        ("broadcast", 1000, 1000, "broadcast", 4000, 1),
        ("send", 1000, 1000, "send", 4000, 1),
    ],
)
def test_bandwidths_are_those_of_nccl_tests(
    name: str, taken: int, given: int, expected: str, in_bytes: int, factor: float
) -> None:
    # In 10 us: 4000 bytes are 0.4 GB/s, 16000 are 1.6.
    found = one(kernel(NCCL, 0, 10, **arguments(name, taken, given)))
    assert (found["collective"], found["bytes"], found["group_size"]) == (expected, in_bytes, 4)
    assert found["algorithm_gbps"] == pytest.approx(in_bytes / 10_000)
    assert found["bus_gbps"] == pytest.approx(in_bytes / 10_000 * factor)


def test_arguments_come_from_the_operator_around_the_launch_where_the_kernel_has_none() -> None:
    found = one(
        op("c10d::allreduce_", 0, 30),
        op("record_param_comms", 1, 20, **arguments("allreduce", 50, 50, 2, "Half")),
        op("inside", 2, 10),
        launch(3, 2, 7),
        kernel(NCCL, 40, 10, 7),
    )
    assert (found["collective"], found["group"], found["bytes"], found["element_type"]) == (
        "allreduce",
        "default_pg",
        100,
        "Half",
    )


def test_an_operator_on_another_thread_says_nothing_of_a_launch() -> None:
    there = op("record_param_comms", 0, 20, "2", **arguments("allreduce", 50, 50))
    found = one(there, launch(3, 2, 7), kernel(NCCL, 40, 10, 7))
    assert pd.isna([found["collective"], found["bytes"], found["bus_gbps"]]).all()


def test_the_range_around_the_launch_says_what_older_traces_recorded() -> None:
    # NCCL does an all-to-all by sending and receiving. 2 * 500 floats of 4 bytes in 10 us: 0.4 GB/s.
    shapes = {"shapes": "[[2, 500]]", "dtypes": '["float"]'}
    found = one(
        marker("nccl:all_to_all", 0, 30, **shapes), launch(3, 2, 7), kernel("ncclKernel_SendRecv_RING", 40, 10, 7)
    )
    assert (found["collective"], found["bytes"]) == ("alltoall", 4000)
    assert found["algorithm_gbps"] == pytest.approx(0.4)
    assert pd.isna(found["bus_gbps"])  # of how many ranks, it doesn't say


def test_what_a_rank_puts_into_an_all_gather_is_not_its_bytes() -> None:
    shapes = {"shapes": "[[500]]", "dtypes": '["float"]'}
    assert pd.isna(one(marker("gloo:all_gather", 0, 30, **shapes))["bytes"])


def test_a_kernels_name_is_the_last_resort() -> None:
    found = one(kernel("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", 0, 10))
    assert found["collective"] == "reduce_scatter"
    assert pd.isna([found["bytes"], found["group"], found["algorithm_gbps"]]).all()


def test_a_type_of_unknown_size_and_a_kernel_of_no_length_have_no_bandwidth() -> None:
    assert pd.isna(one(kernel(NCCL, 0, 10, **arguments("allreduce", 5, 5, kind="New")))["bytes"])
    found = one(kernel(NCCL, 0, 0, **arguments("allreduce", 5, 5)))
    assert pd.isna([found["algorithm_gbps"], found["bus_gbps"], found["overlap_share"]]).all()
    assert found["exposed_us"] == 0


def test_a_broadcast_needs_no_number_of_ranks_and_one_rank_moves_nothing() -> None:
    assert one(kernel(NCCL, 0, 10, **arguments("broadcast", 1000, 1000, None)))["bus_gbps"] == pytest.approx(0.4)
    assert one(kernel(NCCL, 0, 10, **arguments("allreduce", 1000, 1000, 1)))["bus_gbps"] == 0


def test_computation_on_the_same_device_hides_it() -> None:
    # [10,30) beside computation in [0,15) and [25,40) of its device: exposed [15,25). Copies hide nothing.
    found = one(
        kernel("sgemm", 0, 15),
        kernel("sgemm", 25, 15),
        kernel("sgemm", 0, 40, device=1),
        memory("Memcpy DtoD", 0, 40, stream=9),
        kernel("ncclAllReduce", 10, 20, stream=8),
    )
    assert (found["exposed_us"], found["overlap_share"], found["device"], found["stream"]) == (10, 0.5, 0, 8)


def test_collectives_beside_each_other_each_count_their_own_time() -> None:
    # [0,20) and [10,30) with nothing else: 20 exposed each, 30 in the union.
    events = make_events(kernel("ncclAllReduce", 10, 20, stream=8), kernel("ncclBroadcast", 0, 20))
    table = communication(events)
    assert table["start_us"].tolist() == [0, 10]
    assert table["exposed_us"].tolist() == [20, 20]
    assert row(timeline(events))["exposed_comm_us"] == 30


def test_copies_are_never_communication() -> None:
    assert communication(make_events(memory("hipMemcpyNccl", 0, 10), memory("nccl copy", 0, 10))).empty


def test_gloos_are_on_the_host_and_know_nothing_of_devices() -> None:
    # torch opens the range on a thread of Gloo's own.
    shapes = {"shapes": "[[1000]]", "dtypes": '["float"]'}
    found = one(op("c10d::allreduce_", 0, 5), marker("gloo:all_reduce", 3, 10, "2", **shapes), kernel("sgemm", 0, 50))
    assert (found["name"], found["collective"], found["bytes"]) == ("gloo:all_reduce", "allreduce", 4000)
    assert pd.isna([found["device"], found["stream"], found["exposed_us"], found["overlap_share"]]).all()


def test_rows_outside_regions_do_not_count() -> None:
    assert communication(make_events(kernel("ncclAllReduce", 0, 10, in_region=False))).empty


def test_recorded_traces_agree_with_plain_arithmetic(reference: Reference) -> None:
    table = communication(reference.events)
    plain = reference.plain["overlap"]
    assert len(table) == plain["comm"]["count"]
    assert table["dur_us"].sum() == pytest.approx(plain["comm"]["sum_dur_us"], abs=0.01)
    # In none of these traces do collectives overlap each other, so that sums are unions.
    assert plain["comm"]["sum_dur_us"] == plain["comm"]["union_us"]
    assert table["exposed_us"].sum() == pytest.approx(plain["exposed_comm_us"], abs=0.01)
    hidden = (table["overlap_share"] * table["dur_us"]).sum()
    assert hidden == pytest.approx(plain["comm_and_compute_us"], abs=0.01)
    assert (table["exposed_us"] + table["overlap_share"] * table["dur_us"]).tolist() == pytest.approx(
        table["dur_us"].tolist()
    )


@pytest.mark.parametrize(
    ("name", "collectives", "untold"),
    [
        ("hta_a100_ddp_nccl", {"allreduce": 15, "broadcast": 6}, 0),
        # Five kernels whose launch lies before the recording have a name that says nothing.
        ("tl_mi300_resnet_ddp", {"allreduce": 6, "broadcast": 6}, 5),
        ("hta_a100_diff_control", {"alltoall": 42, "allreduce": 18}, 0),
        # Four kernels were launched before the recording: only their names are known.
        ("hta_v100_diff_test", {"alltoall": 42, "allreduce": 21, "sendrecv": 1}, 4),
    ],
)
def test_recorded_collectives_are_told_apart(traces: Any, name: str, collectives: dict[str, int], untold: int) -> None:
    table = communication(read_reference(traces, name).events)
    assert table["collective"].value_counts().to_dict() == collectives
    assert table["bytes"].isna().sum() == untold


def test_a_recorded_all_reduce_has_its_bandwidth(traces: Any) -> None:
    # The first: 2,049,000 floats among 2 ranks in 3,306.963 us are 8,196,000 bytes, 2.4784 GB/s, times 2 * 1 / 2.
    table = communication(read_reference(traces, "hta_a100_ddp_nccl").events)
    first = table[table["collective"] == "allreduce"].iloc[0]
    assert (first["bytes"], first["group_size"], first["element_type"]) == (8_196_000, 2, "Float")
    assert first["algorithm_gbps"] == pytest.approx(2.478407, abs=1e-6)
    assert first["bus_gbps"] == first["algorithm_gbps"]
