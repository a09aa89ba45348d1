"""%profile_once: how often the code runs, which run counts, and what comes back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nbprof.capture import owner, recording
from tests.magics.shells import Shell

COUNTING = "calls = []\ndef step(v=0):\n    calls.append(v)\n    x.sin()\n    return len(calls)"
RUNS = "nbprof: runs 5 times (1 wait + 3 warmup + 1 active); side effects repeat.\n"


@pytest.fixture
def counting(shell: Shell) -> Shell:
    shell.run(COUNTING).raise_error()
    return shell


def test_it_says_how_often_it_runs_and_gives_the_last_value(counting: Shell) -> None:
    ran = counting.run("v = %profile_once step()\nv").raise_error()
    assert ran.value == 5 and len(counting["calls"]) == 5  # 1 + 3 + 1
    assert ran.out.startswith(RUNS) and len(ran.reports) == 1


@pytest.mark.parametrize("cell", ["%profile_once step()", "%%profile_once\nstep()", "%%time\n%%profile_once\nstep()"])
def test_each_way_of_saying_it_runs_as_often(counting: Shell, cell: str) -> None:
    ran = counting.run(cell).raise_error()
    assert ran.value == 5 and len(counting["calls"]) == 5 and len(ran.reports) == 1


def test_the_schedule_is_the_users(counting: Shell) -> None:
    counting.run("%profile_once --wait 0 --warmup 1 --active 2 step()").raise_error()
    latest = recording.latest()
    assert latest is not None and len(counting["calls"]) == 3
    assert (latest.info.planned_steps, latest.info.run_steps, len(latest.info.calls_us)) == (3, 3, 3)


def test_in_a_loop_the_first_pass_is_captured(counting: Shell) -> None:
    ran = counting.run("for i in range(3):\n    %profile_once step(i)\ncalls").raise_error()
    assert ran.value == [0, 0, 0, 0, 0, 1, 2] and len(ran.reports) == 1


def test_two_lines_are_two_rounds_and_so_is_the_cell_again(counting: Shell) -> None:
    cell = "%profile_once step()\n%profile_once step()"
    assert len(counting.run(cell).raise_error().reports) == 2
    assert len(counting.run(cell).raise_error().reports) == 2
    assert len(counting["calls"]) == 20


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("'{w} and $w and {{w}}'", "{w} and $w and {{w}}"),
        ("f'{w}'", "3"),
        ('"a   b"', "a   b"),
        ('"it\'s {w}"', "it's {w}"),
        ("abs(-w)", 3),
        ("max(1, -w)", 1),
        ("-- -w", -3),
        ("(lambda: w)()", 3),
    ],
)
@pytest.mark.parametrize("form", ["%profile_once {}", "v = %profile_once {}\nv"])
def test_the_code_is_taken_as_it_was_typed(shell: Shell, code: str, value: object, form: str) -> None:
    shell.run("w = 3").raise_error()
    assert shell.run(form.replace("{}", code)).raise_error().value == value


def test_a_function_sees_its_own_names(shell: Shell) -> None:
    cell = "def outer(k):\n    q = %profile_once [k + j for j in range(2)]\n    return q\nouter(5)"
    assert shell.run(cell).raise_error().value == [5, 6]


@pytest.mark.parametrize("form", ["%profile_once {}", "v = %profile_once {}", "%%profile_once\n{}"])
def test_the_users_stop_iteration_passes_through(shell: Shell, form: str) -> None:
    shell.run("it = iter([1, 2])").raise_error()
    ran = shell.run(form.replace("{}", "next(it)"))
    assert isinstance(ran.result.error_in_exec, StopIteration)
    assert "2 of 5 steps ran" in ran.out and "nbprof/magics" not in ran.out
    assert owner.current_owner() is None


def test_what_the_active_part_recorded_is_shown_though_it_failed(counting: Shell) -> None:
    ran = counting.run("%profile_once step() if len(calls) < 4 else step() / 0")
    latest = recording.latest()
    assert isinstance(ran.result.error_in_exec, ZeroDivisionError) and len(ran.reports) == 1
    assert latest is not None and (latest.info.outcome, latest.info.run_steps) == ("failed", 4)


def test_inside_a_recording_it_refuses_and_runs_once(counting: Shell) -> None:
    ran = counting.run("%%region a\nv = %profile_once step()\nv").raise_error()
    assert ran.value == 1 and len(ran.reports) == 1
    assert ran.err == (
        "nbprof: %profile_once runs the code once, unprofiled. Another recording is under way (%%region a). "
        "Stop it with %profiler stop, or wait for it to end.\n"
    )


def test_inside_a_one_shot_round_a_region_is_marked(shell: Shell) -> None:
    ran = shell.run("%%profile_once\n%%region a\nx.sum()").raise_error()
    latest = recording.latest()
    assert ran.err == "" and latest is not None and latest.info.kind == "once"
    assert [(count.region, count.entries) for count in latest.info.regions] == [("a", 1)]


@pytest.mark.parametrize("mode", ["all", "last_expr"])
def test_only_the_last_value_of_the_last_run_is_displayed(
    counting: Shell, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting.ip, "ast_node_interactivity", mode)
    ran = counting.run("%%profile_once\nx.cos()\nstep()")
    assert ran.value == 5 and "tensor" not in ran.out


@pytest.mark.parametrize(
    ("form", "name"),
    [("tensorboard", r"profile_once\.\d+\.pt\.trace\.json\.gz"), ("chrome", r"profile_once\.\d+\.trace\.json\.gz")],
)
def test_the_file_is_named_for_what_reads_it(shell: Shell, form: str, name: str, tmp_path: Path) -> None:
    shell.run(f"%profile_once --format {form} --dir traces x.sum()").raise_error()
    (file,) = (tmp_path / "traces").iterdir()
    assert re.fullmatch(name, file.name)


FOREIGN = "import torch.profiler as tp\nouter = tp.profile(activities=[tp.ProfilerActivity.CPU])\nouter.start()"
WARMING = FOREIGN.replace("CPU])", "CPU], schedule=lambda n: tp.ProfilerAction.WARMUP)")


@pytest.mark.parametrize("start", [FOREIGN, WARMING])
@pytest.mark.parametrize("cell", ["%profile_once step()", "%%profile_once\nstep()", "%%region a\nstep()"])
def test_inside_a_foreign_profiler_the_code_runs_once_unprofiled(counting: Shell, start: str, cell: str) -> None:
    counting.run(start).raise_error()
    ran = counting.run(cell).raise_error()
    assert ran.value == 1 and ran.reports == []
    assert "nprofiled. A torch profiler is already running in this process" in ran.err and ran.err.count("\n") == 1
    counting.run("outer.stop()").raise_error()


def test_the_foreign_profiler_keeps_all_its_data(counting: Shell) -> None:
    counting.run(FOREIGN).raise_error()
    for cell in ("x.cos()", "%profile_once step()", "%%region a\nx.tan()"):
        counting.run(cell).raise_error()
    ran = counting.run("outer.stop()\n{event.key for event in outer.key_averages()}").raise_error()
    assert {"aten::cos", "aten::sin", "aten::tan"} <= ran.value


@pytest.mark.parametrize("cell", ["%profile_once later()", "v = %profile_once later()", "%%profile_once\nlater()"])
def test_what_should_be_awaited_runs_once_and_says_so(shell: Shell, cell: str) -> None:
    shell.run(
        "calls = []\nasync def later():\n    return 7\ndef count(make=later):\n    calls.append(1)\n    return make()"
    )
    ran = shell.run(cell.replace("later()", "count()"))
    assert len(shell["calls"]) == 1
    assert "put `await` before it" in ran.out + ran.err
    value = ran.value if "v =" not in cell else shell["v"]
    value.close()
