"""How the capture went, in words."""

from __future__ import annotations

from dataclasses import replace

from nbprof.metadata import CaptureInfo, TraceMetadata
from nbprof.view.report.facts import capture_facts, file_fact, why_empty
from tests.view.handmade import cpu_trace, gpu_trace

PLAIN = TraceMetadata(source="")


def told(metadata: TraceMetadata) -> dict[str, str]:
    return {fact.label: fact.value for fact in capture_facts(metadata.capture, metadata)}


def test_each_call_is_listed_by_phase_and_how_often_the_code_ran() -> None:
    facts = told(gpu_trace().metadata)
    assert facts["Wall time of the calls"] == (
        "waiting 2.40 s; warming up 1.02 s, 990 ms, 985 ms; recorded 990 ms. "
        "The code ran 5 times, and so did its side effects"
    )
    assert facts["Steps"] == "5 of 5 planned steps ran (wait 1, warmup 3, active 1)"
    assert facts["Recorded beside times"] == "shapes, memory; not stacks, FLOPs"
    assert facts["Rank"] == "1 of 4"
    assert facts["Device"] == "NVIDIA H200"


def test_a_cell_ran_once() -> None:
    facts = told(cpu_trace().metadata)
    assert facts["Wall time of the calls"] == "1.84 s; the code ran once"
    assert facts["Regions"] == "4 regions, 109 entries"  # 1 + 36 + 36 + 36
    assert facts["Made with"] == "nbprof 0.1.0, torch 2.13.0+cpu"
    assert "Rank" not in facts and "Steps" not in facts


def test_many_calls_are_not_all_listed() -> None:
    capture = CaptureInfo(kind="once", label="f", calls_us=(1000.0,) * 15)
    assert " and 3 more. The code ran 15 times" in told(replace(PLAIN, capture=capture))["Wall time of the calls"]


def test_a_failure_names_what_was_raised() -> None:
    capture = CaptureInfo(kind="cell", label="f", outcome="failed", error="ValueError")
    assert told(replace(PLAIN, capture=capture))["Outcome"].startswith("failed: ValueError;")


def test_a_foreign_trace_says_that_its_capture_is_unknown() -> None:
    assert told(PLAIN) == {"Capture": "not made by nbprof, so how it was captured isn't known"}


def test_the_file_and_its_size_are_told() -> None:
    assert file_fact(cpu_trace().metadata).value == "/home/ada/notes/.nbprof/training_dit.pt.trace.json (3.2 MB)"
    assert file_fact(PLAIN).value == "none was written"


def test_why_nothing_was_recorded() -> None:
    short = CaptureInfo(kind="once", label="f", schedule={"wait": 1, "active": 1}, planned_steps=5, run_steps=0)
    assert why_empty(short) == "0 of 5 planned steps ran (wait 1, active 1): the recorded part was never reached."
    assert why_empty(replace(short, error="ValueError")).startswith(
        "0 of 5 planned steps ran before ValueError was raised"
    )
    assert why_empty(CaptureInfo(kind="cell", label="f", gated=True)).startswith("No region that is on was entered.")
    assert why_empty(CaptureInfo(kind="cell", label="f")).startswith("The code ran, but called no torch operator")
    assert why_empty(None) == "The file holds no operator, no kernel and no region."
