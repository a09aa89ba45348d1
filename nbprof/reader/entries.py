"""What the decoder makes of one entry of a trace's list: its own fields, and the arguments that become columns.

In: nothing. Out: msgspec structs, and `GROUPS`: which arguments come together, and which entries have them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

Scalar: TypeAlias = str | int | float | None
Value: TypeAlias = Scalar | bool

MISSING = -(1 << 62)
"""Stands for an integer that isn't there."""
NO_TIME = float(MISSING)
"""The same for a time; a float, so that a column of fractional times stays one of floats."""
NO_FIGURE = float("nan")
NO_TEXT = msgspec.Raw()


def _key(name: str, default: Value = MISSING) -> Value:
    value: Value = msgspec.field(name=name, default=default)
    return value


class Args(msgspec.Struct, gc=False):
    """Arguments that become columns, by the names of these; in the order in which Kineto writes them they decode fastest."""

    external_id: Value = _key("External id")
    device: Value = MISSING
    stream: Value = MISSING
    correlation: Value = MISSING
    registers: Value = _key("registers per thread")
    shared_memory_bytes: Value = _key("shared memory")
    blocks_per_sm: Value = _key("blocks per SM", NO_FIGURE)
    warps_per_sm: Value = _key("warps per SM", NO_FIGURE)
    grid: msgspec.Raw = NO_TEXT
    block: msgspec.Raw = NO_TEXT
    occupancy: Value = _key("est. achieved occupancy %", NO_FIGURE)
    seq: Value = _key("Sequence number")
    forward_thread: Value = _key("Fwd thread id")
    dtypes: msgspec.Raw = msgspec.field(name="Input type", default=NO_TEXT)
    strides: msgspec.Raw = msgspec.field(name="Input Strides", default=NO_TEXT)
    shapes: msgspec.Raw = msgspec.field(name="Input Dims", default=NO_TEXT)
    bytes: Value = MISSING
    bandwidth_gbs: Value = _key("memory bandwidth (GB/s)", NO_FIGURE)
    collective: Value = _key("Collective name", None)
    in_elements: Value = _key("In msg nelems")
    out_elements: Value = _key("Out msg nelems")
    group_size: Value = _key("Group size")
    element_type: Value = _key("dtype", None)
    group: Value = _key("Process Group Name", None)
    device_type: Value = _key("Device Type")
    device_id: Value = _key("Device Id")
    address: Value = _key("Addr")
    memory_bytes: Value = _key("Bytes")
    allocated_bytes: Value = _key("Total Allocated")
    reserved_bytes: Value = _key("Total Reserved")
    old_external_id: Value = _key("external id")


class Event(msgspec.Struct, gc=False):
    """One entry of the list."""

    ph: Scalar = None
    cat: Scalar = None
    name: Scalar = None
    pid: Scalar = None
    tid: Scalar = None
    ts: Scalar = NO_TIME
    dur: Scalar = NO_TIME
    args: Args | None = None
    id: Scalar = MISSING


NO_ARGS = Args()


@dataclass(frozen=True)
class Group:
    """Arguments that come together: `integers` and `figures` become columns of numbers, `texts` and `words` categories of
    their JSON text or their value. An entry has the group when it has one of `leads`.

    Not all are asked for, since a look at each of thirty would take as long as decoding.
    """

    leads: frozenset[str]
    integers: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


GROUPS = (
    Group(frozenset({"stream", "device"}), integers=("stream", "device")),
    Group(frozenset({"seq"}), integers=("seq", "forward_thread")),
    Group(frozenset({"shapes", "dtypes"}), texts=("shapes", "dtypes", "strides")),
    Group(
        frozenset({"grid"}),
        integers=("registers", "shared_memory_bytes"),
        figures=("blocks_per_sm", "warps_per_sm", "occupancy"),
        texts=("grid", "block"),
    ),
    Group(frozenset({"bytes"}), integers=("bytes",), figures=("bandwidth_gbs",)),
    Group(
        frozenset({"collective"}),
        integers=("group_size", "in_elements", "out_elements"),
        words=("collective", "group", "element_type"),
    ),
    Group(
        frozenset({"memory_bytes"}),
        integers=("memory_bytes", "address", "allocated_bytes", "reserved_bytes", "device_type", "device_id"),
    ),
    Group(frozenset({"old_external_id"}), integers=("old_external_id",)),
)
LEADS = (
    "stream",
    "device",
    "seq",
    "shapes",
    "dtypes",
    "grid",
    "bytes",
    "collective",
    "memory_bytes",
    "old_external_id",
)


def missing_leads(args: Iterable[Args]) -> list[tuple[bool, ...]]:
    """For each entry which of `LEADS` it lacks. A default is told by identity; written out for speed."""
    return [
        (
            a.stream is MISSING,
            a.device is MISSING,
            a.seq is MISSING,
            a.shapes is NO_TEXT,
            a.dtypes is NO_TEXT,
            a.grid is NO_TEXT,
            a.bytes is MISSING,
            a.collective is None,
            a.memory_bytes is MISSING,
            a.old_external_id is MISSING,
        )
        for a in args
    ]
