"""Broken JSON text of an event -> text that parses, with the names of what was done.

In: bytes that a strict parser refused. Out: attempts, the least intrusive first; nothing here decides whether one is right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from nbprof.reader.pieces import STRING

NOT_UTF8 = "bytes that are not UTF-8"
NOT_A_NUMBER = "a number that JSON does not know"
CONTROL = "control character in a text"
BACKSLASH = "backslash that was not escaped"
SURROGATE = "half of a surrogate pair"
QUOTE = "quote that was not escaped"
COMMA = "comma too many"

_STRING = re.compile(STRING + rb'|[^"]+', re.DOTALL)
_CONTROL = re.compile(rb"[\x00-\x1f]")
_SUSPECT = re.compile(rb"[\x00-\x1f\\]")
_PAIR = re.compile(rb"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_LONE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
_DRIVE = re.compile(rb'"[A-Za-z]:\\[^\\]')
_SINGLE = re.compile(rb'(\\\\|\\")|\\')
_WORD = re.compile(rb"(?<![\w.])[-+]?(?:nan|inf|infinity)\b", re.IGNORECASE)
_STRAY = re.compile(rb"(?:,\s*)+(?=[}\]])|(?<=[{\[])\s*,|,(?=\s*,)")
_KEY_ENDS = re.compile(rb"\s*:")
_VALUE_ENDS = re.compile(rb'\s*(?:[}\]]|$|,\s*(?:["{\[]|-?\d|true\b|false\b|null\b))')

Note = Callable[[str], None]


def attempts(text: bytes) -> Iterator[tuple[bytes, list[str]]]:
    """(mended text, kinds of repair done): first with the strings as they stand, then with quotes set right."""
    kinds: list[str] = []
    decoded = text.decode("utf-8", "replace").encode()
    if decoded != text:
        kinds.append(NOT_UTF8)
    yield _mended(decoded, kinds)
    requoted = _requoted(decoded)
    if requoted != decoded:
        yield _mended(requoted, [*kinds, QUOTE])


def _mended(text: bytes, kinds: list[str]) -> tuple[bytes, list[str]]:
    done = list(kinds)
    # Only a text with some escape that can't be one shows a writer who does not escape.
    raw = b"\\" in text and any(not _escapes_are_valid(part) for part in _STRING.findall(text) if part[:1] == b'"')

    def note(kind: str) -> None:
        if kind not in done:
            done.append(kind)

    def part_mended(found: re.Match[bytes]) -> bytes:
        part = found.group()
        return _string(part, raw, note) if part.startswith(b'"') else _outside(part, note)

    return _STRING.sub(part_mended, text), done


def _string(text: bytes, raw: bool, note: Note) -> bytes:
    if not _SUSPECT.search(text):
        return text
    if raw and (_DRIVE.match(text) or not _escapes_are_valid(text)):
        # Whoever wrote this did not escape backslashes: then \n and \b in it are no escapes either.
        text = _SINGLE.sub(lambda found: found.group(1) or rb"\\", text)
        note(BACKSLASH)
    return _replaced(_LONE, rb"\\ufffd", _replaced(_CONTROL, _escaped, text, CONTROL, note), SURROGATE, note)


def _outside(text: bytes, note: Note) -> bytes:
    return _replaced(_STRAY, b"", _replaced(_WORD, b"null", text, NOT_A_NUMBER, note), COMMA, note)


def _replaced(
    pattern: re.Pattern[bytes],
    replacement: bytes | Callable[[re.Match[bytes]], bytes],
    text: bytes,
    kind: str,
    note: Note,
) -> bytes:
    replaced, count = pattern.subn(replacement, text)
    if count:
        note(kind)
    return replaced


def _escaped(found: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % ord(found.group())


def _escapes_are_valid(string: bytes) -> bool:
    return all(pair in b'"\\/bfnrt' or len(pair) == 5 for pair in _PAIR.findall(string))


def _requoted(text: bytes) -> bytes:
    """`text` with a backslash before every quote that can't begin or end a string, by what stands around it."""
    quotes = [found.start() for found in re.finditer(rb'(?<!\\)"', text)]
    inner: list[int] = []
    ends: re.Pattern[bytes] | None = None  # what must follow the quote that closes the open string
    for at in quotes:
        if ends is None:
            ends = _VALUE_ENDS if text[:at].rstrip().endswith((b":", b"[")) else _KEY_ENDS
        elif ends.match(text, at + 1) or (ends is _KEY_ENDS and _VALUE_ENDS.match(text, at + 1)):
            ends = None
        else:
            inner.append(at)
    pieces = [text[start:end] for start, end in zip([0, *inner], [*inner, len(text)], strict=True)]
    return b"\\".join(pieces)
