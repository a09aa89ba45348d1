"""Nothing at all, and the reference traces."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from nbprof import schema
from nbprof.schema import TraceMetadata

TRACES = Path(__file__).resolve().parents[3] / "shared" / "traces"
NAMES = (
    "hta_a100_alexnet_sync",
    "hta_a100_ddp_nccl",
    "hta_a100_diff_control",
    "hta_mi250_minitoy",
    "hta_v100_diff_test",
    "kineto_v100_resnet50_w0",
    "tl_h100_bert_small",
    "tl_mi300_resnet_ddp",
)


@dataclass(frozen=True)
class Reference:
    """A recorded trace, and what plain integer arithmetic says of it."""

    events: pd.DataFrame
    metadata: TraceMetadata
    plain: dict[str, Any]

    def table(self, *keys: str) -> pd.DataFrame:
        """A table of the reference, by its keys, from its columns and rows."""
        part = self.plain
        for key in keys:
            part = part[key]
        return pd.DataFrame(part["rows"], columns=part["columns"])


@cache
def read_reference(name: str) -> Reference:
    from nbprof.reader import read_events

    events, metadata = read_events(TRACES / f"{name}.json.gz")
    return Reference(events, metadata, json.loads((TRACES / f"{name}.plain.json").read_text()))


@pytest.fixture(params=NAMES)
def reference(request: pytest.FixtureRequest) -> Reference:
    if not TRACES.is_dir():
        pytest.skip("the reference traces are not on this machine")
    return read_reference(request.param)


@pytest.fixture
def no_events() -> pd.DataFrame:
    return schema.empty("events")
