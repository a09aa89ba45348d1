"""What happens to a recording when its process ends, and where torch's writer fails: in processes of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.capture.conftest import run_script

COLLECTING = """
import sys, torch, nbprof
nbprof.register_profiler_region("a", "")
controller = nbprof.get_or_create_profiler(sys.argv[1] if len(sys.argv) > 1 else {folder!r})
entry = nbprof.region("a"); entry.__enter__()
torch.sin(torch.ones(3))
"""


@pytest.mark.parametrize(("ending", "status"), [("", 0), ("sys.exit(3)", 3), ("raise ValueError('mine')", 1)])
def test_a_process_that_ends_while_collecting_keeps_its_status_and_its_trace(
    tmp_path: Path, ending: str, status: int
) -> None:
    done = run_script(COLLECTING.format(folder=str(tmp_path)) + ending, NBPROF_TORCH_PROFILE_REGIONS="a")
    assert done.returncode == status, done.stderr
    (trace,) = tmp_path.glob("*.pt.trace.json")
    names = [event["name"] for event in json.loads(trace.read_text())["traceEvents"] if event["ph"] == "X"]
    assert {"nbprof.region::a", "aten::sin"} <= set(names)
    assert done.stderr.count("trace of") == 1


def test_nothing_of_torchs_own_profiler_is_printed(tmp_path: Path) -> None:
    script = f"""
import logging, torch, nbprof
logging.getLogger("nbprof").addHandler(logging.NullHandler())
from torch.profiler import profile
nbprof.register_profiler_region("a", "")
for _ in range(2):
    controller = nbprof.get_or_create_profiler({str(tmp_path)!r})
    before = torch.ones(100000)
    for _ in range(3):
        with nbprof.region("a"):
            del before
            before = torch.ones(100000)
    controller.stop()
nbprof.profile_once(torch.sin, torch.ones(3))
"""
    done = run_script(script, NBPROF_TORCH_PROFILE_REGIONS="a", NBPROF_TORCH_PROFILER_WITH_PROFILE_MEMORY="1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_users_own_profilers_are_as_loud_as_before(tmp_path: Path) -> None:
    """Levels and variables are put back: what torch prints for somebody else's profiler is not ours to hide."""
    script = f"""
import os, torch, nbprof
nbprof.register_profiler_region("a", "")
controller = nbprof.get_or_create_profiler({str(tmp_path)!r})
with nbprof.region("a"):
    assert "KINETO_LOG_LEVEL" not in os.environ
    torch.sin(torch.ones(3))
controller.stop()
with torch.profiler.profile():
    pass
"""
    done = run_script(script, NBPROF_TORCH_PROFILE_REGIONS="a")
    assert done.returncode == 0
    assert done.stderr.count("profiler_start") == 1


def test_a_disk_that_runs_full_is_reported_and_the_trace_can_be_saved_elsewhere(tmp_path: Path) -> None:
    """A limit on the size of files stands for the full disk: torch's C++ writer says nothing of it."""
    script = f"""
import json, os, resource, signal, torch, nbprof
os.chdir({str(tmp_path)!r})
from nbprof.capture import recording
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
def work():
    for _ in range(200):
        torch.sin(torch.ones(3))
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
nbprof.profile_once(work)
resource.setrlimit(resource.RLIMIT_FSIZE, limits)
latest = recording.latest()
assert latest.path is None and "could not be written" in latest.problem, latest.problem
saved = latest.save({str(tmp_path / "saved.json")!r})
names = [event["name"] for event in json.loads(saved.read_text())["traceEvents"]]
assert names.count("aten::sin") == 200
assert len(nbprof.last.operators()) > 0
"""
    done = run_script(script)
    assert done.returncode == 0, done.stderr
    assert "could not be written" in done.stderr


def test_a_region_in_compiled_code_keeps_the_graph_whole(tmp_path: Path) -> None:
    script = f"""
import torch, nbprof
nbprof.register_profiler_region("a", "")
@nbprof.profile_region("a")
def square(x):
    return x * x
@torch.compile(fullgraph=True, backend="eager")
def step(x):
    with nbprof.region("a"):
        y = torch.sin(x)
    return square(y)
x = torch.ones(3)
expected = torch.sin(x) ** 2
assert torch.equal(step(x), expected)
controller = nbprof.get_or_create_profiler({str(tmp_path)!r})
assert torch.equal(step(x), expected)
with nbprof.region("a"):
    assert torch.equal(step(x), expected)
nbprof.disable_region("a")
assert torch.equal(step(x), expected)
controller.stop()
import torch._dynamo
counters = torch._dynamo.utils.counters
assert counters["stats"]["unique_graphs"] == 1, counters["stats"]
"""
    done = run_script(script, NBPROF_TORCH_PROFILE_REGIONS="a")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("way", "theirs"),
    [
        ("region", "torch.profiler.profile()"),
        ("region", "torch.autograd.profiler.profile()"),
        ("once", "torch.profiler.profile()"),
        ("region", "torch.profiler.profile(schedule=torch.profiler.schedule(wait=0, warmup=1, active=1, repeat=1))"),
    ],
)
def test_the_users_own_profiler_inside_ours_stays_whole_and_nothing_crashes(
    tmp_path: Path, way: str, theirs: str
) -> None:
    script = f"""
import torch, nbprof
x = torch.ones(3)
nbprof.register_profiler_region("a", "")
def work():
    with {theirs} as prof:
        torch.sin(x)
        if hasattr(prof, "step"): prof.step()
        torch.sin(x)
    assert "aten::sin" in [row.key for row in prof.key_averages()]
    return 7
if {way!r} == "once":
    assert nbprof.TorchTraceProfileContext(tb_dir={str(tmp_path)!r}).run(work) == 7
else:
    controller = nbprof.get_or_create_profiler({str(tmp_path)!r})
    with nbprof.region("a"):
        torch.cos(x)
        work()
    with nbprof.region("a"):
        torch.cos(x)
    controller.stop()
try:
    nbprof.last
except nbprof.NothingRecordedError as error:
    assert "started a torch profiler of its own" in str(error), error
else:
    raise AssertionError("an empty recording was handed out")
with torch.profiler.profile() as later:
    torch.tan(x)
assert [row.key for row in later.key_averages()] == ["aten::tan"]
"""
    done = run_script(script, NBPROF_TORCH_PROFILE_REGIONS="a")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("ending", ["thread.join(); controller[0].stop()", "thread.join()"])
