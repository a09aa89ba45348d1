"""What the rules find in a few rows."""

from __future__ import annotations

from typing import Any

import pandas as pd

from nbprof.analysis.findings import findings
from nbprof.metadata import TraceMetadata
from tests.frames import make_events, row

Rows = list[dict[str, Any]]


def found(rows: Rows, **metadata: Any) -> pd.DataFrame:
    return findings(make_events(*rows), TraceMetadata("run.json", **metadata))


def one(name: str, rows: Rows, **metadata: Any) -> dict[str, Any]:
    return row(found(rows, **metadata), finding=name)


def finds(name: str, rows: Rows, **metadata: Any) -> bool:
    return name in set(found(rows, **metadata)["finding"])
