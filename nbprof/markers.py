"""Names as they may stand in a trace file.

In: any text. Out: printable ASCII that torch's C++ writer leaves as it is, and the way back.
"""

from __future__ import annotations

import re

_UNSAFE = re.compile(r'[^\x20-\x7e]|["\\%]')
_ENCODED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


def canonical_name(name: str) -> str:
    """The one form of a region's name: lower case, no blanks around it, halves of surrogate pairs as escapes."""
    return name.strip().lower().encode("utf-8", "backslashreplace").decode()


def encode_name(name: str) -> str:
    """`name` as it may stand in a marker: printable ASCII; the rest, `"`, `\\` and `%`, percent-encoded UTF-8.

    Half of a surrogate pair is no text, which tables could neither show nor save; its escape takes its place.
    """

    def percent(match: re.Match[str]) -> str:
        return "".join(f"%{byte:02X}" for byte in match.group().encode("utf-8", "backslashreplace"))

    return _UNSAFE.sub(percent, name)


def decode_name(name: str) -> str:
    """The name that `encode_name` was given; what nobody encoded stays as it is."""

    def plain(match: re.Match[str]) -> str:
        return bytes.fromhex(match.group().replace("%", "")).decode("utf-8")

    try:
        return _ENCODED.sub(plain, name)
    except UnicodeDecodeError:
        return name
