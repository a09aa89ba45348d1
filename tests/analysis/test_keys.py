"""What operators can be grouped by."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbprof import schema
from nbprof.analysis.operators import operators
from nbprof.structure.calltree import call_tree
from tests.frames import make_events, marker, op, region
from tests.references import Reference


def mm(name: str, ts: float, dur: float, *shapes: list[int], dtype: str = "float", **more: Any) -> dict[str, Any]:
    types = json.dumps([dtype] * len(shapes))
    return op(name, ts, dur, shapes=json.dumps(shapes), dtypes=types, **more)


def keyed(table: pd.DataFrame, *keys: str) -> dict[Any, int]:
    """Calls by the values of the keys; NA as None."""
    values = table[[*keys]].astype(object).where(table[[*keys]].notna(), None)
    rows = [value[0] if len(keys) == 1 else tuple(value) for value in values.to_numpy()]
    return dict(zip(rows, table["calls"], strict=True))


def test_groups_by_shape_and_type_with_or_without_the_name() -> None:
    events = make_events(
        mm("mm", 0, 10, [2, 3], [3, 5]),
        mm("mm", 20, 10, [2, 3], [3, 5], dtype="double"),
        mm("bmm", 40, 10, [2, 3], [3, 5]),
        op("mm", 60, 10),
    )
    shape = "[[2, 3], [3, 5]]"
    assert keyed(operators(events, by=("name", "shape")), "name", "shape") == {
        ("bmm", shape): 1, ("mm", shape): 2, ("mm", None): 1,
    }  # fmt: skip
    table = operators(events, by="shape")
    assert list(table.columns[:2]) == ["shape", "name"]
    assert keyed(table, "shape") == {shape: 3, None: 1}
    assert keyed(table, "name") == {None: 3, "mm": 1}  # the name where all of the group have it
    assert keyed(operators(events, by=["dtype"]), "dtype") == {
        '["float", "float"]': 2, '["double", "double"]': 1, None: 1,
    }  # fmt: skip


def test_groups_by_the_chain_of_operators_and_python_calls_around() -> None:
    python = {"category": "python_function"}
    events = make_events(
        op("train.py(3): step", 0, 100, **python),
        op("linear", 10, 50),
        op("addmm", 20, 10),
        op("addmm", 40, 10),
        op("addmm", 70, 10),
        op("linear", 200, 50, "2"),
        op("addmm", 210, 10, "2"),
    )
    table = operators(events, by=("name", "stack"))
    assert keyed(table, "name", "stack") == {
        ("linear", "train.py(3): step"): 1,
        ("addmm", "train.py(3): step > linear"): 2,
        ("addmm", "train.py(3): step"): 1,
        ("linear", None): 1,
        ("addmm", "linear"): 1,
    }


def test_groups_by_region_and_step() -> None:
    events = make_events(
        marker("ProfilerStep#4", 0, 100),
        marker("ProfilerStep#5", 100, 100),
        region("forward", 0, 50),
        op("mm", 10, 10),
        op("mm", 60, 10),
        op("mm", 110, 10),
        op("mm", 210, 10),
    )
    assert keyed(operators(events, by=("region", "step")), "region", "step") == {
        ("forward", 4): 1, (None, 4): 1, (None, 5): 1, (None, None): 1,
    }  # fmt: skip


@pytest.mark.parametrize("by", ["shapes", (), ("name", "thread"), "module"])
def test_an_unknown_key_is_an_error_that_lists_the_keys(by: Any) -> None:
    with pytest.raises(ValueError, match=r"isn't among .*: name, shape, dtype, stack, region, step"):
        operators(make_events(op("mm", 0, 10)), by=by)


@pytest.mark.parametrize("by", ["name", "stack", ("step", "region"), ("shape", "dtype")])
def test_nothing_by_any_key_is_an_empty_table_with_its_columns(no_events: pd.DataFrame, by: Any) -> None:
    table = operators(no_events, by=by)
    assert table.empty
    assert set(schema.names("operators")) <= set(table.columns)


def test_groups_sum_to_the_table_by_name_on_recorded_traces(reference: Reference) -> None:
    events, tree = reference.events, call_tree(reference.events)
    sums = ["calls", "host_total_us", "host_self_us", "device_total_us", "device_self_us", "flops", "backward_calls"]
    whole = operators(events, tree=tree)
    assert whole["backward_calls"].gt(0).any() == events["forward_thread"].gt(0).any()
    for by in (["name", "shape", "dtype"], ["name", "stack"], ["region", "name", "step"]):
        parts = operators(events, by=by, tree=tree)
        assert not parts.duplicated(by).any()
        by_name = parts.groupby("name", observed=True)[sums].sum()
        again = whole.set_index("name")[sums].fillna(0)
        assert np.allclose(by_name.loc[again.index].to_numpy(float), again.to_numpy(float), rtol=1e-9)
    for share in ("tensor_core_share", "share"):
        assert whole[share].dropna().between(0, 1 + 1e-9).all()
