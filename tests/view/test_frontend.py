"""Who will show what is made."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from nbprof.view import frontend


def shell(*formats: str, **more: Any) -> SimpleNamespace:
    return SimpleNamespace(display_formatter=SimpleNamespace(active_types=list(formats)), **more)


SHELLS = {
    "no shell": (None, False, True),
    "terminal": (shell("text/plain"), False, False),
    "kernel": (shell("text/plain", "text/html", kernel=object()), True, True),
}


@pytest.mark.parametrize(("found", "is_notebook", "shows_html"), SHELLS.values(), ids=SHELLS)
def test_each_kind_of_shell(found: Any, is_notebook: bool, shows_html: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: found))
    assert (frontend.is_notebook(), frontend.shows_html()) == (is_notebook, shows_html)


def test_without_ipython_there_is_no_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert (frontend.is_notebook(), frontend.shows_html()) == (False, True)
