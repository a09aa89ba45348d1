"""Shared by all tests: nothing is left recording, and no state leaks from one test into the next."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import settings

from nbprof import schema
from tests.references import NAMES, Reference, read_reference

# No test asserts a time: machines are shared.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture
def traces() -> Path:
    """The folder of recorded GPU traces; skips where it isn't there."""
    folder = SHARED / "traces"
    if not folder.is_dir():
        pytest.skip("the recorded GPU traces are not on this machine")
    return folder


@pytest.fixture(params=NAMES)
def reference(request: pytest.FixtureRequest, traces: Path) -> Reference:
    """Each of the recorded GPU traces."""
    return read_reference(traces, request.param)


@pytest.fixture
def no_events() -> pd.DataFrame:
    return schema.empty("events")


@pytest.fixture(autouse=True)
def _nothing_left_recording(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("NBPROF_TORCH_PROFILER_DIR", "NBPROF_TORCH_PROFILE_REGIONS", "NBPROF_SHOW"):
        monkeypatch.delenv(name, raising=False)
    yield
    if "nbprof.capture.controller" not in sys.modules:
        return
    from nbprof.capture import controller, owner, slots

    live = controller.get_global_controller()
    if live is not None:
        live.stop()
    assert live is None, "a test left its controller alive"
    assert owner.current_owner() is None, "a test left a profiler running"
    assert not slots.is_followed(), "a test left slots that somebody opens"
