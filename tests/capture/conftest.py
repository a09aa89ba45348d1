"""Regions that a test registers are gone after it; recordings go to its own folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from nbprof.capture import callsite, notices, recording, regions, slots


@pytest.fixture(autouse=True)
def fresh_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in [name for name in os.environ if name.startswith("NBPROF_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(regions, "_registry", {})
    monkeypatch.setattr(regions, "_states", {})
    monkeypatch.setattr(slots, "_slots", {})
    monkeypatch.setattr(notices, "_warned", set())
    monkeypatch.setattr(recording, "_latest", None)
    callsite.TorchTraceProfiler.reset_session()
    yield
    callsite.TorchTraceProfiler.reset_session()


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Register regions and let the environment switch them on."""

    def register(*names: str) -> None:
        monkeypatch.setenv("NBPROF_TORCH_PROFILE_REGIONS", ",".join(names))
        for name in names:
            regions.register_profiler_region(name, f"the {name}")

    return register


def trace_of(path: Path | None) -> dict[str, Any]:
    assert path is not None
    loaded: dict[str, Any] = json.loads(path.read_bytes())
    return loaded


def spans(path: Path | None) -> list[str]:
    """Names of the operators and markers in a trace file, in order of their start."""
    events = [e for e in trace_of(path)["traceEvents"] if e.get("cat") in ("cpu_op", "user_annotation")]
    return [e["name"] for e in sorted(events, key=lambda e: (e["ts"], -e["dur"]))]


def run_script(text: str, **env: str) -> subprocess.CompletedProcess[str]:
    """A Python process of its own."""
    return subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=180, env=os.environ | env, check=False
    )


X = torch.ones(4)
