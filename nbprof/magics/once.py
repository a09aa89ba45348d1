"""One-shot rounds of `%profile_once`: the code runs wait + warmup + active times, the active part is recorded once.

In: wishes, and whoever runs the code as long as the round `goes_on()`. Out: a `Round`, which never fails the user's code:
while another profiler is at work the code runs once, and a line says who.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbprof.capture.schedule import Schedule
from nbprof.errors import ProfilerBusyError
from nbprof.magics.arguments import TraceFormat, Wishes
from nbprof.magics.running import Cells
from nbprof.magics.say import note, one_line_errors, warning
from nbprof.magics.showing import folder, show

if TYPE_CHECKING:
    from nbprof.capture.oneshot import OneShot


class Round:
    """Runs of the same code; the value of the last is kept till it is taken."""

    def __init__(self, cells: Cells, wishes: Wishes, session: OneShot | None) -> None:
        self._cells = cells
        self._wishes = wishes
        self._session = session
        self._steps = iter((0,)) if session is None else session.steps()
        self._value: Any = None

    def __enter__(self) -> Round:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._cells.close(self, error)

    def goes_on(self) -> bool:
        """Whether the code is to run (once more)."""
        return next(self._steps, None) is not None

    def keep(self, value: Any) -> None:
        """The value of the last expression, for when the runs are over; something to await ends them."""
        self._value = value
        if self._session is not None and inspect.isawaitable(value):
            self._steps = iter(())
            warning("The code gives something to await, and is not profiled: put `await` before it.")

    def take(self) -> Any:
        """The value that was kept last."""
        value, self._value = self._value, None
        return value

    def leave(self) -> None:
        """The user's code is through."""
        if self._session is not None:
            self._session.leave()

    def pause(self) -> None:
        """A value is displayed when the runs are over."""

    def resume(self) -> None:
        """See `pause`."""

    def close(self, error: BaseException | None) -> None:
        """End the session and show what it recorded."""
        self._value = None
        if self._session is not None:
            show(self._cells.shell, self._session.close(error), self._wishes)


def start_round(cells: Cells, wishes: Wishes, plan: Schedule, form: TraceFormat, *, code: str) -> Round:
    """Say how often the code will run, and start waiting. `code` names the recording.

    Raises UsageError before the user's code runs.
    """
    with one_line_errors():
        from nbprof.capture.oneshot import OneShot
        from nbprof.capture.recording import nothing

        path = _path(folder(wishes), form)
        session = OneShot(plan, path, label=_label(code), cell=str(cells.number), options=wishes.options)
        try:
            session.start()
        except ProfilerBusyError as busy:
            nothing(_label(code), "once", str(busy))
            warning(f"%profile_once runs the code once, unprofiled. {busy}")
            return Round(cells, wishes, None)
    if plan.total > 1:
        note(f"runs {plan.total} times ({plan.in_words()}); side effects repeat.")
    return Round(cells, wishes, session)


def _path(directory: Path, form: TraceFormat) -> Path:
    from nbprof.capture.files import SUFFIX, unique_path

    path = unique_path(directory, "profile_once")
    return path if form == "tensorboard" else path.with_name(path.name.removesuffix(SUFFIX) + ".trace.json")


def _label(code: str) -> str:
    """`%profile_once` with what stands behind it, shortened; `%%profile_once` for a cell."""
    line = " ".join(code.split())
    if not line:
        return "%%profile_once"
    return f"%profile_once {line}" if len(line) <= 60 else f"%profile_once {line[:57]}..."
