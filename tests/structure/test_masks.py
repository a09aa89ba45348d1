"""Masks by category, by value and by prefix."""

from __future__ import annotations

import pandas as pd

from nbprof import schema
from nbprof.structure.masks import marker_mask, prefix_mask, value_mask
from tests.frames import make_events, op, region

WORDS = pd.Series(pd.Categorical(["kernel", None, "cpu_op", "cpu_instant"]))


def test_rows_with_a_value_and_a_row_without_one_is_in_no_group() -> None:
    assert value_mask(WORDS, {"kernel", "cpu_op"}).tolist() == [True, False, True, False]
    assert value_mask(WORDS, set()).tolist() == [False] * 4


def test_rows_that_begin_with_one_of_several_prefixes() -> None:
    assert prefix_mask(WORDS, "cpu_").tolist() == [False, False, True, True]
    assert prefix_mask(WORDS, "ker", "cpu_i").tolist() == [True, False, False, True]


def test_nothing_has_an_empty_mask(no_events: pd.DataFrame) -> None:
    assert value_mask(no_events["category"], {"cpu_op"}).tolist() == []
    assert marker_mask(no_events, schema.REGION_MARKER).tolist() == []


def test_a_markers_copy_on_the_devices_row_is_no_marker() -> None:
    events = make_events(region("r", 0, 9), region("r", 1, 5, category="gpu_user_annotation", pid="0"), op("mm", 2, 1))
    assert marker_mask(events, schema.REGION_MARKER).tolist() == [True, False, False]
