"""The file beside a trace that holds what is known of its FX graphs -> that payload.

In: the path of such a file, or of a trace. Out: a mapping as it stands in the file, or what is wrong with it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbprof.errors import TraceFormatError
from nbprof.metadata import ReadProblem
from nbprof.reader.problems import UNREADABLE_FX

SUFFIX = ".fx.json"
_VERSION = "schema_version"


def load_fx(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    """The FX payload in a file `<trace>.fx.json`.

    Raises FileNotFoundError, and TraceFormatError for a file that holds none.
    """
    source = str(Path(path))
    try:
        payload = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise TraceFormatError(source, f"it cannot be opened ({error.strerror or error})") from error
    except (ValueError, RecursionError) as error:
        raise TraceFormatError(source, f"this is no FX payload: it is no JSON ({error})") from error
    if not isinstance(payload, dict) or _VERSION not in payload:
        advice = "Give the file that ends in .fx.json and lies beside a trace."
        raise TraceFormatError(source, f"this is no FX payload: no JSON object with {_VERSION}", advice=advice)
    return payload


def payload_beside(trace: str | os.PathLike[str]) -> tuple[Mapping[str, Any] | None, ReadProblem | None]:
    """The payload of the FX file beside a trace, which may have been packed since; None where there is none."""
    path = Path(trace)
    plain = path.with_suffix("") if path.suffix in {".gz", ".zst"} else path
    for beside in (path, plain):
        try:
            return load_fx(beside.with_name(beside.name + SUFFIX)), None
        except FileNotFoundError:
            continue
        except TraceFormatError as error:
            return None, ReadProblem(UNREADABLE_FX, 1, None, str(error))
    return None, None
