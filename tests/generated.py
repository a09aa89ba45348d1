"""A trace of any size in the form that Kineto writes: a made-up training loop of linear layers on one device.

In: how many events. Out: JSON text in chunks; shapes, launches, kernels, copies and flows as torch 2.13 lays them out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

HOST, DEVICE = 4242, 0
THREAD, STREAM = 4242, 7
EVENTS_A_BLOCK = 11
BLOCKS_A_STEP = 200
BASE_NS = 1_796_064_455_000_000_000
HEAD = {
    "schemaVersion": 1,
    "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85_094_825_984, "numSms": 108}],
    "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, "pg_count": 1},
    "record_shapes": 1,
}
TAIL = {"traceName": "generated.json", "displayTimeUnit": "ms", "baseTimeNanoseconds": BASE_NS}
GEMM = "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_32x5_tn_align8>(Params)"
GELU = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
    "at::native::GeluType)::{lambda()#1}, std::array<char*, 2ul> >(int, std::array<char*, 2ul>)"
)
WIDTHS = (1024, 1536, 2048, 4096)


def generated_text(events: int) -> Iterator[str]:
    """At least `events` entries, metadata rows included, in chunks of one step."""
    yield "{\n" + "".join(f'  "{key}": {json.dumps(value)},\n' for key, value in HEAD.items()) + '  "traceEvents": [\n'
    steps = max(1, -(-events // (EVENTS_A_BLOCK * BLOCKS_A_STEP)))
    for step in range(steps):
        yield _step(step)
    names = ((HOST, "process_name", "python"), (DEVICE, "process_labels", "GPU 0"))
    yield ",\n".join(
        f'  {{\n    "name": "{key}", "ph": "M", "ts": 5000.000, "pid": {pid}, "tid": 0,\n'
        f'    "args": {{\n      "{key.removeprefix("process_")}": "{value}"\n    }}\n  }}'
        for pid, key, value in names
    )
    yield "\n  ],\n" + ",\n".join(f'  "{key}": {json.dumps(value)}' for key, value in TAIL.items()) + "\n}\n"


def write_generated(path: Path, events: int) -> Path:
    """The same as a file; returns its path."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(generated_text(events))
    return path


def _step(step: int) -> str:
    start = 1_000_000 + step * BLOCKS_A_STEP * 100_000
    lines = [_host("user_annotation", f"ProfilerStep#{step}", start, BLOCKS_A_STEP * 100_000 - 500, step, "")]
    for block in range(BLOCKS_A_STEP):
        lines += _block(step * BLOCKS_A_STEP + block, start + block * 100_000)
    return "".join(lines)


def _block(number: int, ts: int) -> Iterator[str]:
    """Eleven events: four operators, three of which launch, their launches and work, and the flows of one."""
    width = WIDTHS[number % len(WIDTHS)]
    first, correlation = number * 4 + 1, number * 3 + 10
    wide = f"[[2, 512, {width}], [{width}, {width}], [{width}]]"
    flat = f"[[{width}], [1024, {width}], [{width}, {width}], [], []]"
    yield _host(
        "cpu_op", "aten::linear", ts, 48_250 + number % 97, first, _inputs(wide, 3, f"[[{512 * width}, {width}, 1]]")
    )
    yield _host("cpu_op", "aten::addmm", ts + 6_100, 39_000, first + 1, _inputs(flat, 5, f"[[1], [{width}, 1]]"))
    yield _host("cpu_op", "aten::gelu", ts + 55_010, 20_400, first + 2, _inputs(f"[[2, 512, {width}], []]", 2, "[]"))
    yield _host("cpu_op", "aten::empty_like", ts + 58_321, 4_017, first + 3, _inputs(f"[[2, 512, {width}]]", 1, "[]"))
    yield _runtime("cudaLaunchKernel", 211, ts + 21_050, 5_100, first + 1, correlation)
    yield _runtime("cudaLaunchKernel", 211, ts + 66_200, 4_871, first + 2, correlation + 1)
    yield _kernel(GEMM, ts + 31_777, 44_128 + number % 89, first + 1, correlation, width // 8, 230)
    yield _kernel(GELU, ts + 79_004, 9_920, first + 2, correlation + 1, width, 28)
    yield _flow("s", correlation, HOST, THREAD, ts + 21_050)
    yield _flow("f", correlation, DEVICE, STREAM, ts + 31_777)
    yield (
        f'  {{\n    "ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": {DEVICE}, '
        f'"tid": {STREAM},\n    "ts": {_us(ts + 90_000)}, "dur": {_us(2_048)},\n    "args": {{\n      '
        f'"External id": {first + 3}, "device": 0, "context": 1, "stream": {STREAM}, "correlation": {correlation + 2}, '
        f'"bytes": {width * 64}, "memory bandwidth (GB/s)": {width * 64 / 2048:.6f}\n    }}\n  }},\n'
    )


def _host(category: str, name: str, ts: int, dur: int, number: int, inputs: str) -> str:
    return (
        f'  {{\n    "ph": "X", "cat": "{category}", "name": "{name}", "pid": {HOST}, "tid": {THREAD},\n'
        f'    "ts": {_us(ts)}, "dur": {_us(dur)},\n    "args": {{\n      '
        f'"External id": {number},"Record function id": 0, {inputs}"Ev Idx": {number - 1}\n    }}\n  }},\n'
    )


def _inputs(dims: str, count: int, strides: str) -> str:
    concrete = json.dumps([""] * count)
    types = json.dumps(["c10::BFloat16"] * count)
    return f'"Concrete Inputs": {concrete}, "Input type": {types}, "Input Strides": {strides}, "Input Dims": {dims}, '


def _runtime(name: str, cbid: int, ts: int, dur: int, external: int, correlation: int) -> str:
    return (
        f'  {{\n    "ph": "X", "cat": "cuda_runtime", "name": "{name}", "pid": {HOST}, "tid": {THREAD},\n'
        f'    "ts": {_us(ts)}, "dur": {_us(dur)},\n    "args": {{\n      '
        f'"External id": {external}, "cbid": {cbid}, "correlation": {correlation}\n    }}\n  }},\n'
    )


def _kernel(name: str, ts: int, dur: int, external: int, correlation: int, blocks: int, registers: int) -> str:
    return (
        f'  {{\n    "ph": "X", "cat": "kernel", "name": "{name}", "pid": {DEVICE}, "tid": {STREAM},\n'
        f'    "ts": {_us(ts)}, "dur": {_us(dur)},\n    "args": {{\n      '
        f'"External id": {external}, "queued": 0, "device": 0, "context": 1, "stream": {STREAM}, '
        f'"correlation": {correlation}, "registers per thread": {registers}, "shared memory": 16384, '
        f'"blocks per SM": {blocks / 108:.6f}, "warps per SM": {blocks * 4 / 108:.6f}, "grid": [{blocks}, 1, 1], '
        f'"block": [128, 1, 1], "est. achieved occupancy %": {registers % 101}\n    }}\n  }},\n'
    )


def _flow(phase: str, number: int, pid: int, tid: int, ts: int) -> str:
    binding = ', "bp": "e"' if phase == "f" else ""
    return (
        f'  {{\n    "ph": "{phase}", "id": {number}, "pid": {pid}, "tid": {tid}, "ts": {_us(ts)},\n'
        f'    "cat": "ac2g", "name": "ac2g"{binding}\n  }},\n'
    )


def _us(nanoseconds: int) -> str:
    return f"{nanoseconds // 1000}.{nanoseconds % 1000:03d}"
