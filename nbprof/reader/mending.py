"""Broken JSON text -> attempts at sound text, with the kinds of what was done.

In: bytes that a strict parser refused. Out: attempts, the least intrusive first; nothing here decides whether one is right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nbprof.reader.problems import BACKSLASH, COMMA, CONTROL, NOT_A_NUMBER, NOT_UTF8, QUOTE, SURROGATE

# A string that never ends reaches to the end of the text, so that no quote in it is looked at again.
_END = rb'(?:"|\\?\Z)'
_STRING = rb'"(?:[^"\\]++|\\.)*+' + _END
# nan, inf or infinity, with or without a sign, as a word of its own.
_WORD = rb"[-+nNiI](?<![\w.].)(?:(?<=[-+])[nNiI])?(?:(?<=[nN])[aA][nN]|(?<=[iI])[nN][fF](?:[iI][nN][iI][tT][yY])?)\b"
_COMMAS = rb"(?:,\s*+)++(?=[}\]])|(?:,\s*)+(?=,)|[{\[]\s*+,"
# Over and over: sound text, as much as there is, and a string with something suspect in it, a word or commas.
_PARTS = re.compile(
    rb'((?:[^",{\[nNiI+-]++|"[^"\\\x00-\x1f]*+"|,(?!\s*+[,}\]])|[{\[](?!\s*+,)|(?!' + _WORD + rb")[nNiI+-])*+)"
    rb"(?:(" + _STRING + rb")|(" + _WORD + rb")|(" + _COMMAS + rb")|\Z)",
    re.DOTALL,
)
_CONTROL = re.compile(rb"[\x00-\x1f]")
_BAD_ESCAPE = re.compile(rb'(?:[^\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+\\', re.DOTALL)
_LONE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
_DRIVE = re.compile(rb'"[A-Za-z]:\\[^\\]')
_SINGLE = re.compile(rb'(\\\\|\\")|\\')
# What must follow the quote that ends a value; that of a key may also have a colon behind it.
_VALUE_ENDS = rb'\s*(?:[}\]]|$|,\s*(?:["{\[]|-?\d|true\b|false\b|null\b))'
_QUOTED = re.compile(
    rb'([:\[]\s*+"(?:[^"\\]++|\\.|"(?!' + _VALUE_ENDS + rb"))*+" + _END + rb"|"
    rb'"(?:[^"\\]++|\\.|"(?!\s*:|' + _VALUE_ENDS + rb"))*+" + _END + rb")",
    re.DOTALL,
)
_INNER = re.compile(rb'(\\.)|"', re.DOTALL)


def attempts(text: bytes) -> Iterator[tuple[bytes, list[str]]]:
    """(mended text, kinds of repair done): first with the strings as they stand, then with quotes set right."""
    decoded = text.decode("utf-8", "replace").encode()
    kinds = [] if decoded == text else [NOT_UTF8]
    yield from _mended(decoded, kinds)
    requoted = _requoted(decoded)
    if requoted != decoded:
        yield from _mended(requoted, [*kinds, QUOTE])


def _mended(text: bytes, kinds: list[str]) -> Iterator[tuple[bytes, list[str]]]:
    parts = _PARTS.split(text)
    suspects, words, commas = (list(filter(None, parts[first::5])) for first in (2, 3, 4))
    if text.endswith(tuple(suspects)):
        return  # it ends inside a string: there is no sense in it
    done = dict.fromkeys(kinds)
    if suspects:
        # Only a text with some escape that can't be one shows a writer who does not escape.
        raw = any(map(_BAD_ESCAPE.match, suspects))
        parts[2::5] = [part and _string(part, raw, done) for part in parts[2::5]]
    if words:
        parts[3::5] = [part and b"null" for part in parts[3::5]]
        done[NOT_A_NUMBER] = None
    if commas:
        parts[4::5] = [part and part[:1].strip(b",") for part in parts[4::5]]
        done[COMMA] = None
    yield b"".join(filter(None, parts)), list(done)


def _string(text: bytes, raw: bool, done: dict[str, None]) -> bytes:
    if raw and (_DRIVE.match(text) or _BAD_ESCAPE.match(text)):
        # Whoever wrote this did not escape backslashes: then \n and \b in it are no escapes either.
        text = _SINGLE.sub(lambda found: found.group(1) or rb"\\", text)
        done[BACKSLASH] = None
    if _CONTROL.search(text):
        text = _CONTROL.sub(_escaped, text)
        done[CONTROL] = None
    if _LONE.search(text):
        text = _LONE.sub(rb"\\ufffd", text)
        done[SURROGATE] = None
    return text


def _escaped(found: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % ord(found.group())


def _requoted(text: bytes) -> bytes:
    """`text` with a backslash before every quote that can't begin or end a string, by what stands around it."""
    parts = _QUOTED.split(text)
    parts[1::2] = [_inner_escaped(part) if part.count(b'"') > 2 else part for part in parts[1::2]]
    return b"".join(parts)


def _inner_escaped(quoted: bytes) -> bytes:
    begin = quoted.index(b'"') + 1
    inner = _INNER.sub(lambda found: found.group(1) or rb"\"", quoted[begin:-1])
    return quoted[:begin] + inner + quoted[-1:]
