"""Charts -> pictures.

In: Axes or a figure. Out: PNG bytes, or an `<img>` that carries them.
"""

from __future__ import annotations

import base64
import io
from html import escape
from typing import cast

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from nbprof.view.charts.canvas import look

DENSITY = 2
"""Pixels of the picture for each pixel of the page, so that it stays sharp on dense screens."""


def png(drawn: Axes | Figure) -> bytes:
    """The figure as PNG, twice as dense as it is shown, its ground transparent."""
    figure = _figure(drawn)
    buffer = io.BytesIO()
    with look():
        figure.savefig(buffer, format="raw", dpi=figure.dpi * DENSITY)
    width, height = (round(side * figure.dpi * DENSITY) for side in figure.get_size_inches())
    picture = Image.frombytes("RGBA", (width, height), buffer.getvalue())
    buffer = io.BytesIO()
    # Flat colours and grey text: 256 colours look the same, at a third of the bytes and half of the time.
    picture.quantize(256, method=Image.Quantize.FASTOCTREE).save(buffer, "PNG", compress_level=4)
    return buffer.getvalue()


def image(drawn: Axes | Figure, alt: str) -> str:
    """The figure as an `<img>` with the PNG inside, its width in pixels, and `alt` for those who can't see it."""
    figure = _figure(drawn)
    width = round(figure.get_figwidth() * figure.dpi)
    data = base64.b64encode(png(figure)).decode("ascii")
    return f'<img src="data:image/png;base64,{data}" width="{width}" alt="{escape(alt, quote=True)}">'


def _figure(drawn: Axes | Figure) -> Figure:
    return cast(Figure, drawn.get_figure(root=True)) if isinstance(drawn, Axes) else drawn
