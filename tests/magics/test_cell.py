"""%%region and %profile_once in a shell: the code behaves as if they weren't there, and the report stands below."""

from __future__ import annotations

from pathlib import Path

import pytest
from IPython.core.error import UsageError

from nbprof import load_trace
from nbprof.capture import owner, recording
from nbprof.capture.controller import get_global_controller
from tests.magics.shells import Shell


def operators() -> list[str]:
    """Names of the operators in the latest recording."""
    latest = recording.latest()
    assert latest is not None and latest.path is not None
    events = load_trace(latest.path).events
    return [str(name) for name in events["name"] if str(name).startswith("aten::")]


def test_a_region_shows_its_report_and_gives_the_last_value(shell: Shell) -> None:
    ran = shell.run("%%region training_dit\ny = x * 2\ny.sin().sum().item()").raise_error()
    assert ran.value == pytest.approx(6 * 0.98935825)  # sin(8)
    assert len(ran.reports) == 1 and "training_dit" in ran.reports[0]
    assert shell["y"].shape == (2, 3)
    assert {"aten::mul", "aten::sin", "aten::sum"} <= set(operators())


def test_displaying_the_value_is_no_part_of_the_region(shell: Shell) -> None:
    shell.run("%%region a\nx.sin()").raise_error()
    assert operators() == ["aten::sin"]


@pytest.mark.parametrize("mode", ["all", "last", "last_expr", "last_expr_or_assign", "none"])
def test_nor_in_any_display_mode(shell: Shell, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell.ip, "ast_node_interactivity", mode)
    shell.run("%%region a\nx.sin()\ny = x.cos()\nfor _ in range(2):\n    x.tan()").raise_error()
    assert operators() == ["aten::sin", "aten::cos", "aten::tan", "aten::tan"]


def test_a_cell_run_inside_the_cell_ends_nothing(shell: Shell) -> None:
    shell.run("%%region a\nget_ipython().run_cell('x.sin()')\nx.cos()").raise_error()
    assert operators() == ["aten::sin", "aten::cos"]


def test_a_semicolon_silences(shell: Shell) -> None:
    assert shell.run("%%region a\nx.sum();").raise_error().value is None
    assert shell.run("%%time\n%%region a\nx.sum();").raise_error().value is None
    assert shell.run("%profile_once 5;").raise_error().value is None
    assert shell.run("y = 5\n%profile_once y;").raise_error().value is None


def test_but_not_the_value_that_a_name_takes(shell: Shell) -> None:
    assert shell.run("v = %profile_once 5;\nv").raise_error().value == 5


def test_an_error_is_the_users_own_and_its_time_ends_there(shell: Shell) -> None:
    ran = shell.run("%%region a\nx.sin()\n1 / 0\nx.cos()")
    assert isinstance(ran.result.error_in_exec, ZeroDivisionError)
    assert "line 3" in ran.out and "nbprof/magics" not in ran.out
    latest = recording.latest()
    assert latest is not None and (latest.info.outcome, latest.info.error) == ("failed", "ZeroDivisionError")
    assert operators() == ["aten::sin"]
    assert len(ran.reports) == 1
    assert get_global_controller() is None and owner.current_owner() is None
    assert "showtraceback" not in vars(shell.ip)


def test_an_interrupt_is_told_from_a_failure(shell: Shell) -> None:
    ran = shell.run("%%region a\nx.sin()\nraise KeyboardInterrupt")
    latest = recording.latest()
    assert isinstance(ran.result.error_in_exec, KeyboardInterrupt)
    assert latest is not None and latest.info.outcome == "interrupted"


@pytest.mark.parametrize("body", ["x = = 3", "return 5", "break", "await = 3"])
def test_a_cell_that_can_not_run_fails_without_a_report(shell: Shell, body: str) -> None:
    before = recording.latest()
    ran = shell.run(f"%%region a\n{body}")
    assert isinstance(ran.result.error_before_exec, SyntaxError)
    assert ran.reports == [] and recording.latest() is before


