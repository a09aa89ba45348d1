"""The ordinary route of a cell magic: its first line becomes one call, and the rest stays an ordinary cell.

In: the lines of a cell, then its syntax tree. Out: both with the first line changed and every other line where it was.
Pure, because IPython also transforms cells that it won't run; what the call opens is closed by the shell's events.
"""

from __future__ import annotations

import ast
import re
import shlex
import warnings

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from nbprof.magics import cell
from nbprof.magics.body import compile_as
from nbprof.magics.running import depth

HOME = '__import__("nbprof").magics.cell.'
"""Reaches the calls from any cell without a name of ours in the user's namespace."""

_CELL = re.compile(r"%%(region|profile_once)(?:[ \t]+(.*?))?\s*$")
_LINE = re.compile(r"%profile_once[ \t]+(.*?)\s*$")


def rewrite_first_line(lines: list[str]) -> list[str]:
    """Replace `%%region ...` (several may follow each other), `%%profile_once ...` or a cell that is one `%profile_once`.

    A cell inside a cell, and one whose next line is another magic, are left to the plain magics. Raises UsageError.
    """
    if depth() > 0:
        return lines
    heads = []
    for line in lines:
        if (head := _CELL.match(line)) is None:
            break
        heads.append(head)
    if not heads:
        return _rewrite_whole_line(lines)
    body = lines[len(heads) :]
    text = next((line for line in body if line.strip()), None)
    if text is None:
        name = heads[-1].group(1)
        raise UsageError(f"%%{name} runs the lines below it, but there are none.")
    kinds = {head.group(1) for head in heads}
    if text.startswith("%%") or (len(heads) > 1 and "profile_once" in kinds):
        return lines
    return [*(_opening(head.group(1), head.group(2) or "") for head in heads), *body]


def _opening(kind: str, line: str) -> str:
    if kind == "region":
        cell.parse_region(line)
        return f"{HOME}open_region({line!r})\n"
    cell.parse_once(line, is_cell=True)
    return f"{HOME}open_once({line!r})\n"


def _rewrite_whole_line(lines: list[str]) -> list[str]:
    head = _LINE.match(lines[0]) if lines else None
    if head is None or head.group(1).endswith(("?", "\\")) or any(line.strip() for line in lines[1:]):
        return lines
    options, code = cell.split_once(head.group(1))
    try:
        ast.parse(f"pass; {code}")
    except SyntaxError:
        return lines  # the plain magic reports it, or runs a compound statement
    cell.parse_once(head.group(1), is_cell=False)
    return [f"{HOME}open_once({shlex.join(options)!r}); {code}\n", *lines[1:]]


rewrite_first_line.has_side_effects = True  # type: ignore[attr-defined]  # else a terminal runs %%region before its body is typed


class FirstCalls:
    """The syntax tree's part: no call in a cell that can't run, and a loop around what runs several times."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell

    def visit(self, tree: ast.Module) -> ast.Module:
        """The tree, changed where its first statement is one of our calls."""
        count = 0
        while count < len(tree.body) and _calls(tree.body[count], "open_region", "open_once"):
            count += 1
        if count == 0:
            return tree
        if not self._can_run(tree):  # a `return` at the top, say: nothing is profiled, and IPython says what is wrong
            del tree.body[:count]
            return tree
        if _calls(tree.body[0], "open_once"):
            return _loop(tree, keeps_all=self._shell.ast_node_interactivity == "all")
        return tree

    def _can_run(self, tree: ast.Module) -> bool:
        try:
            with warnings.catch_warnings(action="ignore"):  # they come again, from IPython
                for statement in tree.body:  # one by one, as IPython compiles them
                    compile_as(self._shell, ast.Module([statement], []), "<cell>", "exec")
        except (SyntaxError, ValueError, TypeError):
            return False
        return True


def _calls(statement: ast.stmt, *names: str) -> bool:
    """Whether the statement is a call of one of our functions."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    return ast.unparse(statement.value.func) in [ast.unparse(_expression(name)) for name in names]


def _loop(tree: ast.Module, *, keeps_all: bool) -> ast.Module:
    """`while goes_on(): body; keep(last value)`, then the last value as the cell's own.

    `keeps_all` is for a shell that would display every value of every run.
    """
    head, body = tree.body[0], tree.body[1:]
    is_line = bool(body) and body[0].lineno == head.lineno  # `%profile_once EXPR`, which names the recording
    if is_line and isinstance(head, ast.Expr) and isinstance(head.value, ast.Call):
        head.value.args.append(ast.Constant(ast.unparse(body[0])))
    shown: list[ast.stmt] = []
    if body and isinstance(last := body[-1], ast.Expr):
        body[-1] = _kept(last)
        shown = [ast.copy_location(_call("take", []), last)]
    if keeps_all:
        body = [_Keeping().visit(statement) for statement in body]
    loop = ast.While(ast.Call(_expression("goes_on"), [], []), body, [])
    tree.body = [head, ast.copy_location(loop, body[0] if body else head), *shown]
    return ast.fix_missing_locations(tree)


class _Keeping(ast.NodeTransformer):
    """Every value is kept till the next one comes, and so is not displayed."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr:
        return node if _calls(node, "keep") else _kept(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return node


def _kept(node: ast.Expr) -> ast.Expr:
    return ast.copy_location(_call("keep", [node.value]), node)


def _call(name: str, arguments: list[ast.expr]) -> ast.Expr:
    return ast.Expr(ast.Call(_expression(name), arguments, []))


def _expression(name: str) -> ast.expr:
    return ast.parse(HOME + name, mode="eval").body
