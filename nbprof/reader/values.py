"""JSON text -> Python values that are all JSON again: whatever its numbers are, nothing is rounded away and nothing refused.

In: text of an object, a list or a scalar. Out: its value. The standard parser keeps integers of any size, where msgspec turns
those beyond 64 bits into floats.
"""

from __future__ import annotations

import json
import math
from typing import Any


def _refused(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


def _float_or_text(number: str) -> float | str:
    """A number too large for a float stays text, since infinity could not be written as JSON again."""
    value = float(number)
    return value if math.isfinite(value) else number


def _integer_or_text(number: str) -> int | str:
    """Python refuses to convert more than some 4,300 digits: they stay as they are."""
    try:
        return int(number)
    except ValueError:
        return number


DECODER = json.JSONDecoder(
    strict=False, parse_constant=_refused, parse_float=_float_or_text, parse_int=_integer_or_text
)


def loaded(text: bytes) -> Any:
    """The value of a text. Raises ValueError or RecursionError for what is no JSON."""
    return DECODER.decode(text.decode("utf-8", "replace"))
