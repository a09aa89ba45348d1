from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from nbprof.capture.controller import TorchProfilerController
from nbprof.capture.decorator import profile_region
from nbprof.capture.process import get_or_create_profiler
from tests.capture.conftest import X, spans


@pytest.fixture
def recorded(on: Callable[..., None], tmp_path: Path) -> Iterator[Callable[[], list[str]]]:
    on("a")
    controller = get_or_create_profiler(tmp_path)

    def stop() -> list[str]:
        recording = controller.stop()
        assert recording is not None
        return spans(recording.path)

    yield stop
    controller.stop()


def test_functions_and_methods(recorded: Callable[[], list[str]]) -> None:
    class Model:
        profiler_controller = TorchProfilerController(None, (), disabled=True)

        @profile_region("a")
        def forward(self) -> str:
            torch.sin(X)
            return "out"

    class Plain:
        @profile_region("a")
        def forward(self) -> None:
            torch.cos(X)

    assert Model().forward() == "out"  # its own controller, which is off
    Plain().forward()
    assert recorded() == ["nbprof.region::a", "aten::cos"]


def test_a_coroutine_holds_the_region_across_awaits(recorded: Callable[[], list[str]]) -> None:
    @profile_region("a")
    async def infer() -> int:
        torch.sin(X)
        await asyncio.sleep(0)
        torch.cos(X)
        return 3

    assert inspect.iscoroutinefunction(infer)
    assert asyncio.run(infer()) == 3
    assert recorded() == ["nbprof.region::a", "aten::sin", "aten::cos"]


def test_a_generator_leaves_the_region_at_each_yield(recorded: Callable[[], list[str]]) -> None:
    @profile_region("a")
    def batches() -> Iterator[int]:
        torch.sin(X)
        yield 1
        torch.cos(X)
        yield 2

    assert inspect.isgeneratorfunction(batches)
    for _ in batches():
        torch.tan(X)  # the consumer's, not the region's
    assert recorded() == ["nbprof.region::a", "aten::sin", "nbprof.region::a", "aten::cos", "nbprof.region::a"]


def test_a_generator_receives_what_is_sent_thrown_and_closed() -> None:
    log: list[Any] = []

    @profile_region("a")
    def echo() -> Iterator[Any]:
        try:
            while True:
                try:
                    log.append((yield len(log)))
                except KeyError as error:
                    log.append(error)
        finally:
            log.append("closed")

    generator: Any = echo()
    assert next(generator) == 0
    assert generator.send("x") == 1
    error = KeyError("y")
    assert generator.throw(error) == 2
    generator.close()
    assert log == ["x", error, "closed"]


def test_a_generators_return_value_passes() -> None:
    @profile_region("a")
    def half() -> Any:
        yield 1
        return "end"

    def whole() -> Any:
        return (yield from half())

    generator = whole()
    next(generator)
    with pytest.raises(StopIteration) as stop:
        next(generator)
    assert stop.value.value == "end"


def test_an_async_generator_leaves_the_region_at_each_yield(recorded: Callable[[], list[str]]) -> None:
    closed: list[str] = []

    @profile_region("a")
    async def stream() -> AsyncIterator[int]:
        try:
            torch.sin(X)
            yield 1
            yield 2
        finally:
            closed.append("closed")

    async def consume() -> None:
        generator: Any = stream()
        assert [await anext(generator), await anext(generator)] == [1, 2]
        torch.tan(X)
        await generator.aclose()

    assert inspect.isasyncgenfunction(stream)
    asyncio.run(consume())
    assert closed == ["closed"]
    assert recorded().count("aten::tan") == 0
