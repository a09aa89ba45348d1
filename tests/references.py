"""The recorded GPU traces, each read once for all tests that look at it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from nbprof.metadata import TraceMetadata
from nbprof.reader import read_events

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
    """A recorded trace as the reader gives it, and what plain integer arithmetic says of it; no test may change it."""

    events: pd.DataFrame
    metadata: TraceMetadata
    plain: dict[str, Any]


@cache
def read_reference(folder: Path, name: str) -> Reference:
    events, metadata = read_events(folder / f"{name}.json.gz")
    return Reference(events, metadata, json.loads((folder / f"{name}.plain.json").read_text()))
