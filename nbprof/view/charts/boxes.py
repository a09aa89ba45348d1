"""The shape of every chart along time or depth: boxes in rows, coloured by kind, with their names inside.

In: lefts and widths in microseconds, rows, kinds, names. Out: artists on the given Axes; however many boxes there are,
what is drawn is bounded by the pixels: boxes narrower than one are merged into a picture of the row, or left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.transforms import Bbox, TransformedBbox
from numpy.typing import NDArray

from nbprof.structure.masks import Integers, Mask
from nbprof.view.charts.bars import Numbers
from nbprof.view.charts.canvas import GREY, INK, axes, drawable, fit, label, legend, look, nothing, range_ticks
from nbprof.view.quantities import literal, unit_for

BOX_ROW = 0.17
"""Inches: a row of boxes."""
_FILLED = 7 / 8
"""Part of a row's height that a box fills."""
_CHARACTER = 0.06
"""Inches: a character of a name inside a box, at 7 points."""
_SHORTEST = 4
"""Characters that a name is shortened to; with less room there is none."""


@dataclass(frozen=True)
class Kind:
    """A kind of boxes: its name, colour and opacity."""

    name: str
    color: str
    alpha: float = 1.0

    @property
    def ink(self) -> str:
        """A colour for text that reads on it."""
        if self.alpha < 1:
            return INK
        red, green, blue, _ = to_rgba(self.color)
        return "#111111" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.52 else "#ffffff"


OTHER = Kind("other", GREY)


@dataclass(frozen=True)
class Boxes:
    """Boxes, one an entry: `rows` count from the top, `kinds` are places in a list of kinds."""

    lefts: Numbers
    widths: Numbers
    rows: Integers
    kinds: Integers
    names: NDArray[np.object_]

    def only(self, mask: Mask) -> Boxes:
        """Those of the mask."""
        return Boxes(self.lefts[mask], self.widths[mask], self.rows[mask], self.kinds[mask], self.names[mask])


@dataclass(frozen=True)
class Rows:
    """What a chart of boxes in rows shows; `places` are the rows that have a name."""

    boxes: Boxes
    kinds: Sequence[Kind]
    places: Sequence[tuple[int, str]]
    count: int
    span: tuple[float, float]
    axis: str
    title: str
    noun: str
    merges: bool = True


def kind_codes(column: pd.Series, kinds: Sequence[Kind]) -> Integers:
    """For each row of a column the place of its kind, the last one for a kind that isn't among them."""
    found = pd.Index([kind.name for kind in kinds]).get_indexer(pd.Index(column.astype(object)))
    return np.where(found >= 0, found, len(kinds) - 1).astype(np.int64)


def in_rows(chart: Rows, ax: Axes | None = None) -> Axes:
    """Boxes in rows, the first at the top; the title ends with what was too narrow to draw alone."""
    own = ax is None
    present = np.flatnonzero(np.bincount(chart.boxes.kinds)).tolist()
    with look():
        ax = axes(ax, max(0.76 + BOX_ROW * chart.count, 0.5 + 0.2 * len(present)))
        if not present or chart.span[1] <= chart.span[0]:
            return nothing(ax, f"{chart.title}: nothing to draw")
        shown = [chart.kinds[place] for place in present]
        _frame(ax, chart)
        if own:
            fit(ax, ax.get_yticklabels(), right=0.3 + 0.077 * max(len(kind.name) for kind in shown))
        pixels = max(round(ax.bbox.width), 1)
        small = chart.boxes.widths < (chart.span[1] - chart.span[0]) / pixels
        if chart.merges:
            _draw_merged(ax, chart, chart.boxes.only(small), pixels)
        wide = chart.boxes.only(~small)
        _draw_alone(ax, wide, chart.kinds, (chart.span[1] - chart.span[0]) / pixels)
        _write_names(ax, wide, chart)
        how = "merged" if chart.merges else "left out"
        note = f"; {small.sum():,} {chart.noun} under a pixel {how}" if small.any() else ""
        place = ax.get_position()
        # The long title of a figure of our own begins at the figure's edge.
        ax.set_title(drawable(chart.title + note), x=(0.02 - place.x0) / place.width if own else 0.0)
        legend(ax, [Patch(color=kind.color, alpha=kind.alpha, lw=0) for kind in shown], [kind.name for kind in shown])
    return ax


