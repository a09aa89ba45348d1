"""%load_ext, %reload_ext, %unload_ext: one set of everything, or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from nbprof import magics
from nbprof.capture import owner
from tests.magics.shells import Shell

NAMES = ("region", "profile_once", "regions", "profiler")


def hooks(ip: InteractiveShell) -> dict[str, int]:
    """How much of ours hangs in the shell."""

    def ours(things: Any) -> int:
        return sum("nbprof" in (getattr(one, "__module__", "") or "") for one in things)

    return {
        **{event: ours(ip.events.callbacks[event]) for event in ("pre_run_cell", "post_execute", "post_run_cell")},
        "cleanup": ours(ip.input_transformers_cleanup),
        "trees": ours(ip.ast_transformers),
        "matchers": ours(ip.Completer.custom_matchers),
        "magics": sum(name in ip.magics_manager.magics[kind] for kind in ("line", "cell") for name in NAMES),
        "patches": int("showtraceback" in vars(ip)),
    }


ONE_OF_EACH = {
    "pre_run_cell": 1,
    "post_execute": 1,
    "post_run_cell": 1,
    "cleanup": 1,
    "trees": 1,
    "matchers": 1,
    "magics": 5,  # region, and profile_once twice: of a line and of a cell; regions, profiler
    "patches": 0,
}


def test_loading_again_keeps_one_of_everything(shell: Shell) -> None:
    for _ in range(3):
        shell.run("%load_ext nbprof").raise_error()
        shell.run("%reload_ext nbprof").raise_error()
    assert hooks(shell.ip) == ONE_OF_EACH


def test_many_cells_leave_no_hook_behind(shell: Shell) -> None:
    for _ in range(3):
        shell.run("%%region a\nx.sum()").raise_error()
        shell.run("%profile_once 1 / 0")
        shell.run("%%region a\nreturn 5")
    assert hooks(shell.ip) == ONE_OF_EACH


def test_unloading_takes_everything_away_twice(shell: Shell) -> None:
    for _ in range(2):
        magics.unload(shell.ip)
    assert set(hooks(shell.ip).values()) == {0}


@pytest.mark.parametrize("cell", ["%profiler start", "%%region a\n%unload_ext nbprof\nx.sum()"])
def test_unloading_stops_what_is_recorded(shell: Shell, cell: str) -> None:
    shell.run("%load_ext nbprof").raise_error()
    shell.run(cell).raise_error()
    magics.unload(shell.ip)
    assert owner.current_owner() is None and set(hooks(shell.ip).values()) == {0}


def test_unloading_shows_what_is_recorded_as_was_wished_at_its_start(shell: Shell, tmp_path: Path) -> None:
    shell.run("%profiler start --dir mine -o T --show none").raise_error()
    shell.run("%%region a\nx.sin()").raise_error()
    with capture_output() as io:
        magics.unload(shell.ip)
    assert io.outputs == []
    assert "aten::sin" in set(shell["T"].events["name"].astype(str))
    assert [path.name.endswith(".pt.trace.json.gz") for path in (tmp_path / "mine").iterdir()] == [True]


def test_unloading_goes_through_though_the_environment_is_wrong(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBPROF_SHOW", "film")
    with capture_output() as io:
        magics.unload(shell.ip)
    assert set(hooks(shell.ip).values()) == {0} and "NBPROF_SHOW='film'" in io.stderr
