"""Numbers as they stand in a trace -> int64 columns, exactly.

In: decoded scalars, and for times a way to their JSON texts. Out: int64 arrays, where `MISSING` stands for none, and for
figures float64 ones with NaN.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nbprof.reader.entries import MISSING, NO_TIME, Scalar

_EXACT = float(1 << 43)
"""Below this many microseconds a float64 is nearer to a time of three decimals than half a nanosecond."""
_WHOLE_LIMIT = 9 * 10**15
_LARGEST_TIME = 1 << 62
_LARGEST_DIGITS = 16
"""Of whole microseconds: what has more is no time, and might take as much memory as it has digits."""
_DECIMALS = Context(prec=60, rounding=ROUND_HALF_EVEN)
"""Not the thread's own, which a notebook may have changed."""
_MICROSECONDS = rb"-?(?:[1-8][0-9]{15}|[0-9]{1,15})"
_UNIFORM = re.compile(rb"(?:" + _MICROSECONDS + rb"\.[0-9]{3},)*")


def nanoseconds(values: Sequence[Scalar], texts: Callable[[], Sequence[bytes]]) -> NDArray[np.int64]:
    """Microseconds as whole nanoseconds, exact for any size; what is no time becomes MISSING.

    Integers are multiplied as such, floats in two parts; where a float can't hold the time (fractions at epoch size)
    or a value is text, the JSON `texts` are asked for and read as decimals, rounded half to even.
    """
    try:
        array = np.array(values)
    except (OverflowError, ValueError):
        return exact_nanoseconds(texts())
    if array.dtype.kind == "i" and np.abs(array).max(initial=0) < _WHOLE_LIMIT:
        return array.astype(np.int64) * 1000
    if array.dtype.kind == "f":
        missing = array == NO_TIME
        if missing.any():
            array = np.where(missing, 0.0, array)
        if np.abs(array).max(initial=0.0) < _EXACT:
            whole = np.floor(array)
            result = whole.astype(np.int64) * 1000 + np.rint((array - whole) * 1000).astype(np.int64)
            return np.where(missing, MISSING, result)
    return exact_nanoseconds(texts())


def exact_nanoseconds(texts: Sequence[bytes]) -> NDArray[np.int64]:
    """JSON texts of microseconds (numbers, or numbers in quotes; empty for none) as whole nanoseconds."""
    joined = b",".join(texts) + b","
    if _UNIFORM.fullmatch(joined):  # three decimals each, as torch writes: without the point these are nanoseconds
        return _parsed(joined.replace(b".", b""))
    return np.array([_nanoseconds(text) for text in texts], np.int64)


def _parsed(joined: bytes) -> NDArray[np.int64]:
    return np.fromstring(joined[:-1].decode("ascii"), dtype=np.int64, sep=",")


def _nanoseconds(text: bytes) -> int:
    try:
        value = Decimal(text.strip(b'"').decode("ascii").strip(), _DECIMALS)
        if not value.is_finite() or value.adjusted() > _LARGEST_DIGITS:
            return MISSING
        time = int(value.scaleb(3, _DECIMALS).to_integral_value(context=_DECIMALS))
        return time if abs(time) < _LARGEST_TIME else MISSING
    except (ArithmeticError, ValueError):
        return MISSING


def integers(values: Sequence[Any]) -> NDArray[np.int64]:
    """Decoded scalars as integers; what is none, or does not fit 64 bits, becomes MISSING.

    Text may be decimal or hexadecimal, with a word before it: "7", "0x0", "stream 7".
    """
    try:
        return np.fromiter(values, np.int64, len(values))
    except (TypeError, ValueError, OverflowError):
        return np.fromiter(map(integer, values), np.int64, len(values))


def figures(values: Sequence[Any]) -> NDArray[np.float64]:
    """Decoded scalars as floats; what is none becomes NaN."""
    try:
        return np.fromiter(values, np.float64, len(values))
    except (TypeError, ValueError, OverflowError):
        return np.fromiter(map(_figure, values), np.float64, len(values))


def _figure(value: object) -> float:
    try:
        return float(value) if isinstance(value, (str, int, float)) else math.nan
    except (ValueError, OverflowError):
        return math.nan


def integer(value: object) -> int:
    """One scalar, as `integers` takes it."""
    try:
        if isinstance(value, str):
            word = value.split()[-1] if value.split() else ""
            return _bounded(int(word, 16) if word.lower().startswith("0x") else int(word))
        return _bounded(int(value)) if isinstance(value, (int, float)) else MISSING
    except (ValueError, OverflowError):
        return MISSING


def _bounded(value: int) -> int:
    return value if -(1 << 63) <= value < 1 << 63 else MISSING
