"""A measurement in a process of its own, so that its peak memory and its imports are nobody else's.

In: the name of a module that prints one line of JSON, and its arguments. Out: what the line says.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from typing import Any


def outcome(module: str, *arguments: object) -> Any:
    """The last line that `python -m module arguments` prints; what it says on stderr goes to ours."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def peak_bytes() -> int:
    """Most memory that this process has held so far.

    Linux lets a new process begin with the peak of the one that made it: a benchmark that starts children to ask them
    this imports nothing large itself.
    """
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
