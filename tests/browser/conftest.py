"""A real JupyterLab and a real Chromium for the browser tests.

In: a theme and a notebook. Out: the page with the notebook open. The servers, their settings and
their files stand in temporary folders; nothing of the user's own Jupyter is read or written.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# News and updates would ask the network; cells out of sight would not be in the page.
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "notebook-extension/tracker": {"windowingMode": "none", "scrollPastEnd": False},
}
ANNOUNCEMENT = re.compile(r"(http://127\.0\.0\.1:\d+)/lab\?token=(\w+)")
# The page's own indicator says idle before there is a kernel; the server knows.
KERNEL_IS_IDLE = """async () => {
    const sessions = await (await fetch("/api/sessions")).json();
    return sessions.length > 0 && sessions[0].kernel.execution_state === "idle";
}"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for the tests of a file; with it ends the event loop that Playwright keeps in this thread."""
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        reason = f"no Chromium here (looked for {', '.join(BROWSERS)})"
        if os.environ.get("NBPROF_REQUIRE_BROWSER"):
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def open_notebook(chromium: Browser, tmp_path: Path) -> Iterator[Callable[[Path, str], Page]]:
    """A function (notebook, theme) -> page, the notebook open in a JupyterLab of that theme."""
    with ExitStack() as stack:

        def opened(notebook: Path, theme: str) -> Page:
            url, token = stack.enter_context(running_lab(tmp_path, theme))
            shutil.copy(notebook, tmp_path / "files" / notebook.name)
            context = chromium.new_context(viewport={"width": 1280, "height": 1600}, device_scale_factor=2)
            stack.callback(context.close)
            page = context.new_page()
            page.goto(f"{url}/lab/tree/{notebook.name}?token={token}")
            page.wait_for_function(KERNEL_IS_IDLE, timeout=120_000)
            page.locator(".jp-Toolbar-kernelName", has_text="Python 3").wait_for()
            page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").wait_for()
            return page

        yield opened


@contextmanager
def running_lab(folder: Path, theme: str) -> Iterator[tuple[str, str]]:
    """A JupyterLab server that shows `folder/files`; its address and token."""
    settings = {**SETTINGS, "apputils-extension/themes": {"theme": f"JupyterLab {theme.capitalize()}"}}
    for name, values in settings.items():
        path = folder / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    (folder / "files").mkdir()
    places = {
        "JUPYTER_PATH": Path(sys.prefix, "share", "jupyter"),
        "JUPYTER_CONFIG_DIR": folder / "config",
        "JUPYTER_DATA_DIR": folder / "data",
        "JUPYTER_RUNTIME_DIR": folder / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": folder / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": folder / "workspaces",
        "IPYTHONDIR": folder / "ipython",
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1"]
    server = subprocess.Popen(
        [*command, f"--ServerApp.root_dir={folder / 'files'}"],
        env={**os.environ, **{name: str(path) for name, path in places.items()}},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    log: list[str] = []
    try:
        for line in server.stderr:
            log.append(line)
            if found := ANNOUNCEMENT.search(line):
                break
        else:
            pytest.fail("JupyterLab did not start:\n" + "".join(log))
        threading.Thread(target=log.extend, args=(server.stderr,), daemon=True).start()
        yield found[1], found[2]
    finally:
        server.terminate()  # it ends its kernels, then itself
        try:
            server.wait(timeout=30)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
