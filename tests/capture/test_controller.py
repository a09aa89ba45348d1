from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch.profiler import ProfilerActivity, profile

from nbprof.capture.config import TorchProfilerConfig
from nbprof.capture.controller import TorchProfilerController, get_global_controller, get_global_profiler
from nbprof.capture.process import get_or_create_profiler, start_recording
from nbprof.capture.regions import disable_region, enable_region, region_state, register_profiler_region
from nbprof.capture.slots import region
from nbprof.errors import ProfilerBusyError, TraceWriteError
from tests.capture.conftest import X, spans, trace_of

On = Callable[..., None]
CPU = [ProfilerActivity.CPU]


def test_no_directory_gives_a_controller_that_does_nothing() -> None:
    controller = get_or_create_profiler(None)
    assert not controller.has_profiler
    assert not controller.is_enabled
    assert not controller.is_region_enabled("a")
    with controller.region("a"):
        torch.sin(X)
    controller.start()
    assert controller.stop() is None
    assert get_global_controller() is None
    assert get_global_profiler() is None


def test_only_what_runs_inside_a_region_that_is_on_is_recorded(on: On, tmp_path: Path) -> None:
    on("attention")
    register_profiler_region("quiet", "")
    controller = get_or_create_profiler(tmp_path)
    assert (controller.has_profiler, controller.is_enabled) == (True, False)
    torch.sin(X)
    with controller.region("attention"):
        assert controller.is_enabled
        torch.cos(X)
    with region("quiet"):
        torch.tan(X)
    torch.sin(X)
    recording = controller.stop()
    assert recording is not None
    assert spans(recording.path) == ["nbprof.region::attention", "aten::cos"]


def test_backward_inside_and_nested_regions_keep_their_markers(on: On, tmp_path: Path) -> None:
    on("outer", "inner")
    controller = get_or_create_profiler(tmp_path)
    weight = torch.ones(3, requires_grad=True)
    for _ in range(2):
        with region("outer"), region("inner"):
            (weight * 2).sum().backward()
    recording = controller.stop()
    assert recording is not None
    names = spans(recording.path)
    assert names.count("nbprof.region::outer") == names.count("nbprof.region::inner") == 2
    assert names.count("autograd::engine::evaluate_function: MulBackward0") == 2
    counts = {(count.region, count.parent): count.entries for count in recording.info.regions}
    assert counts == {("outer", None): 2, ("inner", "outer"): 2}


@pytest.mark.parametrize(
    "name", ["emoji 🎉", 'say "hi" now', "back\\slash", "new\nline", "nul\0", "漢字", "100%", "%41", "tab\t"]
)
def test_any_name_comes_back_exactly(on: On, tmp_path: Path, name: str) -> None:
    from nbprof import load_trace

    on("plain")
    register_profiler_region(name, "")
    controller = get_or_create_profiler(tmp_path)
    enable_region(name)
    with region(name):
        torch.sin(X)
    recording = controller.stop()
    assert recording is not None
    assert list(load_trace(recording.path or "").regions()["region"]) == [name.strip().lower()]


def test_half_of_a_surrogate_pair_in_a_name_is_its_escape_everywhere(on: On, tmp_path: Path) -> None:
    from nbprof import load_trace

    name, escaped = "half \udcff", "half \\udcff"
    on("plain")
    register_profiler_region(name, "")
    controller = get_or_create_profiler(tmp_path)
    enable_region(name)
    with region(name):
        torch.sin(X)
    recording = controller.stop()
    assert recording is not None
    assert [count.region for count in recording.info.regions] == [escaped]
    trace = load_trace(recording.path or "")
    assert list(trace.regions()["region"]) == list(trace.where(region=name).regions()["region"]) == [escaped]


