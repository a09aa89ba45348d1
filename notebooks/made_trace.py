"""A small trace of a training loop on a GPU, made up event by event, for a machine that has none.

In: a path. Out: the file, as torch.profiler writes it. Six steps of a transformer on one of two GPUs: data loading, forward,
backward with an all-reduce beside it, and an optimizer. From step 3 on somebody logs the size of each gradient.

    python notebooks/made_trace.py training.json.gz
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HOST, GPU, COMPUTE, COMMUNICATION = 4242, 0, 7, 20
THREAD, AUTOGRAD = 4242, 4300
STEPS, BLOCKS, BATCH, TOKENS, WIDTH = 6, 4, 8, 1024, 1024
LOGGED_FROM = 3
PARAMETERS = BLOCKS * 4

GEMM = "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_tensor16x8x16_kernel"
ELEMENTWISE = "void at::native::vectorized_elementwise_kernel<4, at::native::{}, std::array<char*, 3ul> >(int)"
NORM = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float)"
FLASH = "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4> >(Flash_fwd_params)"
REDUCE = "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::NormTwoOps> >(ReduceOp)"
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


class Recorder:
    """The clocks of two threads and two streams, and what has been recorded; all times in nanoseconds."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.now = 1_000_000
        self.thread = THREAD
        self.free = {COMPUTE: 0, COMMUNICATION: 0}
        self.allocated = 2 << 30
        self._correlation = 0
        self._sequence = 0

    def host(self, category: str, name: str, start: int, end: int, **args: Any) -> None:
        """A call on the thread that is at work."""
        self._complete(category, name, HOST, self.thread, start, end, args)

    @contextmanager
    def call(self, name: str, category: str = "cpu_op", **args: Any) -> Iterator[None]:
        """An operator or a range around what runs inside."""
        start = self.now
        self.now += 3_000
        yield
        self.now += 2_000
        self.host(category, name, start, self.now, **args)

    def launch(self, kernel: str, us: float, stream: int = COMPUTE, **args: Any) -> None:
        """A launch of 5 us; the kernel runs when its stream is free, 4 us later at the earliest."""
        self._correlation += 1
        start, self.now = self.now, self.now + 5_000
        self.host("cuda_runtime", "cudaLaunchKernel", start, self.now, correlation=self._correlation)
        waits_for = max(self.free.values()) if stream == COMMUNICATION else self.free[stream]  # for the gradients
        begin = max(self.now + 4_000, waits_for)
        self.free[stream] = begin + int(us * 1000)
        args = {"device": GPU, "stream": stream, "correlation": self._correlation, **args}
        self._complete("kernel", kernel, GPU, stream, begin, self.free[stream], args)

    def copy(self, name: str, size: int) -> None:
        """A copy that the host waits for."""
        self._correlation += 1
        start = self.now
        begin = max(start + 6_000, self.free[COMPUTE])
        self.free[COMPUTE] = end = begin + 1_500 + size // 12
        args = {"device": GPU, "stream": COMPUTE, "correlation": self._correlation, "bytes": size}
        self._complete("gpu_memcpy", name, GPU, COMPUTE, begin, end, args)
        self.host("cuda_runtime", "cudaMemcpyAsync", start, start + 6_000, correlation=self._correlation)
        self.now = end + 4_000
        self.host("cuda_runtime", "cudaStreamSynchronize", start + 6_500, self.now, correlation=0)

    def memory(self, size: int) -> None:
        """An allocation, or a release of a negative size."""
        self.allocated += size
        args = {"Bytes": size, "Addr": abs(size), "Total Allocated": self.allocated, "Total Reserved": 12 << 30}
        args |= {"Device Type": 1, "Device Id": GPU}
        self._add("i", "cpu_instant_event", "[memory]", HOST, self.thread, self.now, s="t", args=args)

    def sequence(self) -> int:
        """A number for an operator that will be differentiated."""
        self._sequence += 1
        return self._sequence

    def _complete(self, cat: str, name: str, pid: int, tid: int, start: int, end: int, args: Any) -> None:
        self._add("X", cat, name, pid, tid, start, dur=(end - start) / 1000, args=args)

    def _add(self, ph: str, cat: str, name: str, pid: int, tid: int, start: int, **more: Any) -> None:
        self.rows.append({"ph": ph, "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": start / 1000, **more})


def inputs(*shapes: list[int]) -> dict[str, Any]:
    """What a recording with shapes says of an operator's inputs."""
    return {"Input Dims": list(shapes), "Input type": ["c10::BFloat16"] * len(shapes)}


