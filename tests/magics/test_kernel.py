"""Cells in a real kernel: the cases that people reported, by their kind."""

from __future__ import annotations

import queue
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.manager import start_new_kernel
from nbclient.exceptions import CellExecutionError

from tests.magics.shells import Notebook, run_notebook

CELLS = {
    "names": "import asyncio\nx = torch.ones(2, 2)\nw = 2\nasync def twice(v):\n    await asyncio.sleep(0)\n    return v * w",
    "value": "%%region training_dit\ny = x * 3\ny.sum().item()",
    "underscore": "_",
    "assigned": "y.tolist()",
    "silenced": "%%region training_dit\ny.sum();",
    "awaits": "%%region training_dit\nv = await twice(x)\nv.sum().item()",
    "line awaits": "%profile_once await twice(4)",
    "cell awaits": "%%profile_once\nv = await twice(5)\nv",
    "await elsewhere": "v = %profile_once await twice(4)",
    "raw": "s = %profile_once '{w} and $w and {{w}}'\ns",
    "line": "%profile_once float((x * w).sum())",
    "syntax": "%%region training_dit\nx = = 3",
    "return": "%%region training_dit\nreturn 5",
    "error": "%%region training_dit\nx.sin()\n1 / 0",
    "interrupt": "import os, signal\ndef stop():\n    os.kill(os.getpid(), signal.SIGINT)\n    import time; time.sleep(5)\n"
    "%profile_once stop()",
    "clean": "%%region training_dit\nround(x.cos().sum().item(), 3)",
    "only its own": "sorted(n for n in nbprof.last.events['name'].astype(str) if n in ('aten::sin', 'aten::cos'))",
    "time outside": "%%time\n%%region training_dit\nx.sum().item()",
    "time inside": "%%region training_dit\n%%time\nx.sum().item()",
    "captured": "%%capture cap\n%%region training_dit\nprint('hi')",
    "what was captured": "cap.stdout, len(cap.outputs), cap.stderr",
    "captures": "%%region training_dit\n%%capture cap\nprint('hi')\nx.sum().item()",
    "what it captured": "cap.stdout, len(cap.outputs), cap.stderr",
    "shell": '%%region training_dit\n!echo "it\'s"\n%env NBPROF_X=1\nw',
    "nothing ran": "%profile_once 1 / 0",
    "not an older one": "nbprof.last",
    "names left": "sorted(n for n in dir() if 'nbprof' in n or n in ('step', 'value', 'session'))",
    "a figure": "%%region training_dit\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\nx.sum().item()",
    "unload": "%unload_ext nbprof",
    "gone": "%%region training_dit\nx",
}
AT = {name: index + 1 for index, name in enumerate(CELLS)}  # behind the cell that loads the extension
FAIL = {"await elsewhere", "syntax", "return", "error", "interrupt", "nothing ran", "not an older one", "gone"}


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Notebook:
    return run_notebook(list(CELLS.values()), tmp_path_factory.mktemp("kernel"), allow_errors=True)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("value", ["12.0"]),
        ("underscore", ["12.0"]),
        ("assigned", ["[[3.0, 3.0], [3.0, 3.0]]"]),
        ("silenced", []),
        ("awaits", ["8.0"]),
        ("line awaits", ["8"]),
        ("cell awaits", ["10"]),
        ("raw", ["'{w} and $w and {{w}}'"]),
        ("line", ["8.0"]),
        ("clean", ["2.161"]),  # 4 cos(1)
        ("only its own", ["['aten::cos']"]),
        ("time outside", ["4.0"]),
        ("time inside", ["4.0"]),
        ("what was captured", ["('hi\\n', 1, '')"]),  # an outer %%capture has the report
        ("what it captured", ["('hi\\n', 1, '')"]),  # an inner one the value
        ("shell", ["2"]),
        ("names left", ["['nbprof']"]),
        ("a figure", ["4.0"]),
    ],
)
def test_the_value_is_what_it_would_be_without_the_magic(notebook: Notebook, name: str, values: list[str]) -> None:
    assert notebook.values(AT[name]) == values


