"""The longest chain of work that had to wait for each other.

In: events. Out: the table `critical_path`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbprof.analysis.activity import activities, is_blocking
from nbprof.analysis.dependencies import arrivals, device_causes, device_lanes
from nbprof.analysis.walk import Parts, Step, Walk, along_threads
from nbprof.schema import DEVICE_CATEGORIES, RUNTIME_CATEGORIES, conform, empty
from nbprof.structure.calltree import CallTree, call_tree
from nbprof.structure.masks import Integers, value_mask
from nbprof.structure.nesting import nested_rows
from nbprof.structure.stretches import stretches
from nbprof.structure.threads import thread_codes
from nbprof.structure.times import microseconds

KINDS = ("host", "launch", "device", "communication", "memory", "sync", "wait")


def critical_path(events: pd.DataFrame, *, tree: CallTree | None = None) -> pd.DataFrame:
    """One row a part of the path, by time; each begins where the one before ends, so that they sum to the path.

    The path is walked backwards from the last end of an operator or device event. A device event waited for the event
    before it on its stream; where the stream was free when it was launched, for the launch; where it began more than
    30 us after both, for the event of another stream that ended last. A launch waited for what its thread did before.
    A call that blocks (cudaStreamSynchronize, hipMemcpyWithStream and their kin) waited for the device event that ended
    last before it returned, on its stream where the trace says which. A thread that pauses while another one runs the
    backward of its operators waited for that, and the other way round. The path begins where the trace holds nothing
    that came before.

    `kind` says what the time went to: `host` (operators and calls; without a name what ran between them, as a rule
    Python), `launch` (calls that launch device work), `device`, `communication`, `memory` (copies and fills), `sync`
    (from the end of what a blocking call waited for to its return, and such calls that had nothing to wait for), `wait`
    (between a launch or an event and the start of what waited for it). Making a part shorter shortens the run by its
    `dur_us` at most: another path may be nearly as long.

    What a trace doesn't record can't be followed: without its blocking calls (driver calls of other libraries, spinning
    on an event) the time in which the host waits for the device counts as `host`, and dependencies between streams are
    read from times, not from recorded events. (The idea is that of critical path analysis in Holistic Trace Analysis.)
    """
    tree = call_tree(events) if tree is None else tree
    when, threads = tree.times, thread_codes(events)
    host = np.flatnonzero((tree.operators | value_mask(events["category"], RUNTIME_CATEGORIES)) & when.known)
    device, lanes = device_lanes(events, tree)
    work = np.concatenate((host[tree.operators[host]], device))
    if not len(work):
        return empty("critical_path")
    parent, _ = nested_rows(host, threads, when.starts, when.ends)
    line = stretches(host, parent, threads, when)
    causes = device_causes(device, lanes, tree)
    walk = Walk(when.starts.tolist(), when.ends.tolist(), tree.device.tolist(), causes.tolist())
    walk.back_from(int(work[np.argmax(when.ends[work])]), threads, arrivals(events, tree, line, threads))
    numbers = threads.copy()  # of each row's thread or, beyond these, stream
    numbers[device] = threads.max() + 1 + lanes
    return _table(events, tree, along_threads(walk.steps, line), numbers)


def _table(events: pd.DataFrame, tree: CallTree, parts: Parts, numbers: Integers) -> pd.DataFrame:
    codes = np.append(events["name"].cat.codes.to_numpy(), -1)  # no row, -1, reads the last entry
    names = pd.Categorical.from_codes(codes[parts.rows], categories=events["name"].cat.categories)
    table = {
        "start_us": microseconds(parts.starts),
        "dur_us": microseconds(parts.ends - parts.starts),
        "kind": pd.Categorical.from_codes(_kinds(events, tree, parts), categories=pd.Index(KINDS)),
        "name": names.remove_unused_categories(),
        "place": _places(events, parts, numbers),
        "position": pd.arrays.IntegerArray(parts.rows, parts.rows < 0),
    }
    return conform(pd.DataFrame(table), "critical_path")


def _kinds(events: pd.DataFrame, tree: CallTree, parts: Parts) -> Integers:
    """The place in KINDS of each part, by why it is on the path, else by what its row is."""
    activity = activities(events, tree)
    masks = {
        "launch": np.isin(np.arange(len(events)), tree.launch[tree.device]),
        "sync": is_blocking(events),
        "device": tree.device,
        "communication": activity["communication"],
        "memory": activity["memcpy"] | activity["memset"],
    }
    of_rows = np.full(len(events) + 1, KINDS.index("host"))  # no row, -1, reads the last entry
    for kind, mask in masks.items():
        of_rows[np.flatnonzero(mask)] = KINDS.index(kind)
    kinds = of_rows[parts.rows]
    for step, kind in ((Step.LAUNCH, "launch"), (Step.SYNC, "sync"), (Step.WAIT, "wait")):
        kinds[parts.steps == step] = KINDS.index(kind)
    return kinds


def _places(events: pd.DataFrame, parts: Parts, numbers: Integers) -> pd.Categorical:
    """`thread N` or `device N stream N` for each part; NA for waits."""
    of_parts = np.where(parts.threads >= 0, parts.threads, np.append(numbers, -1)[parts.rows])
    first = np.full(numbers.max() + 2, -1)  # no place, -1, reads the last entry
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]
    used, codes = np.unique(of_parts, return_inverse=True)
    texts = [_place(events.iloc[first[number]]) if number >= 0 else None for number in used]
    text_codes, categories = pd.factorize(np.array(texts, object))
    return pd.Categorical.from_codes(text_codes[codes], categories=pd.Index(categories))


def _place(event: pd.Series) -> str:
    if event["category"] in DEVICE_CATEGORIES:
        return f"device {event['device']} stream {event['stream']}"
    return f"process {event['pid']} thread {event['tid']}"
