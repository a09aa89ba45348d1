"""A tally of what was wrong with a file: what was repaired, dropped or cut.

In: one remark for each find. Out: one `ReadProblem` for each kind, in order of first sight.
"""

from __future__ import annotations

from dataclasses import replace

from nbprof.metadata import ReadProblem

CUT_OFF = "cut off"


class Problems:
    """Counts finds by kind and keeps where and what the first of each was."""

    def __init__(self) -> None:
        self._kinds: dict[str, ReadProblem] = {}

    def add(self, kind: str, offset: int | None, detail: str, *, count: int = 1, is_mended: bool = False) -> None:
        """`count` more finds of a kind; `offset` is in bytes of the JSON text, None where there is no one place."""
        first = self._kinds.get(kind)
        if first is None:
            self._kinds[kind] = ReadProblem(kind, count, offset, detail, is_mended)
        else:
            self._kinds[kind] = replace(first, count=first.count + count)

    def cut_off(self, offset: int | None, detail: str) -> None:
        """The file ends early; said once, whichever layer (compression, JSON) sees it first."""
        if CUT_OFF not in self._kinds:
            self.add(CUT_OFF, offset, detail)

    def listed(self) -> tuple[ReadProblem, ...]:
        """All kinds so far."""
        return tuple(self._kinds.values())
