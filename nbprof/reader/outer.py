"""The text around the list of events -> the file's other keys.

In: the text before and after the list. Out: one dict (later keys win); numbers of any size stay exact.
"""

from __future__ import annotations

import json
import math
from typing import Any

from nbprof.reader.mending import attempts
from nbprof.reader.problems import Problems

UNREADABLE = "metadata that cannot be read"
TRAILING = "text after the end"
_TRIES = 1000


def outer_keys(head: bytes, tail: bytes, tail_offset: int, problems: Problems) -> dict[str, Any]:
    """All keys of the file beside its events. `head` is empty for a bare list, which has none."""
    rest = tail.strip()
    if not head:
        if rest:
            problems.add(TRAILING, tail_offset, rest[:80].decode("utf-8", "replace"))
        return {}
    before = _keys(head.rstrip(b", \t\r\n") + b"}", 0, problems)
    after = _tail_keys(rest.lstrip(b", \t\r\n"), tail_offset, problems)
    return {**before, **after}


def _tail_keys(text: bytes, offset: int, problems: Problems) -> dict[str, Any]:
    if text.endswith(b"}"):
        return _keys(b"{" + text, offset, problems)
    problems.cut_off(offset + len(text), "the metadata after the events has no end")
    for _ in range(_TRIES):
        if (values := _loaded(b"{" + text + b"}")) is not None:
            return values
        text = text.rpartition(b",")[0]
    return {}


def _keys(text: bytes, offset: int, problems: Problems) -> dict[str, Any]:
    if (values := _loaded(text)) is not None:
        return values
    for mended, kinds in attempts(text):
        if (values := _loaded(mended)) is not None:
            for kind in kinds:
                problems.add(kind, offset, "repaired in the metadata", is_mended=True)
            return values
    problems.add(UNREADABLE, offset, text[:80].decode("utf-8", "replace"))
    return {}


def _loaded(text: bytes) -> dict[str, Any] | None:
    try:
        # The standard parser keeps integers of any size, where msgspec turns those beyond 64 bits into floats.
        values = json.loads(text.decode("utf-8"), strict=False, parse_constant=_refused, parse_float=_float_or_text)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def _refused(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


def _float_or_text(number: str) -> float | str:
    """A number too large for a float stays text, since infinity could not be written as JSON again."""
    value = float(number)
    return value if math.isfinite(value) else number
