"""Traces written by hand, one for each kind of thing that a view must show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from nbprof import schema
from nbprof.metadata import CaptureInfo, RegionCount, TraceMetadata
from nbprof.view.report import Report, report

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "<script>alert(2)</script>",
    "javascript:alert(3)",
    '"><b onmouseover="alert(4)">bold</b>',
    "</style></div><h1>out</h1>",
    "void k<int, (lambda()#1)>(a&, b const*)",
    "$x^$",
    "$\\badcmd$",
    "_private_step",
    "",
    "fire 🔥 and 🫠",
    "卷积层",
    "tab\tnew\nline\x1b[31mred\x00",
    "`tick` | pipe *star* [link](http://x)",
    "long::" + "template<" * 60 + "x" + ">" * 60,
    "\u202eright to left",
    "replaced \ufffd byte",
)


@dataclass(frozen=True)
class HandmadeTrace:
    """A trace whose tables are simply given."""

    tables: dict[str, pd.DataFrame]
    metadata: TraceMetadata
    asked: list[str] = field(default_factory=list)

    def _table(self, name: str) -> pd.DataFrame:
        self.asked.append(name)
        return self.tables.get(name, schema.empty(name))

    @property
    def events(self) -> pd.DataFrame:
        return self._table("events")

    def operators(self) -> pd.DataFrame:
        return self._table("operators")

    def kernels(self) -> pd.DataFrame:
        return self._table("kernels")

    def timeline(self) -> pd.DataFrame:
        return self._table("timeline")

    def steps(self) -> pd.DataFrame:
        return self._table("steps")

    def regions(self) -> pd.DataFrame:
        return self._table("regions")

    def region_steps(self) -> pd.DataFrame:
        return self._table("region_steps")

    def health(self) -> pd.DataFrame:
        return self._table("health")

    def findings(self) -> pd.DataFrame:
        return self._table("findings")


def table(name: str, rows: Sequence[tuple[Any, ...]]) -> pd.DataFrame:
    """A table of the schema from rows in the order of its columns; the last ones may be left out: 0, False or NA."""
    if not rows:
        return schema.empty(name)
    given = pd.DataFrame(list(rows), columns=schema.names(name)[: len(rows[0])])
    zeros = {column.name: 0 for column in schema.TABLES[name] if column.dtype in ("int64", "bool")}
    return schema.conform(given.reindex(columns=schema.names(name)).fillna(zeros), name)


def regions_of(rows: Sequence[tuple[Any, ...]]) -> pd.DataFrame:
    """Regions from (depth, region, parent, calls, wall, self, host, device, idle, share), in the order of a tree."""
    return table("regions", [(*row, depth) for depth, *row in rows])


def report_of(trace: HandmadeTrace, called: str = "nbprof.last") -> Report:
    """Its report, as a magic would show it."""
    return report(trace, called=called)


def operators_of(rows: Sequence[tuple[Any, ...]]) -> pd.DataFrame:
    """Operators from (name, calls, host_total, host_self, device_total, device_self)."""
    by = 5 if any(row[5] for row in rows) else 3
    base = sum(row[by] for row in rows)
    return table(
        "operators",
        [(*row, row[2] / row[1], row[2] / row[1] / 2, row[2] / row[1] * 2, row[by] / base) for row in rows],
    )


def cpu_trace() -> HandmadeTrace:
    """Three training steps on a CPU, in nested regions: wall 1.84 s, operators' own time 1.6 s."""
    operators = [
        ("aten::addmm", 180, 1_000_000.0, 992_000.0, 0.0, 0.0),
        ("aten::scaled_dot_product_attention", 36, 240_000.0, 240_000.0, 0.0, 0.0),
        ("aten::copy_", 96, 160_000.0, 160_000.0, 0.0, 0.0),
        ("aten::native_layer_norm", 72, 80_000.0, 80_000.0, 0.0, 0.0),
        ("aten::linear", 180, 1_010_000.0, 10_000.0, 0.0, 0.0),
        *((f"aten::small_{number}", 12, 6_000.0 - 200 * number, 6_000.0 - 200 * number, 0, 0) for number in range(20)),
    ]
    regions = [
        (0, "training_dit", None, 1, 1_840_000.0, 240_000.0, 1_500_000.0, 0.0, None, 240 / 1840),
        (1, "mlp", "training_dit", 36, 900_000.0, 860_000.0, 850_000.0, 0.0, None, 860 / 1840),
        (2, "gelu", "mlp", 36, 40_000.0, 40_000.0, 38_000.0, 0.0, None, 40 / 1840),
        (1, "attention", "training_dit", 36, 700_000.0, 700_000.0, 650_000.0, 0.0, None, 700 / 1840),
    ]
    steps = [
        (number, number * 6e5, 6e5 + 2e4 * number, 6e5 + 2e4 * number, 0, 0, 0, 0, 0, 3e4, 5e5, 7e4 + 2e4 * number, 0)
        for number in range(3)
    ]
    capture = CaptureInfo(
        kind="cell",
        label="training_dit",
        gated=True,
        calls_us=(1_840_000.0,),
        regions=(
            RegionCount("training_dit", None, 1, 1_840_000.0),
            RegionCount("attention", "training_dit", 36, 700_000.0),
            RegionCount("mlp", "training_dit", 36, 900_000.0),
            RegionCount("gelu", "mlp", 36, 40_000.0),
        ),
        options={"shapes": True, "memory": False, "stack": False, "flops": False},
        version="0.1.0",
        torch="2.13.0+cpu",
    )
    return HandmadeTrace(
        {
            "operators": operators_of(operators),
            "regions": regions_of(regions),
            "region_steps": pd.DataFrame(
                [
                    (name, step, own + 50, own * (1 + step / 10))
                    for _, name, _, _, _, own, *_ in regions
                    for step in range(3)
                ],
                columns=schema.names("region_steps"),
            ),
            "steps": table("steps", steps),
            "health": table("health", [("launches", "ok", 0.0, "every launch has its kernel")]),
        },
        TraceMetadata(source="/home/ada/notes/.nbprof/training_dit.pt.trace.json", bytes=3_210_000, capture=capture),
    )


