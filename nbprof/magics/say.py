"""What a magic says beside its report: one line, without times of day or process ids.

In: a sentence. Out: a line in the cell (notes), or on its stderr (warnings), or a `UsageError` that IPython shows as one
line.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from IPython.core.error import UsageError

from nbprof.errors import NbprofError


def note(message: str) -> None:
    """Something good to know."""
    print(f"nbprof: {message}", flush=True)


def warning(message: str) -> None:
    """Something that isn't as the person wished."""
    print(f"nbprof: {message}", file=sys.stderr, flush=True)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """What goes wrong inside before the user's code has run is a `UsageError`: the cell fails, and one line says why."""
    try:
        yield
    except (NbprofError, ValueError) as error:
        raise UsageError(str(error)) from None
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        raise UsageError(f"Recording needs the package {package}, which is not installed.") from None
