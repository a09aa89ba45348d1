"""What a long read shows, and that nothing of it stays."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from nbprof.view import progress as module
from nbprof.view.progress import reading
from tests.generated import write_generated
from tests.magics.shells import run_notebook


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
        ("display", "trace.json: 25 % of 100 MB, 12,345 events, 16.7 MB/s"),  # 25 MB in 1.5 s, before the display too
        ("update", "trace.json: 50.0 MB, 20,000 events, 25.0 MB/s"),  # 50 MB in 2 s
        ("update", ""),
    ]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_the_display_goes_away_after_an_error_too(
    clock: Clock, shown: list[tuple[str, str]], error: type[BaseException]
) -> None:
    with pytest.raises(error), reading("trace.json", clock=clock) as progress:
        clock.now = 2.0
        progress(1, 2, 3)
        raise error
    assert [kind for kind, _ in shown] == ["display", "update"]
    assert shown[-1] == ("update", "")


def test_a_terminal_has_a_bar_that_is_wiped(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with reading("trace.json", clock=clock) as progress:
        clock.now = 2.0
        progress(50_000_000, 100_000_000, 7)
        assert "trace.json:  50%" in terminal.getvalue() and "50.0M/100MB, 7 events, 25.0 MB/s" in terminal.getvalue()
        clock.now = 4.0
        progress(60_000_000, None, 8)
        assert terminal.getvalue().rstrip().endswith("trace.json: 60.0MB, 8 events, 15.0 MB/s")
    assert terminal.getvalue().endswith("\r")


def test_a_log_file_gets_nothing(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    with reading("trace.json", clock=clock) as progress:
        clock.now = 2.0
        progress(50, 100, 7)
    assert log.getvalue() == ""


CELLS = [
    "from nbprof.view import progress\nprogress.QUIET_SECONDS = 0.0",
    "print('before')\ntrace = nbprof.load_trace('t.json')\nprint('after')",
    "nbprof.load_trace('t.json') and 1 / 0",
    """import io, os, signal
class Interrupted(io.BytesIO):
    def read(self, count=-1):
        if self.tell() > 500_000:
            os.kill(os.getpid(), signal.SIGINT)
        return super().read(count)
nbprof.load_trace(Interrupted(open('t.json', 'rb').read()))""",
    "import threading\n[thread.name for thread in threading.enumerate() if 'nbprof' in thread.name], len(trace) > 2000",
]


def test_in_a_kernel_nothing_stays_below_a_cell_but_its_own(tmp_path: Path) -> None:
    write_generated(tmp_path / "t.json", 2000)  # 700 kB: several pieces
    notebook = run_notebook(CELLS, tmp_path, allow_errors=True)
    emptied = [""]  # the one display, which has no height any more
    assert (notebook.stream(2, "stdout"), notebook.reports(2), notebook.errors(2)) == ("before\nafter\n", emptied, [])
    assert (notebook.reports(3), [error.ename for error in notebook.errors(3)]) == (emptied, ["ZeroDivisionError"])
    assert (notebook.reports(4), [error.ename for error in notebook.errors(4)]) == (emptied, ["KeyboardInterrupt"])
    assert notebook.values(5) == ["([], True)"]
    assert not any(notebook.stream(number, "stderr") for number in range(6))
