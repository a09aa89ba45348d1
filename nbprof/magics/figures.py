"""The charts of `nbprof.view.charts` as the last line of a cell -> a picture, also where `%matplotlib` was never run.

In: a shell. Out: a PNG printer for bare figures and their axes; what belongs to pyplot is left to pyplot.
"""

from __future__ import annotations

from typing import Any

from IPython.core.interactiveshell import InteractiveShell

_KINDS = (("matplotlib.figure", "Figure"), ("matplotlib.axes._axes", "Axes"))


def install(shell: InteractiveShell) -> None:
    """By name, so that matplotlib isn't loaded for it; a printer that is there already wins."""
    for module, name in _KINDS:
        _printers(shell).for_type_by_name(module, name, _picture)


def uninstall(shell: InteractiveShell) -> None:
    """Take the printers away, where they are still ours."""
    printers = _printers(shell)
    for known in (printers.deferred_printers, printers.type_printers):
        for kind in [kind for kind, printer in known.items() if printer is _picture]:
            del known[kind]


def _printers(shell: InteractiveShell) -> Any:
    display: Any = shell.display_formatter
    return display.formatters["image/png"]


def _picture(drawn: Any) -> tuple[bytes, dict[str, int]] | None:
    from nbprof.view import charts

    figure = drawn.figure
    if figure.canvas.manager is not None:  # pyplot's: the notebook shows it at the cell's end anyway
        return None
    return charts.png(figure), {"width": round(figure.get_figwidth() * figure.dpi)}
