"""A table as it is shown, before it becomes text, HTML or markdown.

In: cells that are already words and figures. Out: plain data; every renderer takes the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["name", "word", "number", "bar"]


@dataclass(frozen=True)
class Head:
    """A column's heading; `hint` says what the figures are. A `minor` column is left out where room is short."""

    text: str
    kind: Kind
    hint: str = ""
    unit: str = ""
    minor: bool = False

    @property
    def words(self) -> str:
        """The heading in one line, with its unit."""
        return f"{self.text}, {self.unit}" if self.unit else self.text


@dataclass(frozen=True)
class Cell:
    """What stands in a cell; `value` sorts it, `bar` (0..1) is drawn beside it, `indent` is its depth in a tree."""

    text: str
    value: float | None = None
    bar: float | None = None
    indent: int = 0


@dataclass(frozen=True)
class Grid:
    """Heading, note on what is shown, columns, rows. The first `visible` rows stand open, the rest folded.

    `total` is the number of rows that the table itself has, `call` what to type to get them all.
    """

    title: str
    note: str
    noun: str
    heads: tuple[Head, ...]
    rows: tuple[tuple[Cell, ...], ...]
    total: int
    visible: int
    call: str
    sortable: bool = True
