"""`%regions` and `%profiler`: what is on, and a recording over several cells.

In: words behind the magic. Out: a table of the regions; a recording started, or stopped and shown.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from typing import TYPE_CHECKING

from IPython.core.error import UsageError

from nbprof.magics import running
from nbprof.magics.arguments import CAPTURE, RESULT, Wishes, argument, declare, wishes_of, words
from nbprof.magics.regional import PROFILER
from nbprof.magics.say import note, one_line_errors
from nbprof.magics.showing import folder, show
from nbprof.settings import Show, read_settings

if TYPE_CHECKING:
    from nbprof.capture.controller import TorchProfilerController
    from nbprof.capture.regions import ProfilerRegion

CHANGES = ("enable", "disable", "reset")
_USED = {
    "start": ("shapes", "memory", "stack", "flops", "dir", "bind", "show"),
    "stop": ("bind", "show"),
    "status": (),
    "reset": (),
}
ACTIONS = tuple(_USED)


@dataclass(frozen=True)
class RegionTable:
    """The registered regions: name, state, what the default is, description."""

    rows: tuple[tuple[str, str, str, str], ...]

    def __repr__(self) -> str:
        if not self.rows:
            return "No region is registered yet: %%region NAME does that, or nbprof.register_profiler_region(...)."
        table = [_HEAD, *self.rows]
        widths = [max(len(row[column]) for row in table) for column in range(len(_HEAD))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        if not self.rows:
            return f"<p>{escape(repr(self))}</p>"
        head = "".join(f'<th style="text-align:left">{name}</th>' for name in _HEAD)
        body = "".join(
            "<tr>" + "".join(f'<td style="text-align:left">{escape(cell)}</td>' for cell in row) + "</tr>"
            for row in self.rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


@dataclass(frozen=True)
class Long:
    """A recording over several cells, and what is to become of it."""

    live: TorchProfilerController
    wishes: Wishes


_long: Long | None = None
_HEAD = ("region", "state", "default", "description")


def regions(line: str) -> RegionTable | None:
    """List the registered regions and what is on; or enable, disable or reset some of them (or all).

    A region left to its default is recorded by %%region, and inside other regions; one that is off never is.
    """
    arguments = regions_parser.parse_args(words(line))
    with one_line_errors():
        from nbprof.capture import regions as registry

        known = registry.list_profiler_regions()
        if arguments.change is None:
            return RegionTable(
                tuple((r.name, registry.region_state(r.name), _on(r.default_enabled), r.description) for r in known)
            )
        if not arguments.names:
            raise UsageError(f"%regions {arguments.change} needs names, or `all`. {_names(known)}")
        wanted = [r.name for r in known] if arguments.names == ["all"] else arguments.names
        missing = [name for name in wanted if registry.resolve_profiler_region(name) is None]
        change = getattr(registry, f"{arguments.change}_region")
        for name in missing or wanted:  # a missing one is the error, before anything is changed
            change(name)
    state = {"enable": "on", "disable": "off", "reset": "back to the default"}[arguments.change]
    note(f"{', '.join(wanted) or 'no region'}: {state}")
    return None


def profiler(line: str) -> None:
    """Record several cells: start, stop (shows the report), status, or reset (regions and the one-shot session).

    Between start and stop, what cells do under %%region NAME, and in regions that are on, is added to one recording.
    """
    arguments = profiler_parser.parse_args(words(line))
    _check_options(arguments)
    wishes = wishes_of(arguments)
    if arguments.action == "start":
        _start(wishes)
    elif arguments.action == "stop":
        if not stop_recording(bind=arguments.bind, shown=arguments.show):
            note("no recording is under way.")
    elif arguments.action == "status":
        note(_status())
    else:
        _reset()


regions_parser = declare(
    regions,
    [
        argument("change", nargs="?", choices=CHANGES, help="what to do; without it, the regions are listed"),
        argument("names", nargs="*", help="names of regions, or all"),
    ],
    usage="%regions [enable|disable|reset NAME ...]",
)
profiler_parser = declare(
    profiler,
    [argument("action", choices=ACTIONS, help="what to do")],
    CAPTURE,
    RESULT,
    usage="%profiler start [options] | stop [-o NAME] [--show ...] | status | reset",
)


def _check_options(arguments: Namespace) -> None:
    """Raises UsageError for options that the action has no use for."""
    used = _USED[arguments.action]
    given = [
        action.option_strings[0]
        for action in profiler_parser._actions
        if action.option_strings and action.dest not in used and getattr(arguments, action.dest) is not None
    ]
    if given:
        raise UsageError(f"%profiler {arguments.action} has no use for {', '.join(given)}; %profiler start takes that.")


def stop_recording(*, bind: str | None = None, shown: Show | None = None) -> bool:
    """Stop the recording under way, whoever started it, and show it; False when there is none.

    It is shown as was wished when it was started; `bind` and `shown` go before that.
    """
    with one_line_errors():
        from nbprof.capture.controller import get_global_controller

        wishes = _long.wishes if _long is not None else Wishes(show=read_settings().show)
    live = get_global_controller()
    if live is None:
        return False
    _show(live, replace(wishes, bind=bind or wishes.bind, show=shown or wishes.show))
    return True


def show_stopped() -> None:
    """At the end of a cell: show what %profiler recorded, when another thread has asked for its end."""
    if _long is not None and not _long.live.is_recording:
        _show(_long.live, _long.wishes)


def _show(live: TorchProfilerController, wishes: Wishes) -> None:
    global _long
    _long = None
    recording = live.stop()
    if recording is not None:
        running.guard(partial(show, running.loaded().shell, recording, wishes))


def _start(wishes: Wishes) -> None:
    global _long
    with one_line_errors():
        from nbprof.capture import owner, process
        from nbprof.capture.controller import get_global_controller
        from nbprof.errors import ProfilerBusyError

        live = get_global_controller()
        if live is not None or owner.current_owner() is not None:
            raise ProfilerBusyError(live.label if live is not None else str(owner.current_owner()))
        number = str(running.loaded().number)
        live = process.start_recording(folder(wishes), label=PROFILER, cell=number, options=wishes.options)
    _long = Long(live, wishes)
    note("recording what runs under %%region NAME, and in regions that are on, till %profiler stop.")


def _status() -> str:
    with one_line_errors():
        from nbprof.capture import owner, recording
        from nbprof.capture.controller import get_global_controller

    live = get_global_controller()
    label = live.label if live is not None and live.is_recording else owner.current_owner()
    now = f"a recording is under way ({label})." if label else "no recording is under way."
    latest = recording.latest()
    if latest is None:
        return f"{now} Nothing was recorded before."
    if latest.path is None:
        return f"{now} The latest: {latest.problem}"
    return f"{now} The latest: {latest.info.label}, {latest.bytes:,} bytes in {latest.path}"


def _reset() -> None:
    with one_line_errors():
        from nbprof.capture import regions as registry
        from nbprof.capture.callsite import TorchTraceProfiler

        try:
            TorchTraceProfiler.reset_session()
        except RuntimeError as error:
            raise UsageError(str(error)) from None
        known = registry.list_profiler_regions()
        for one in known:
            registry.reset_region(one.name)
    note(f"every region ({len(known)}) is back to its default, and the one-shot session is armed.")


def _on(default: bool) -> str:
    return "on" if default else "off"


def _names(known: Sequence[ProfilerRegion]) -> str:
    names = ", ".join(one.name for one in known)
    return f"Registered: {names or 'none'}."
