"""Every kind of trace, for whoever takes `any_trace`."""

from __future__ import annotations

import pytest

from tests.view.handmade import TRACES, HandmadeTrace


@pytest.fixture(params=sorted(TRACES))
def any_trace(request: pytest.FixtureRequest) -> HandmadeTrace:
    return TRACES[request.param]()
