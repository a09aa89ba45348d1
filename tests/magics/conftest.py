"""A shell with the magics in it, a folder of its own and no regions but the test's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

from nbprof import magics
from tests.magics.shells import LightReport, Shell


@pytest.fixture(scope="session")
def bare_shell() -> Iterator[InteractiveShell]:
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    yield InteractiveShell.instance(config=config)
    InteractiveShell.clear_instance()


@pytest.fixture
def shell(bare_shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Shell]:
    from nbprof.capture import regions
    from nbprof.trace import Trace

    for name in [name for name in os.environ if name.startswith("NBPROF_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(regions, "_registry", {})
    monkeypatch.setattr(regions, "_states", {})
    monkeypatch.setattr(
        Trace, "report", lambda trace, *, called: LightReport(trace, called=called)
    )  # charts take a third of a second; test_kernel.py shows real ones
    monkeypatch.chdir(tmp_path)
    before = dict(bare_shell.user_ns)
    magics.load(bare_shell)
    shell = Shell(bare_shell)
    shell.run("import torch, nbprof\nx = torch.full((2, 3), 4.0)").raise_error()
    yield shell
    with capture_output():
        magics.unload(bare_shell)
        bare_shell.user_ns.clear()
        bare_shell.user_ns.update(before)
