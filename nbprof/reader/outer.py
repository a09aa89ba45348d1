"""The text around the list of events -> the file's other keys.

In: the text before and after the list. Out: one dict (later keys win); numbers of any size stay exact.
"""

from __future__ import annotations

import json
import re
from typing import Any

from nbprof.reader.mending import attempts
from nbprof.reader.problems import SECOND_LIST, TRAILING, UNREADABLE, Problems
from nbprof.reader.values import DECODER

_EVENTS = "traceEvents"
_KEY = re.compile(r'[\s,{]*("(?:[^"\\]|\\.)*+")\s*:\s*', re.DOTALL)


def outer_keys(head: bytes, tail: bytes, tail_offset: int, problems: Problems) -> dict[str, Any]:
    """All keys of the file beside its events. `head` is empty for a bare list, which has none."""
    if not head:
        _tell_trailing(tail, tail_offset, problems)
        return {}
    before = _keys(head.rstrip(b", \t\r\n") + b"}", 0, problems, is_last=False)
    rest = tail.lstrip(b", \t\r\n")
    after = _keys(b"{" + rest, tail_offset + len(tail) - len(rest) - 1, problems, is_last=True)
    values = {**before, **after}
    if more := values.pop(_EVENTS, None):
        count = len(more) if isinstance(more, (list, dict)) else 1
        problems.add(SECOND_LIST, tail_offset, f"{count} entries under another key {_EVENTS} are left out")
    return values


def _keys(text: bytes, offset: int, problems: Problems, *, is_last: bool) -> dict[str, Any]:
    if (loaded := _loaded(text)) is None:
        for mended, kinds in attempts(text):
            if (loaded := _loaded(mended)) is not None:
                for kind in kinds:
                    problems.add(kind, offset, "repaired in the metadata")
                break
    if loaded is not None:
        values, rest = loaded
        _tell_trailing(rest, offset + len(text) - len(rest), problems)
        return values
    values, unread, is_cut = _leading(text)
    if is_cut and is_last:
        problems.cut_off(offset + len(text), "the metadata after the events has no end")
    else:
        problems.add(UNREADABLE, offset + len(text) - len(unread), unread)
    return values


def _tell_trailing(rest: bytes, offset: int, problems: Problems) -> None:
    if rest.strip():
        problems.add(TRAILING, offset, rest.strip())


def _loaded(text: bytes) -> tuple[dict[str, Any], bytes] | None:
    """The object that the text begins with, and what follows it."""
    try:
        decoded = text.decode("utf-8")
        values, end = DECODER.raw_decode(decoded)
    except (ValueError, RecursionError):
        return None
    return values, decoded[end:].encode()


def _leading(text: bytes) -> tuple[dict[str, Any], bytes, bool]:
    """The keys before the first one that can't be read, the text from there on, and whether it just ends too early."""
    decoded, at = text.decode("utf-8", "replace"), 0
    values: dict[str, Any] = {}
    is_cut = not decoded.rstrip().endswith("}")
    while key := _KEY.match(decoded, at):
        try:
            value, end = DECODER.raw_decode(decoded, key.end())
        except json.JSONDecodeError as error:
            is_cut = error.pos >= len(decoded.rstrip()) or error.msg.startswith("Unterminated")
            break
        except (ValueError, RecursionError):
            break
        if end == len(decoded) and isinstance(value, (int, float)):
            break  # more digits may have followed
        values[DECODER.decode(key.group(1))] = value
        at = end
    return values, decoded[at:].encode(), is_cut
