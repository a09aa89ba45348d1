"""What capture tells a person: one line on the log or the terminal, a warning once.

In: sentences. Out: a log record of the logger `nbprof` (or a line on stderr where nobody listens), a `UserWarning`.
"""

from __future__ import annotations

import difflib
import logging
import sys
import warnings
from collections.abc import Iterable

logger = logging.getLogger("nbprof")
_warned: set[str] = set()
_MOST_WARNED = 1000  # names made up on the fly must not pile up


def announce(message: str) -> None:
    """Say something once to whoever listens to logs, and on stderr where no handler is set up."""
    if logger.hasHandlers():
        logger.info(message)
    else:
        print(message, file=sys.stderr)


def warn(message: str) -> None:
    """A `UserWarning`, whatever line it comes from."""
    _warn(message)


def warn_once(key: str, message: str) -> None:
    """The same, once a process for each key."""
    if key not in _warned and len(_warned) < _MOST_WARNED:
        _warned.add(key)
        _warn(message)


def _warn(message: str) -> None:
    try:
        warnings.warn(message, UserWarning, stacklevel=_level_of_user_code())
    except UserWarning:  # warnings are errors here; the user's code is not to fail by ours
        announce(message)


def forget_warnings(prefix: str = "") -> None:
    """Let what begins with `prefix` be warned about again."""
    _warned.difference_update([key for key in _warned if key.startswith(prefix)])


def nearest(name: str, known: Iterable[str]) -> str:
    """How a sentence about an unknown name ends: `; did you mean 'x'?`, or `.` when no known name is near."""
    match = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"; did you mean {match[0]!r}?" if match else "."


def _level_of_user_code() -> int:
    """How far above `_warn` the first frame stands that is not nbprof's own."""
    frame = sys._getframe(1)
    level = 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("nbprof."):
        frame, level = frame.f_back, level + 1
    return level
