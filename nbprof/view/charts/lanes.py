"""Events -> a timeline: what ran when, on every thread and stream.

In: events, and their call tree. Out: Axes with one lane a thread, calls under those they nest in, and one a stream.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from nbprof.analysis.activity import activities
from nbprof.schema import ANNOTATION_CATEGORIES, REGION_MARKER
from nbprof.structure.calltree import CallTree, call_tree
from nbprof.structure.masks import Integers, Mask, value_mask
from nbprof.structure.nesting import nesting
from nbprof.structure.threads import thread_codes
from nbprof.view.charts.boxes import Boxes, Kind, Rows, in_rows, rectangles
from nbprof.view.charts.canvas import BLUE, GREEN, GREY, INDIGO, ORANGE, ROSE, SAND, SKY
from nbprof.view.quantities import cut_note, is_missing

KINDS = (
    Kind("region", SKY),
    Kind("range", GREY),
    Kind("data loading", ROSE),
    Kind("operator", BLUE),
    Kind("runtime call", SAND),
    Kind("kernel", GREEN),
    Kind("communication", ORANGE),
    Kind("copy or fill", INDIGO),
)
"""In the order of the legend. A range is an annotation that is no region, such as a step."""
_REGION, _RANGE, _LOADING, _OPERATOR, _RUNTIME, _KERNEL, _COMMUNICATION, _COPY = range(len(KINDS))
_OF_ACTIVITY = {
    "cpu_op": _OPERATOR,
    "dataloader": _LOADING,
    "runtime": _RUNTIME,
    "memset": _COPY,
    "memcpy": _COPY,
    "communication": _COMMUNICATION,
    "kernel": _KERNEL,
}


def lanes(
    events: pd.DataFrame,
    *,
    tree: CallTree | None = None,
    time: tuple[float, float] | None = None,
    most: int = 8,
    deepest: int = 8,
    ax: Axes | None = None,
) -> Axes:
    """A lane for each of the `most` busiest threads and streams, in the window `time` or the whole recording.

    `time` is in microseconds from the trace's start. A thread's calls lie under those they nest in, `deepest` levels of
    them; regions are bands down the lane. Python calls are left out. What is shorter than a pixel is merged.
    """
    tree = call_tree(events) if tree is None else tree
    kinds = _kinds(events, tree)
    starts, ends = tree.times.starts / 1e3, tree.times.ends / 1e3
    low, high = time or (starts[kinds >= 0].min(initial=np.inf), ends[kinds >= 0].max(initial=0.0))
    rows = np.flatnonzero((kinds >= 0) & (starts < high) & (ends > low))
    placed = _placed(rows, events, tree, most, deepest)
    rows = rows[placed.kept]
    lefts, rights = np.maximum(starts[rows], low), np.minimum(ends[rows], high)
    at = placed.tops[placed.lanes] + placed.depths
    boxes = Boxes(lefts, rights - lefts, at, kinds[rows], _names(events["name"], rows))
    deeper = f"; {placed.deeper:,} calls below level {deepest} left out" if placed.deeper else ""
    ax = in_rows(
        Rows(
            boxes=boxes,
            kinds=KINDS,
            places=list(zip(placed.tops.tolist(), _lane_names(events.iloc[placed.first]), strict=True)),
            count=int((placed.tops + placed.heights).max(initial=0)),
            span=(float(low), float(high)),
            axis="time in the trace",
            title=cut_note(len(placed.first), placed.total, "lane") + deeper,
            noun="calls",
        ),
        ax,
    )
    _bands(ax, boxes, (placed.tops + placed.heights)[placed.lanes])
    return ax


@dataclass(frozen=True)
class _Placed:
    """Which of the rows are `kept`, and for each of those its lane and depth; for each lane its first row and height.

    `total` counts all lanes, `deeper` the rows left out because they lie too deep.
    """

    kept: Mask
    lanes: Integers
    depths: Integers
    tops: Integers
    heights: Integers
    first: Integers
    total: int
    deeper: int


def _placed(rows: Integers, events: pd.DataFrame, tree: CallTree, most: int, deepest: int) -> _Placed:
    starts, ends = tree.times.starts[rows], tree.times.ends[rows]
    on_device = tree.device[rows]
    threads = thread_codes(events)[rows]
    codes = threads + on_device * (threads.max(initial=0) + 1)
    found = np.flatnonzero(np.bincount(codes))
    lanes = np.searchsorted(found, codes)
    depths = np.where(on_device, 0, _depths(nesting(lanes, starts, ends).parents, deepest))
    busy = np.bincount(lanes, weights=np.where(depths == 0, ends - starts, 0), minlength=len(found))
    first, first_starts = np.full(len(found), len(events)), np.full(len(found), np.iinfo(np.int64).max)
    np.minimum.at(first, lanes, rows)
    np.minimum.at(first_starts, lanes, starts)
    devices = events["device"].iloc[first].to_numpy(dtype="int64", na_value=-1)
    busiest = np.argsort(-busy, kind="stable")[:most]
    shown = busiest[np.lexsort((first_starts[busiest], devices[busiest]))]
    place = np.full(len(found), -1, np.int64)
    place[shown] = np.arange(len(shown))
    lanes = place[lanes]
    here = lanes >= 0
    kept = here & (depths < deepest)
    heights = np.zeros(len(shown), np.int64)
    np.maximum.at(heights, lanes[kept], depths[kept] + 1)
    tops = np.cumsum(heights + 1) - heights - 1
    deeper = int((here & ~kept).sum())
    return _Placed(kept, lanes[kept], depths[kept], tops, heights, first[shown], len(found), deeper)


def _depths(parents: Integers, deepest: int) -> Integers:
    """How many rows enclose each row, counted up to `deepest`."""
    depths = np.zeros(len(parents), np.int64)
    rows = np.flatnonzero(parents >= 0)
    at = parents[rows]
    for _ in range(deepest):
        depths[rows] += 1
        rows, at = rows[parents[at] >= 0], parents[at][parents[at] >= 0]
    return depths


def _kinds(events: pd.DataFrame, tree: CallTree) -> Integers:
    """The kind of each row, -1 for what is not drawn."""
    kinds = np.full(len(events), -1, np.int64)
    kinds[tree.times.known & value_mask(events["category"], ANNOTATION_CATEGORIES)] = _RANGE
    done = activities(events, tree)
    for activity, kind in _OF_ACTIVITY.items():
        kinds[done[activity] & tree.times.known] = kind
    kinds[tree.markers[tree.times.known[tree.markers]]] = _REGION
    return kinds


def _names(names: pd.Series, rows: Integers) -> NDArray[np.object_]:
    words = np.array([*(str(word).removeprefix(REGION_MARKER) for word in names.cat.categories), None], object)
    return np.asarray(words[names.cat.codes.to_numpy()[rows]], object)


def _lane_names(first: pd.DataFrame) -> list[str]:
    """What the lanes are called, by their first rows; the process only where there are several."""
    several = first["pid"][first["device"].isna()].nunique() > 1
    columns = (first[column].tolist() for column in ("pid", "tid", "device", "stream"))
    return [
        f"device {device}, stream {tid if is_missing(stream) else stream}"
        if not is_missing(device)
        else f"{pid}, thread {tid}"
        if several
        else f"thread {tid}"
        for pid, tid, device, stream in zip(*columns, strict=True)
    ]


def _bands(ax: Axes, boxes: Boxes, bottoms: Integers) -> None:
    """A pale band behind all that runs in each region."""
    if not (here := boxes.kinds == _REGION).any():
        return
    regions = boxes.only(here)
    across = (regions.lefts, regions.lefts + regions.widths)
    band = rectangles(across, (regions.rows - 0.5, bottoms[here] - 0.5), KINDS[_REGION].color, 0.15)
    band.set_gid("bands")
    band.set_zorder(0)
    ax.add_collection(band, autolim=False)
