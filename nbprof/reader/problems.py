"""What can be wrong with a file: one table of the kinds, and a tally of what was found.

In: one remark for each find. Out: one `ReadProblem` for each kind, in order of first sight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from nbprof.metadata import ReadProblem

NOT_UTF8 = "bytes that are not UTF-8"
NOT_A_NUMBER = "a number that JSON does not know"
CONTROL = "control character in a text"
BACKSLASH = "backslash that was not escaped"
SURROGATE = "half of a surrogate pair"
QUOTE = "quote that was not escaped"
COMMA = "comma too many"
NO_COMMA = "no comma between events"
CUT_OFF = "cut off"
DROPPED = "event that cannot be read"
FOREIGN = "entry that is no event"
OVERSIZED = "event larger than 64 MB"
SECOND_LIST = "second list of events"
UNREADABLE = "metadata that cannot be read"
UNREADABLE_FACTS = "recording facts that cannot be read"
TRAILING = "text after the end"
TIMELESS = "event without a time"
ZERO_RECORD = "device event with time zero"
NEGATIVE = "negative duration"
UNCLOSED = "begin event that never ends"
UNOPENED = "end event that nothing began"
UNREADABLE_FX = "FX file that cannot be read"


@dataclass(frozen=True)
class ProblemKind:
    """What is done about one kind of find, in a sentence, and whether all is there afterwards."""

    done: str
    is_mended: bool = False


KINDS: Mapping[str, ProblemKind] = {
    NOT_UTF8: ProblemKind("Each becomes the character U+FFFD.", is_mended=True),
    NOT_A_NUMBER: ProblemKind("`nan`, `inf` and their like become `null`: a missing value.", is_mended=True),
    CONTROL: ProblemKind("It is kept: the text is read as if the character had been escaped.", is_mended=True),
    BACKSLASH: ProblemKind(
        "Where one of a text begins no escape, all single ones in it are kept as they stand, as in `C:\\work\\nets`.",
        is_mended=True,
    ),
    SURROGATE: ProblemKind("It becomes the character U+FFFD.", is_mended=True),
    QUOTE: ProblemKind("A quote that can't end its text, by what follows it, is kept as part of it.", is_mended=True),
    COMMA: ProblemKind("It is passed over.", is_mended=True),
    NO_COMMA: ProblemKind("Both events are read.", is_mended=True),
    CUT_OFF: ProblemKind("What stands before is read; an event that is there in part is left out."),
    DROPPED: ProblemKind("It is left out, up to where the next event begins."),
    FOREIGN: ProblemKind("What stands between the events and is none is left out."),
    OVERSIZED: ProblemKind("It is left out: nothing of that size is held in memory at once."),
    SECOND_LIST: ProblemKind("The events of the first list are read, all others are left out."),
    UNREADABLE: ProblemKind(
        "The key that can't be read, and those behind it on that side of the events, are left out."
    ),
    UNREADABLE_FACTS: ProblemKind("What nbprof noted of the recording is left among the other keys, unread."),
    TRAILING: ProblemKind("What follows the end of the JSON text, or of the packed data, is left out."),
    TIMELESS: ProblemKind("It is left out: it has no place in the trace."),
    ZERO_RECORD: ProblemKind("It is left out: the device's tracer lost the record and wrote zeros."),
    NEGATIVE: ProblemKind("The event is kept without a duration."),
    UNCLOSED: ProblemKind("The event is kept without a duration."),
    UNOPENED: ProblemKind("It is left out."),
    UNREADABLE_FX: ProblemKind("The trace is read without the FX payload beside it."),
}
"""Every kind that the reader tells; docs/repairs.md is written from it."""


class Problems:
    """Counts finds by kind and keeps where and what the first of each was."""

    def __init__(self) -> None:
        self._firsts: dict[str, ReadProblem] = {}
        self._counts: Counter[str] = Counter()

    def add(self, kind: str, offset: int | None, found: str | bytes, *, count: int = 1) -> None:
        """`count` more finds of a kind: the text as it stands in the file, or what is to be said of them.

        `offset` is in bytes of the JSON text, None where there is no one place.
        """
        if kind not in self._firsts:
            is_mended = KINDS[kind].is_mended
            detail = found if isinstance(found, str) else ("repaired in " if is_mended else "") + _excerpt(found)
            self._firsts[kind] = ReadProblem(kind, 0, offset, detail, is_mended)
        self._counts[kind] += count

    def cut_off(self, offset: int | None, detail: str) -> None:
        """The file ends early; said once, whichever layer (compression, JSON) sees it first."""
        if CUT_OFF not in self._firsts:
            self.add(CUT_OFF, offset, detail)

    def listed(self) -> tuple[ReadProblem, ...]:
        """All kinds so far."""
        return tuple(replace(first, count=self._counts[kind]) for kind, first in self._firsts.items())


def _excerpt(text: bytes) -> str:
    words = " ".join(text[:200].decode("utf-8", "replace").split())
    return words if len(words) <= 80 else f"{words[:79]}…"
