"""Stacks as text and as a speedscope document."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pandas as pd

from nbprof.analysis.flame import flame
from nbprof.analysis.folded import folded, speedscope
from tests.frames import make_events, op

# What https://www.speedscope.app/file-format-schema.json asks of a file with one sampled profile.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["$schema", "profiles", "shared"],
    "properties": {
        "$schema": {"const": "https://www.speedscope.app/file-format-schema.json"},
        "shared": {
            "type": "object",
            "required": ["frames"],
            "properties": {
                "frames": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": {"type": "string"}},
                    },
                }
            },
        },
        "profiles": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["type", "name", "unit", "startValue", "endValue", "samples", "weights"],
                "properties": {
                    "type": {"const": "sampled"},
                    "name": {"type": "string"},
                    "unit": {"enum": ["bytes", "microseconds", "milliseconds", "nanoseconds", "none", "seconds"]},
                    "startValue": {"type": "number"},
                    "endValue": {"type": "number"},
                    "samples": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
                    "weights": {"type": "array", "items": {"type": "number"}},
                },
            },
        },
        "activeProfileIndex": {"type": "number"},
        "exporter": {"type": "string"},
        "name": {"type": "string"},
    },
}


def a_flame() -> pd.DataFrame:
    # linear 100, in it addmm 60 and t 40: linear has nothing of its own.
    return flame(make_events(op("linear", 0, 100), op("t;2", 0, 40), op("addmm", 40, 60)))


def test_nothing_gives_no_lines_and_a_document_without_samples(no_events: pd.DataFrame) -> None:
    assert folded(flame(no_events)) == ""
    document = speedscope(flame(no_events))
    jsonschema.validate(document, SCHEMA)
    assert document["profiles"][0]["samples"] == []


def test_a_line_for_each_stack_with_time_of_its_own() -> None:
    assert folded(a_flame()) == "linear;addmm 60\nlinear;t%3B2 40\n"


def test_rounding_keeps_the_sum() -> None:
    # Ten stacks of 0.4 us are 4 us, not 0: the running sums 0.4, 0.8, 1.2, ... make a line at 1, 2, 3, 4.
    table = flame(make_events(*(op(f"op{n}", n, 0.4) for n in range(10))))
    lines = folded(table).splitlines()
    assert [line.split()[1] for line in lines] == ["1"] * 4


def test_a_speedscope_document_holds_each_stack_with_its_weight() -> None:
    document = json.loads(json.dumps(speedscope(a_flame(), name="one run")))
    jsonschema.validate(document, SCHEMA)
    (profile,) = document["profiles"]
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    assert profile["name"] == "one run"
    assert [[frames[place] for place in sample] for sample in profile["samples"]] == [
        ["linear", "addmm"],
        ["linear", "t%3B2"],
    ]
    assert profile["weights"] == [60, 40]
    assert profile["endValue"] == 100
