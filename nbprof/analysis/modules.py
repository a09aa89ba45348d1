"""Time by nn.Module, a tree.

In: events. Out: the table `modules`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbprof.schema import conform, empty
from nbprof.structure.backward import backward
from nbprof.structure.calltree import CallTree, call_tree
from nbprof.structure.masks import Integers, prefix_mask, value_mask
from nbprof.structure.nesting import nested_rows, outer_first
from nbprof.structure.openings import Openings
from nbprof.structure.stacks import Stacks, stacks
from nbprof.structure.stretches import stretches
from nbprof.structure.threads import thread_codes
from nbprof.structure.times import Times, microseconds

MODULE_MARKER = "nn.Module: "


def modules(events: pd.DataFrame, *, tree: CallTree | None = None) -> pd.DataFrame:
    """One row for each module under each chain of modules that called it, in the order of a tree, larger first.

    Modules are the Python calls that torch names `nn.Module: Class_N` (recorded with `with_stack=True`), nested by time
    on their thread. `host_total_us` sums the calls, `host_self_us` the same less modules called inside.
    `device_self_us` sums the device events whose launch began in a call of the module, and in no module inside it;
    `device_total_us` adds those of the modules inside. `backward_host_us` and `backward_device_us` are the same for the
    backward, whatever thread it runs on: the autograd engine's frames whose forward operator (the last begun before
    with their sequence number, as torch draws its arrows) began in the module or in one inside it, and the device
    events launched in these frames. A forward that is computed again in a frame (activation checkpointing) is part of
    that frame's backward, and counts besides under the modules that it calls, which stand at the top.
    """
    tree = call_tree(events) if tree is None else tree
    openings = _module_openings(events, tree.times)
    rows = openings.markers
    if not len(rows):
        return empty("modules")
    names = events["name"].cat.codes.to_numpy().astype(np.int64)
    chains = stacks(rows, openings.around, names)
    host = chains.sums(rows, tree.times.durations[rows])
    order = chains.depth_first(host)
    own = stretches(rows, openings.around, openings.threads, tree.times).own_times(len(events))
    device, backward_host, backward_device = _outside_ns(events, tree, openings, chains)
    text = [str(name).removeprefix(MODULE_MARKER) for name in events["name"].cat.categories]
    table = pd.DataFrame(
        {
            "module": _named(chains.labels, text),
            "parent": _named(np.where(chains.parents >= 0, chains.labels[chains.parents], -1), text),
            "calls": chains.sums(rows, np.ones(len(rows), np.int64)),
            "host_total_us": microseconds(host),
            "host_self_us": microseconds(chains.sums(rows, own[rows])),
            "device_total_us": microseconds(chains.with_inner(device)),
            "device_self_us": microseconds(device),
            "backward_host_us": microseconds(chains.with_inner(backward_host)),
            "backward_device_us": microseconds(chains.with_inner(backward_device)),
            "depth": chains.depths,
        }
    )
    return conform(table.iloc[order].reset_index(drop=True), "modules")


def _module_openings(events: pd.DataFrame, when: Times) -> Openings:
    """The modules' calls, and who begins in them: only what is on their own thread."""
    called = prefix_mask(events["name"], MODULE_MARKER) & value_mask(events["category"], {"python_function"})
    rows = np.flatnonzero(called & when.known)
    threads = thread_codes(events)
    around, crossings = nested_rows(rows, threads, when.starts, when.ends)
    ordered = rows[outer_first(threads[rows], when.starts[rows], when.ends[rows])]
    by_thread = {int(thread): ordered[threads[ordered] == thread] for thread in np.unique(threads[ordered])}
    return Openings(rows, around, crossings, by_thread, threads, threads, np.zeros(len(events), bool), when)


def _outside_ns(
    events: pd.DataFrame, tree: CallTree, openings: Openings, chains: Stacks
) -> tuple[Integers, Integers, Integers]:
    """For each chain what its last module launched, and the time of its operators' backward on the host and device."""
    links = backward(events, tree)
    frames, threads = links.frames, openings.threads
    around, _ = nested_rows(frames, threads, tree.times.starts, tree.times.ends)
    own = stretches(frames, around, threads, tree.times).own_times(len(events))
    launched = np.flatnonzero(tree.device)
    operator = tree.operator[launched]
    durations = tree.times.durations[launched]
    return (
        _by_chain(tree.launch[launched], durations, openings, chains),
        _by_chain(links.forward[frames], own[frames], openings, chains),
        _by_chain(np.where(operator >= 0, links.forward[operator], -1), durations, openings, chains),
    )


def _by_chain(rows: Integers, values: Integers, openings: Openings, chains: Stacks) -> Integers:
    """For each chain the sum of the values whose row began in its last module; -1 is no row."""
    values, rows = values[rows >= 0], rows[rows >= 0]
    caller = openings.of(rows)
    return chains.sums(caller[caller >= 0], values[caller >= 0])


def _named(codes: Integers, text: list[str]) -> pd.Categorical:
    """The names that occur, as categories in order of text; NA for -1."""
    used = np.unique(codes[codes >= 0])
    used = used[np.argsort(np.array(text, object)[used])]
    place = np.full(len(text) + 1, -1, np.int64)  # -1 reads the last entry
    place[used] = np.arange(len(used))
    return pd.Categorical.from_codes(place[codes], categories=pd.Index([text[code] for code in used], dtype=object))