def rectangles(across: tuple[Any, Any], along: tuple[Any, Any], color: str, alpha: float = 1.0) -> PolyCollection:
    """One collection of many rectangles: their left and right edges, and their upper and lower."""
    (left, right), (top, bottom) = across, along
    corners = np.stack(
        [np.column_stack([left, right, right, left]), np.column_stack([top, top, bottom, bottom])], axis=-1
    )
    return PolyCollection(cast(Any, corners), facecolors=color, alpha=alpha, linewidths=0)


def _frame(ax: Axes, chart: Rows) -> None:
    rows = [row for row, _ in chart.places]
    ax.set_yticks(rows, [label(name, 24) for _, name in chart.places], parse_math=False)
    ax.tick_params(axis="y", length=0, labelcolor=INK)
    ax.set_ylim(chart.count - 0.45, -0.55)
    unit = unit_for(chart.span[1] - chart.span[0])
    range_ticks(ax, *chart.span, unit.microseconds)
    ax.set_xlim(*chart.span)
    ax.set_xlabel(f"{chart.axis}, {unit.label}")


def _draw_alone(ax: Axes, boxes: Boxes, kinds: Sequence[Kind], pixel: float) -> None:
    """A gap of half a pixel tells neighbours of one kind apart."""
    rights = boxes.lefts + boxes.widths - np.where(boxes.widths > 2 * pixel, pixel / 2, 0)
    for place in np.unique(boxes.kinds):
        here = boxes.kinds == place
        tops = boxes.rows[here] - 0.5
        kind = kinds[place]
        drawn = rectangles((boxes.lefts[here], rights[here]), (tops, tops + _FILLED), kind.color, kind.alpha)
        drawn.set_gid(literal(kind.name))
        ax.add_collection(drawn, autolim=False)


def _draw_merged(ax: Axes, chart: Rows, boxes: Boxes, pixels: int) -> None:
    """A picture of the rows: in each pixel the colour of the kind with most time there, fainter where it is less."""
    low, high = chart.span
    if not len(boxes.lefts):
        return
    slices = np.clip((boxes.lefts + boxes.widths / 2 - low) / (high - low) * pixels, 0, pixels - 1).astype(np.int64)
    shape = (chart.count, pixels, len(chart.kinds))
    cells = np.ravel_multi_index((boxes.rows, slices, boxes.kinds), shape)
    filled = np.bincount(cells, weights=boxes.widths, minlength=int(np.prod(shape))).reshape(shape)
    colors = np.array([to_rgba(kind.color, kind.alpha) for kind in chart.kinds])[filled.argmax(axis=2)]
    cover = filled.sum(axis=2) / ((high - low) / pixels)
    colors[..., 3] *= np.where(cover > 0, np.clip(cover, 0.3, 1.0), 0.0)
    picture: NDArray[np.float64] = colors.repeat(8, axis=0)
    picture[7::8, :, 3] = 0  # the gap under a row
    extent = (low, high, chart.count - 0.5, -0.5)
    limits = ax.get_ylim()
    ax.imshow(picture, extent=extent, aspect="auto", interpolation="nearest", origin="upper").set_gid("merged")
    ax.set_ylim(limits)


def _write_names(ax: Axes, boxes: Boxes, chart: Rows) -> None:
    """The names of the boxes that have room for them."""
    figure = cast(Figure, ax.get_figure(root=True))
    inches = boxes.widths * ax.bbox.width / figure.dpi / (chart.span[1] - chart.span[0])
    room = ((inches - 0.05) / _CHARACTER).astype(np.int64)
    for place in np.flatnonzero(room >= _SHORTEST):
        left, width, row = boxes.lefts[place], boxes.widths[place], boxes.rows[place]
        name = boxes.names[place]
        text = ax.annotate(
            label(name, int(room[place])),
            (left, row - 0.5 + _FILLED / 2),
            (1.5, 0),
            textcoords="offset points",
            va="center_baseline",
            fontsize=7,
            color=chart.kinds[boxes.kinds[place]].ink,
            parse_math=False,
            annotation_clip=False,
        )
        text.set_gid(literal(name))
        box = Bbox.from_extents(left, row - 0.5, left + width, row + 0.5)
        text.set_clip_box(TransformedBbox(box, ax.transData))
        text.set_clip_on(True)
