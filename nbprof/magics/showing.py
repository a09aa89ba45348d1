"""A finished recording -> what stands under the cell.

In: a `Recording`, and the wishes of who asked. Out: the report on display, the `Trace` under its name, the default folder
pruned; or one line that says why there is nothing.
"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

from nbprof.magics.arguments import Wishes
from nbprof.magics.say import note, warning

if TYPE_CHECKING:
    from nbprof.capture.recording import Recording

FOLDER = ".nbprof"
_pruned: set[Path] = set()  # every default folder that was handed out: a notebook may change its working directory
_shown: Recording | None = None


def folder(wishes: Wishes) -> Path:
    """Where the trace goes; the default folder is made with a `.gitignore` for all that is in it."""
    if wishes.directory is not None:
        return wishes.directory.absolute()
    default = Path.cwd() / FOLDER
    if not default.exists():
        from nbprof.capture.files import check_writable

        check_writable(default)
        (default / ".gitignore").write_text("*\n", encoding="utf-8")
    _pruned.add(default)
    return default


def show(shell: InteractiveShell, recording: Recording, wishes: Wishes) -> None:
    """Show what was recorded, as it was asked for; a file that no magic began stays as and where it is."""
    global _shown
    from nbprof.trace import Trace, from_recording, packed_after

    if recording is _shown:  # a cell may have stopped its own recording
        return
    _shown = recording
    if recording.is_empty:
        if wishes.bind is not None and isinstance(shell.user_ns.get(wishes.bind), Trace):
            del shell.user_ns[wishes.bind]  # an older trace must not look like this one
        note(recording.problem)
        return
    if recording.problem:
        warning(recording.problem)
    is_ours = recording.info.kind != "controller"
    with packed_after(recording) if is_ours else nullcontext(from_recording(recording)) as trace:
        if wishes.bind is not None:
            shell.user_ns[wishes.bind] = trace
        if wishes.show == "report":
            display(trace.report(called=wishes.bind or "nbprof.last"))  # type: ignore[no-untyped-call]
    if is_ours and recording.path is not None and recording.path.parent in _pruned:
        _prune(Path(trace.metadata.source))
    recording.release()


def _prune(newest: Path) -> None:
    from nbprof.capture.files import keep_newest

    try:
        keep_newest(newest.parent, newest)
    except OSError as error:
        warning(f"The older traces in {newest.parent} were not cleared away: {error}")
