"""Columns of tables about a whole recording: steps, health, findings, comparisons.

In: nothing. Out: their names, types, units and meanings.
"""

from __future__ import annotations

from collections.abc import Mapping

from nbprof.schema.column import Column, columns

WHOLE: Mapping[str, tuple[Column, ...]] = {
    "steps": columns(
        ("step", "int64", "", "number of the step"),
        ("start_us", "float64", "us", "start of its own window, from trace.metadata.start_ns"),
        ("host_wall_us", "float64", "us", "its window on the host"),
        ("wall_us", "float64", "us", "its own window, to the end of the device work that it launched"),
        ("kernel_us", "float64", "us", "computation kernels run"),
        ("communication_us", "float64", "us", "else communication"),
        ("memcpy_us", "float64", "us", "else copies"),
        ("memset_us", "float64", "us", "else fills"),
        ("runtime_us", "float64", "us", "else runtime calls"),
        ("dataloader_us", "float64", "us", "else data loading"),
        ("cpu_op_us", "float64", "us", "else operators on the host"),
        ("other_us", "float64", "us", "else"),
        ("device_busy_us", "float64", "us", "union of the device events that it launched, not clipped"),
    ),
    "health": columns(
        ("check", "str", "", "what was looked at"),
        ("status", "str", "", "ok, note or warning"),
        ("figure", "float64", "", "how many, or how much"),
        ("detail", "str", "", "in words, with the way out"),
    ),
    "findings": columns(
        ("finding", "str", "", "short name of the finding"),
        ("severity", "str", "", "high, medium or low, by the time it could give back"),
        ("figure", "float64", "", "what was measured"),
        ("unit", "str", "", "of figure"),
        ("could_save_us", "float64", "us", "time that it could give back, at most; NA where that can't be said"),
        ("evidence", "str", "", "expression that gives the table behind it, for a trace called trace"),
        ("advice", "str", "", "in a sentence what was found, and what to try"),
    ),
    "comparison": columns(
        ("name", "category", "", "what the row is about"),
        ("calls_a", "Int64", "", "calls in a; 0 where it isn't there"),
        ("calls_b", "Int64", "", "calls in b"),
        ("time_a_us", "float64", "us", "time in a"),
        ("time_b_us", "float64", "us", "time in b"),
        ("difference_us", "float64", "us", "b less a"),
        ("ratio", "float64", "", "b / a; NA where a is 0"),
        ("share_a", "float64", "fraction", "of all time in a"),
        ("share_b", "float64", "fraction", "of all time in b"),
        ("only_in", "category", "", "a or b where the other lacks it, else NA"),
        ("explains", "float64", "fraction", "of the summed absolute differences, this row's"),
    ),
}
