"""Types of tensors' elements: how large they are, and which are half types.

In: names as torch records them. Out: bytes.
"""

from __future__ import annotations

from collections.abc import Mapping

HALF = frozenset({"c10::Half", "c10::BFloat16", "Half", "BFloat16"})
EIGHTS = tuple(f"c10::Float8_{kind}" for kind in ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz"))

ELEMENT_BYTES: Mapping[str, int] = {
    **dict.fromkeys(("Byte", "Char", "Bool", "QInt8", "QUInt8", "Bits8"), 1),
    **dict.fromkeys(("Float8_e5m2", "Float8_e4m3fn", "Float8_e5m2fnuz", "Float8_e4m3fnuz", "Float8_e8m0fnu"), 1),
    **dict.fromkeys(("Short", "UInt16", "Half", "BFloat16", "Bits16"), 2),
    **dict.fromkeys(("Int", "UInt32", "QInt32", "Float", "ComplexHalf"), 4),
    **dict.fromkeys(("Long", "UInt64", "Double", "ComplexFloat"), 8),
    "ComplexDouble": 16,
    **dict.fromkeys(("unsigned char", "signed char", "bool", *EIGHTS), 1),
    **dict.fromkeys(("short", "short int", "c10::Half", "c10::BFloat16"), 2),
    **dict.fromkeys(("int", "float", "c10::complex<c10::Half>"), 4),
    **dict.fromkeys(("long", "long int", "double", "c10::complex<float>"), 8),
    "c10::complex<double>": 16,
}
"""By c10::ScalarType, as torch records the elements of a collective, and by C++ type, as it records a tensor's."""
