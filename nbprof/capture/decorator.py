"""`profile_region`: a region around every call of a function, method, coroutine or generator.

In: a callable. Out: one that behaves the same, inside the region.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from nbprof.capture.slots import region
from nbprof.capture.wrapping import F, inside


def profile_region(name: str) -> Callable[[F], F]:
    """Decorator: each call runs inside the region `name`.

    A method whose object has a `profiler_controller` uses that one, everything else the process's controller. A coroutine
    holds the region across its awaits; a generator, also an asynchronous one, leaves it at each yield.
    """

    def decorate(func: F) -> F:
        return inside(func, lambda args: _region_for(name, args))

    return decorate


def _region_for(name: str, args: tuple[Any, ...]) -> AbstractContextManager[None]:
    controller = getattr(args[0], "profiler_controller", None) if args else None
    return region(name) if controller is None else controller.region(name)
