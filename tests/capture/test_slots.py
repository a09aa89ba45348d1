from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from nbprof.capture import slots
from nbprof.capture.gate import Gate
from nbprof.capture.places import Book
from nbprof.capture.slots import region


def test_an_idle_region_lets_values_and_exceptions_through() -> None:
    @region("idle")
    def double(x: int) -> int:
        """Twice."""
        return 2 * x

    assert double(3) == 6
    assert double.__doc__ == "Twice."
    with pytest.raises(KeyError), region("idle"):
        raise KeyError("mine")


def test_a_name_that_is_no_text_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="name is text, not int"):
        region(3)  # type: ignore[arg-type]


def test_names_made_up_on_the_fly_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "_MOST_SLOTS", 5)
    for number in range(20):
        with region(f"step {number}"):
            pass
    assert len(slots._slots) == 5


@pytest.fixture
def book() -> Iterator[Book]:
    """A recording of this thread in which every name has a place."""
    log: list[str] = []
    gate = Gate(
        lambda on: log.append("on" if on else "off"), lambda name: log.append(name) or name, lambda handle: None
    )
    book = Book(gate)
    book.log = log  # type: ignore[attr-defined]
    slots.follow(book.place)
    yield book
    slots.follow(None)


def counted(book: Book) -> dict[tuple[str, str | None], int]:
    return {(count.region, count.parent): count.entries for count in book.region_counts()}


def test_the_outermost_entry_opens_the_gate_and_every_entry_is_marked(book: Book) -> None:
    with region("a"), region("b"), region("a"):
        pass
    assert book.log == ["on", *[f"nbprof.region::{name}" for name in "aba"], "off"]  # type: ignore[attr-defined]
    assert counted(book) == {("a", None): 1, ("b", "a"): 1, ("a", "b"): 1}


def test_a_slot_taken_while_off_looks_again_when_it_is_entered() -> None:
    kept = region("kept")
    book = Book(Gate(lambda on: None, lambda name: name, lambda handle: None))
    with kept:
        slots.follow(book.place)
        with kept, kept:
            slots.follow(None)  # what was entered is left, whoever follows now
            with kept:
                pass
    assert counted(book) == {("kept", None): 1, ("kept", "kept"): 1}
    assert book.open == []


def test_a_slot_taken_while_on_is_idle_when_the_recording_has_ended(book: Book) -> None:
    kept = region("kept")
    with kept:
        book.close_all()
        slots.follow(None)
    log = list(book.log)  # type: ignore[attr-defined]
    with kept:
        pass
    assert book.log == log == ["on", "nbprof.region::kept", "off"]  # type: ignore[attr-defined]


def test_a_worker_is_turned_away_without_disturbing_the_owner(book: Book) -> None:
    kept = region("kept")

    def enter_twice() -> None:
        with kept, kept:
            pass

    with pytest.warns(UserWarning, match="only the thread that started the profiler") as caught, kept:
        thread = threading.Thread(target=enter_twice)
        thread.start()
        thread.join()
        assert len(book.open) == 1
    assert len(caught) == 1
    assert counted(book) == {("kept", None): 1}


def test_an_entry_that_another_thread_ends_is_left_to_its_owner() -> None:
    asked: list[Any] = []
    book = Book(Gate(lambda on: None, lambda name: name, lambda handle: None), asked.append)
    slots.follow(book.place)

    def generate() -> Iterator[None]:
        with region("held"):
            yield

    generator = generate()
    next(generator)
    thread = threading.Thread(target=generator.close)  # type: ignore[attr-defined]
    thread.start()
    thread.join()
    assert len(book.open) == 1
    for request in asked:
        request()
    slots.follow(None)
    assert book.open == []


def test_as_a_decorator_it_holds_across_awaits_and_leaves_at_yields(book: Book) -> None:
    seen: list[int] = []

    @region("a")
    async def infer() -> None:
        await asyncio.sleep(0)
        seen.append(len(book.open))

    @region("a")
    def batches() -> Any:
        seen.append(len(book.open))
        yield

    asyncio.run(infer())
    for _ in batches():
        seen.append(len(book.open))
    assert seen == [1, 1, 0]


def test_what_is_never_recorded_decorates_by_doing_nothing() -> None:
    def func() -> None:
        return None

    assert slots.NOTHING(func) is func
    with slots.NOTHING, slots.NOTHING:
        pass
