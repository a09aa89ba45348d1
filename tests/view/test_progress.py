"""What a long read shows, and that nothing of it stays."""

from __future__ import annotations

import io
import sys

import pytest

from nbprof.view import progress as module
from nbprof.view.progress import reading


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What a notebook's front end was told: (display or update, text)."""
    import IPython.display

    told: list[tuple[str, str]] = []

    class Handle:
        def update(self, bundle: dict[str, str], raw: bool) -> None:
            assert raw
            told.append(("update", bundle["text/plain"]))

    def display(bundle: dict[str, str], raw: bool, display_id: bool) -> Handle:
        assert raw and display_id
        told.append(("display", bundle["text/plain"]))
        return Handle()

    monkeypatch.setattr(IPython.display, "display", display)
    monkeypatch.setattr(module, "is_notebook", lambda: True)
    return told


def test_nothing_is_shown_in_the_first_second(clock: Clock, shown: list[tuple[str, str]]) -> None:
    with reading("trace.json", clock=clock) as progress:
        for clock.now in (0.1, 0.5, 0.99):
            progress(10, 100, 5)
    assert shown == []


def test_a_notebook_has_one_display_that_is_emptied_at_the_end(clock: Clock, shown: list[tuple[str, str]]) -> None:
    with reading("trace.json", clock=clock) as progress:
        clock.now = 1.5
        progress(25_000_000, 100_000_000, 12_345)
        clock.now = 1.6
        progress(26_000_000, 100_000_000, 12_999)  # too soon after the last
        clock.now = 2.0
        progress(50_000_000, None, 20_000)
    assert shown == [
        ("display", "trace.json: 25 % of 100 MB, 12,345 events"),
        ("update", "trace.json: 50.0 MB, 20,000 events"),
        ("update", ""),
    ]


def test_the_display_goes_away_after_an_error_too(clock: Clock, shown: list[tuple[str, str]]) -> None:
    with pytest.raises(ValueError, match="cut off"), reading("trace.json", clock=clock) as progress:
        clock.now = 2.0
        progress(1, 2, 3)
        raise ValueError("cut off")
    assert shown[-1] == ("update", "")


def test_a_terminal_has_a_bar_that_is_wiped(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with reading("trace.json", clock=clock) as progress:
        clock.now = 2.0
        progress(50, 100, 7)
        assert "trace.json:  50%" in terminal.getvalue() and "7 events" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r")


def test_a_log_file_gets_nothing(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    with reading("trace.json", clock=clock) as progress:
        clock.now = 2.0
        progress(50, 100, 7)
    assert log.getvalue() == ""
