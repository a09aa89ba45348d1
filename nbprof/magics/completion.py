"""Completion behind the magics: region names, options, their values, and the words of %regions and %profiler.

In: the line up to the cursor. Out: what may stand there.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher
from IPython.core.interactiveshell import InteractiveShell

from nbprof.magics import line
from nbprof.magics.arguments import takes_value
from nbprof.magics.known import MAGICS

_CALL = re.compile(rf"(?:^|=)\s*%{{1,2}}({'|'.join(MAGICS)})[ \t]+(.*)$")


@context_matcher(identifier="nbprof")  # type: ignore[untyped-decorator]
def match(context: CompletionContext) -> SimpleMatcherResult:
    """IPython's question, answered for the lines of our magics."""
    call = _CALL.search(context.line_with_cursor[: context.cursor_position])
    if call is None:
        return {"completions": []}
    word = re.search(r"\S*$", call.group(2))
    typed = word.group() if word else ""
    options = offers(call.group(1), call.group(2).split(), typed)
    found = [SimpleCompletion(text) for text in options if text.startswith(typed)]
    return {"completions": found, "suppress": bool(found), "matched_fragment": typed}


def offers(magic: str, words: list[str], typed: str) -> list[str]:
    """What may stand behind `words`, of which the last is `typed` (empty after a blank)."""
    before = words[:-1] if typed else words
    parser = MAGICS[magic].parser
    values = {name: action.choices for action in parser._actions for name in action.option_strings}
    if before and takes_value(parser).get(before[-1]):
        return [str(choice) for choice in values[before[-1]] or ()]
    options = [name for name in values if name not in before]
    if typed.startswith("-"):
        return options
    return [*_words(magic, before), *options] if not typed else [*_words(magic, before)]


def _words(magic: str, before: Iterable[str]) -> list[str]:
    plain = [word for word in before if not word.startswith("-")]
    if magic == "region":
        return [] if plain else _region_names()
    if magic == "regions":
        return [*_region_names(), "all"] if plain else list(line.CHANGES)
    if magic == "profiler":
        return [] if plain else list(line.ACTIONS)
    return []


def _region_names() -> list[str]:
    registry: Any = sys.modules.get("nbprof.capture.regions")  # completion must not be what loads torch
    return [region.name for region in registry.list_profiler_regions()] if registry else []


def install(shell: InteractiveShell) -> None:
    """Answer the shell's completer too."""
    if shell.Completer is not None and match not in shell.Completer.custom_matchers:
        shell.Completer.custom_matchers.append(match)


def uninstall(shell: InteractiveShell) -> None:
    """No longer."""
    if shell.Completer is not None and match in shell.Completer.custom_matchers:
        shell.Completer.custom_matchers.remove(match)