def test_a_report_stands_under_each_cell_that_recorded(notebook: Notebook) -> None:
    shown = {
        name for name in CELLS if any("training_dit" in r or "profile_once" in r for r in notebook.reports(AT[name]))
    }
    assert shown == {
        *("value", "silenced", "awaits", "line awaits", "cell awaits", "raw", "line", "error", "clean"),
        *("time outside", "time inside", "captures", "shell", "a figure"),
    }


def test_a_report_has_html_and_text(notebook: Notebook) -> None:
    (output,) = (o for o in notebook.cells[AT["value"]].outputs if o.output_type == "display_data")
    assert {"text/html", "text/plain"} <= set(output.data)


def test_errors_are_the_users_own_shown_once(notebook: Notebook) -> None:
    names = {
        "syntax": "SyntaxError",
        "return": "SyntaxError",
        "error": "ZeroDivisionError",
        "nothing ran": "ZeroDivisionError",
    }
    names |= {"interrupt": "KeyboardInterrupt", "not an older one": "NothingRecordedError"}
    for name in CELLS:
        assert [error.ename for error in notebook.errors(AT[name])] == ([names[name]] if name in names else []), name
    for name in ("error", "interrupt", "nothing ran"):
        (error,) = notebook.errors(AT[name])
        assert "nbprof/magics" not in "\n".join(error.traceback)


def test_stderr_holds_our_own_lines_only(notebook: Notebook) -> None:
    said = {name: text for name in CELLS if (text := notebook.stream(AT[name], "stderr"))}
    assert said.pop("await elsewhere").startswith("UsageError: await is not supported here: ")
    assert said.pop("gone") == "UsageError: Cell magic `%%region` not found.\n"
    assert said == {}


def test_what_was_not_recorded_is_told_with_the_counts(notebook: Notebook) -> None:
    assert "0 of 5 steps ran (1 wait + 3 warmup + 1 active)" in notebook.stream(AT["nothing ran"], "stdout")
    (error,) = notebook.errors(AT["not an older one"])
    assert "0 of 5 steps ran" in error.evalue


def test_the_users_figure_comes_before_the_report(notebook: Notebook) -> None:
    outputs = [o for o in notebook.cells[AT["a figure"]].outputs if o.output_type == "display_data"]
    assert "image/png" in outputs[0].data and "text/html" in outputs[1].data and len(outputs) == 2


@pytest.mark.parametrize("name", ["return", "error", "time outside"])
def test_run_all_stops_at_a_cell_that_fails(name: str, tmp_path: Path) -> None:
    cell = CELLS[name].replace("x.sum().item()", "1 / 0").replace("x.sin()", "pass")
    with pytest.raises(CellExecutionError):
        run_notebook([cell, "print('not reached')"], tmp_path)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Any]:
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(tmp_path))
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def messages(client: Any, code: str, **options: Any) -> tuple[str, list[dict[str, Any]]]:
    """Run code; the reply's status, and what was published meanwhile."""
    sent = client.execute(code, **options)
    found = []
    while True:
        try:
            message = client.get_iopub_msg(timeout=60)
        except queue.Empty:  # pragma: no cover
            raise AssertionError(f"no answer to {code!r}") from None
        if message["parent_header"].get("msg_id") != sent:
            continue
        if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            break
        found.append(message)
    return client.get_shell_msg(timeout=60)["content"]["status"], found


def test_a_kernel_answers_help_and_completion_and_loads_without_torch(client: Any) -> None:
    status, _ = messages(
        client, "%load_ext nbprof\nimport sys\nassert 'torch' not in sys.modules and 'pandas' not in sys.modules"
    )
    assert status == "ok"
    client.complete("%%region training_dit --show ")
    assert client.get_shell_msg(timeout=60)["content"]["matches"] == ["none", "report"]
    client.execute("%%region?")
    (page,) = client.get_shell_msg(timeout=60)["content"]["payload"]
    assert "--memory" in page["data"]["text/plain"] and "%%region NAME" in page["data"]["text/plain"]


def test_this_python_is_the_kernels(client: Any) -> None:
    _, found = messages(client, "import sys; print(sys.executable)")
    assert sys.executable in "".join(m["content"].get("text", "") for m in found)
