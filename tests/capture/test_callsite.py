from __future__ import annotations

import asyncio
import gzip
import json
import logging
import warnings
from pathlib import Path

import pytest
import torch
from torch.profiler import ProfilerActivity, profile, schedule

import nbprof
from nbprof.capture import recording
from nbprof.capture.callsite import TorchTraceProfileContext, TorchTraceProfiler, profile_once
from nbprof.capture.regions import register_profiler_region
from nbprof.capture.slots import region
from nbprof.errors import NothingRecordedError, TraceWriteError
from tests.capture.conftest import X, spans, trace_of


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class Counter:
    """A call with side effects."""

    def __init__(self, fail_at: int = 0, error: BaseException | None = None) -> None:
        self.calls = 0
        self.fail_at = fail_at
        self.error = error

    def __call__(self, *args: object, **kwargs: object) -> tuple[int, object, object]:
        self.calls += 1
        torch.sin(X)
        if self.calls == self.fail_at:
            assert self.error is not None
            raise self.error
        return self.calls, args, kwargs


def test_runs_wait_warmup_active_times_and_returns_the_last_value(caplog: pytest.LogCaptureFixture) -> None:
    counter = Counter()
    with caplog.at_level(logging.INFO, "nbprof"):
        value = profile_once(counter, 1, wait=2, warmup="mine")
    assert value == (5, (1,), {"wait": 2, "warmup": "mine"})
    before, after = caplog.messages
    assert "runs 5 times (1 wait + 3 warmup + 1 active)" in before
    latest = recording.latest()
    assert latest is not None
    assert str(latest.path) in after
    assert "perfetto" in after
    assert "--port 16006" in after
    assert spans(latest.path) == ["ProfilerStep#4", "aten::sin"]
    note = trace_of(latest.path)["nbprof"]
    assert (note["planned_steps"], note["run_steps"], len(note["calls_us"])) == (5, 5, 5)
    assert min(note["calls_us"]) > 0


def test_the_first_site_takes_the_round_and_others_are_told_once() -> None:
    first, second = Counter(), Counter()
    context = TorchTraceProfileContext("first", wait=0, warmup=0, active=2)
    assert context.run(first)[0] == 2
    with pytest.warns(UserWarning, match="first runs once, .* profiled in this process already"):
        assert context.run(first)[0] == 3
    assert context.run(first)[0] == 4  # said once
    with pytest.warns(UserWarning, match="second runs once, without profiling: first has this process's") as caught:
        for _ in range(2):
            TorchTraceProfileContext("second").run(second)
    assert len(caught) == 1
    assert second.calls == 2
    TorchTraceProfiler.reset_session()
    assert TorchTraceProfileContext("second", wait=0, warmup=0).run(second)[0] == 3


def test_resetting_while_a_session_runs_is_refused() -> None:
    def reset() -> None:
        TorchTraceProfiler.reset_session()

    with pytest.raises(RuntimeError, match="is running; reset it when it has ended"):
        profile_once(reset)
    TorchTraceProfiler.reset_session()


def test_all_wrong_values_of_a_schedule_are_named_together() -> None:
    with pytest.raises(ValueError, match=r"wait=-1 .* warmup=1.5 .* active=0 must be a whole number of at least 1"):
        TorchTraceProfileContext(wait=-1, warmup=1.5, active=0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="profile_format='html' is unknown"):
        TorchTraceProfileContext(profile_format="html")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_chrome_format_writes_the_path_that_was_given(tmp_path: Path, name: str) -> None:
    context = TorchTraceProfileContext(profile_format="chrome", chrome_path=tmp_path / "new" / name)
    context.run(Counter())
    raw = (tmp_path / "new" / name).read_bytes()
    text = gzip.decompress(raw) if name.endswith(".gz") else raw
    assert json.loads(text)["nbprof"]["kind"] == "once"
    assert context.recording is not None
    assert context.recording.bytes == len(raw)


def test_default_folders_are_those_of_the_field(tmp_path: Path) -> None:
    context = TorchTraceProfileContext()
    assert context.tb_dir == tmp_path / "save_results" / "torch_profile"
    assert context.chrome_path == tmp_path / "save_results" / "trace.json"
    context.run(Counter())
    assert len(list(context.tb_dir.glob("*.pt.trace.json"))) == 1


def test_an_error_in_the_active_part_passes_through_and_keeps_what_was_captured() -> None:
    error = ValueError("mine")
    with pytest.raises(ValueError, match="mine") as raised:
        profile_once(Counter(fail_at=5, error=error))
    assert raised.value is error
    latest = recording.latest()
    assert latest is not None
    assert spans(latest.path) == ["ProfilerStep#4", "aten::sin"]
    assert (latest.info.outcome, latest.info.error, latest.info.run_steps) == ("failed", "ValueError", 4)
    with profile() as later:
        torch.cos(X)
    assert [row.key for row in later.key_averages()] == ["aten::cos"]


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), StopIteration(3), SystemExit(3)])
@pytest.mark.parametrize("fail_at", [1, 2, 4])
def test_an_error_before_the_active_part_records_nothing_and_says_so(error: BaseException, fail_at: int) -> None:
    with pytest.raises(type(error)):
        profile_once(Counter(fail_at=fail_at, error=error))
    with pytest.raises(NothingRecordedError, match=rf"{fail_at - 1} of 5 steps ran .*active part was never reached"):
        _ = nbprof.last
    assert not list(Path().rglob("*.json"))


