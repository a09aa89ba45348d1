"""Code inside a magic, run as if the magic weren't there.

In: the text of a body or an expression. Out: the value of its last expression, or the code's own exception. Code that
awaits, which only the cell itself can, is refused in one line.
"""

from __future__ import annotations

import ast
import inspect
import io
import tokenize
from types import CodeType
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


class Body:
    """Compiled code that may be called several times; each call gives the last expression's value."""

    def __init__(self, shell: InteractiveShell, text: str, *, way_out: str, number: int, is_cell: bool = True) -> None:
        """`way_out` says what to do with code that awaits. Raises SyntaxError, UsageError."""
        if not text.strip():
            raise UsageError("A cell magic runs the lines below it, but there are none.")
        untyped: Any = shell
        source = untyped.transform_cell(text) if is_cell else text
        name = shell.compile.cache(source, number, raw_code=text)
        tree = untyped.transform_ast(shell.compile.ast_parse(source, filename=name))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        parts: list[tuple[ast.Module | ast.Expression, str]] = (
            [(ast.Module(tree.body, []), "exec")] if tree.body else []
        )
        if last is not None:
            parts.append((ast.Expression(last.value), "eval"))
        self._codes = [compile_as(shell, part, name, mode) for part, mode in parts]
        if any(code.co_flags & inspect.CO_COROUTINE for code in self._codes):
            raise UsageError(f"await is not supported here: {way_out}")
        self.is_silenced = ends_in_semicolon(source)

    def run(self, global_ns: dict[str, Any], local_ns: dict[str, Any]) -> Any:
        """Run it once."""
        __tracebackhide__ = True
        value = None
        for code in self._codes:
            value = eval(code, global_ns, local_ns)
        return value


def compile_as(shell: InteractiveShell, part: ast.Module | ast.Expression, name: str, mode: str) -> CodeType:
    """Compile as the shell would: with the `__future__` of earlier cells (not of this file), await at the top allowed."""
    code: CodeType = compile(part, name, mode, shell.compile.flags | AWAIT, dont_inherit=True)
    return code


def scope_of(shell: InteractiveShell, local_ns: dict[str, Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Where a line in a function finds its names: in the function, then in the notebook.

    One namespace there, because comprehensions and lambdas don't see the locals of evaluated code.
    """
    if local_ns is None or local_ns is shell.user_ns:
        return shell.user_global_ns, shell.user_ns
    merged = {**shell.user_ns, **local_ns}
    return merged, merged


def ends_in_semicolon(source: str) -> bool:
    """Whether the last word of the code is `;`, which silences its value."""
    marks = (tokenize.ENDMARKER, tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT)
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    words = [token for token in tokens if token.type not in marks]
    return bool(words) and words[-1].string == ";"
