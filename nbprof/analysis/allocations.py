"""Which memory was held from when to when, and which operators asked for it.

In: events. Out: the tables `allocations` and `memory_operators`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from nbprof.analysis.memory import allocator_events
from nbprof.schema import conform
from nbprof.structure.calltree import CallTree, call_tree
from nbprof.structure.masks import Integers, Mask


@dataclass(frozen=True)
class _Blocks:
    """Rows of the allocation (-1: before the recording) and of the release (as many as there are rows: after it)."""

    begun: Integers
    ended: Integers
    at_peak: Mask


def allocations(events: pd.DataFrame, *, tree: CallTree | None = None) -> pd.DataFrame:
    """One row a block of memory: its allocation joined with the next release at its address on its device.

    A release without allocation frees a block from before the recording: its `start_us` and `operator` are NA. `end_us`
    is NA where no release follows; where the address is allocated again without one, the block ends there. `at_peak`
    says whether the block was held when `allocated_bytes` of its device, in the table `memory`, was highest for the
    first time; blocks that nothing in the recording allocates or releases have no row. Nor have those of 2021 traces,
    which tell no addresses. In a gated file one end of a block must lie inside a region.
    """
    found = allocator_events(events, call_tree(events) if tree is None else tree)
    blocks = _blocks(found)
    begun, ended = blocks.begun, blocks.ended
    known = np.where(begun >= 0, begun, ended)
    times = np.append(found["ts_us"].to_numpy(), np.nan)  # the last entry stands for what isn't in the recording
    counts = np.append(found["counts"].to_numpy(bool), False)
    table = pd.DataFrame(
        {
            "device": found["device"].array.take(known),
            "bytes": found["bytes"].abs().to_numpy()[known],
            "start_us": times[begun],
            "end_us": times[ended],
            "operator": found["operator"].array.take(begun, allow_fill=True),
            "at_peak": blocks.at_peak,
        }
    )
    return conform(table[counts[begun] | counts[ended]].reset_index(drop=True), "allocations")


def memory_operators(events: pd.DataFrame, *, tree: CallTree | None = None) -> pd.DataFrame:
    """Bytes by device and operator, most allocated first; those of the operator itself, not of operators inside it.

    `gross_bytes` sums what it allocated, `net_bytes` is that less what was released inside it, whoever had allocated
    it, and so may be negative (torch's self memory). `peak_bytes` sums those of its allocations that were held at the
    peak, as in `allocations`; NA where the trace tells no addresses.
    """
    found = allocator_events(events, call_tree(events) if tree is None else tree)
    blocks = _blocks(found)
    held = np.zeros(len(found), np.int64)
    inside = blocks.begun[blocks.at_peak & (blocks.begun >= 0)]
    held[inside] = found["bytes"].to_numpy()[inside]
    sizes = found.assign(
        allocations=(found["bytes"] > 0).astype("int64"),
        gross_bytes=found["bytes"].clip(lower=0),
        net_bytes=found["bytes"],
        peak_bytes=pd.Series(held, dtype="Int64").where(found["address"].notna()),
    )
    groups = sizes[found["counts"]].groupby(["device", "operator"], observed=True, dropna=False)
    table = groups[["allocations", "gross_bytes", "net_bytes"]].sum()
    table = table.assign(peak_bytes=groups["peak_bytes"].sum(min_count=1)).reset_index()
    by = ["gross_bytes", "device", "operator"]
    return conform(table.sort_values(by, ascending=[False, True, True], ignore_index=True), "memory_operators")


def _blocks(found: pd.DataFrame) -> _Blocks:
    """Each allocation with what follows at its address, then the releases of what is older, in order of time."""
    sizes, device = found["bytes"].to_numpy(), found["device"].cat.codes.to_numpy()
    address = found["address"].to_numpy(dtype="int64", na_value=0)
    rows = np.flatnonzero(found["address"].notna().to_numpy(bool) & (sizes != 0))
    rows = rows[np.lexsort((address[rows], device[rows]))]  # stable: in order of time at each address
    follows = (np.diff(address[rows]) == 0) & (np.diff(device[rows]) == 0)
    allocates = sizes[rows] > 0
    after = np.where(np.append(follows, False), np.roll(rows, -1), len(found))
    older = ~allocates & ~(np.append(False, follows) & np.roll(allocates, 1))
    begun = np.concatenate((rows[allocates], np.full(older.sum(), -1)))
    ended = np.concatenate((after[allocates], rows[older]))
    order = np.argsort(np.where(begun >= 0, begun, ended), kind="stable")
    begun, ended = begun[order], ended[order]
    peak = _peaks(found)[device[np.where(begun >= 0, begun, ended)]]
    return _Blocks(begun, ended, (begun <= peak) & (peak < ended))


def _peaks(found: pd.DataFrame) -> Integers:
    """For each device the row of its highest `allocated_bytes` among those that count; one entry more, for no name."""
    peaks = np.full(len(found["device"].cat.categories) + 1, -2)
    counting = found[found["counts"]]
    rows = counting["allocated_bytes"].groupby(counting["device"].cat.codes).idxmax()
    peaks[rows.index.to_numpy()] = rows.to_numpy()
    return peaks
