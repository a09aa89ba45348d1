"""Where charts are drawn: one look, bare figures, text that is text.

In: nothing, or the user's own Axes. Out: Axes on a figure that pyplot knows nothing of, labels whose
every character the font can draw, and the palette. The user's rcParams hold again as soon as `look()` ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ft2font import FT2Font
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator, NullLocator

from nbprof.view.quantities import Unit, literal, shorten

BLUE, ORANGE, GREEN, ROSE = "#3b7dd8", "#e8871e", "#17806d", "#c2446e"
SAND, INDIGO, SKY, GREY = "#c9a94f", "#5a4fcf", "#62b5e0", "#8a8a8a"
PALETTE = (BLUE, ORANGE, GREEN, ROSE, SAND, INDIGO, SKY)
"""Told apart also with protanopia and deuteranopia; each reads on white and on #111. Grey is for the rest."""

INK = "#787878"
"""Text: a grey with a contrast of 4.4 on white and 4.3 on #111."""

WIDTH = 5.7
ROW = 0.235
TOP, BOTTOM = 0.30, 0.46
"""Inches: a figure's width, a row of a bar chart, and what title and axis take."""
LABEL_LIMIT = 36

_LOOK: Any = {
    "axes.edgecolor": INK,
    "axes.facecolor": "none",
    "axes.grid": False,
    "axes.labelcolor": INK,
    "axes.labelsize": 8.5,
    "axes.linewidth": 0.6,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 9,
    "axes.titleweight": "normal",
    "figure.autolayout": False,
    "figure.constrained_layout.use": False,
    "figure.dpi": 100,
    "figure.edgecolor": "none",
    "figure.facecolor": "none",
    "font.size": 9,
    "font.weight": "normal",
    "hatch.color": INK,
    "legend.fontsize": 8.5,
    "path.effects": [],
    "path.sketch": None,
    "savefig.bbox": None,
    "savefig.edgecolor": "none",
    "savefig.facecolor": "none",
    "savefig.transparent": False,
    "text.color": INK,
    "text.parse_math": False,
    "text.usetex": False,
    "xtick.color": INK,
    "xtick.labelsize": 8.5,
    "ytick.color": INK,
    "ytick.labelsize": 8.5,
}


@contextmanager
def look() -> Iterator[None]:
    """The look of our charts, for as long as artists are made or a picture is drawn."""
    with mpl.rc_context(dict(_LOOK)):
        yield


def axes(ax: Axes | None, height: float) -> Axes:
    """The user's `ax`, or one on a bare figure `height` inches high."""
    if ax is not None:
        return ax
    figure = Figure(figsize=(WIDTH, height))
    FigureCanvasAgg(figure)
    return figure.add_axes((0.02, 0.02, 0.96, 0.96))


def fit(ax: Axes, labels: Sequence[Text] = (), *, right: float = 0.12, beside: float = 0.0) -> None:
    """Place `ax` in its figure, with room on the left for `labels` and `beside` inches more, and on the `right`."""
    figure = cast(Figure, ax.get_figure(root=True))
    width, height = figure.get_size_inches()
    room = beside
    if labels:
        renderer = cast(Any, figure.canvas).get_renderer()
        room += max(text.get_window_extent(renderer).width for text in labels) / figure.dpi + 0.12
    left = max(room, 0.12) / width
    ax.set_position((left, BOTTOM / height, 1 - left - right / width, 1 - (TOP + BOTTOM) / height))


def label(name: object, limit: int = LABEL_LIMIT) -> str:
    """`name` in one line of at most `limit` characters, what the font lacks replaced."""
    return drawable(shorten(literal(name), limit))


def drawable(text: str) -> str:
    """`text` with a box for each character that the font in use has no picture of."""
    fonts = _fonts()
    return "".join(c if any(font.get_char_index(ord(c)) for font in fonts) else "\u25a1" for c in text)


def time_ticks(ax: Axes, largest: float, unit: Unit, *, along: str = "x", count: int = 5) -> None:
    """Ticks from zero to `largest` microseconds, written in `unit`."""
    range_ticks(ax, 0.0, largest or unit.microseconds, unit.microseconds, along=along, count=count)


def range_ticks(
    ax: Axes,
    first: float,
    last: float,
    factor: float = 1.0,
    *,
    along: str = "x",
    count: int = 5,
    whole: bool = False,
) -> None:
    """Ticks between `first` and `last`, written in a unit that is `factor` of theirs; `whole` numbers of it if asked."""
    found = MaxNLocator(count, integer=whole, min_n_ticks=1).tick_values(first / factor, last / factor)
    ticks = [tick for tick in found if tick * factor >= first]
    _set_ticks(ax, [tick * factor for tick in ticks], [f"{round(tick, 9) + 0:,.12g}" for tick in ticks], along)


def log_ticks(ax: Axes, first: int, last: int, text: Callable[[float], str], *, along: str = "x") -> None:
    """A logarithmic axis from 10 to the `first` to 10 to the `last`, with a tick at each power, written by `text`."""
    powers = [10.0**power for power in range(first, last + 1, max(1, (last - first) // 6))]
    (ax.set_xscale if along == "x" else ax.set_yscale)("log")
    (ax.xaxis if along == "x" else ax.yaxis).set_minor_locator(NullLocator())
    _set_ticks(ax, powers, [text(power) for power in powers], along)
    (ax.set_xlim if along == "x" else ax.set_ylim)(10.0**first, 10.0**last)


def _set_ticks(ax: Axes, ticks: Sequence[float], texts: Sequence[str], along: str) -> None:
    if along == "x":
        ax.set_xticks(ticks, texts, parse_math=False)
        ax.tick_params(axis="x", length=2, width=0.6, color=INK, labelcolor=INK)
    else:
        ax.set_yticks(ticks, texts, parse_math=False)
        ax.tick_params(axis="y", length=0, color=INK, labelcolor=INK)
        ax.grid(axis="y", color=INK, alpha=0.18, linewidth=0.6)
        ax.set_axisbelow(True)


def legend(ax: Axes, handles: Sequence[Any], names: Sequence[object], limit: int = 24) -> None:
    """A legend on the right of `ax`; a name may begin with an underscore, which matplotlib would hide."""
    box = ax.legend(
        list(handles),
        [str(number) for number in range(len(names))],
        loc="upper left",
        bbox_to_anchor=(1.01, 1.02),
        borderaxespad=0,
        frameon=False,
        handlelength=0.9,
        handleheight=0.9,
        handletextpad=0.5,
        labelspacing=0.45,
    )
    for text, name in zip(box.get_texts(), names, strict=True):
        text.set_text(label(name, limit))
        text.set_gid(literal(name))


def legend_room(names: Sequence[object], limit: int = 24) -> float:
    """Inches that a legend of these names takes on the right of the axes."""
    return 0.3 + 0.077 * max(len(label(name, limit)) for name in names)


def nothing(ax: Axes, message: str) -> Axes:
    """Axes that say, in place of a chart, that there is nothing to draw."""
    ax.set_axis_off()
    ax.text(0.0, 0.5, drawable(message), transform=ax.transAxes, va="center", parse_math=False)
    return ax


def _fonts() -> list[FT2Font]:
    """The fonts that text is drawn with now: one for each of the families asked for."""
    asked = FontProperties()
    found = []
    for family in asked.get_family():
        one = asked.copy()
        one.set_family(family)
        found.append(get_font(findfont(one)))
    return found
