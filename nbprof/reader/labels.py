"""Labels: the rows of a trace file (ph M) that name processes and threads, and put them in order.

In: labels as they stand in a file, and events. Out: those that name what occurs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from nbprof.reader.entries import Scalar
from nbprof.structure.masks import Integers
from nbprof.structure.threads import thread_codes

_NUMBER = re.compile("0|-?[1-9][0-9]{0,17}")


def json_value(word: object) -> Scalar:
    """A pid or tid as it is to stand in JSON: as a number where it is one."""
    if isinstance(word, str) and _NUMBER.fullmatch(word):
        return int(word)
    return word if word is None or isinstance(word, str | int | float) else str(word)


def thread_of(label: Mapping[str, Any]) -> tuple[Scalar, Scalar]:
    """The pid and tid that a label is about."""
    return json_value(label.get("pid")), json_value(label.get("tid"))


def threads_at(events: pd.DataFrame, rows: Integers) -> list[tuple[Scalar, Scalar]]:
    """The pid and tid of some rows."""
    words = events[["pid", "tid"]].iloc[rows].astype(object)
    pids, tids = (words[side].where(words[side].notna(), None) for side in ("pid", "tid"))
    return [(json_value(pid), json_value(tid)) for pid, tid in zip(pids, tids, strict=True)]


def threads_in(events: pd.DataFrame) -> list[tuple[Scalar, Scalar]]:
    """The pids and tids that occur together, in the order of their codes."""
    return threads_at(events, np.unique(thread_codes(events), return_index=True)[1])


def occurring_labels(labels: Iterable[Mapping[str, Any]], events: pd.DataFrame) -> tuple[Mapping[str, Any], ...]:
    """The labels of processes and threads that have events, and those that are about neither."""
    threads = set(threads_in(events))
    pids = {pid for pid, _ in threads}

    def occurs(label: Mapping[str, Any]) -> bool:
        thread = thread_of(label)
        is_of_thread = str(label.get("name")).startswith("thread_")
        return "pid" not in label or (thread in threads if is_of_thread else thread[0] in pids)

    return tuple(label for label in labels if occurs(label))