def gpu_trace() -> HandmadeTrace:
    """A one-shot session on a GPU: five calls, one recorded; the device is idle 410 of 1000 ms; two warnings."""
    operators = [
        ("aten::mm", 120, 60_000.0, 40_000.0, 366_000.0, 366_000.0),
        ("aten::_flash_attention_forward", 24, 30_000.0, 20_000.0, 120_000.0, 120_000.0),
        ("aten::add", 240, 30_000.0, 20_000.0, 60_000.0, 60_000.0),
        ("aten::copy_", 30, 20_000.0, 15_000.0, 54_000.0, 54_000.0),
        ("aten::empty", 600, 9_000.0, 9_000.0, 0.0, 0.0),
    ]
    long_name = (
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
        "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)"
    )
    kernels = [
        ("ampere_sgemm_128x64_tn", "matmul", 120, 366_000.0, 3050.0, 2800.0, 4100.0, 0.61, 0.62),
        ("flash_fwd_kernel", "attention", 24, 120_000.0, 5000.0, 4900.0, 5200.0, 0.20, 0.203),
        (long_name, "elementwise", 240, 60_000.0, 250.0, 9.0, 300.0, 0.10, 0.102),
        ("Memcpy HtoD (Pageable -> Device)", "copy/memory", 30, 54_000.0, 1800.0, 2.0, 9000.0, 0.09, 0.092),
    ]
    steps = [(3, 0.0, 990_000.0, 1_000_000.0, 5e5, 0, 54_000.0, 3e4, 1.2e5, 0, 2e5, 9.6e4, 590_000.0)]
    capture = CaptureInfo(
        kind="once",
        label="model.infer(inputs)",
        schedule={"wait": 1, "warmup": 3, "active": 1},
        planned_steps=5,
        run_steps=5,
        calls_us=(2_400_000.0, 1_020_000.0, 990_000.0, 985_000.0, 990_000.0),
        options={"shapes": True, "memory": True, "stack": False, "flops": False},
        torch="2.13.0+cu130",
        rank=1,
        world_size=4,
    )
    health = [
        ("launches without kernels", "warning", 12.0, "12 launches have no kernel: device events were dropped."),
        ("steps", "note", 1.0, "1 of 5 steps was recorded, as planned."),
        ("nesting", "ok", 0.0, ""),
    ]
    findings = [
        ("idle", "high", 40.0, "%", 400_000.0, "trace.idle()", "The device waited. Launch more at once."),
        ("memory", "medium", 0.97, "", None, "trace.memory()", "Memory is nearly full. Use smaller batches."),
        *((f"small {n}", "low", 1.0, "%", 10_000.0, "trace.kernels()", f"Small thing {n}.") for n in range(4)),
    ]
    return HandmadeTrace(
        {
            "operators": operators_of(operators),
            "kernels": table("kernels", kernels),
            "timeline": table("timeline", [(0, 1e6, 5.4e5, 0.0, 5e4, 5.9e5, 4.1e5)]),
            "steps": table("steps", steps),
            "health": table("health", health),
            "findings": table("findings", findings),
        },
        TraceMetadata(
            source="save_results/torch_profile/rank1.pt.trace.json.gz",
            bytes=812_345,
            capture=capture,
            devices=({"id": 0, "name": "NVIDIA H200"},),
        ),
    )


