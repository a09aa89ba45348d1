"""A callable -> one that behaves the same, inside a region.

In: a function, coroutine function, generator function or asynchronous one, and what opens the region. Out: its like.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractContextManager
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])
_OpenNow = Callable[[], AbstractContextManager[None]]
Opening = Callable[[tuple[Any, ...]], AbstractContextManager[None]]


def inside(func: F, open_region: Opening) -> F:
    """`func`, each call inside what `open_region` gives for the call's positional arguments.

    A coroutine holds the region across its awaits; a generator, also an asynchronous one, leaves it at each yield.
    """
    return cast(F, functools.wraps(func)(_wrapper(func, open_region)))


def _wrapper(func: Callable[..., Any], open_region: Opening) -> Callable[..., Any]:
    if inspect.isasyncgenfunction(func):
        return _async_generator(func, open_region)
    if inspect.isgeneratorfunction(func):

        def inside_generator(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            return (yield from _drive(func(*args, **kwargs), lambda: open_region(args)))

        return inside_generator
    if inspect.iscoroutinefunction(func):

        async def inside_coroutine(*args: Any, **kwargs: Any) -> Any:
            with open_region(args):
                return await func(*args, **kwargs)

        return inside_coroutine

    def inside_function(*args: Any, **kwargs: Any) -> Any:
        with open_region(args):
            return func(*args, **kwargs)

    return inside_function


def _drive(generator: Generator[Any, Any, Any], open_region: _OpenNow) -> Generator[Any, Any, Any]:
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


def _async_generator(func: Callable[..., AsyncGenerator[Any, Any]], open_region: Opening) -> Callable[..., Any]:
    """The same for an asynchronous generator, which can't hand itself over to another (`yield from`)."""

    async def inside_async_generator(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        generator = func(*args, **kwargs)
        resume: Callable[[Any], Any] = generator.asend
        value: Any = None
        while True:
            with open_region(args):
                try:
                    item = await resume(value)
                except StopAsyncIteration:
                    return
            try:
                value, resume = (yield item), generator.asend
            except GeneratorExit:
                with open_region(args):
                    await generator.aclose()
                raise
            except BaseException as error:
                value, resume = error, generator.athrow

    return inside_async_generator
