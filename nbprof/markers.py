"""Names as they may stand in a trace file.

In: any text. Out: printable ASCII that torch's C++ writer leaves as it is, and the way back.
"""

from __future__ import annotations

import re

_UNSAFE = re.compile(r'[^\x20-\x7e]|["\\%]')
_ENCODED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


def encode_name(name: str) -> str:
    """`name` as it may stand in a marker: printable ASCII; the rest, `"`, `\\` and `%`, percent-encoded UTF-8."""

    def percent(match: re.Match[str]) -> str:
        return "".join(f"%{byte:02X}" for byte in match.group().encode("utf-8", "surrogatepass"))

    return _UNSAFE.sub(percent, name)


def decode_name(name: str) -> str:
    """The name that `encode_name` was given."""

    def plain(match: re.Match[str]) -> str:
        return bytes.fromhex(match.group().replace("%", "")).decode("utf-8", "surrogatepass")

    try:
        return _ENCODED.sub(plain, name)
    except UnicodeDecodeError:
        return name
