"""The common tongue of all rooms: columns of every table, categories, markers.

In: nothing. Out: constants, the functions that make a table keep its columns, and what views ask of a trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from nbprof.metadata import TraceMetadata

if TYPE_CHECKING:
    import pandas as pd

VERSION = "0.1.0"

REGION_MARKER = "nbprof.region::"
FX_MARKER = "nbprof.fx::"
STEP_MARKER = "ProfilerStep#"
MARKERS = (REGION_MARKER, FX_MARKER, STEP_MARKER)
"""Names that begin so mark a range of the run."""

# Categories, today's names. The older ones (2021) are folded to these by the reader.
CATEGORY_FOLD = {
    "Operator": "cpu_op",
    "Kernel": "kernel",
    "Memcpy": "gpu_memcpy",
    "Memset": "gpu_memset",
    "Runtime": "cuda_runtime",
}
KERNEL_CATEGORIES = frozenset({"kernel", "mtia_ccp_events", "hpu_op", "privateuse1_kernel"})
MEMCPY_CATEGORIES = frozenset({"gpu_memcpy", "privateuse1_memcpy"})
MEMSET_CATEGORIES = frozenset({"gpu_memset", "privateuse1_memset"})
DEVICE_CATEGORIES = KERNEL_CATEGORIES | MEMCPY_CATEGORIES | MEMSET_CATEGORIES
RUNTIME_CATEGORIES = frozenset(
    {
        "cuda_runtime",
        "cuda_driver",
        "mtia_runtime",
        "glow_runtime",
        "xpu_runtime",
        "privateuse1_runtime",
        "privateuse1_driver",
    }
)
OPERATOR_CATEGORIES = frozenset({"cpu_op"})
ANNOTATION_CATEGORIES = frozenset({"user_annotation"})


@dataclass(frozen=True)
class Column:
    """One column of a table; `unit` is empty for names and counts."""

    name: str
    dtype: str
    unit: str
    meaning: str


def _columns(*rows: tuple[str, str, str, str]) -> tuple[Column, ...]:
    return tuple(Column(*row) for row in rows)


TABLES: Mapping[str, tuple[Column, ...]] = {
    "events": _columns(
        ("name", "category", "", "name as recorded, decoded where nbprof had encoded it"),
        ("category", "category", "", "kind of event, older names folded to today's"),
        ("ph", "category", "", "phase of the Chrome trace format: X, i, s, f, C, ..."),
        ("pid", "category", "", "process (or device row) as text"),
        ("tid", "category", "", "thread (or stream row) as text"),
        ("ts_ns", "int64", "ns", "start, from trace.metadata.start_ns"),
        ("dur_ns", "Int64", "ns", "duration; NA where the event has none"),
        ("device", "Int16", "", "device index of a device event"),
        ("stream", "Int64", "", "stream of a device event or runtime call"),
        ("correlation", "Int64", "", "joins a device event to its launch"),
        ("external_id", "Int64", "", "External id as recorded"),
        ("in_region", "bool", "", "whether tables count it: always True in a file that is not gated"),
        ("args", "object", "", "all arguments as recorded, decoded when looked at"),
        ("flow_id", "Int64", "", "joins the ends of a flow (ph s and f), and the parts of an asynchronous event"),
        ("seq", "Int64", "", "sequence number that links a forward operator to its backward"),
        ("forward_thread", "Int64", "", "thread number of the forward operator (Fwd thread id)"),
        ("shapes", "category", "", "shapes of an operator's inputs, as JSON text"),
        ("dtypes", "category", "", "types of an operator's inputs, as JSON text"),
        ("strides", "category", "", "strides of an operator's inputs, as JSON text"),
        ("bytes", "Int64", "bytes", "size of a copy or fill; of an allocation, negative when freed"),
        ("bandwidth_gbs", "float64", "GB/s", "memory bandwidth of a copy or fill"),
        ("grid", "category", "", "blocks of a kernel, as JSON text"),
        ("block", "category", "", "threads of a block, as JSON text"),
        ("registers", "Int64", "", "registers a thread"),
        ("shared_memory_bytes", "Int64", "bytes", "shared memory of a block"),
        ("blocks_per_sm", "float64", "", "blocks for each multiprocessor"),
        ("warps_per_sm", "float64", "", "warps for each multiprocessor"),
        ("occupancy", "float64", "fraction", "estimated achieved occupancy"),
        ("collective", "category", "", "name of a collective"),
        ("group", "category", "", "name of the process group of a collective"),
        ("group_size", "Int64", "", "ranks in that group"),
        ("in_elements", "Int64", "", "elements that a collective takes"),
        ("out_elements", "Int64", "", "elements that a collective gives"),
        ("element_type", "category", "", "type of those elements"),
        ("address", "Int64", "", "address of an allocation"),
        ("allocated_bytes", "Int64", "bytes", "allocated on its device after an allocation or release"),
        ("reserved_bytes", "Int64", "bytes", "reserved on its device after it"),
        ("device_type", "Int64", "", "kind of device whose memory it is, in torch's numbers: 0 CPU, 1 CUDA, 6 HIP"),
        ("device_id", "Int64", "", "index of that device, -1 for the host"),
    ),
    "operators": _columns(
        ("name", "category", "", "operator"),
        ("calls", "int64", "", "number of calls"),
        ("host_total_us", "float64", "us", "summed duration on the host, nested calls included"),
        (
            "host_self_us",
            "float64",
            "us",
            "the same less the union of direct children (operators and runtime calls)",
        ),
        ("device_total_us", "float64", "us", "summed device events launched anywhere inside"),
        ("device_self_us", "float64", "us", "summed device events launched by the operator itself"),
        ("mean_us", "float64", "us", "mean host time of a call"),
        ("min_us", "float64", "us", "shortest call"),
        ("max_us", "float64", "us", "longest call"),
        (
            "share",
            "float64",
            "fraction",
            "of summed device_self_us where the trace has device events, else of host_self_us",
        ),
    ),
    "kernels": _columns(
        ("name", "category", "", "kernel"),
        ("kernel_class", "category", "", "what kind of work it does"),
        ("calls", "int64", "", "number of runs"),
        ("total_us", "float64", "us", "summed duration"),
        ("mean_us", "float64", "us", "mean duration"),
        ("min_us", "float64", "us", "shortest"),
        ("max_us", "float64", "us", "longest"),
        ("share", "float64", "fraction", "of summed kernel time"),
        ("busy_share", "float64", "fraction", "of the devices' busy time"),
    ),
    "timeline": _columns(
        ("device", "Int16", "", "device index"),
        ("span_us", "float64", "us", "first start to last end of device events"),
        ("computation_us", "float64", "us", "some computation kernel runs"),
        ("exposed_comm_us", "float64", "us", "communication without computation beside it"),
        ("exposed_memory_us", "float64", "us", "copies and fills with neither beside them"),
        ("busy_us", "float64", "us", "anything runs"),
        ("idle_us", "float64", "us", "nothing runs"),
    ),
    "steps": _columns(
        ("step", "int64", "", "number of the step"),
        ("start_us", "float64", "us", "start of its own window, from trace.metadata.start_ns"),
        ("host_wall_us", "float64", "us", "its window on the host"),
        ("wall_us", "float64", "us", "its own window, to the end of the device work that it launched"),
        ("kernel_us", "float64", "us", "computation kernels run"),
        ("communication_us", "float64", "us", "else communication"),
        ("memcpy_us", "float64", "us", "else copies"),
        ("memset_us", "float64", "us", "else fills"),
        ("runtime_us", "float64", "us", "else runtime calls"),
        ("dataloader_us", "float64", "us", "else data loading"),
        ("cpu_op_us", "float64", "us", "else operators on the host"),
        ("other_us", "float64", "us", "else"),
        ("device_busy_us", "float64", "us", "union of the device events that it launched, not clipped"),
    ),
    "regions": _columns(
        ("region", "category", "", "name"),
        ("parent", "category", "", "region that it was entered from; NA at the top"),
        ("calls", "int64", "", "entries"),
        ("wall_us", "float64", "us", "summed time between entry and exit"),
        ("self_us", "float64", "us", "the same less nested regions"),
        ("host_us", "float64", "us", "union of its operators on the host"),
        ("device_us", "float64", "us", "union of its device events"),
        (
            "idle_us",
            "float64",
            "us",
            "from its start to its last device event's end, less busy; NA without a device",
        ),
        ("share", "float64", "fraction", "of summed self_us"),
        ("depth", "int64", "", "place in the tree that the rows read as, from the top; 0 outermost"),
    ),
    "region_steps": _columns(
        ("region", "category", "", "name"),
        ("step", "int64", "", "number of the step in which the entries began"),
        ("wall_us", "float64", "us", "summed time between entry and exit, entries inside their own region left out"),
        ("self_us", "float64", "us", "the same of all entries, less nested regions"),
    ),
    "region_entries": _columns(
        ("region", "category", "", "name"),
        ("parent", "category", "", "region that it was entered from; NA at the top"),
        ("depth", "int64", "", "how many entries are around it"),
        ("start_us", "float64", "us", "entry, from trace.metadata.start_ns"),
        ("wall_us", "float64", "us", "time between entry and exit"),
        ("self_us", "float64", "us", "the same less entries directly inside"),
        ("position", "int64", "", "row of its marker in events"),
        ("outer", "int64", "", "row here of the entry around it, or -1"),
    ),
    "health": _columns(
        ("check", "str", "", "what was looked at"),
        ("status", "str", "", "ok, note or warning"),
        ("figure", "float64", "", "how many, or how much"),
        ("detail", "str", "", "in words, with the way out"),
    ),
}


def names(table: str) -> list[str]:
    """Column names of `table`, in order."""
    return [column.name for column in TABLES[table]]


def empty(table: str) -> pd.DataFrame:
    """`table` without rows, with all its columns in their types."""
    import pandas as pd

    return pd.DataFrame({column.name: pd.Series(dtype=column.dtype) for column in TABLES[table]})


def conform(frame: pd.DataFrame, table: str) -> pd.DataFrame:
    """`frame` with the columns of `table` first, in their order and types; further columns follow."""
    columns = TABLES[table]
    listed = [column.name for column in columns]
    ordered = frame[listed + [name for name in frame.columns if name not in listed]]
    typed = {column.name: column.dtype for column in columns if column.dtype not in ("object", "str")}
    return ordered.astype({name: dtype for name, dtype in typed.items() if ordered[name].dtype != dtype})


class TraceLike(Protocol):
    """What views ask of a trace."""

    @property
    def metadata(self) -> TraceMetadata: ...
    def operators(self) -> pd.DataFrame: ...
    def kernels(self) -> pd.DataFrame: ...
    def timeline(self) -> pd.DataFrame: ...
    def steps(self) -> pd.DataFrame: ...
    def regions(self) -> pd.DataFrame: ...
    def region_steps(self) -> pd.DataFrame: ...
    def health(self) -> pd.DataFrame: ...