def empty_trace() -> HandmadeTrace:
    """Nothing recorded: two of five steps ran, the active window was never reached."""
    capture = CaptureInfo(
        kind="once",
        label="model(x)",
        outcome="empty",
        schedule={"wait": 1, "warmup": 3, "active": 1},
        planned_steps=5,
        run_steps=2,
        calls_us=(100.0, 90.0),
    )
    return HandmadeTrace({}, TraceMetadata(source="", capture=capture))


def hostile_trace() -> HandmadeTrace:
    """Names that are HTML, script, math, control characters, empty, very long."""
    count = len(HOSTILE)
    operators = [(name, 2, 200.0 + n, 100.0 + n, 50.0, 50.0 + n) for n, name in enumerate(HOSTILE)]
    regions = [(0, name, None, 1, 100.0, 100.0 - n, 90.0, 50.0, 1.0, 1 / count) for n, name in enumerate(HOSTILE)]
    kernels = [(name, "other", 1, 10.0, 10.0, 10.0, 10.0, 1 / count, 1 / count) for name in HOSTILE]
    steps = [(n, 10.0 * n, 9.0, 9.0, 4.0, 0, 0, 0, 1, 0, 3, 1, 4.0) for n in range(2)]
    capture = CaptureInfo(
        kind="cell",
        label=HOSTILE[0],
        outcome="failed",
        error=HOSTILE[1],
        cell=HOSTILE[2],
        regions=tuple(RegionCount(name, None, 1, 100.0) for name in HOSTILE),
        torch=HOSTILE[3],
    )
    return HandmadeTrace(
        {
            "operators": operators_of(operators),
            "kernels": table("kernels", kernels),
            "regions": regions_of(regions),
            "steps": table("steps", steps),
            "timeline": table("timeline", [(0, 100.0, 50.0, 0.0, 10.0, 60.0, 40.0)]),
            "health": table("health", [(HOSTILE[1], "warning", 1.0, HOSTILE[0])]),
            "findings": table(
                "findings", [(name, "low", 1.0, name, 5.0, f"trace[{name!r}]", name) for name in HOSTILE]
            ),
        },
        TraceMetadata(source=f"/tmp/{HOSTILE[0]}.json", bytes=10, capture=capture),
    )


TRACES = {"cpu": cpu_trace, "gpu": gpu_trace, "empty": empty_trace, "hostile": hostile_trace}
