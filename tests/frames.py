"""Builders of small events frames: times in whole microseconds, one call a row."""

from __future__ import annotations

from typing import Any

import pandas as pd

from nbprof import schema

DEFAULTS: dict[str, Any] = {"category": "cpu_op", "ph": "X", "pid": "1", "tid": "1", "in_region": True}


def make_events(*rows: dict[str, Any]) -> pd.DataFrame:
    """Rows with `name`, `ts` and `dur` (whole microseconds) and whatever differs from an operator on thread 1."""
    frame = pd.DataFrame([DEFAULTS | row for row in rows]).reindex(columns=[*schema.names("events"), "ts", "dur"])
    frame = frame.assign(
        ts_ns=[round(ts * 1000) for ts in frame["ts"]],
        dur_ns=[pd.NA if pd.isna(dur) else round(dur * 1000) for dur in frame["dur"]],
        in_region=frame["in_region"].astype(bool),
    )
    return schema.conform(frame.drop(columns=["ts", "dur"]), "events")


def op(name: str, ts: float, dur: float | None, tid: str = "1", **more: Any) -> dict[str, Any]:
    return {"name": name, "ts": ts, "dur": dur, "tid": tid, **more}


def marker(name: str, ts: float, dur: float, tid: str = "1", **more: Any) -> dict[str, Any]:
    return op(name, ts, dur, tid, **{"category": "user_annotation"} | more)


def region(name: str, ts: float, dur: float, tid: str = "1", **more: Any) -> dict[str, Any]:
    return marker(schema.REGION_MARKER + name, ts, dur, tid, **more)


def launch(ts: float, dur: float, correlation: int, tid: str = "1", **more: Any) -> dict[str, Any]:
    return op("cudaLaunchKernel", ts, dur, tid, **{"category": "cuda_runtime", "correlation": correlation} | more)


def kernel(name: str, ts: float, dur: float, correlation: int | None = None, **more: Any) -> dict[str, Any]:
    placed = {"category": "kernel", "pid": "0", "tid": "stream 7", "device": 0, "stream": 7}
    return {"name": name, "ts": ts, "dur": dur, "correlation": correlation} | placed | more


def memory(name: str, ts: float, dur: float, correlation: int | None = None, **more: Any) -> dict[str, Any]:
    """A copy, or a fill when the name says memset."""
    category = "gpu_memset" if "memset" in name.lower() else "gpu_memcpy"
    return kernel(name, ts, dur, correlation, **{"category": category} | more)


def allocator(ts: float, size: int, address: int | None = None, tid: str = "1", **more: Any) -> dict[str, Any]:
    """An allocation on CUDA device 0, or a release where the size is negative."""
    placed = {"category": "cpu_instant_event", "ph": "i", "bytes": size, "address": address}
    return op("[memory]", ts, None, tid, **placed | {"device_type": 1, "device_id": 0} | more)


def row(table: pd.DataFrame, **where: Any) -> dict[str, Any]:
    """The one row of the table that matches; missing values of `where` match NA."""
    for column, value in where.items():
        table = table[table[column].isna() if value is None else table[column] == value]
    assert len(table) == 1, table
    return dict(table.iloc[0])
