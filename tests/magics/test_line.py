"""%regions and %profiler."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from IPython.core.error import UsageError

from nbprof.capture import owner, recording, regions
from nbprof.magics.line import RegionTable
from tests.magics.shells import Shell


@pytest.fixture
def known(shell: Shell) -> Shell:
    shell.run("nbprof.register_profiler_region('attention', '<b>all</b> heads', default_enabled=True)").raise_error()
    shell.run("nbprof.register_profiler_region('mlp', 'two layers')").raise_error()
    return shell


def test_the_list_is_sorted_aligned_and_escaped(known: Shell) -> None:
    table = known.run("%regions").raise_error().value
    assert repr(table).splitlines() == [
        "region     state    default  description",
        "attention  default  on       <b>all</b> heads",
        "mlp        default  off      two layers",
    ]
    assert "&lt;b&gt;all&lt;/b&gt;" in table._repr_html_() and "<b>all" not in table._repr_html_()


def test_an_empty_list_says_how_to_fill_it() -> None:
    assert "%%region NAME" in repr(RegionTable(())) and "%%region NAME" in RegionTable(())._repr_html_()


def test_regions_are_switched_by_name_or_all_together(known: Shell) -> None:
    known.run("%regions disable mlp").raise_error()
    assert [regions.region_state(name) for name in ("attention", "mlp")] == ["default", "off"]
    known.run("%regions enable all").raise_error()
    assert [regions.region_state(name) for name in ("attention", "mlp")] == ["on", "on"]
    assert (
        known.run("%regions reset attention mlp").raise_error().out == "nbprof: attention, mlp: back to the default\n"
    )
    assert [regions.region_state(name) for name in ("attention", "mlp")] == ["default", "default"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("%regions disable attention atention", "There is no region 'atention'; did you mean 'attention'?"),
        ("%regions enable", "needs names, or `all`. Registered: attention, mlp."),
        ("%regions swap mlp", "invalid choice"),
        ("%profiler", "required"),
        ("%profiler pause", "invalid choice"),
        ("%profiler stop --dir x --stack", "%profiler stop has no use for --stack, --dir; %profiler start takes that."),
        ("%profiler status -o T", "%profiler status has no use for -o"),
        ("%profiler reset --no-shapes --show none", "%profiler reset has no use for --shapes, --show"),
    ],
)
def test_a_slip_is_one_line_and_changes_nothing(known: Shell, line: str, message: str) -> None:
    error = known.run(line).result.error_in_exec
    assert isinstance(error, UsageError) and message in str(error)
    assert [regions.region_state(name) for name in ("attention", "mlp")] == ["default", "default"]


def test_a_recording_over_cells_is_shown_when_it_stops(known: Shell) -> None:
    known.run("%profiler start").raise_error()
    first = known.run("%%region mlp\nx.sin()").raise_error()
    second = known.run("%%region mlp\nx.cos()").raise_error()
    assert first.reports == second.reports == []
    assert "nbprof: added to the recording (%profiler): region mlp, " in second.out
    assert "under way (%profiler)" in known.run("%profiler status").raise_error().out
    stopped = known.run("%profiler stop -o T").raise_error()
    assert len(stopped.reports) == 1
    names = set(known["T"].events["name"].astype(str))
    assert {"aten::sin", "aten::cos"} <= names
    latest = recording.latest()
    assert latest is not None and [(c.region, c.entries) for c in latest.info.regions] == [("mlp", 2)]


def test_stop_without_a_recording_says_so(shell: Shell) -> None:
    for _ in range(2):
        assert shell.run("%profiler stop").raise_error().out == "nbprof: no recording is under way.\n"


def test_a_second_start_is_refused_and_the_first_goes_on(known: Shell) -> None:
    known.run("%profiler start").raise_error()
    error = known.run("%profiler start").result.error_in_exec
    assert isinstance(error, UsageError) and "Another recording is under way (%profiler)" in str(error)
    known.run("%%region mlp\nx.sin()").raise_error()
    assert len(known.run("%profiler stop").raise_error().reports) == 1


def test_nothing_entered_is_said_with_what_there_is(known: Shell) -> None:
    known.run("%profiler start").raise_error()
    ran = known.run("%profiler stop").raise_error()
    assert ran.reports == [] and "no region that is on was entered. Registered: attention, mlp." in ran.out


def test_a_cell_that_stops_its_own_recording_shows_it_once(known: Shell) -> None:
    ran = known.run("%%region mlp\nx.sin()\n%profiler stop\nx.cos()").raise_error()
    assert len(ran.reports) == 1 and owner.current_owner() is None


def test_a_name_inside_a_longer_recording_is_refused_with_the_way_out(known: Shell) -> None:
    known.run("%profiler start").raise_error()
    ran = known.run("%%region mlp -o T\nx.sin()").raise_error()
    assert "T" not in known.ip.user_ns and "%profiler stop -o T" in ran.err


def test_a_recording_that_another_thread_ended_is_shown_at_the_cells_end(known: Shell) -> None:
    known.run("%profiler start -o T").raise_error()
    asked = "from threading import Thread\nlive = nbprof.get_global_controller()\nt = Thread(target=live.stop)"
    ran = known.run(f"%%region mlp\nx.sin()\n{asked}\nt.start(); t.join()\nlive.is_recording").raise_error()
    assert ran.value is True  # it waits for the end of the cell
    assert len(ran.reports) == 1 and "aten::sin" in set(known["T"].events["name"].astype(str))
    assert known.run("%profiler stop").raise_error().reports == []


def test_a_profiler_of_the_users_code_is_joined_and_stopped(known: Shell) -> None:
    known.run("controller = nbprof.get_or_create_profiler('traces')").raise_error()
    assert known.run("%%region mlp\nx.sin()").raise_error().reports == []
    ran = known.run("%profiler stop -o T").raise_error()
    assert len(ran.reports) == 1 and "aten::sin" in set(known["T"].events["name"].astype(str))


@pytest.mark.parametrize("folder", ["traces", ".nbprof"])
def test_the_files_of_the_users_own_profiler_stay_as_they_were_written(
    known: Shell, folder: str, tmp_path: Path
) -> None:
    known.run("%%region mlp --show none\nx.cos()").raise_error()  # there is a default folder already
    before = set((tmp_path / folder).glob("*"))
    known.run(f"controller = nbprof.get_or_create_profiler({folder!r})").raise_error()
    known.run("%%region mlp\nx.sin()").raise_error()
    known.run("%profiler stop -o T").raise_error()
    written = {path.name for path in set((tmp_path / folder).glob("*")) - before}
    (summary,) = (name for name in written if name.endswith(".summary.json"))
    named = json.loads((tmp_path / folder / summary).read_text())["file"]
    assert written == {named, summary, summary.replace(".json", ".txt")}
    assert (tmp_path / known["T"].metadata.source).samefile(tmp_path / folder / named)
    assert not any(named in manifest.read_text() for manifest in (tmp_path / folder).glob("*manifest.json"))


def test_the_default_folder_is_pruned_wherever_the_notebook_has_gone_meanwhile(known: Shell, tmp_path: Path) -> None:
    known.run("%profiler start").raise_error()
    known.run("import os; os.mkdir('below'); os.chdir('below')").raise_error()
    known.run("%%region mlp\nx.sin()").raise_error()
    known.run("%profiler stop -o T").raise_error()
    source = Path(known["T"].metadata.source)
    assert source.parent == tmp_path / ".nbprof"
    (manifest,) = source.parent.glob("*manifest.json")
    assert json.loads(manifest.read_text()) == {"files": [source.name]}


def test_a_folder_that_was_named_at_the_start_is_not_pruned_at_the_stop(known: Shell, tmp_path: Path) -> None:
    known.run("%profiler start --dir mine").raise_error()
    known.run("%%region mlp\nx.sin()").raise_error()
    known.run("%profiler stop").raise_error()
    assert [path.name.endswith(".pt.trace.json.gz") for path in (tmp_path / "mine").iterdir()] == [True]


def test_a_manifest_that_can_not_be_written_is_told_and_the_report_stands(
    known: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("nbprof.capture.files.keep_newest", full)
    ran = known.run("%%region mlp\nx.sin()").raise_error()
    assert len(ran.reports) == 1
    assert ran.err == (
        f"nbprof: The older traces in {tmp_path / '.nbprof'} were not cleared away: [Errno 28] No space left on device\n"
    )


def test_reset_puts_regions_and_the_one_shot_session_back(known: Shell) -> None:
    known.run("%regions disable all\nnbprof.profile_once(x.sum)").raise_error()
    known.run("%profiler reset").raise_error()
    assert regions.region_state("mlp") == "default"
    assert nbprof_is_armed()


def nbprof_is_armed() -> bool:
    from nbprof import TorchTraceProfiler

    return TorchTraceProfiler._site is None


def test_status_tells_the_latest_recording(known: Shell) -> None:
    known.run("%%region mlp --show none\nx.sin()").raise_error()
    out = known.run("%profiler status").raise_error().out
    assert "no recording is under way. The latest: %%region mlp, " in out and ".nbprof/region_mlp." in out