def test_a_recording_whose_thread_has_ended_is_said_to_be_empty(tmp_path: Path, ending: str) -> None:
    script = f"""
import threading, torch, nbprof
nbprof.register_profiler_region("a", "")
controller = []
def work():
    controller.append(nbprof.get_or_create_profiler({str(tmp_path)!r}))
    with nbprof.region("a"):
        torch.sin(torch.ones(3))
thread = threading.Thread(target=work)
thread.start()
{ending}
"""
    done = run_script(script, NBPROF_TORCH_PROFILE_REGIONS="a")
    assert done.returncode == 0, done.stderr
    assert "has the thread that started it ended?" in done.stderr
    assert len(list(tmp_path.glob("*.summary.json"))) == 1


def test_a_thread_that_still_runs_at_exit_is_named(tmp_path: Path) -> None:
    script = f"""
import threading, torch, nbprof
nbprof.register_profiler_region("a", "")
ready = threading.Event()
def work():
    nbprof.get_or_create_profiler({str(tmp_path)!r})
    ready.set()
    threading.Event().wait()
threading.Thread(target=work, daemon=True, name="trainer").start()
ready.wait()
"""
    done = run_script(script, NBPROF_TORCH_PROFILE_REGIONS="a")
    assert done.returncode == 0, done.stderr
    assert "thread 'trainer', which owns the recording, was still running at exit" in done.stderr


def test_a_forked_child_leaves_the_recording_to_its_parent(tmp_path: Path) -> None:
    script = f"""
import multiprocessing, torch, nbprof
nbprof.register_profiler_region("a", "")
controller = nbprof.get_or_create_profiler({str(tmp_path)!r})
def child():
    assert nbprof.get_global_controller() is None
    with nbprof.region("a"):
        pass
with nbprof.region("a"):
    torch.sin(torch.ones(3))
process = multiprocessing.get_context("fork").Process(target=child)
process.start(); process.join()
assert process.exitcode == 0
recording = controller.stop()
assert "aten::sin" in set(nbprof.last.operators()["name"])
"""
    done = run_script(script, NBPROF_TORCH_PROFILE_REGIONS="a")
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("*.pt.trace.json"))) == 1


def test_ctrl_c_in_the_middle_of_a_start_leaves_nothing_running(tmp_path: Path) -> None:
    script = f"""
import signal, sys, torch, nbprof
from nbprof.capture import owner, window
nbprof.register_profiler_region("a", "")
nbprof.get_or_create_profiler({str(tmp_path)!r}).stop()
claim = owner.claim
def interrupted(label):
    claim(label)
    signal.raise_signal(signal.SIGINT)
owner.claim = interrupted
try:
    nbprof.get_or_create_profiler({str(tmp_path)!r})
except KeyboardInterrupt:
    owner.claim = claim
else:
    raise AssertionError("Ctrl-C was lost")
assert owner.current_owner() is None and nbprof.get_global_controller() is None
nbprof.get_or_create_profiler({str(tmp_path)!r}).stop()
"""
    done = run_script(script, NBPROF_TORCH_PROFILE_REGIONS="a")
    assert done.returncode == 0, done.stderr


def test_a_fork_while_another_thread_holds_a_lock_does_not_hang_the_child() -> None:
    script = """
import multiprocessing, threading, time, nbprof
from nbprof.capture import owner, regions, slots
nbprof.register_profiler_region("a", "")
held, let_go = threading.Event(), threading.Event()
def hold():
    with regions._lock, slots._lock, owner._lock:
        held.set()
        let_go.wait()
threading.Thread(target=hold).start()
held.wait()
threading.Timer(0.2, let_go.set).start()
process = multiprocessing.get_context("fork").Process(target=nbprof.enable_region, args=("a",))
process.start()
process.join(20)
alive = process.is_alive()
process.kill()
assert not alive and process.exitcode == 0, process.exitcode
"""
    done = run_script(script)
    assert done.returncode == 0, done.stderr
