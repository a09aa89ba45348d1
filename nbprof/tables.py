"""The tables of a trace: each method is one call of the analysis of that name.

In: events and metadata; their call tree is worked out once for all. Out: DataFrames with the columns of `schema.TABLES`.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from nbprof import analysis, structure
from nbprof.metadata import TraceMetadata

if TYPE_CHECKING:
    from nbprof.structure import CallTree


class Tables:
    """What can be asked of events."""

    events: pd.DataFrame
    metadata: TraceMetadata

    @cached_property
    def _tree(self) -> CallTree:
        return structure.call_tree(self.events)

    def operators(self) -> pd.DataFrame:
        """Host and device time by operator, largest first."""
        return analysis.operators(self.events, tree=self._tree)

    def kernels(self) -> pd.DataFrame:
        """Device time by kernel, largest first."""
        return analysis.kernels(self.events, tree=self._tree)

    def timeline(self) -> pd.DataFrame:
        """What each device did with its time; the parts sum to its span."""
        return analysis.timeline(self.events, tree=self._tree)

    def steps(self) -> pd.DataFrame:
        """One row a step; the parts sum to its window."""
        return analysis.steps(self.events, tree=self._tree)

    def regions(self) -> pd.DataFrame:
        """Time by region and parent, a tree from the top."""
        return analysis.regions(self.events, tree=self._tree)

    def region_steps(self) -> pd.DataFrame:
        """Wall and self time of each region in each step."""
        return analysis.region_steps(self.events, tree=self._tree)

    def health(self) -> pd.DataFrame:
        """What would make the numbers wrong, one row a check."""
        return analysis.health(self.events, self.metadata, tree=self._tree)
