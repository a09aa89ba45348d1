"""The tables `operators`, `kernels` and `regions` -> grids.

In: the tables of a trace. Out: the rows that are shown, largest first (regions as a tree), one unit a column.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import pandas as pd

from nbprof.view.quantities import Unit, column_unit, cut_note, is_missing, literal, number, share
from nbprof.view.report.grid import Cell, Grid, Head

VISIBLE = 10
MOST = 50

Column: TypeAlias = tuple[Head, list[Cell]]


def operators_grid(table: pd.DataFrame, call: str) -> Grid:
    """Operators by device self time where there is any, else by host self time."""
    device = bool((table["device_self_us"] > 0).any())
    by, base = ("device_self_us", "device self time") if device else ("host_self_us", "host self time")
    shown = table.nlargest(MOST, by)
    on_device = _times(shown, "device_self_us", "device self", "device events that the operator launched itself")
    on_host = _times(shown, "host_self_us", "host self", "time on the host less nested calls")
    in_all = _times(shown, "host_total_us", "host total", "time on the host, nested calls included")
    launched = _times(shown, "device_total_us", "device total", "device events launched anywhere inside", minor=True)
    columns = [
        _names(shown["name"], "operator"),
        on_device if device else on_host,
        _shares(shown, f"of the operators' summed {base}"),
        *((on_host, launched) if device else (in_all,)),
        _counts(shown, "calls"),
        _times(shown, "mean_us", "mean", "mean time of a call on the host"),
    ]
    note = f"{cut_note(min(VISIBLE, len(shown)), len(table), 'operator')}, by {base}"
    return Grid("Operators", note, "operator", *_turned(columns), len(table), VISIBLE, f"{call}.operators()")


def kernels_grid(table: pd.DataFrame, call: str) -> Grid:
    """Kernels by their summed time on the device."""
    shown = table.nlargest(MOST, "total_us")
    columns = [
        _names(shown["name"], "kernel"),
        (Head("class", "word", "what kind of work it does"), [Cell(literal(name)) for name in shown["kernel_class"]]),
        _times(shown, "total_us", "total", "summed time on the device"),
        _shares(shown, "of the summed time of all kernels"),
        _counts(shown, "calls"),
        _times(shown, "mean_us", "mean", "mean time of a run"),
    ]
    note = f"{cut_note(min(VISIBLE, len(shown)), len(table), 'kernel')}, by time on the device"
    return Grid("Kernels", note, "kernel", *_turned(columns), len(table), VISIBLE, f"{call}.kernels()")


def regions_grid(table: pd.DataFrame, call: str) -> Grid:
    """Regions as a tree, those that were entered inside others under them, in the order of the table."""
    shown = table.head(MOST)
    largest = float(shown["wall_us"].max())
    device = bool((shown["device_us"] > 0).any())

    def times(column: str, title: str, hint: str, *, minor: bool = False) -> Column:
        return _times(shown, column, title, hint, largest=largest, minor=minor)

    columns = [
        _names(shown["region"], "region", shown["depth"].tolist()),
        times("wall_us", "total", "time between entry and exit, nested regions included"),
        times("self_us", "self", "the same less nested regions"),
        _shares(shown, "of the regions' summed self time"),
        times("host_us", "operators", "time in which an operator ran on the host", minor=True),
    ]
    if device:
        columns.append(times("device_us", "device", "time in which a device event that it launched ran"))
        columns.append(times("idle_us", "idle", "device idle from its start to the end of its last device event"))
    columns.append(_counts(shown, "calls", "entries"))
    note = cut_note(len(shown), len(table), "region")
    grid = _turned(columns)
    return Grid("Regions", note, "region", *grid, len(table), MOST, f"{call}.regions()", sortable=False)


def _names(names: pd.Series[Any], title: str, depths: list[int] | None = None) -> Column:
    indents = depths or [0] * len(names)
    return Head(title, "name"), [
        Cell(literal(name), indent=indent) for name, indent in zip(names, indents, strict=True)
    ]


def _times(
    table: pd.DataFrame, column: str, title: str, hint: str, *, largest: float | None = None, minor: bool = False
) -> Column:
    """A column of times in the unit that suits the largest of them."""
    values = table[column].tolist()
    top = max((value for value in values if not is_missing(value)), default=0.0) if largest is None else largest
    unit: Unit = column_unit(top)
    cells = [Cell(unit.plain(value, top), None if is_missing(value) else float(value)) for value in values]
    return Head(title, "number", hint, unit.label, minor), cells


def _shares(table: pd.DataFrame, hint: str) -> Column:
    parts = [0.0 if is_missing(part) else float(part) for part in table["share"]]
    return Head("share", "bar", hint), [Cell(share(part), part, part) for part in parts]


def _counts(table: pd.DataFrame, column: str, title: str = "") -> Column:
    return Head(title or column, "number"), [Cell(number(count), count) for count in table[column].tolist()]


def _turned(columns: list[Column]) -> tuple[tuple[Head, ...], tuple[tuple[Cell, ...], ...]]:
    """Columns as headings and rows."""
    return tuple(head for head, _ in columns), tuple(zip(*(cells for _, cells in columns), strict=True))
