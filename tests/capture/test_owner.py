from __future__ import annotations

import pytest
import torch
from torch.profiler import ProfilerActivity, profile, schedule

from nbprof.capture import owner
from nbprof.errors import ProfilerBusyError

CPU = [ProfilerActivity.CPU]


def test_one_owner_at_a_time() -> None:
    owner.claim("first")
    try:
        with pytest.raises(ProfilerBusyError, match="first"):
            owner.claim("second")
        assert owner.current_owner() == "first"
    finally:
        owner.release()
    assert owner.current_owner() is None


def test_profilers_that_are_made_or_done_are_not_at_work() -> None:
    made = profile(activities=CPU)
    with profile(activities=CPU) as done:
        pass
    waiting = profile(activities=CPU, schedule=schedule(wait=2, warmup=1, active=1))
    assert owner.foreign_profiler() is None
    del made, done, waiting


def test_a_profiler_is_found_while_it_warms_up_and_while_it_collects() -> None:
    class Own(profile):
        """People derive from it."""

    theirs = Own(activities=CPU, schedule=schedule(wait=0, warmup=1, active=2, repeat=1))
    theirs.start()
    assert "Own object in state WARMUP" in (owner.foreign_profiler() or "")
    theirs.step()
    assert "state RECORD" in (owner.foreign_profiler() or "")
    theirs.stop()
    assert owner.foreign_profiler() is None


def test_the_older_profiler_is_found_too() -> None:
    with torch.autograd.profiler.profile():
        assert owner.foreign_profiler() == "torch.autograd.profiler"
    assert owner.foreign_profiler() is None
