from __future__ import annotations

from pathlib import Path

import pytest

from nbprof import errors


@pytest.mark.parametrize(
    ("error", "kind", "sentence"),
    [
        (
            errors.ProfilerBusyError("%profile_once in cell 7"),
            RuntimeError,
            "Another recording is under way (%profile_once in cell 7). Stop it with %profiler stop, or wait for it to end.",
        ),
        (
            errors.ProfilerBusyError("a profile", foreign=True),
            RuntimeError,
            "A torch profiler is already running in this process (a profile). "
            "Stop it first: torch would silently empty the outer recording.",
        ),
        (
            errors.TraceFormatError("a.json", "half an event", place="line 3", advice="Record it again."),
            ValueError,
            "a.json, line 3: half an event. Record it again.",
        ),
        (errors.TraceFormatError("a.json", "is empty"), ValueError, "a.json: is empty."),
        (
            errors.TraceWriteError(Path("b.json"), "No space left"),
            OSError,
            "The trace could not be written to b.json: No space left",
        ),
        (errors.NothingRecordedError("0 of 5 steps ran."), LookupError, "0 of 5 steps ran."),
    ],
)
def test_an_error_says_what_happened_and_the_way_out(error: Exception, kind: type[Exception], sentence: str) -> None:
    assert isinstance(error, errors.NbprofError)
    assert isinstance(error, kind)
    assert str(error) == sentence