def linear(on: Recorder, wide: int, sequence: int) -> None:
    rows = BATCH * TOKENS
    with on.call("aten::linear", **inputs([BATCH, TOKENS, WIDTH], [wide, WIDTH], [wide])):
        args = inputs([wide], [rows, WIDTH], [WIDTH, wide])
        with on.call("aten::addmm", **{"Sequence number": sequence, "Fwd thread id": 0}, **args):
            on.launch(GEMM, wide / 8)


def pointwise(on: Recorder, name: str, functor: str, us: float) -> None:
    with on.call(f"aten::{name}", **inputs([BATCH, TOKENS, WIDTH])):
        on.launch(ELEMENTWISE.format(functor), us)


def forward(on: Recorder) -> list[int]:
    sequences = []
    with on.call("nbprof.region::forward", "user_annotation"):
        for _ in range(BLOCKS):
            sequences += [on.sequence(), on.sequence()]
            with on.call("aten::layer_norm", **inputs([BATCH, TOKENS, WIDTH])):
                on.launch(NORM, 28)
            linear(on, 3 * WIDTH, sequences[-2])
            with on.call("aten::_scaled_dot_product_flash_attention", **inputs(*[[BATCH, 16, TOKENS, 64]] * 3)):
                on.launch(FLASH, 190)
            linear(on, 4 * WIDTH, sequences[-1])
            on.memory(96 << 20)
            for name, functor in (("mul", "MulFunctor"), ("add", "AddFunctor"), ("gelu", "GeluFunctor")):
                pointwise(on, name, functor, 34)
    return sequences


def backward(on: Recorder, sequences: list[int]) -> None:
    on.thread = AUTOGRAD
    for number, sequence in enumerate(reversed(sequences)):
        name = "autograd::engine::evaluate_function: AddmmBackward0"
        with on.call(name, **{"Sequence number": sequence, "Fwd thread id": 1}):
            for _ in range(2):
                with on.call("aten::mm", **inputs([WIDTH, BATCH * TOKENS], [BATCH * TOKENS, 4 * WIDTH])):
                    on.launch(GEMM, 440)
        if number % 2:
            on.memory(-(96 << 20))
            with on.call("record_param_comms"):
                size = 7 * WIDTH * WIDTH
                args = {
                    "Collective name": "allreduce",
                    "In msg nelems": size,
                    "Out msg nelems": size,
                    "dtype": "BFloat16",
                }
                args |= {"Group size": 2, "Process Group Name": "0"}
                on.launch(ALL_REDUCE, 620, COMMUNICATION, **args)
    on.thread = THREAD


def step(on: Recorder, number: int) -> None:
    with on.call(f"ProfilerStep#{number}", "user_annotation"):
        with on.call("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "user_annotation"):
            on.now += 350_000
        with on.call("aten::to"), on.call("aten::copy_"):
            on.copy("Memcpy HtoD (Pageable -> Device)", BATCH * TOKENS * 8)
        sequences = forward(on)
        with on.call("nbprof.region::backward", "user_annotation"):
            backward(on, sequences)
        on.free[COMPUTE] = max(on.free.values())  # the optimizer needs what the other GPU sent
        if number >= LOGGED_FROM:
            with on.call("nbprof.region::log_gradients", "user_annotation"):
                for _ in range(PARAMETERS):
                    with on.call("aten::linalg_vector_norm"):
                        on.launch(REDUCE, 9)
                    with on.call("aten::item"), on.call("aten::_local_scalar_dense"):
                        on.copy("Memcpy DtoH (Device -> Pageable)", 4)
                    on.now += 150_000  # writes a line of the log
        with on.call("nbprof.region::optimizer", "user_annotation"), on.call("Optimizer.step#AdamW.step"):
            for _ in range(PARAMETERS):
                for name in ("mul_", "addcmul_", "addcdiv_"):
                    pointwise(on, name, "AdamFunctor", 4)


def made() -> dict[str, Any]:
    """The whole trace as JSON values."""
    on = Recorder()
    for number in range(STEPS):
        step(on, number)
    device = {"id": GPU, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85_094_825_984, "numSms": 108}
    names = [("process_name", HOST, 0, "python"), ("thread_name", GPU, COMPUTE, "stream 7")]
    labels = [{"ph": "M", "name": key, "pid": pid, "tid": tid, "args": {"name": name}} for key, pid, tid, name in names]
    return {
        "schemaVersion": 1,
        "deviceProperties": [device],
        "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2},
        "baseTimeNanoseconds": 1_796_064_455_000_000_000,
        "traceEvents": [*labels, *sorted(on.rows, key=lambda row: row["ts"])],
    }


def write(path: Path) -> Path:
    """The trace as a file, packed where the name ends in .gz; returns its path."""
    text = json.dumps(made()).encode()
    path.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)
    return path


if __name__ == "__main__":
    print(write(Path(sys.argv[1])))
