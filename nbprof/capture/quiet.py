"""Keeps the lines that torch's own profiler prints from C++ away from cells and terminals.

In: nothing. Out: a context to hold while a window of the profiler is open. No descriptor is redirected (that loses lines of
concurrent writers): the levels of torch's two C++ loggers are raised, and put back at the end.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Iterator
from pathlib import Path

import torch

from nbprof.settings import temporary_variable

_KINETO = ("libtorch_cpu.so", "_ZN9libkineto6Logger14severityLevel_E")
_KINETO_QUIET = 6  # still reports a file that can't be opened; below, each start and stop prints a line
_KINETO_USUAL = 4  # what torch 2.13 sets when its profiler is first used
_C10 = ("libc10.so", "FLAGS_caffe2_log_level")
_C10_ERRORS = 2


@contextlib.contextmanager
def quiet(*, keeps_memory: bool) -> Iterator[None]:
    """Hold this from before the profiler's start till after its stop.

    With `keeps_memory`, torch logs "Memory block of unknown size ..." from the middle of the user's code; the level of
    that logger is raised too.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(_raised(*_KINETO, level=_KINETO_QUIET, usual=_KINETO_USUAL))
        if keeps_memory:
            stack.enter_context(_raised(*_C10, level=_C10_ERRORS, usual=0))
        yield


def first_use_is_quiet() -> contextlib.AbstractContextManager[None]:
    """Hold this around calls that may be the first use of a profiler: Kineto then reads its level from the environment."""
    return temporary_variable("KINETO_LOG_LEVEL", str(_KINETO_QUIET))


@contextlib.contextmanager
def _raised(library: str, symbol: str, *, level: int, usual: int) -> Iterator[None]:
    flag = _integer_in(library, symbol)
    if flag is None:
        yield
        return
    before = flag.value or usual
    flag.value = max(before, level)
    try:
        yield
    finally:
        flag.value = before


@functools.cache
def _integer_in(library: str, symbol: str) -> ctypes.c_int | None:
    path = Path(torch.__file__).parent / "lib" / library
    try:
        return ctypes.c_int.in_dll(ctypes.CDLL(str(path)), symbol)
    except (OSError, ValueError):  # another build of torch; the lines are then printed
        return None
