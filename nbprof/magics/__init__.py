"""The words of the notebook: %%region, %profile_once, %regions, %profiler.

In: a shell that loads or unloads the extension. Out: one set of magics in it, or none.
"""

from __future__ import annotations

from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from nbprof.magics import completion, figures, line, running
from nbprof.magics.known import MAGICS
from nbprof.magics.rewriting import FirstCalls, rewrite_first_line

_EVENTS = ("pre_run_cell", "post_execute", "post_run_cell")
_PLACES = [(kind, name, magic.run) for name, magic in MAGICS.items() for kind in magic.kinds]


def load(shell: InteractiveShell) -> None:
    """Put the magics into the shell; what is there already stays."""
    if running.is_loaded(shell):
        return
    cells = running.Cells(shell)
    cells.at_end.append(line.show_stopped)
    running.set_loaded(cells)
    for kind, name, function in _PLACES:
        shell.magics_manager.magics[kind][name] = function
    for event in _EVENTS:
        shell.events.register(event, getattr(cells, event))
    # Before others: matplotlib draws the user's figures in its own callback, which is no part of the region.
    callbacks = shell.events.callbacks["post_execute"]
    callbacks.insert(0, callbacks.pop())
    shell.input_transformers_cleanup.append(rewrite_first_line)
    transformers: list[Any] = shell.ast_transformers
    transformers.append(FirstCalls(shell))
    completion.install(shell)
    figures.install(shell)


def unload(shell: InteractiveShell) -> None:
    """Take everything away again; a recording under way is stopped and shown as was wished at its start."""
    if not running.is_loaded(shell):
        return
    cells = running.loaded()
    cells.close_all()
    running.guard(line.stop_recording)
    for event in _EVENTS:
        shell.events.unregister(event, getattr(cells, event))
    shell.input_transformers_cleanup.remove(rewrite_first_line)
    shell.ast_transformers[:] = [one for one in shell.ast_transformers if not isinstance(one, FirstCalls)]
    completion.uninstall(shell)
    figures.uninstall(shell)
    for kind, name, function in _PLACES:
        if shell.magics_manager.magics[kind].get(name) is function:
            del shell.magics_manager.magics[kind][name]
    running.set_loaded(None)
