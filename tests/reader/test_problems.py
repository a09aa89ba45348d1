"""Every kind of problem that is told anywhere in the reader stands in the one table that the docs are made of."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import nbprof.reader
from nbprof.metadata import ReadProblem
from nbprof.reader import problems
from nbprof.reader.problems import COMMA, CUT_OFF, DROPPED, KINDS, Problems

FILES = sorted(Path(nbprof.reader.__file__).parent.glob("*.py"))


def told_kinds(path: Path) -> Iterator[str]:
    """What stands first in each call of `problems.add` and `ReadProblem`."""
    module = importlib.import_module(f"nbprof.reader.{path.stem}")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        called = ast.unparse(node.func)
        if called.endswith("problems.add") or called == "ReadProblem":
            words = {leaf.id for leaf in ast.walk(node.args[0]) if isinstance(leaf, ast.Name)}
            yield from (getattr(module, word) for word in words if word.isupper())


def test_each_kind_that_is_told_is_described() -> None:
    told = {kind for path in FILES if path.stem not in ("__init__", "problems") for kind in told_kinds(path)}
    assert {DROPPED, COMMA} <= told
    assert told <= set(KINDS)


def test_each_name_of_a_kind_is_in_the_table_and_is_told_in_one_sentence() -> None:
    named = {value for name, value in vars(problems).items() if name.isupper() and isinstance(value, str)}
    assert named == set(KINDS)
    assert all(kind.done.endswith(".") and kind.done[0] in "`ABCDEFGHIJKLMNOPQRSTUVWXYZ" for kind in KINDS.values())


def test_finds_are_counted_and_the_first_of_each_kind_is_kept() -> None:
    tally = Problems()
    tally.add(COMMA, 5, b'{"ph":\n "X",,}')
    tally.add(DROPPED, 9, b"{" + b"x" * 100)
    tally.add(COMMA, 7, b"other", count=3)
    assert tally.listed() == (
        ReadProblem(COMMA, 4, 5, 'repaired in {"ph": "X",,}', is_mended=True),
        ReadProblem(DROPPED, 1, 9, "{" + "x" * 78 + "…"),
    )


def test_the_end_that_comes_early_is_told_once() -> None:
    tally = Problems()
    tally.cut_off(3, "here")
    tally.cut_off(9, "there")
    assert tally.listed() == (ReadProblem(CUT_OFF, 1, 3, "here"),)


def test_nothing_found_is_nothing_listed() -> None:
    assert Problems().listed() == ()
