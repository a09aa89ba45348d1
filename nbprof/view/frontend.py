"""Who will show what is made: a notebook, a terminal IPython, or neither.

In: the shell of this process, if IPython has one; IPython itself isn't loaded to ask. Out: answers.
"""

from __future__ import annotations

import sys
from typing import Any


def is_notebook() -> bool:
    """Whether cells run in a kernel, whose front end can rewrite what it displays."""
    return getattr(_shell(), "kernel", None) is not None


def shows_html() -> bool:
    """Whether the front end takes HTML; a terminal IPython doesn't, and without a shell nobody knows better."""
    shell = _shell()
    return shell is None or "text/html" in shell.display_formatter.active_types


def _shell() -> Any:
    interactive: Any = sys.modules.get("IPython")
    return interactive.get_ipython() if interactive else None
