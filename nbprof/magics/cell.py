"""`%%region` and `%profile_once`: what a cell's first line opens, and what they do where they are not the first line.

In: the raw line, the body. Out: the value of the code's last expression, a report beside it. On the ordinary route
(`rewriting.py`) the first line becomes one call of `open_region` or `open_once`, and the rest is an ordinary cell.
"""

from __future__ import annotations

import dis
import linecache
import sys
from functools import partial
from types import FrameType
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import needs_local_scope

from nbprof.capture.schedule import Schedule
from nbprof.magics import running
from nbprof.magics.arguments import (
    CAPTURE,
    RESULT,
    SCHEDULE,
    TraceFormat,
    Wishes,
    argument,
    declare,
    schedule_of,
    split_front,
    wishes_of,
    words,
)
from nbprof.magics.body import Body, scope_of
from nbprof.magics.once import Round, start_round
from nbprof.magics.regional import enter_region
from nbprof.magics.say import one_line_errors

_REGION_AWAITS = "make %%region the cell's first line, or use `with nbprof.region(NAME):`."
_ONCE_AWAITS = "put it alone into a cell as `%profile_once await ...`, or make %%profile_once the cell's first line."


def region(line: str, cell: str) -> Any:
    """Run the cell inside a named region and show where its time went.

    With no recording under way, one is made for this cell, with its report below; inside one (%profiler start) the cell
    is added to it. A name that is not registered yet is registered.
    """
    __tracebackhide__ = True
    name, wishes = parse_region(line)
    cells = running.loaded()
    body = Body(cells.shell, cell, way_out=_REGION_AWAITS, number=cells.number)
    with cells.open(partial(enter_region, name, cells, wishes)):
        value = body.run(*scope_of(cells.shell, None))
    return None if body.is_silenced and _is_displayed(_caller()) else value


def profile_once(line: str, cell: str | None = None, local_ns: dict[str, Any] | None = None) -> Any:
    """Run an expression, or a cell, wait + warmup + active times, record the active part, and show where its time went.

    Gives the value of the last run. Side effects repeat with each run. In a loop, the first pass is profiled and the
    others run the code once. Options come first; the rest of the line is taken as it is (after --, if it begins with -).
    """
    __tracebackhide__ = True
    wishes, plan, form, code = parse_once(line, is_cell=cell is not None)
    cells = running.loaded()
    is_cell = cell is not None
    body = Body(cells.shell, cell or code, way_out=_ONCE_AWAITS, number=cells.number, is_cell=is_cell)
    scope = scope_of(cells.shell, local_ns)
    caller = _caller()
    if not cells.current.takes((caller.f_code, caller.f_lasti)):  # the place in the user's code
        value = body.run(*scope)
    else:
        with cells.open(partial(start_round, cells, wishes, plan, form, code=code)) as opened:
            while opened.goes_on():
                opened.keep(body.run(*scope))
            value = opened.take()
    return None if body.is_silenced and _is_displayed(caller) else value


needs_local_scope(profile_once)
region_parser = declare(
    region,
    [argument("name", nargs="*", help="the region's name")],
    CAPTURE,
    RESULT,
    usage="%%region NAME [options]",
)
once_parser = declare(
    profile_once,
    SCHEDULE,
    CAPTURE,
    RESULT,
    usage="%profile_once [options] EXPR, or %%profile_once [options] above a cell",
)


def open_region(line: str) -> None:
    """Enter the region that stands on the first line of the cell that runs, till its end."""
    _show_as_typed(f"# %%region {line}")
    name, wishes = parse_region(line)
    cells = running.loaded()
    cells.open(partial(enter_region, name, cells, wishes))


def open_once(line: str, code: str = "") -> None:
    """Begin the round of the cell that runs; `code` names it."""
    _show_as_typed(code or f"# %%profile_once {line}")
    wishes, plan, form, _ = parse_once(line, is_cell=True)
    cells = running.loaded()
    cells.current.round = cells.open(partial(start_round, cells, wishes, plan, form, code=code))


def _show_as_typed(first: str) -> None:
    """Let tracebacks through the cell show its first line as it was typed; as a comment where it is no Python."""
    caller = sys._getframe(2)
    known = linecache.cache.get(caller.f_code.co_filename)
    if known is not None and len(known) == 4:
        size, modified, lines, name = known
        lines = list(lines)
        at = caller.f_lineno - 1
        if at < len(lines):
            lines[at] = f"{first.rstrip()}\n"
            linecache.cache[caller.f_code.co_filename] = (size, modified, lines, name)


def goes_on() -> bool:
    """Whether the cell's code is to run (once more)."""
    return _round().goes_on()


def keep(value: Any) -> None:
    """Keep the value of the code's last expression."""
    _round().keep(value)


def take() -> Any:
    """The value of the last run, for display."""
    return _round().take()


def parse_region(line: str) -> tuple[str, Wishes]:
    """Name and wishes; raises UsageError, which lists the registered names when there is none."""
    arguments = region_parser.parse_args(words(line))
    name = " ".join(arguments.name)
    if not name.strip():
        raise UsageError(f"%%region needs a name. {_registered()}")
    return name, wishes_of(arguments)


def split_once(line: str) -> tuple[list[str], str]:
    """The options at the front of the line, and the code behind them as it was typed."""
    return split_front(line, once_parser)


def parse_once(line: str, *, is_cell: bool) -> tuple[Wishes, Schedule, TraceFormat, str]:
    """Wishes, schedule, format and code; raises UsageError."""
    options, code = split_once(line)
    arguments = once_parser.parse_args(options)
    if is_cell and code:
        raise UsageError(f"%%profile_once takes options only and runs the lines below it; what is {code!r}?")
    if not is_cell and not code:
        raise UsageError("%profile_once needs an expression: %profile_once [options] EXPR")
    return wishes_of(arguments), schedule_of(arguments), arguments.format, code


def _round() -> Round:
    opened = running.loaded().current.round
    if not isinstance(opened, Round):
        raise UsageError("This line belongs to %%profile_once; run it as such.")
    return opened


def _caller() -> FrameType:
    """The frame of the user's code that calls the magic."""
    frame = sys._getframe(2)
    if frame.f_code.co_name in ("run_line_magic", "run_cell_magic") and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _is_displayed(frame: FrameType) -> bool:
    """Whether the value that `frame` waits for is displayed next: a `;` keeps it from that, but not from a name."""
    following = [one.opname for one in dis.get_instructions(frame.f_code) if one.offset > frame.f_lasti]
    return not following or following[0] in ("PRINT_EXPR", "CALL_INTRINSIC_1", "POP_TOP")


def _registered() -> str:
    with one_line_errors():
        from nbprof.capture.regions import list_profiler_regions

        names = [one.name for one in list_profiler_regions()]
    return f"Registered: {', '.join(names)}." if names else "None is registered yet; any name will do."
