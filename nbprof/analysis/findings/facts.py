"""What the rules look at, each thing worked out once and only if a rule asks.

In: events, the trace's metadata, the call tree. Out: `Facts`, from which a rule makes a `Found`, or nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from nbprof import intervals
from nbprof.analysis.activity import activities
from nbprof.analysis.gaps import gaps_between
from nbprof.analysis.kernel_classes import classify
from nbprof.analysis.kernels import device_codes
from nbprof.intervals import Intervals
from nbprof.metadata import TraceMetadata
from nbprof.schema import ANNOTATION_CATEGORIES, KERNEL_CATEGORIES, OPERATOR_CATEGORIES
from nbprof.structure.calltree import CallTree
from nbprof.structure.masks import Integers, Mask, flagged, value_mask
from nbprof.structure.openings import working_rows


@dataclass(frozen=True)
class Found:
    """One finding, yet without its name: what was measured, what it could give back at most (None: can't be said)."""

    figure: float
    unit: str
    could_save_us: float | None
    evidence: str
    advice: str


@dataclass(frozen=True)
class Facts:
    """A trace as the rules see it; times in nanoseconds, masks by row of the events."""

    events: pd.DataFrame
    metadata: TraceMetadata
    tree: CallTree

    @property
    def on_device(self) -> bool:
        """Whether the trace has device events."""
        return bool(self.tree.device.any())

    @cached_property
    def span_us(self) -> float:
        """From the first start to the last end of work; 0 without work."""
        when = self.tree.times
        work = working_rows(self.events, when)
        return float(when.ends[work].max() - when.starts[work].min()) / 1000 if work.any() else 0.0

    @cached_property
    def kinds(self) -> dict[str, Mask]:
        """Rows of each kind of work."""
        return activities(self.events, self.tree)

    @cached_property
    def busy(self) -> Intervals:
        """When any device runs anything."""
        return self.union(self.tree.device)

    @cached_property
    def starved(self) -> Intervals:
        """When some device does nothing because its next event wasn't launched yet."""
        when = self.tree.times
        rows = np.flatnonzero(self.tree.device & when.known)
        gaps = gaps_between(rows, device_codes(self.events)[rows], when)
        gaps = gaps[(gaps["before"] >= 0) & (gaps["after"] >= 0)]
        launch = self.tree.launch[gaps["after"].to_numpy()]
        late = (launch >= 0) & (when.starts[launch] > gaps["start"].to_numpy())
        return intervals.union((gaps["start"].to_numpy()[late], gaps["end"].to_numpy()[late]))

    def union(self, mask: Mask | Integers) -> Intervals:
        """When at least one of the rows is under way."""
        return intervals.union((self.tree.times.starts[mask], self.tree.times.ends[mask]))

    def named(self, pattern: str) -> Mask:
        """Calls with a duration whose name has a match of the pattern."""
        search = re.compile(pattern).search
        return self.tree.times.known & flagged(self.events["name"], (bool(search(name)) for name in self._names))

    def ranges(self, pattern: str) -> Mask:
        """The same on the host only: operators and annotations, not their twins on the rows of devices."""
        return self.named(pattern) & value_mask(self.events["category"], OPERATOR_CATEGORIES | ANNOTATION_CATEGORIES)

    def kernels_of(self, *classes: str) -> Mask:
        """Kernels of some classes."""
        of_name = flagged(self.events["name"], (kind in classes for kind in self._classes))
        return of_name & self.tree.device & value_mask(self.events["category"], KERNEL_CATEGORIES)

    def inside(self, operators: Mask) -> Mask:
        """Rows that are in one of these operators (device events: by their launch), and these operators."""
        found = operators.copy()
        around = self.tree.operator
        while (walking := around >= 0).any():
            found |= walking & operators[around]
            around = np.where(walking, self.tree.operator[around], -1)
        return found

    def launched_during(self, windows: Intervals) -> Mask:
        """Device events whose launch begins in the windows."""
        launches = self.tree.launch
        starts = self.tree.times.starts[launches]
        return self.tree.device & (launches >= 0) & (intervals.locate(windows, starts) >= 0)

    def commonest(self, rows: Mask) -> str:
        """The innermost operator that most of the rows are in, or the rows' own commonest name outside operators."""
        at = np.flatnonzero(rows)
        around = self.tree.operator[at]
        names = self.events["name"].iloc[np.where((around >= 0) & ~self.tree.operators[at], around, at)]
        return str(names.value_counts().index[0])

    def expression(self, rows: Mask) -> str:
        """What gives all events of these rows' names, for a trace called `trace`."""
        names = self.events["name"].iloc[np.flatnonzero(rows)].unique()
        return f'trace.events[trace.events["name"].isin({sorted(map(str, names))!r})]'

    @cached_property
    def _names(self) -> list[str]:
        return [str(name) for name in self.events["name"].cat.categories]

    @cached_property
    def _classes(self) -> list[str]:
        occurring = np.zeros(len(self._names) + 1, bool)
        occurring[self.events["name"].cat.codes.to_numpy()[self.tree.device]] = True
        classes = np.full(len(self._names), "", object)
        classes[occurring[:-1]] = classify(np.array(self._names, object)[occurring[:-1]])
        return list(classes)


def microseconds(a: Intervals) -> float:
    """How long a union is."""
    return intervals.total(a) / 1000


def quoted(text: str, limit: int = 80) -> str:
    """A name as recorded, within a sentence."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
