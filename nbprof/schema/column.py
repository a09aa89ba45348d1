"""What is known of one column.

In: rows of name, type, unit, meaning. Out: `Column`s.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """One column of a table; `unit` is empty for names and counts."""

    name: str
    dtype: str
    unit: str
    meaning: str


def columns(*rows: tuple[str, str, str, str]) -> tuple[Column, ...]:
    """The columns of a table, in order."""
    return tuple(Column(*row) for row in rows)
