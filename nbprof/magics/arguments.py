"""The options of the magics, declared once: they serve parsing, `%%region?`, completion and the docs page.

In: the raw line of a magic. Out: frozen wishes, or a `UsageError` of one line; for `%profile_once` also the rest of the
line, untouched.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from IPython.core import magic_arguments
from IPython.core.error import UsageError
from IPython.core.magic import no_var_expand

from nbprof.capture.schedule import Schedule
from nbprof.magics.say import one_line_errors
from nbprof.settings import CaptureOptions, Show, read_settings

TraceFormat = Literal["tensorboard", "chrome"]
Options = Sequence[Any]
Parser = magic_arguments.MagicArgumentParser
argument: Callable[..., Any] = magic_arguments.argument

_SWITCH = argparse.BooleanOptionalAction
CAPTURE: Options = (
    argument(
        "--shapes", action=_SWITCH, help="record the shapes of operators' inputs (on, where nothing else is said)"
    ),
    argument("--memory", action=_SWITCH, help="record allocations, into the trace file"),
    argument("--stack", action=_SWITCH, help="record Python calls, into the trace file; costs most of all"),
    argument("--flops", action=_SWITCH, help="estimate floating-point operations, into the trace file"),
)
RESULT: Options = (
    argument(
        "--dir", help="folder of the trace file (else NBPROF_TORCH_PROFILER_DIR, else .nbprof, where 20 are kept)"
    ),
    argument("-o", dest="bind", metavar="NAME", help="give the Trace this name"),
    argument("--show", choices=get_args(Show), help="what to show when it ends (else NBPROF_SHOW, else the report)"),
)
SCHEDULE: Options = (
    argument("--wait", metavar="N", type=int, default=Schedule.wait, help="runs without the profiler (%(default)s)"),
    argument(
        "--warmup", metavar="N", type=int, default=Schedule.warmup, help="runs whose events are dropped (%(default)s)"
    ),
    argument("--active", metavar="N", type=int, default=Schedule.active, help="runs that are recorded (%(default)s)"),
    argument("--format", choices=get_args(TraceFormat), default="tensorboard", help="what the file is named for"),
)


@dataclass(frozen=True)
class Wishes:
    """What a recording is to hold, and what becomes of it; `directory` None is the folder that prunes itself."""

    options: CaptureOptions = field(default_factory=CaptureOptions)
    directory: Path | None = None
    bind: str | None = None
    show: Show = "report"


def declare(function: Callable[..., Any], *options: Options, usage: str) -> Parser:
    """Give a magic its options; its docstring becomes the whole help, which `%%region?` shows.

    `usage` is the line as it is typed (IPython writes the first % itself).
    """
    for one in reversed([one for group in options for one in group]):
        one(function)
    decorate: Any = magic_arguments
    decorate.kwds(usage=usage.removeprefix("%").replace("%", "%%"))(function)
    decorate.magic_arguments()(function)
    no_var_expand(function)
    parser: Parser = function.parser  # type: ignore[attr-defined]
    parser.allow_abbrev = False
    return parser


def words(line: str) -> list[str]:
    """The line's words, as a shell would cut them."""
    try:
        return shlex.split(line)
    except ValueError as error:
        raise UsageError(f"{error} in {line.strip()!r}.") from None


def wishes_of(arguments: argparse.Namespace) -> Wishes:
    """What was asked for, filled up from the environment as it is now."""
    if arguments.bind is not None and not arguments.bind.isidentifier():
        raise UsageError(f"-o needs a Python name; got {arguments.bind!r}.")
    with one_line_errors():
        settings = read_settings()
    asked = {name: getattr(arguments, name) for name in asdict(settings.options)}
    options = asdict(settings.options) | {name: on for name, on in asked.items() if on is not None}
    return Wishes(
        options=CaptureOptions(**options),
        directory=Path(arguments.dir).expanduser() if arguments.dir else settings.directory,
        bind=arguments.bind,
        show=arguments.show or settings.show,
    )


def schedule_of(arguments: argparse.Namespace) -> Schedule:
    """How often the code is to run."""
    with one_line_errors():
        return Schedule(arguments.wait, arguments.warmup, arguments.active)


def takes_value(parser: argparse.ArgumentParser) -> dict[str, bool]:
    """Every option string, and whether a value follows it."""
    return {name: action.nargs != 0 for action in parser._actions for name in action.option_strings}


_OPTION = re.compile(r"(--?[A-Za-z][\w-]*)(=\S*)?(?=\s|$)")
_VALUE = re.compile(r"""\s+("[^"]*"|'[^']*'|\S+)""")


def split_front(line: str, parser: argparse.ArgumentParser) -> tuple[list[str], str]:
    """The options at the front as words, and the rest as it was typed.

    They end at the first word that doesn't look like an option, or at `--`.
    """
    known = takes_value(parser)
    found: list[str] = []
    at = _past_blanks(line, 0)
    while option := _OPTION.match(line, at):
        name, value = option.groups()
        if name not in known:
            raise UsageError(_unknown(name, known))
        at = option.end()
        if known[name] and value is None and (separate := _VALUE.match(line, at)):
            value = "=" + separate.group(1)
            at = separate.end()
        found += [name] if value is None else [name, *words(value[1:] or "''")]
        at = _past_blanks(line, at)
    if re.match(r"--(\s|$)", line[at:]):
        at = _past_blanks(line, at + 2)
    return found, line[at:].rstrip()


def _past_blanks(line: str, at: int) -> int:
    return len(line) - len(line[at:].lstrip())


def _unknown(name: str, known: Iterable[str]) -> str:
    return f"Unknown option {name}; there are {', '.join(sorted(known))}. If it belongs to your code, put -- in front of it."
