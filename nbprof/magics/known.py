"""The one list of magics: it serves loading, completion and the docs page.

In: the functions and their parsers. Out: `MAGICS`, by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from nbprof.magics import cell, line
from nbprof.magics.arguments import Parser


@dataclass(frozen=True)
class Magic:
    """A magic: what runs, its options, and whether it is written as a line (%), above a cell (%%), or both."""

    run: Callable[..., Any]
    parser: Parser
    kinds: tuple[Literal["line", "cell"], ...]

    @property
    def sign(self) -> str:
        """What stands before its name."""
        return "%" if "line" in self.kinds else "%%"


MAGICS = {
    "region": Magic(cell.region, cell.region_parser, ("cell",)),
    "profile_once": Magic(cell.profile_once, cell.once_parser, ("line", "cell")),
    "regions": Magic(line.regions, line.regions_parser, ("line",)),
    "profiler": Magic(line.profiler, line.profiler_parser, ("line",)),
}