def test_a_new_name_is_registered_and_the_nearest_is_named(shell: Shell) -> None:
    shell.run("nbprof.register_profiler_region('attention', 'd')").raise_error()
    ran = shell.run("%%region atention\nx.sum()").raise_error()
    assert ran.out.startswith(
        "nbprof: region 'atention' is new and now registered; did you mean 'attention'? Others: attention.\n"
    )
    assert shell.run("%%region Atention\nx.sum()").raise_error().out.count("nbprof:") == 0


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%%region\nx", "needs a name. None is registered yet"),
        ("%%region a --bogus\nx", "--bogus"),
        ("%%region a", "there are none"),
        ("get_ipython().run_cell_magic('region', 'a', ' \\n')", "there are none"),
        ("%%profile_once x + 1\nx", "takes options only"),
        ("%profile_once", "needs an expression"),
        ("%profile_once --memory", "needs an expression"),
        ("%profile_once -n 3 x", "Unknown option -n"),
        ("v = %profile_once await x", "await is not supported here"),
        ("get_ipython().run_cell_magic('region', 'a', 'await x')", "await is not supported here"),
    ],
)
def test_a_slip_is_one_line_and_fails_the_cell(shell: Shell, cell: str, message: str) -> None:
    ran = shell.run(cell)
    error = ran.result.error_before_exec or ran.result.error_in_exec
    assert isinstance(error, UsageError) and message in str(error)
    assert ran.err.count("\n") == 1 and ran.err.startswith("UsageError: ")


def test_a_region_that_is_off_only_runs(shell: Shell) -> None:
    shell.run("nbprof.register_profiler_region('a', 'd')\nnbprof.disable_region('a')").raise_error()
    ran = shell.run("%%region a\nx.sum().item()").raise_error()
    assert (ran.value, ran.reports) == (24.0, [])
    assert ran.out.startswith("nbprof: region 'a' is off; %regions enable a\n")


def test_regions_nest_and_stack(shell: Shell) -> None:
    shell.run("%%region outer\n%%region inner\nwith nbprof.region('inner'):\n    x.sum()").raise_error()
    latest = recording.latest()
    assert latest is not None
    counts = {(count.region, count.parent): count.entries for count in latest.info.regions}
    assert counts == {("outer", None): 1, ("inner", "outer"): 1, ("inner", "inner"): 1}


def test_two_regions_of_one_cell_make_one_report(shell: Shell) -> None:
    assert len(shell.run("%%region outer\n%%region inner\nx.sum()").raise_error().reports) == 1


def test_nothing_of_ours_is_left_in_the_namespace(shell: Shell) -> None:
    before = set(shell.ip.user_ns)
    shell.run("%%region a\nx.sum()").raise_error()
    shell.run("%profile_once x.sum()").raise_error()
    shell.run("%%profile_once\nx.sum()").raise_error()
    assert {name for name in set(shell.ip.user_ns) - before if not name.startswith("_")} == set()


def test_the_trace_takes_the_name_that_is_asked_for(shell: Shell) -> None:
    ran = shell.run("%%region a -o T --show none\nx.sin()").raise_error()
    assert ran.reports == [] and "aten::sin" in set(shell["T"].events["name"].astype(str))
    shell.run("%profile_once -o T --show none 1 / 0")
    assert "T" not in shell.ip.user_ns  # nothing was recorded, and an older trace must not look like this one


def test_the_report_reaches_the_trace_by_the_name_that_it_has(shell: Shell) -> None:
    named, unnamed = shell.run("%%region a -o T\nx.sin()"), shell.run("%%region a\nx.sin()")
    assert named.raise_error().reports[0].endswith("called T")
    assert unnamed.raise_error().reports[0].endswith("called nbprof.last")


def test_the_default_folder_ignores_itself_and_holds_the_newest_twenty(shell: Shell, tmp_path: Path) -> None:
    for _ in range(22):
        shell.run("%%region a --show none\nx.sum()").raise_error()
    assert (tmp_path / ".nbprof" / ".gitignore").read_text() == "*\n"
    assert len(list((tmp_path / ".nbprof").glob("*.pt.trace.json.gz"))) == 20


def test_a_folder_of_ones_own_is_never_pruned(shell: Shell, tmp_path: Path) -> None:
    for _ in range(2):
        shell.run("%%region a --dir here --show none\nx.sum()").raise_error()
    assert len(list((tmp_path / "here").iterdir())) == 2


def test_a_folder_that_can_not_be_used_is_told_before_the_code_runs(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran = shell.run("%%region a --dir file/below\nz = 1")
    assert isinstance(ran.result.error_in_exec, UsageError) and "file/below" in str(ran.result.error_in_exec)
    assert "z" not in shell.ip.user_ns and owner.current_owner() is None
