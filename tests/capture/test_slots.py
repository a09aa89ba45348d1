from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from nbprof.capture import slots
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


class _Recorder(slots.Named):
    """A stand-in that counts."""

    def __init__(self) -> None:
        super().__init__("recorder")
        self.open = 0
        self.entered = 0

    def __enter__(self) -> None:
        self.open += 1
        self.entered += 1

    def __exit__(self, *exc: object) -> None:
        self.open -= 1


def test_a_slot_taken_while_off_looks_again_when_it_is_entered() -> None:
    kept = region("kept")
    recorder = _Recorder()
    slots.follow(lambda slot: recorder)
    with kept:
        assert recorder.open == 1
        with kept:
            assert recorder.open == 2
            slots.follow(None)  # what was entered is left, whoever follows now
    assert (recorder.open, recorder.entered) == (0, 2)


def test_a_slot_entered_while_off_and_left_while_on_closes_nothing_of_others() -> None:
    kept = region("kept")
    recorder = _Recorder()
    with kept:
        slots.follow(lambda slot: recorder)
        thread = threading.Thread(target=kept.__exit__, args=(None, None, None))
        with kept:
            thread.start()
            thread.join()
            assert recorder.open == 1
        assert recorder.open == 0
    assert recorder.open == 0
    slots.follow(None)


def test_as_a_decorator_it_holds_across_awaits_and_leaves_at_yields() -> None:
    recorder = _Recorder()
    seen: list[int] = []

    @region("a")
    async def infer() -> None:
        await asyncio.sleep(0)
        seen.append(recorder.open)

    @region("a")
    def batches() -> Any:
        seen.append(recorder.open)
        yield

    slots.follow(lambda slot: recorder)
    asyncio.run(infer())
    for _ in batches():
        seen.append(recorder.open)
    slots.follow(None)
    assert seen == [1, 1, 0]


def test_what_is_never_recorded_decorates_by_doing_nothing() -> None:
    def func() -> None:
        return None

    assert slots.NOTHING(func) is func
    with slots.NOTHING, slots.NOTHING:
        pass
