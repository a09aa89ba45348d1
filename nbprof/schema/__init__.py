"""The common tongue of all rooms: columns of every table, categories, markers.

In: nothing. Out: constants, the functions that make a table keep its columns, and what views ask of a trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from nbprof.metadata import TraceMetadata
from nbprof.schema.column import Column
from nbprof.schema.device import DEVICE
from nbprof.schema.host import HOST
from nbprof.schema.recorded import RECORDED
from nbprof.schema.whole import WHOLE

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


TABLES: Mapping[str, tuple[Column, ...]] = {**RECORDED, **HOST, **DEVICE, **WHOLE}
"""The columns of every table, in order."""


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
    def findings(self) -> pd.DataFrame: ...
