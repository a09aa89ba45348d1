from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nbprof.markers import canonical_name, decode_name, encode_name


@given(st.text(max_size=50))
def test_any_name_comes_back_and_is_printable_ascii_meanwhile(name: str) -> None:
    encoded = encode_name(name)
    assert decode_name(encoded) == name
    assert encoded.isascii()
    assert not set(encoded) & set('"\\')
    assert encoded == "" or encoded.isprintable()


def test_plain_names_stay_as_they_are() -> None:
    assert encode_name("training_dit 2/3 (a)") == "training_dit 2/3 (a)"
    assert encode_name("100%") == "100%25"
    assert encode_name("é") == "%C3%A9"


def test_what_nobody_encoded_stays_as_it_is() -> None:
    assert decode_name("%C3") == "%C3"
    assert decode_name("50% of") == "50% of"
    assert decode_name("%ED%A0%80") == "%ED%A0%80"


def test_half_of_a_surrogate_pair_becomes_its_escape() -> None:
    assert decode_name(encode_name("half \ud800")) == canonical_name(" Half \ud800") == "half \\ud800"
