"""How far a long read is -> a line in the notebook or a bar in the terminal, only when it takes more than a second.

In: a title, and calls that tell how much is done. Out: nothing that stays: no widget, nothing on a notebook's stderr.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from nbprof.reader.reading import Progress
from nbprof.view.frontend import is_notebook
from nbprof.view.quantities import literal, share, shorten, size

QUIET_SECONDS = 1.0
_EVERY_SECONDS = 0.2


class _Display(Protocol):
    def show(self, done: int, total: int | None, beside: str) -> None: ...
    def close(self) -> None: ...


@contextmanager
def reading(title: str, *, clock: Callable[[], float] = time.monotonic) -> Iterator[Progress]:
    """A callable to report progress to; what it shows after the first second is gone when the block ends."""
    shown: list[_Display] = []
    begun = clock()
    due = begun + QUIET_SECONDS

    def progress(done: int, total: int | None, events: int) -> None:
        nonlocal due
        now = clock()
        if now < due:
            return
        due = now + _EVERY_SECONDS
        if not shown:
            shown.append(_NotebookLine(title) if is_notebook() else _TerminalBar(title))
        shown[0].show(done, total, f"{events:,} events, {size(done / (now - begun))}/s")

    try:
        yield progress
    finally:
        for display in shown:
            display.close()


class _NotebookLine:
    """One display of the cell, rewritten in place and emptied at the end."""

    def __init__(self, title: str) -> None:
        self._title = shorten(literal(title), 80)
        self._handle: Any = None

    def show(self, done: int, total: int | None, beside: str) -> None:
        part = f"{share(done / total)} of {size(total)}" if total else size(done)
        self._write(f"{self._title}: {part}, {beside}")

    def close(self) -> None:
        self._write("")  # a display can't be taken back, but this one has no height

    def _write(self, text: str) -> None:
        bundle = {"text/plain": text}
        if self._handle is None:
            from IPython import display

            show: Any = display.display
            self._handle = show(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)


class _TerminalBar:
    """A plain tqdm bar that is wiped at the end; silent where stderr is no terminal."""

    def __init__(self, title: str) -> None:
        from tqdm import tqdm

        self._bar = tqdm(desc=shorten(literal(title), 40), unit="B", unit_scale=True, leave=False, disable=None)

    def show(self, done: int, total: int | None, beside: str) -> None:
        # Without tqdm's own rate, which knows nothing of the time before the bar came.
        amount = "{l_bar}{bar}| {n_fmt}/{total_fmt}" if total else "{desc}: {n_fmt}"
        self._bar.bar_format = f"{amount}{{unit}}{{postfix}}"
        self._bar.total = total or None
        self._bar.n = done
        self._bar.set_postfix_str(beside, refresh=False)
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()
