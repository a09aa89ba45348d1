"""The table of findings."""

from __future__ import annotations

import pandas as pd
import pytest

import nbprof
from nbprof import schema
from nbprof.analysis.findings import LEAST_SHARE, RULES, findings
from nbprof.analysis.findings.facts import Facts
from nbprof.metadata import TraceMetadata
from nbprof.structure import call_tree
from tests.analysis.findings.asking import found
from tests.frames import make_events, marker, op
from tests.references import Reference


def test_an_empty_trace_and_one_where_all_is_well_have_no_findings(no_events: pd.DataFrame) -> None:
    for table in (findings(no_events, TraceMetadata("run.json")), found([op("aten::mm", 0, 100)])):
        assert table.empty
        assert list(table.columns) == schema.names("findings")


@pytest.mark.parametrize(("save", "severity"), [(10, "high"), (9, "medium"), (3, "medium"), (2, "low"), (1, "low")])
def test_severity_is_the_share_of_the_span(save: float, severity: str) -> None:
    rows = [marker("ProfilerStep#0", 0, 100), op("aten::mm", 0, 100 - save)]
    assert found(rows)["severity"].tolist() == [severity]


def test_what_could_give_back_less_than_one_percent_is_left_out() -> None:
    assert found([marker("ProfilerStep#0", 0, 1000), op("aten::mm", 0, 991)]).empty


def test_most_first_and_each_can_be_switched_off() -> None:
    rows = [marker("ProfilerStep#0", 0, 100), op("gloo:all_reduce", 0, 20), op("aten::mm", 20, 50)]
    events, metadata = make_events(*rows), TraceMetadata("run.json")
    assert findings(events, metadata)["could_save_us"].tolist() == [30, 20]
    left = findings(events, metadata, without=["time outside operators"])
    assert left["finding"].tolist() == ["exposed communication"]
    with pytest.raises(
        ValueError, match=r"no finding 'no such'\. There are: device waits for the host, blocking calls"
    ):
        findings(events, metadata, without=["no such"])


def test_findings_of_recorded_traces_have_their_evidence(reference: Reference) -> None:
    trace = nbprof.Trace(reference.events, reference.metadata)
    table = trace.findings()
    facts = Facts(trace.events, trace.metadata, call_tree(trace.events))
    assert table["could_save_us"].dropna().between(LEAST_SHARE * facts.span_us, facts.span_us).all()
    assert table["could_save_us"].is_monotonic_decreasing
    assert set(table["finding"]) <= set(RULES)
    for expression in table["evidence"]:
        assert len(eval(expression, {"trace": trace})), expression


def test_what_is_known_of_the_recorded_traces_is_found(reference: Reference) -> None:
    device, name = reference.metadata.devices[0]["name"], reference.metadata.source
    expected = {
        "hta_a100_alexnet_sync": {"device waits for the host", "allocator calls"},
        "hta_a100_ddp_nccl": {"device waits for the host", "exposed communication"},
        "hta_v100_diff_test": {"exposed communication", "matmul without tensor cores"},
        "kineto_v100_resnet50_w0": {"data loading", "matmul without tensor cores"},
        "tl_h100_bert_small": {"device waits for the host", "short kernels"},
        "tl_mi300_resnet_ddp": {"exposed communication", "recomputed forward"},
    }
    wanted = next((names for stem, names in expected.items() if stem in name), set())
    assert wanted <= set(findings(reference.events, reference.metadata)["finding"]), device
