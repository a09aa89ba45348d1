"""Notices another torch profiler that the user's code starts while a window of nbprof's is open.

In: a call to make then. Out: a context to hold meanwhile. torch raises nothing when a second profiler starts: it empties
the first, whose next step or export ends the process (seen up to torch 2.13). So the first has to know, and let go.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from torch.autograd import profiler


@contextlib.contextmanager
def watched(on_intruder: Callable[[], None]) -> Iterator[Callable[[], contextlib.AbstractContextManager[None]]]:
    """Calls `on_intruder` just before another profiler warms up or starts; gives a context for calls of one's own."""
    is_own = False

    @contextlib.contextmanager
    def own_call() -> Iterator[None]:
        nonlocal is_own
        is_own = True
        try:
            yield
        finally:
            is_own = False

    def told(call: Callable[..., Any]) -> Callable[..., Any]:
        def tell(*args: Any, **kwargs: Any) -> Any:
            if not is_own:
                on_intruder()
            return call(*args, **kwargs)

        return tell

    # The two places that every torch profiler passes, whichever class it is of; private, so only where they are there.
    with contextlib.ExitStack() as undo:
        for home, name in ((profiler, "_run_on_profiler_start"), (profiler.profile, "_prepare_trace")):
            call = getattr(home, name, None)
            if call is not None:
                setattr(home, name, told(call))
                undo.callback(setattr, home, name, call)
        yield own_call
