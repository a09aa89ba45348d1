"""What is done to broken JSON text, least first; what is sound in it stays byte for byte."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbprof.reader.mending import attempts


def first(text: bytes) -> tuple[bytes, list[str]]:
    return next(iter(attempts(text)))


@pytest.mark.parametrize(
    ("text", "mended", "kinds"),
    [
        (b'{"a": "b", "c": [1, {}, []]}', b'{"a": "b", "c": [1, {}, []]}', []),
        (b'{"a": nan, "b": [-Infinity, +INF]}', b'{"a": null, "b": [null, null]}', ["a number that JSON does not know"]),
        (b'{"nan": "inf, nan", "i": 1e-5, "n": null}', b'{"nan": "inf, nan", "i": 1e-5, "n": null}', []),
        (b'{"a": xnan, "b": nano, "c": 1.nan}', b'{"a": xnan, "b": nano, "c": 1.nan}', []),
        (b'{, "a": [, 1,, 2 , ], }', b'{ "a": [ 1, 2 ]}', ["comma too many"]),
        (b'{"a": ",,]", "b": "[,"}', b'{"a": ",,]", "b": "[,"}', []),
        (b'{"a": "x\ty\x01"}', b'{"a": "x\\u0009y\\u0001"}', ["control character in a text"]),
        (b'{"a": "C:\\n\\w", "b": "x\\ny"}', b'{"a": "C:\\\\n\\\\w", "b": "x\\ny"}', ["backslash that was not escaped"]),
        (b'{"a": "C:\\nets", "b": "x\\ny"}', b'{"a": "C:\\nets", "b": "x\\ny"}', []),
        (b'{"a": "\\ud83d \\ud83d\\ude00"}', b'{"a": "\\ufffd \\ud83d\\ude00"}', ["half of a surrogate pair"]),
        (b'{"a": "\xff"}', '{"a": "\ufffd"}'.encode(), ["bytes that are not UTF-8"]),
    ],
)  # fmt: skip
def test_what_the_first_attempt_makes_of_a_text(text: bytes, mended: bytes, kinds: list[str]) -> None:
    assert first(text) == (mended, kinds)


@pytest.mark.parametrize(
    "value",
    ['say "hi" now', '"', 'a "b", c', '5" disk', "{[", "C:\\\\dir\\\\"],
)
def test_quotes_inside_of_texts_are_told_from_those_around_them(value: str) -> None:
    text = b'{"name": "%s", "dir": "C:\\\\dir\\\\", "list": ["a", "b"], "end": "x"}' % value.encode()
    expected = {"name": value.replace("\\\\", "\\"), "dir": "C:\\dir\\", "list": ["a", "b"], "end": "x"}
    assert expected in [loaded for mended, _ in attempts(text) if (loaded := loads(mended))]


def loads(text: bytes) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9)
)
JSON = st.lists(SCALARS, max_size=5) | st.dictionaries(st.text(max_size=9), st.lists(SCALARS, max_size=3), max_size=3)


@given(st.dictionaries(st.text(max_size=9), JSON, max_size=4), st.sampled_from([None, 1]))
def test_sound_text_is_left_as_it_is(value: dict[str, object], indent: int | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False).encode("utf-8", "surrogatepass")
    if b"\xed" not in text:  # a lone half of a pair in UTF-8 is no sound text
        assert first(text) == (text, [])


@given(st.binary())
def test_any_bytes_give_at_most_two_attempts(text: bytes) -> None:
    assert len(list(attempts(text))) <= 2


@pytest.mark.parametrize(
    "text",
    [
        b'{"a": "' + b'say "hi" ' * 100_000 + b'"}',
        b'{"a": "' + b'\\"' * 400_000,
        b'{"a": ' + b"," * 800_000 + b"1}",
        b'{"a": [' + b", " * 400_000 + b"]}",
        b'{"a"' + b" " * 800_000 + b": 1}",
        b'{"a": 1}' + b" " * 800_000 + b"x",
        b"[" * 800_000,
        b'"' * 800_000,
        b"\\" * 800_000,
        b"nan" * 250_000,
        b"-" * 800_000,
    ],
    ids=lambda text: text[:12].decode(),
)
def test_a_megabyte_of_the_same_takes_no_longer_than_it_is_long(text: bytes) -> None:
    # Anything that looks at each byte of it for each byte would still be at work tomorrow.
    assert len(list(attempts(text))) <= 2