@pytest.mark.parametrize("variable", ["WITH_PROFILE_MEMORY", "WITH_STACK"])
def test_tables_cover_the_region_only_also_with_memory_and_stacks(
    on: On, tmp_path: Path, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nbprof import load_trace

    monkeypatch.setenv(f"NBPROF_TORCH_PROFILER_{variable}", "1")
    on("attention")
    controller = get_or_create_profiler(tmp_path)

    def outside() -> torch.Tensor:
        return torch.ones(1000) * 3

    def inside() -> torch.Tensor:
        return torch.ones(10) * 2

    outside()
    with region("attention"):
        inside()
    outside()
    recording = controller.stop()
    assert recording is not None
    trace = load_trace(recording.path or "")
    events = trace.events
    counted = events[events["in_region"]]
    assert set(trace.operators()["name"]) >= {"aten::ones", "aten::mul"}
    assert int(trace.operators().set_index("name")["calls"]["aten::mul"]) == 1
    if variable == "WITH_STACK":
        assert any("inside" in name for name in counted["name"])
        assert not any("outside" in name for name in counted["name"])
        assert any("outside" in name for name in events["name"])
    else:
        sizes = [abs(args["Bytes"]) for args in counted.loc[counted["name"] == "[memory]", "args"]]
        assert sizes, "the region allocates"
        assert max(sizes) <= 64, "a thousand floats were allocated outside"


def test_off_in_the_table_wins_over_a_default_that_is_on(tmp_path: Path) -> None:
    register_profiler_region("a", "", default_enabled=True)
    controller = get_or_create_profiler(tmp_path)
    assert controller.is_region_enabled("a")
    disable_region("a")
    assert not controller.is_region_enabled("a")
    with region("a"):
        assert not controller.is_enabled
    recording = controller.stop()
    assert recording is not None
    assert recording.is_empty
    assert "no region that is on was entered" in recording.problem


def test_switching_from_another_thread_takes_effect_at_the_next_entry(on: On, tmp_path: Path) -> None:
    on("a")
    controller = get_or_create_profiler(tmp_path)
    with region("a"):
        thread = threading.Thread(target=disable_region, args=("a",))
        thread.start()
        thread.join()
        torch.sin(X)
    with region("a"):
        torch.cos(X)
    recording = controller.stop()
    assert recording is not None
    assert spans(recording.path) == ["nbprof.region::a", "aten::sin"]


def test_a_region_in_a_worker_thread_is_refused_once_and_disturbs_nobody(on: On, tmp_path: Path) -> None:
    on("a")
    controller = get_or_create_profiler(tmp_path)
    inside, leave = threading.Event(), threading.Event()

    def work() -> None:
        with region("a"):
            inside.set()
            leave.wait(10)

    with pytest.warns(UserWarning, match="torch profiles only the thread that started the profiler") as caught:
        for _ in range(2):
            thread = threading.Thread(target=work, name="worker")
            thread.start()
            inside.wait(10)
            with region("a"):
                leave.set()
                thread.join()
                torch.mul(X, 2)
    assert len(caught) == 1
    recording = controller.stop()
    assert recording is not None
    names = spans(recording.path)
    assert names.count("nbprof.region::a") == names.count("aten::mul") == 2


def test_a_stop_from_another_thread_waits_for_the_owners_boundary(on: On, tmp_path: Path) -> None:
    on("a")
    controller = get_or_create_profiler(tmp_path)
    answers: list[object] = []
    with region("a"):
        thread = threading.Thread(target=lambda: answers.append(controller.stop()))
        thread.start()
        thread.join()
        torch.sin(X)
        assert controller.is_recording
    assert answers == [None]
    with region("a"):
        torch.cos(X)  # runs after the stop
    recording = controller.stop()
    assert recording is not None
    assert spans(recording.path) == ["nbprof.region::a", "aten::sin"]
    assert get_global_controller() is None


def test_stop_is_idempotent_and_closes_a_region_that_is_open(on: On, tmp_path: Path) -> None:
    on("a")
    controller = get_or_create_profiler(tmp_path)
    with region("a"):
        torch.sin(X)
        first = controller.stop()
        assert controller.stop() is first
        assert not controller.has_profiler
    assert first is not None
    assert spans(first.path) == ["nbprof.region::a", "aten::sin"]
    with profile() as later:
        torch.cos(X)
    assert [row.key for row in later.key_averages()] == ["aten::cos"]


def test_states_that_the_environment_wrote_are_taken_back_at_stop(on: On, tmp_path: Path) -> None:
    register_profiler_region("b", "")
    config = TorchProfilerConfig({"b": True})
    controller = TorchProfilerController(profile(activities=CPU), CPU, config)
    controller.start()
    assert region_state("b") == "on"
    controller.stop()
    assert region_state("b") == "default"


def test_a_second_live_controller_is_refused(on: On, tmp_path: Path) -> None:
    on("a")
    first = get_or_create_profiler(tmp_path)
    assert get_or_create_profiler(tmp_path / "other") is first
    assert get_global_controller() is first
    assert isinstance(get_global_profiler(), profile)
    with pytest.raises(RuntimeError, match="alive already"):
        TorchProfilerController(profile(activities=CPU), CPU, TorchProfilerConfig())
    first.stop()


def test_a_controller_over_the_users_own_profiler_leaves_the_trace_to_its_handler(on: On, tmp_path: Path) -> None:
    on("a")
    handled: list[int] = []
    own = profile(activities=CPU, on_trace_ready=lambda prof: handled.append(len(prof.events())))
    controller = TorchProfilerController(own, CPU)
    controller.start()
    with controller.region("a"):
        torch.sin(X)
    recording = controller.stop()
    controller.stop()
    assert handled == [2]
    assert recording is not None
    assert "on_trace_ready" in recording.problem
    assert [row.key for row in own.key_averages()] == ["nbprof.region::a", "aten::sin"]


def test_a_typo_is_warned_about_once_with_the_nearest_name(on: On, tmp_path: Path) -> None:
    on("attention")
    controller = get_or_create_profiler(tmp_path)
    with pytest.warns(UserWarning, match=r"'atention' is not registered .* did you mean 'attention'\?") as caught:
        for _ in range(3):
            with region("atention"):
                torch.sin(X)
    assert len(caught) == 1
    controller.stop()


def test_the_summary_beside_the_trace_says_what_was_counted(on: On, tmp_path: Path) -> None:
    on("outer", "inner")
    controller = get_or_create_profiler(tmp_path / "made" / "here")
    for _ in range(3):
        with region("outer"), region("inner"):
            torch.sin(X)
    recording = controller.stop()
    assert recording is not None
    assert recording.path is not None
    stem = recording.path.name.removesuffix(".pt.trace.json")
    summary = trace_of(recording.path.with_name(f"{stem}.summary.json"))
    assert summary["file"] == recording.path.name
    assert summary["bytes"] == recording.path.stat().st_size == recording.bytes
    entries = {(row["region"], row["parent"]): row["entries"] for row in summary["regions"]}
    assert entries == {("outer", None): 3, ("inner", "outer"): 3}
    walls = {row["region"]: row["wall_us"] for row in summary["regions"]}
    assert walls["outer"] >= walls["inner"] > 0
    assert "inner" in recording.path.with_name(f"{stem}.summary.txt").read_text()


def test_ranks_write_files_of_their_own(on: On, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on("a")
    for variable, value in (("RANK", "3"), ("LOCAL_RANK", "1"), ("WORLD_SIZE", "8")):
        monkeypatch.setenv(variable, value)
    controller = get_or_create_profiler(tmp_path)
    with region("a"):
        torch.sin(X)
    recording = controller.stop()
    assert recording is not None
    assert recording.path is not None
    assert ".rank3.local1." in recording.path.name
    assert trace_of(recording.path)["nbprof"]["rank"] == 3


def test_a_foreign_profiler_is_left_whole_and_named(on: On, tmp_path: Path) -> None:
    on("a")
    with profile(activities=CPU) as theirs:
        with pytest.warns(UserWarning, match="Not profiling: A torch profiler is already running"):
            controller = get_or_create_profiler(tmp_path)
        assert not controller.has_profiler
        with region("a"):
            torch.sin(X)
        with pytest.raises(ProfilerBusyError, match="state RECORD"):
            start_recording(tmp_path, label="cell")
    assert [row.key for row in theirs.key_averages()] == ["aten::sin"]
    assert get_global_controller() is None


def test_a_folder_that_cannot_be_used_is_refused_before_anything_runs(on: On, tmp_path: Path) -> None:
    on("a")
    blocker = tmp_path / "file"
    blocker.write_text("")
    with pytest.raises(TraceWriteError, match=f"could not be written to {blocker}/below"):
        get_or_create_profiler(blocker / "below")
    assert get_global_controller() is None


@pytest.mark.parametrize("gating", ["filter", "toggle"])
def test_both_gates_record_the_same(on: On, tmp_path: Path, gating: str) -> None:
    on("a", "b")
    controller = get_or_create_profiler(tmp_path, device_gating=gating)  # type: ignore[arg-type]
    torch.sin(X)
    with region("a"):
        torch.cos(X)
        with region("b"):
            torch.tan(X)
    torch.sin(X)
    recording = controller.stop()
    assert recording is not None
    assert spans(recording.path) == ["nbprof.region::a", "aten::cos", "nbprof.region::b", "aten::tan"]


def test_without_torchs_private_switches_the_public_ones_do(
    on: On, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nbprof.capture import gate

    on("a")
    monkeypatch.setattr(gate, "_fast_gate", lambda: None)
    controller = get_or_create_profiler(tmp_path)
    with region("a"):
        torch.cos(X)
    torch.sin(X)
    recording = controller.stop()
    assert recording is not None
    assert spans(recording.path) == ["nbprof.region::a", "aten::cos"]


def test_in_a_recording_by_hand_default_means_on_inside_the_cells_region(tmp_path: Path) -> None:
    for name in ("cell", "nested", "off", "alone"):
        register_profiler_region(name, "")
    disable_region("off")
    controller = start_recording(tmp_path, label="%%region cell")
    with region("alone"):
        torch.tan(X)
    with controller.cell_region("cell"), region("nested"):
        torch.sin(X)
        with region("off"):
            torch.cos(X)
    recording = controller.stop()
    assert recording is not None
    assert spans(recording.path) == ["nbprof.region::cell", "nbprof.region::nested", "aten::sin", "aten::cos"]


def test_interleaved_tasks_leave_regions_in_any_order(on: On, tmp_path: Path) -> None:
    import asyncio

    on("a", "b")
    controller = get_or_create_profiler(tmp_path)

    async def task(name: str, first: asyncio.Event, then: asyncio.Event) -> None:
        with region(name):
            first.set()
            await then.wait()

    async def main() -> None:
        one, two = asyncio.Event(), asyncio.Event()
        await asyncio.gather(task("a", one, two), task("b", two, one))

    asyncio.run(main())
    assert not controller.is_enabled
    torch.sin(X)
    recording = controller.stop()
    assert recording is not None
    assert spans(recording.path) == ["nbprof.region::a", "nbprof.region::b"]


def test_a_controller_that_does_nothing_decorates_by_doing_nothing() -> None:
    controller = get_or_create_profiler(None)

    def func() -> None:
        return None

    assert controller.region("a")(func) is func
    controller.at_boundary()


def test_without_a_folder_the_trace_stays_in_memory_and_with_the_user(on: On, tmp_path: Path) -> None:
    on("a")
    own = profile(activities=CPU)
    controller = TorchProfilerController(own, CPU)
    controller.start()
    with controller.region("a"):
        torch.sin(X)
    recording = controller.stop()
    assert recording is not None
    assert recording.path is None
    assert "No folder was named" in recording.problem
    own.export_chrome_trace(str(tmp_path / "own.json"))
    assert spans(tmp_path / "own.json") == ["nbprof.region::a", "aten::sin"]


def test_the_folder_of_the_environment_takes_the_trace_of_any_controller(
    on: On, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on("a")
    monkeypatch.setenv("NBPROF_TORCH_PROFILER_DIR", str(tmp_path))
    controller = TorchProfilerController(profile(activities=CPU), CPU)
    controller.start()
    with controller.region("a"):
        torch.sin(X)
    recording = controller.stop()
    assert recording is not None
    assert recording.path is not None
    assert recording.path.parent == tmp_path


def test_a_region_inside_a_boundary_is_left_by_the_thread_that_entered_it(on: On, tmp_path: Path) -> None:
    on("a")
    controller = get_or_create_profiler(tmp_path)
    stranger = threading.Thread(target=controller.stop)
    stranger.start()
    stranger.join()
    kept = region("a")  # stands for the boundary

    def enter_and_leave() -> None:
        with kept:
            pass

    outside = threading.Thread(target=enter_and_leave)
    outside.start()
    outside.join()
    assert controller.is_recording  # only the owner serves the request
    with kept:
        assert not controller.is_recording


def test_fx_capture_that_this_version_lacks_is_said_once(
    on: On, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on("a")
    monkeypatch.setenv("NBPROF_CAPTURE_FX", "1")
    with pytest.warns(UserWarning, match=r"captures no FX graphs \(1 modules\)"):
        get_or_create_profiler(tmp_path, modules={"net": torch.nn.Linear(2, 2)}).stop()


def test_what_the_environment_says_meanwhile_does_not_lose_the_recording(
    on: On, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on("a")
    monkeypatch.chdir(tmp_path)
    controller = get_or_create_profiler("here")
    with region("a"):
        torch.sin(X)
    monkeypatch.setenv("NBPROF_SHOW", "nonsense")
    monkeypatch.setenv("NBPROF_TORCH_PROFILE_A", "nonsense")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    recording = controller.stop()
    assert recording is not None
    assert recording.path is not None
    assert recording.path.parent == tmp_path / "here"


def test_an_unknown_device_gating_is_refused(on: On, tmp_path: Path) -> None:
    on("a")
    with pytest.raises(ValueError, match="device_gating='nonsense' is unknown; use one of filter, toggle"):
        get_or_create_profiler(tmp_path, device_gating="nonsense")  # type: ignore[arg-type]
    assert get_global_controller() is None
    get_or_create_profiler(tmp_path).stop()


def test_threads_that_ask_at_once_get_the_same_controller(on: On, tmp_path: Path) -> None:
    on("a")
    both = threading.Barrier(2)
    got: list[object] = []

    def ask() -> None:
        both.wait(10)
        got.append(get_or_create_profiler(tmp_path))
        both.wait(10)
        controller = get_global_controller()
        if controller is not None and controller.is_owned_here:
            controller.stop()

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got[0] is got[1]


def test_regions_work_where_warnings_are_errors(on: On, tmp_path: Path) -> None:
    on("a")
    controller = get_or_create_profiler(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with region("unknown"):
            torch.sin(X)
    controller.stop()
