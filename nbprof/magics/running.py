"""The cell that runs, and what magics have opened in it.

In: the shell's events. Out: whatever a magic opened is closed when its cell ends, in what way ever: with a value, an
exception, Ctrl-C, or never having run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from contextlib import ExitStack
from functools import partial
from threading import get_ident
from types import CodeType, FrameType
from typing import Any, Protocol, TypeVar

from IPython.core.interactiveshell import InteractiveShell

from nbprof.magics.say import one_line_errors, warning

_RUN_CODE: CodeType = InteractiveShell.run_code.__code__


class Opened(Protocol):
    """Something that a magic opened for the rest of a cell."""

    def leave(self) -> None:
        """The user's code is through."""

    def close(self, error: BaseException | None) -> None:
        """The cell has ended; show what there is."""

    def pause(self) -> None:
        """A value is displayed between two statements."""

    def resume(self) -> None:
        """The user's code goes on."""


One = TypeVar("One", bound=Opened)


class CellRun:
    """One execution of a cell: what is open in it, and the places whose round is taken."""

    def __init__(self, info: Any) -> None:
        self.info = info  # None for a silent one, which has no events of its own
        self.opened: list[Opened] = []
        self.is_held = False  # whether what is displayed is kept out of it
        self.round: object = None  # of a cell that is `%profile_once` as a whole
        self.undo = ExitStack()  # takes off what hangs in the shell for this cell
        self._places: set[Hashable] = set()

    def takes(self, place: Hashable) -> bool:
        """Whether `place` comes for the first time in this execution of the cell."""
        is_new = place not in self._places
        self._places.add(place)
        return is_new

    def leave(self) -> None:
        """The user's code is through; innermost first."""
        for one in reversed(self.opened):
            one.leave()


class Cells:
    """The cells that run, one a thread, and the shell's events around them."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self.at_end: list[Callable[[], None]] = []
        self._runs: dict[int, CellRun] = {}

    @property
    def current(self) -> CellRun:
        """The cell that runs on this thread."""
        return self._runs.setdefault(get_ident(), CellRun(None))

    @property
    def number(self) -> int:
        """The number of the cell that runs, as it stands beside it."""
        history = self.shell.history_manager
        if history is not None and getattr(self.current.info, "store_history", False):
            return (
                len(history.input_hist_parsed) - 1
            )  # the counter goes up before or after, as IPython's version has it
        return int(self.shell.execution_count)

    def open(self, make: Callable[[], One]) -> One:
        """Make something that is closed when the cell ends, at the latest; Ctrl-C waits meanwhile."""
        with one_line_errors():
            from nbprof.capture.window import uninterrupted
        with uninterrupted():
            one = make()
            run = self.current
            if not run.is_held:
                run.is_held = True
                self._hold_display(run)
                self._hold_traceback(run)
            run.opened.append(one)
        return one

    def close(self, one: Opened, error: BaseException | None) -> None:
        """Close it now, and not again when the cell ends."""
        opened = self.current.opened
        if one in opened:
            opened.remove(one)
        guard(partial(one.close, error))

    def pre_run_cell(self, info: Any) -> None:
        """A cell begins; what an earlier one left open is closed."""
        if depth() > 0:
            return
        self._end(None)
        serve_requests()
        self._runs[get_ident()] = CellRun(info)

    def post_execute(self) -> None:
        """The code is through, also that of a silent execution, after which nothing else is told."""
        if depth() > 0:
            return
        run = self.current
        run.leave()
        if run.info is None:
            self._end(None)

    def post_run_cell(self, result: Any) -> None:
        """The cell has ended; `result` is None where it was cancelled."""
        if depth() > 0 or not _belongs(result, self.current):
            return
        self._end(None if result is None else result.error_in_exec or result.error_before_exec)
        serve_requests()
        for told in self.at_end:
            guard(told)

    def close_all(self) -> None:
        """Close what is open on this thread, whatever the cell does."""
        self._end(None)

    def _end(self, error: BaseException | None) -> None:
        run = self._runs.pop(get_ident(), None)
        if run is None:
            return
        run.undo.close()
        for one in reversed(run.opened):
            guard(partial(one.close, error))

    def _hold_display(self, run: CellRun) -> None:
        """Displaying a value is no part of what was marked; IPython takes this hook off when the cell ends."""
        display = sys.displayhook
        ends_code = self.shell.ast_node_interactivity not in ("all", "last")  # these may display more than once

        def hook(value: object) -> None:
            if ends_code and depth() == 1:  # else of a cell that runs inside the cell
                run.leave()
            for one in run.opened:
                one.pause()
            try:
                display(value)
            finally:
                for one in run.opened:
                    one.resume()

        sys.displayhook = hook

    def _hold_traceback(self, run: CellRun) -> None:
        """Nor is making a traceback, which takes longer than much of what is profiled."""
        shell: Any = self.shell
        before = vars(shell).get("showtraceback")
        show = shell.showtraceback

        def showtraceback(*args: Any, **kwargs: Any) -> Any:
            if depth() == 1:
                run.leave()
            return show(*args, **kwargs)

        def let_go() -> None:
            if vars(shell).get("showtraceback") is not showtraceback:
                return
            if before is None:
                del shell.showtraceback
            else:
                shell.showtraceback = before

        shell.showtraceback = showtraceback
        run.undo.callback(let_go)


_cells: Cells | None = None


def loaded() -> Cells:
    """The cells of the shell that the magics are loaded into."""
    if _cells is None:
        raise RuntimeError("The magics of nbprof are not loaded; %load_ext nbprof does that.")
    return _cells


def is_loaded(shell: InteractiveShell) -> bool:
    """Whether the magics are loaded into this shell."""
    return _cells is not None and _cells.shell is shell


def set_loaded(cells: Cells | None) -> None:
    """From now on these are the cells."""
    global _cells
    _cells = cells


def guard(showing: Callable[[], object]) -> None:
    """Do it; a fault of ours is told in one line and never stands in the way of the user's own error."""
    try:
        showing()
    except (Exception, KeyboardInterrupt) as fault:
        # IPython would show it as an error in a callback, with our frames and no word about the recording.
        warning(f"The report could not be made ({type(fault).__name__}: {fault}). {_what_is_left()}")


def depth() -> int:
    """How many cells this thread is inside of: more than one where a magic or the code runs another."""
    frame: FrameType | None = sys._getframe(1)
    count = 0
    while frame is not None:
        count += frame.f_code is _RUN_CODE
        frame = frame.f_back
    return count


def serve_requests() -> None:
    """Let other threads' requests to the recording under way take effect."""
    capture = sys.modules.get("nbprof.capture.controller")
    controller = capture.get_global_controller() if capture else None
    if controller is not None and controller.is_owned_here:
        controller.at_boundary()


def _belongs(result: Any, run: CellRun) -> bool:
    if result is None or run.info is None:
        return True
    return result.info is run.info or result.info.raw_cell == run.info.raw_cell


def _what_is_left() -> str:
    capture = sys.modules.get("nbprof.capture.recording")
    recording = capture.latest() if capture else None
    if recording is None or recording.path is None:
        return "Nothing was written."
    return f"The trace is whole: nbprof.load_trace({str(recording.path)!r}).report()"
