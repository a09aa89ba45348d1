"""Who may run a torch profiler in this process: one at a time, over the whole of wait, warmup and active.

In: a label of who asks. Out: a claim, or `ProfilerBusyError` that says who was first. Foreign profilers are looked for
as objects, because torch has no flag for one that is only warming up, and a second start would crash it.
"""

from __future__ import annotations

import gc
import os
import threading

import torch
from torch.profiler import profile

from nbprof.errors import ProfilerBusyError

_lock = threading.Lock()
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)  # as in slots
_owner: str | None = None


def claim(label: str) -> None:
    """Make `label` the owner; raises ProfilerBusyError while there is another, nbprof's own or a foreign one."""
    global _owner
    with _lock:
        if _owner is not None:
            raise ProfilerBusyError(_owner)
        foreign = foreign_profiler()
        if foreign is not None:
            raise ProfilerBusyError(foreign, foreign=True)
        _owner = label


def release() -> None:
    """Let others in."""
    global _owner
    with _lock:
        _owner = None


def current_owner() -> str | None:
    """The label of nbprof's own recording under way, or None."""
    return _owner


def foreign_profiler() -> str | None:
    """What other torch profiler warms up or collects in this process, in words, or None.

    Takes some 30 ms where many objects live: once a session, never once a region.
    """
    for kind in _with_subclasses(profile.__mro__[1]):
        for candidate in gc.get_referrers(kind):
            if isinstance(candidate, kind) and type(candidate) is kind and _is_at_work(candidate):
                action = getattr(getattr(candidate, "current_action", None), "name", "RECORD")
                return f"a {kind.__module__}.{kind.__qualname__} object in state {action}"
    if torch._C._autograd._profiler_enabled() or torch.autograd.profiler._is_profiler_enabled:
        return "torch.autograd.profiler"
    return None


def _is_at_work(candidate: object) -> bool:
    inner = getattr(candidate, "profiler", None)  # made when it warms up, kept with its results when it has stopped
    return inner is not None and getattr(inner, "kineto_results", None) is None


def _with_subclasses(kind: type) -> list[type]:
    children: list[type] = kind.__subclasses__()
    return [kind, *(found for child in children for found in _with_subclasses(child))]
