"""A region around a cell: entered by its first line, left when it ends, with the report below.

In: a region's name and the wishes for its recording. Out: an `OpenRegion`, which never fails the user's code: while
somebody else's profiler is at work, the code runs without one, and a line says who.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from time import perf_counter_ns
from typing import TYPE_CHECKING

from nbprof.errors import ProfilerBusyError
from nbprof.magics.arguments import Wishes
from nbprof.magics.running import Cells
from nbprof.magics.say import note, one_line_errors, warning
from nbprof.magics.showing import folder, show
from nbprof.markers import canonical_name

if TYPE_CHECKING:
    from nbprof.capture.controller import TorchProfilerController


class OpenRegion:
    """A region that is open around a cell.

    `live` is the controller of the recording that it is part of, else None; `made_here` says that it was made for it.
    """

    def __init__(
        self, name: str, cells: Cells, wishes: Wishes, live: TorchProfilerController | None, *, made_here: bool
    ) -> None:
        self._name = name
        self._cells = cells
        self._wishes = wishes
        self._live = live
        self._made_here = made_here
        self._entry: AbstractContextManager[None] | None = None
        self._start = self._wall = 0

    def __enter__(self) -> OpenRegion:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._cells.close(self, error)

    def enter(self, entry: AbstractContextManager[None]) -> OpenRegion:
        """The user's code begins."""
        entry.__enter__()
        self._entry = entry
        self._start = perf_counter_ns()
        return self

    def leave(self) -> None:
        """The user's code is through."""
        if self._entry is not None:
            self._wall = perf_counter_ns() - self._start
            self._entry.__exit__(None, None, None)
            self._entry = None

    def pause(self) -> None:
        """A value is displayed between two statements."""
        if self._live is not None:
            self._live.pause()

    def resume(self) -> None:
        """The user's code goes on."""
        if self._live is not None:
            self._live.resume()

    def close(self, error: BaseException | None) -> None:
        """Leave; stop a recording made for this cell and show it, or say what was added to the one under way."""
        self.leave()
        if self._live is None:
            return
        if self._made_here:
            self._live.note(error)
            recording = self._live.stop()
            if recording is not None:
                show(self._cells.shell, recording, self._wishes)
        elif self._live.is_recording and self._live.label == PROFILER:
            note(f"added to the recording ({self._live.label}): region {self._name}, {self._wall / 1e6:.1f} ms")


PROFILER = "%profiler"
"""The label of a recording that `%profiler start` makes."""


def enter_region(name: str, cells: Cells, wishes: Wishes) -> OpenRegion:
    """Enter the region; with no recording under way, make one for it. Raises UsageError before the user's code runs."""
    with one_line_errors():
        from nbprof.capture import owner
        from nbprof.capture.controller import get_global_controller
        from nbprof.capture.slots import region

        known = _known(name)
        live = get_global_controller()
        if _is_off(known):
            return OpenRegion(known, cells, wishes, None, made_here=False)
        if live is None and owner.current_owner() is not None:  # a one-shot session: the region is marked in it
            return OpenRegion(known, cells, wishes, None, made_here=False).enter(region(known))
        if live is not None:
            return _join(known, cells, wishes, live)
        return _record(known, cells, wishes)


def _join(name: str, cells: Cells, wishes: Wishes, live: TorchProfilerController) -> OpenRegion:
    if not live.is_owned_here:
        warning(f"Region {name} runs unprofiled: the recording under way ({live.label}) belongs to another thread.")
        return OpenRegion(name, cells, wishes, None, made_here=False)
    if wishes.bind is not None:
        warning(
            f"-o has no effect inside a recording that is under way; %profiler stop -o {wishes.bind} gives the name."
        )
    return OpenRegion(name, cells, wishes, live, made_here=False).enter(live.cell_region(name))


def _record(name: str, cells: Cells, wishes: Wishes) -> OpenRegion:
    from nbprof.capture.process import start_recording
    from nbprof.capture.recording import nothing

    label = f"%%region {name}"
    try:
        live = start_recording(folder(wishes), label=label, cell=str(cells.number), options=wishes.options)
    except ProfilerBusyError as busy:
        nothing(label, "cell", str(busy))
        warning(f"Region {name} runs unprofiled. {busy}")
        return OpenRegion(name, cells, wishes, None, made_here=False).enter(nullcontext())
    return OpenRegion(name, cells, wishes, live, made_here=True).enter(live.cell_region(name))


def _known(name: str) -> str:
    """The registered name; a new one is registered on the spot."""
    from nbprof.capture.notices import nearest
    from nbprof.capture.regions import list_profiler_regions, register_profiler_region, resolve_profiler_region

    region = resolve_profiler_region(name)
    if region is not None:
        return region.name
    known = [one.name for one in list_profiler_regions()]
    register_profiler_region(name, "added by %%region")
    canonical = canonical_name(name)
    near = nearest(canonical, known)
    listed = f" Others: {', '.join(known)}." if known else ""
    note(f"region {canonical!r} is new and now registered{near}{listed}")
    return canonical


def _is_off(name: str) -> bool:
    from nbprof.capture.regions import region_state

    if region_state(name) != "off":
        return False
    from nbprof.capture.controller import get_global_controller
    from nbprof.capture.recording import nothing

    reason = f"region {name!r} is off; %regions enable {name}"
    if get_global_controller() is None:
        nothing(f"%%region {name}", "cell", f"Nothing was recorded: {reason}.")
    note(reason)
    return True
