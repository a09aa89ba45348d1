"""`profile_region`: a region around every call of a function, method, coroutine or generator.

In: a callable. Out: one that behaves the same, inside the region.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractContextManager
from typing import Any, TypeVar, cast

from nbprof.capture import regions

F = TypeVar("F", bound=Callable[..., Any])
_Open = Callable[[], AbstractContextManager[None]]


def profile_region(name: str) -> Callable[[F], F]:
    """Decorator: each call runs inside the region `name`.

    A method whose object has a `profiler_controller` uses that one, everything else the process's controller. A coroutine
    holds the region across its awaits; a generator, also an asynchronous one, leaves it at each yield.
    """

    def decorate(func: F) -> F:
        return cast(F, functools.wraps(func)(_wrapper_of(func, name)))

    return decorate


def _wrapper_of(func: Callable[..., Any], name: str) -> Callable[..., Any]:
    if inspect.isasyncgenfunction(func):
        return _async_generator(func, name)
    if inspect.isgeneratorfunction(func):

        def inside_generator(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            return (yield from _drive(func(*args, **kwargs), lambda: _region_for(name, args)))

        return inside_generator
    if inspect.iscoroutinefunction(func):

        async def inside_coroutine(*args: Any, **kwargs: Any) -> Any:
            with _region_for(name, args):
                return await func(*args, **kwargs)

        return inside_coroutine

    def inside(*args: Any, **kwargs: Any) -> Any:
        with _region_for(name, args):
            return func(*args, **kwargs)

    return inside


def _region_for(name: str, args: tuple[Any, ...]) -> AbstractContextManager[None]:
    controller = getattr(args[0], "profiler_controller", None) if args else None
    return regions.region(name) if controller is None else controller.region(name)


def _drive(generator: Generator[Any, Any, Any], open_region: _Open) -> Generator[Any, Any, Any]:
    """`generator`, resumed inside the region each time; what is sent, thrown or closed reaches it there."""
    resume: Callable[[Any], Any] = generator.send
    value: Any = None
    while True:
        with open_region():
            try:
                item = resume(value)
            except StopIteration as stop:
                return stop.value
        try:
            value, resume = (yield item), generator.send
        except GeneratorExit:
            with open_region():
                generator.close()
            raise
        except BaseException as error:
            value, resume = error, generator.throw


def _async_generator(func: Callable[..., AsyncGenerator[Any, Any]], name: str) -> Callable[..., Any]:
    """The same for an asynchronous generator, which can't hand itself over to another (`yield from`)."""

    async def inside_async_generator(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        generator = func(*args, **kwargs)
        resume: Callable[[Any], Any] = generator.asend
        value: Any = None
        while True:
            with _region_for(name, args):
                try:
                    item = await resume(value)
                except StopAsyncIteration:
                    return
            try:
                value, resume = (yield item), generator.asend
            except GeneratorExit:
                with _region_for(name, args):
                    await generator.aclose()
                raise
            except BaseException as error:
                value, resume = error, generator.athrow

    return inside_async_generator
