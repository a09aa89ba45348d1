"""Which rows are which kind of work."""

from __future__ import annotations

import pytest

from nbprof.analysis.activity import is_blocking
from tests.frames import make_events, op


@pytest.mark.parametrize(
    ("call", "waits"),
    [
        ("cudaDeviceSynchronize", True),
        ("hipStreamSynchronize", True),
        ("cuCtxSynchronize", True),
        ("cudaMemcpy", True),
        ("hipMemcpyWithStream", True),
        ("cudaMemcpyAsync", False),
        ("cudaStreamWaitEvent", False),
        ("cudaLaunchKernel", False),
        ("cudaStreamSynchronize_ptsz", True),
        ("cudaMemcpyToSymbol", True),
        ("cudaMemcpyPeerAsync", False),
        ("cuMemcpyDtoH_v2", True),
        ("cuMemcpyDtoHAsync_v2", False),
    ],
)
def test_which_calls_wait_for_the_device(call: str, waits: bool) -> None:
    assert is_blocking(make_events(op(call, 0, 1, category="cuda_runtime"))).tolist() == [waits]
    assert is_blocking(make_events(op(call, 0, 1))).tolist() == [False]  # an operator of that name
