"""Whatever a magic opens is closed when its cell ends, whichever way that is."""

from __future__ import annotations

import signal
from threading import Thread
from types import SimpleNamespace

import pytest

from nbprof.capture import owner, recording
from nbprof.magics import running
from tests.magics.shells import Shell


class Probe:
    """Something opened, which notes what happens to it."""

    def __init__(self) -> None:
        self.seen: list[object] = []

    def leave(self) -> None:
        self.seen.append("leave")

    def close(self, error: BaseException | None) -> None:
        self.seen.append(error)

    def pause(self) -> None:
        self.seen.append("pause")

    def resume(self) -> None:
        self.seen.append("resume")


@pytest.fixture
def probe(shell: Shell) -> Probe:
    probe = Probe()
    shell.ip.user_ns["begin"] = lambda: running.loaded().open(lambda: probe)
    return probe


def test_a_value_is_displayed_after_the_code_was_left(shell: Shell, probe: Probe) -> None:
    shell.run("begin()\n5").raise_error()
    assert probe.seen == ["leave", "pause", "resume", "leave", None]


def test_an_error_is_handed_on(shell: Shell, probe: Probe) -> None:
    ran = shell.run("begin()\n1 / 0")
    assert probe.seen[0] == "leave" and probe.seen[-1] is ran.result.error_in_exec


def test_an_error_of_an_inner_cell_ends_nothing(shell: Shell, probe: Probe) -> None:
    shell.ip.user_ns["probe"] = probe
    shell.run("begin()\nget_ipython().run_cell('1 / 0')\nseen = list(probe.seen)").raise_error()
    assert shell["seen"] == [] and probe.seen[-1] is None


def test_a_silent_execution_is_closed_too(shell: Shell, probe: Probe) -> None:
    shell.ip.run_cell("begin()", silent=True)
    assert probe.seen == ["leave", None]


def test_a_cell_that_never_ended_is_closed_by_the_next(shell: Shell, probe: Probe) -> None:
    running.loaded().open(lambda: probe)
    shell.run("5").raise_error()
    assert probe.seen == [None]


def test_a_cancelled_cell_has_no_result(shell: Shell, probe: Probe) -> None:
    cells = running.loaded()
    cells.pre_run_cell(SimpleNamespace(raw_cell="begin()", store_history=True))
    cells.open(lambda: probe)
    cells.post_run_cell(None)
    assert probe.seen == [None]


def test_the_end_of_another_cell_closes_nothing(shell: Shell, probe: Probe) -> None:
    cells = running.loaded()
    cells.pre_run_cell(SimpleNamespace(raw_cell="await forever()", store_history=True))
    cells.open(lambda: probe)
    other = SimpleNamespace(info=SimpleNamespace(raw_cell="5"), error_in_exec=None, error_before_exec=None)
    cells.post_run_cell(other)
    assert probe.seen == []
    cells.close_all()


def test_cells_of_other_threads_close_nothing_here(shell: Shell, probe: Probe) -> None:
    cells = running.loaded()
    cells.open(lambda: probe)
    elsewhere = Thread(target=lambda: (cells.pre_run_cell(None), cells.post_execute(), cells.post_run_cell(None)))
    elsewhere.start()
    elsewhere.join()
    assert probe.seen == []
    cells.close_all()


def test_a_fault_of_ours_is_one_line_that_says_what_is_left(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(trace: object, *, called: str) -> None:
        raise RuntimeError("no ink")

    monkeypatch.setattr("nbprof.trace.Trace.report", broken)
    ran = shell.run("%%region a\nx.sum().item()").raise_error()
    latest = recording.latest()
    assert ran.value == 24.0 and latest is not None
    assert ran.err == (
        "nbprof: The report could not be made (RuntimeError: no ink). "
        f"The trace is whole: nbprof.load_trace({str(latest.path)!r}).report()\n"
    )


def test_nor_does_it_hide_the_users_own_error(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nbprof.magics.once.show", lambda *_: 1 / 0)
    ran = shell.run("v = %profile_once --wait 0 --warmup 0 [][5]")
    assert isinstance(ran.result.error_in_exec, IndexError) and "ZeroDivisionError: division by zero" in ran.err
    assert owner.current_owner() is None


def test_what_is_closed_before_the_end_is_not_closed_again(shell: Shell, probe: Probe) -> None:
    shell.ip.user_ns["end"] = lambda: running.loaded().close(probe, None)
    shell.run("begin()\nend()").raise_error()
    assert probe.seen == [None]


def test_ctrl_c_while_it_opens_waits_till_the_cell_knows_of_it(shell: Shell, probe: Probe) -> None:
    def slowly() -> Probe:
        signal.raise_signal(signal.SIGINT)
        return probe

    shell.ip.user_ns["begin"] = lambda: running.loaded().open(slowly)
    ran = shell.run("begin()")
    assert isinstance(ran.result.error_in_exec, KeyboardInterrupt) and probe.seen[-1] is ran.result.error_in_exec


def test_the_number_is_the_cells_own(shell: Shell) -> None:
    shell.ip.user_ns["number"] = lambda: running.loaded().number
    first = shell.run("number()").raise_error().value
    assert shell.run("number()").raise_error().value == first + 1