def test_an_older_recording_is_never_handed_out_as_new() -> None:
    profile_once(Counter())
    assert len(nbprof.last) > 0
    TorchTraceProfiler.reset_session()
    with pytest.raises(ValueError, match="x"):
        profile_once(Counter(fail_at=1, error=ValueError("x")))
    with pytest.raises(NothingRecordedError):
        _ = nbprof.last


def test_a_site_that_failed_may_try_again() -> None:
    counter = Counter(fail_at=1, error=ValueError("x"))
    with pytest.raises(ValueError, match="x"):
        profile_once(counter)
    assert profile_once(counter)[0] == 6


@pytest.mark.parametrize("warms_up", [False, True])
def test_a_foreign_profiler_keeps_its_data_and_the_code_runs_once(warms_up: bool) -> None:
    counter = Counter()
    plan = schedule(wait=0, warmup=1, active=1, repeat=1) if warms_up else None
    with profile(activities=[ProfilerActivity.CPU], schedule=plan, on_trace_ready=lambda prof: None) as theirs:
        state = "WARMUP" if warms_up else "RECORD"
        with pytest.warns(UserWarning, match=f"runs once, without profiling: .*already running.*state {state}"):
            assert profile_once(counter)[0] == 1
        if warms_up:
            theirs.step()
            torch.cos(X)
    assert ("aten::cos" if warms_up else "aten::sin") in [row.key for row in theirs.key_averages()]
    assert profile_once(counter)[0] == 6  # the round was not used up


def test_nested_sessions_run_the_inner_code_once() -> None:
    inner, outer = Counter(), Counter()

    def both() -> None:
        outer()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            profile_once(inner)

    profile_once(both)
    assert (outer.calls, inner.calls) == (5, 5)
    latest = recording.latest()
    assert latest is not None
    assert spans(latest.path) == ["ProfilerStep#4", "aten::sin", "aten::sin"]


def test_regions_are_marked_in_the_active_part() -> None:
    register_profiler_region("attention", "")

    def infer() -> None:
        with region("attention"):
            torch.sin(X)

    profile_once(infer)
    latest = recording.latest()
    assert latest is not None
    assert spans(latest.path) == ["ProfilerStep#4", "nbprof.region::attention", "aten::sin"]
    assert [(row.region, row.entries) for row in latest.info.regions] == [("attention", 1)]


def test_a_coroutine_function_is_awaited_in_each_step() -> None:
    calls: list[int] = []

    async def infer(x: int) -> int:
        calls.append(x)
        await asyncio.sleep(0)
        torch.sin(X)
        return len(calls)

    assert asyncio.run(profile_once(infer, 7)) == 5
    assert calls == [7] * 5


def test_a_folder_that_cannot_be_used_is_an_error_before_the_code_runs(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    counter = Counter()
    with pytest.raises(TraceWriteError, match="file/below"):
        TorchTraceProfileContext(tb_dir=tmp_path / "file" / "below").run(counter)
    assert counter.calls == 0
    assert profile_once(counter)[0] == 5


def test_saving_twice_gives_two_equal_files(tmp_path: Path) -> None:
    profile_once(Counter())
    latest = recording.latest()
    assert latest is not None
    one, two = latest.save(tmp_path / "one.json"), latest.save(tmp_path / "deep" / "two.json")
    assert one.read_bytes() == two.read_bytes() != b""


def test_files_of_one_second_do_not_collide() -> None:
    for _ in range(5):
        TorchTraceProfiler.reset_session()
        TorchTraceProfileContext(wait=0, warmup=0).run(Counter())
    assert len(list(Path("save_results/torch_profile").iterdir())) == 5


def test_a_bad_environment_leaves_the_round_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBPROF_TORCH_PROFILER_WITH_STACK", "maybe")
    with pytest.raises(ValueError, match="WITH_STACK"):
        profile_once(Counter())
    monkeypatch.delenv("NBPROF_TORCH_PROFILER_WITH_STACK")
    assert TorchTraceProfileContext("another").run(Counter())[0] == 5


def test_a_session_that_recorded_nothing_leaves_the_round_to_others() -> None:
    with pytest.raises(ValueError, match="x"):
        profile_once(Counter(fail_at=1, error=ValueError("x")))
    assert TorchTraceProfileContext("another").run(Counter())[0] == 5


def test_a_callable_that_returns_something_to_await_runs_once() -> None:
    calls: list[int] = []

    async def infer() -> int:
        calls.append(1)
        return 7

    with pytest.warns(UserWarning, match="returned something to await"):
        waiting = profile_once(lambda: infer())
    assert asyncio.run(waiting) == 7  # type: ignore[arg-type]
    assert calls == [1]
