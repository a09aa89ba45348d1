"""The tables of a trace: each method is one call of the analysis of that name.

In: events and metadata; their call tree is worked out once for all. Out: DataFrames with the columns of `schema.TABLES`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from nbprof import analysis, structure
from nbprof.metadata import TraceMetadata

if TYPE_CHECKING:
    from nbprof.analysis.idle import IdleKey
    from nbprof.analysis.timeline import TimelineKey
    from nbprof.structure import CallTree


class Tables:
    """What can be asked of events."""

    events: pd.DataFrame
    metadata: TraceMetadata

    @cached_property
    def _tree(self) -> CallTree:
        return structure.call_tree(self.events)

    def operators(self, *, by: str | Sequence[str] = ("name",)) -> pd.DataFrame:
        """Host and device time, work and backward by operator (and shape, dtype, stack, region, step), largest first."""
        return analysis.operators(self.events, tree=self._tree, by=by)

    def kernels(self, *, by: str | Sequence[str] = ("name",)) -> pd.DataFrame:
        """Device time by kernel (and class, operator, stream, device, region, step, grid, block), largest first."""
        return analysis.kernels(self.events, tree=self._tree, by=by)

    def timeline(self, *, by: TimelineKey = "device") -> pd.DataFrame:
        """What each device did with its time, in all or by step or region; the parts sum to its span."""
        return analysis.timeline(self.events, tree=self._tree, by=by)

    def idle(self, *, by: IdleKey = "device") -> pd.DataFrame:
        """One row a gap of a device, of a stream, or of a device in a step, with the reason."""
        return analysis.idle(self.events, tree=self._tree, by=by)

    def idle_summary(self) -> pd.DataFrame:
        """Idle time by device and reason."""
        return analysis.idle_summary(self.events, tree=self._tree)

    def launches(self) -> pd.DataFrame:
        """One row a device event and the call that launched it."""
        return analysis.launches(self.events, tree=self._tree)

    def queue_depth(self) -> pd.DataFrame:
        """How many device events were launched and not yet started, by stream over time."""
        return analysis.queue_depth(self.events, tree=self._tree)

    def communication(self) -> pd.DataFrame:
        """One row a collective: bytes, bandwidth, and what computation hid of it."""
        return analysis.communication(self.events, tree=self._tree)

    def memory(self) -> pd.DataFrame:
        """Allocated and reserved memory of each device over time."""
        return analysis.memory(self.events, tree=self._tree)

    def allocations(self) -> pd.DataFrame:
        """One row a block of memory, from allocation to release."""
        return analysis.allocations(self.events, tree=self._tree)

    def memory_operators(self) -> pd.DataFrame:
        """Gross and net bytes by device and operator, most allocated first."""
        return analysis.memory_operators(self.events, tree=self._tree)

    def steps(self) -> pd.DataFrame:
        """One row a step; the parts sum to its window."""
        return analysis.steps(self.events, tree=self._tree)

    def regions(self) -> pd.DataFrame:
        """Time by region and parent, a tree from the top."""
        return analysis.regions(self.events, tree=self._tree)

    def region_steps(self) -> pd.DataFrame:
        """Wall and self time of each region in each step."""
        return analysis.region_steps(self.events, tree=self._tree)

    def modules(self) -> pd.DataFrame:
        """Host and device time by nn.Module, forward and backward, a tree from the top."""
        return analysis.modules(self.events, tree=self._tree)

    def critical_path(self) -> pd.DataFrame:
        """The chain of work that the run's time depends on, part by part."""
        return analysis.critical_path(self.events, tree=self._tree)

    def sequences(
        self, *, length: tuple[int, int] = (2, 5), min_calls: int = 2, across_operators: bool = False
    ) -> pd.DataFrame:
        """Chains of kernels that ran again and again, candidates for fusion, longest time first."""
        return analysis.sequences(
            self.events, tree=self._tree, length=length, min_calls=min_calls, across_operators=across_operators
        )

    def flame(self, *, device: bool = False) -> pd.DataFrame:
        """Host time by stack, or the device time that each stack launched, a tree from the top."""
        return analysis.flame(self.events, tree=self._tree, device=device)

    def findings(self, *, without: Collection[str] = ()) -> pd.DataFrame:
        """What to look at first, with what it could give back; `without` names findings to leave out."""
        return analysis.findings(self.events, self.metadata, tree=self._tree, without=without)

    def health(self) -> pd.DataFrame:
        """What would make the numbers wrong, one row a check."""
        return analysis.health(self.events, self.metadata, tree=self._tree)
