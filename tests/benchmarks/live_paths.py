"""Ways from a stopped torch profiler to columns: one of them takes one recording in a process of its own.

In: a way's name and a number of operator events. Out: a line of JSON: seconds and peak memory above those of torch's
stop(), and what arrives exactly of a small recording with hard names. `python -m tests.benchmarks.live_paths plain 100000`
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
import torch
from torch.profiler import ProfilerActivity, profile, record_function

from nbprof.capture.quiet import first_use_is_quiet
from nbprof.capture.window import Window, make_profiler
from nbprof.markers import decode_name, encode_name
from nbprof.schema import REGION_MARKER
from nbprof.settings import CaptureOptions
from nbprof.trace import Trace, load_trace
from tests.benchmarks.bench_answer import work
from tests.benchmarks.child import peak_bytes

HARD_NAMES = (
    'quo"te', "back\\slash", "per%cent", "%41", "new\nline", "tab\there", "nul\0byte", "bell\a", "{brace: [1]}", "</script>",
    "été", "训练", "emoji 🚀", "a" * 300,
)  # fmt: skip
"""What torch's C++ writer harms, and what merely looks as if it could."""

BLOCK = 10_000


@dataclass(frozen=True)
class Row:
    """What should arrive of one event."""

    start_ns: int
    dur_ns: int
    args: dict[str, Any]


def plain(prof: profile, folder: Path) -> Trace:
    """What nbprof does: torch's C++ writer, then the reader."""
    window, path = Window(prof, "live"), folder / "trace.json"
    window.export(path)
    trace = load_trace(path)
    window.release()
    return trace


def export(prof: profile, folder: Path) -> pd.DataFrame:
    """Its first half: the file alone, which nbprof keeps in any case."""
    Window(prof, "live").export(folder / "trace.json")
    return pd.DataFrame({"name": []})


def packed(prof: profile, folder: Path) -> Trace:
    """The same writer, gzipped by torch."""
    prof.export_chrome_trace(str(folder / "trace.json.gz"))
    return load_trace(folder / "trace.json.gz")


def python(prof: profile, folder: Path) -> Trace:
    """torch's writer in Python."""
    prof.export_chrome_trace(str(folder / "trace.json"), use_python_export=True)
    return load_trace(folder / "trace.json")


class Inputs(msgspec.Struct, gc=False):
    """The arguments of an operator that the reader makes columns of, by the names of these."""

    dtypes: msgspec.Raw = msgspec.field(name="Input type", default=msgspec.Raw())
    strides: msgspec.Raw = msgspec.field(name="Input Strides", default=msgspec.Raw())
    shapes: msgspec.Raw = msgspec.field(name="Input Dims", default=msgspec.Raw())


def activities(prof: profile, _: Path) -> pd.DataFrame:
    """Kineto's activities, whose arguments are the text that the file would hold."""
    found = results(prof).trace_activities()
    texts = [one.metadata_json() for one in found]
    decode = msgspec.json.Decoder(list[Inputs]).decode
    blocks = ("[{" + "},{".join(texts[first : first + BLOCK]) + "}]" for first in range(0, len(texts), BLOCK))
    inputs = [one for block in blocks for one in decode(block)]
    return pd.DataFrame(
        {
            "name": pd.Categorical([one.name() for one in found]),
            "category": pd.Categorical([one.type() for one in found]),
            "thread": [one.resource_id() for one in found],
            "start_ns": [one.timestamp() for one in found],
            "dur_ns": [one.duration() for one in found],
            "args": pd.Series(texts, dtype=object),
            **{
                field: pd.Categorical([bytes(getattr(one, field)) for one in inputs])
                for field in Inputs.__struct_fields__
            },
        }
    )


def events(prof: profile, _: Path) -> pd.DataFrame:
    """Kineto's events, whose arguments are Python objects; they stay so, which is less than the reader makes of them."""
    found = results(prof).events()
    return pd.DataFrame(
        {
            "name": pd.Categorical([one.name() for one in found]),
            "category": pd.Categorical([one.activity_type() for one in found]),
            "thread": [one.start_thread_id() for one in found],
            "start_ns": [one.start_ns() for one in found],
            "dur_ns": [one.duration_ns() for one in found],
            "Input Dims": [one.shapes() for one in found],
            "Input type": [one.dtypes() for one in found],
            "Input Strides": [one.structured_input_strides() for one in found],
            "Concrete Inputs": [one.concrete_inputs() for one in found],
        }
    )


def objects(prof: profile, _: Path) -> pd.DataFrame:
    """torch's `prof.events()`."""
    found, zero = prof.events(), results(prof).trace_start_ns()
    return pd.DataFrame(
        {
            "name": pd.Categorical([one.name for one in found]),
            "thread": [one.thread for one in found],
            "start_ns": [zero + round(one.time_range.start * 1000) for one in found],
            "dur_ns": [round(one.time_range.elapsed_us() * 1000) for one in found],
            "Input Dims": [one.input_shapes for one in found],
        }
    )


def averages(prof: profile, _: Path) -> pd.DataFrame:
    """torch's `key_averages()`: sums, no single events."""
    found = prof.key_averages()
    return pd.DataFrame({"name": [one.key for one in found], "total_us": [one.cpu_time_total for one in found]})


WAYS: dict[str, Callable[[profile, Path], Trace | pd.DataFrame]] = {
    way.__name__: way for way in (plain, export, packed, python, activities, events, objects, averages)
}
NEEDS_ALL = {"events", "objects", "averages"}
"""Ways that find nothing where nbprof's `trace_only` lets torch's stop() leave out what only they need."""


def results(prof: profile) -> Any:
    return prof.profiler.kineto_results  # type: ignore[union-attr]


def recorded(code: Callable[[], object], *, whole: bool) -> tuple[profile, float]:
    """A stopped profiler and the seconds of its stop()."""
    prof = profile(activities=[ProfilerActivity.CPU], record_shapes=True) if whole else make_profiler(CaptureOptions())
    with first_use_is_quiet():
        prof.start()
    code()
    start = time.perf_counter()
    prof.stop()
    return prof, time.perf_counter() - start


def hard_work() -> None:
    for name in HARD_NAMES:
        with record_function(REGION_MARKER + encode_name(name)):
            torch.ones(3, 2).add_(torch.ones(2))


def exactness(name: str, folder: Path) -> dict[str, Any]:
    """Which names, which times and which kinds of arguments arrive as Kineto's activities have them."""
    prof, _ = recorded(hard_work, whole=name in NEEDS_ALL)
    truth = rows(activities(prof, folder))
    made = WAYS[name](prof, folder)
    found = rows(made)
    keys = {key for row in truth for key in row.args}
    both = list(zip(truth, found, strict=True)) if len(found) == len(truth) else []

    def arrives(key: str) -> bool:
        return bool(both) and all(a.args[key] == b.args.get(key) for a, b in both if key in a.args)

    return {
        "names": {REGION_MARKER + hard for hard in HARD_NAMES} <= names(made),
        "times": bool(both) and all((a.start_ns, a.dur_ns) == (b.start_ns, b.dur_ns) for a, b in both),
        "args": sorted(filter(arrives, keys)),
        "of": len(keys),
    }


def names(made: Trace | pd.DataFrame) -> set[str]:
    """Names as the reader decodes them."""
    if isinstance(made, Trace):
        return set(made.events["name"])
    return {REGION_MARKER + decode_name(name.removeprefix(REGION_MARKER)) for name in made["name"]}


def rows(made: Trace | pd.DataFrame) -> list[Row]:
    """Operators and markers by time; none where single events aren't there."""
    if isinstance(made, Trace):
        frame = made.events[made.events["category"].isin(["cpu_op", "user_annotation"])]
        frame = frame.assign(start_ns=frame["ts_ns"] + made.metadata.start_ns)
    else:
        frame = made
    if "start_ns" not in frame:
        return []
    found = [Row(row["start_ns"], row["dur_ns"], arguments(row)) for row in frame.to_dict("records")]
    return sorted(found, key=lambda row: (row.start_ns, -row.dur_ns))


def arguments(row: dict[str, Any]) -> dict[str, Any]:
    args = row.get("args")
    if isinstance(args, str):
        args = json.loads(f"{{{args}}}")
    return row if args is None else args


def main(name: str, count: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        exact = exactness(name, Path(folder))  # pays for imports too
        prof, stop = recorded(lambda: work(int(count)), whole=name in NEEDS_ALL)
        before, start = peak_bytes(), time.perf_counter()
        made = WAYS[name](prof, Path(folder))
        seconds = time.perf_counter() - start
    result = {"seconds": seconds, "peak": peak_bytes() - before, "stop": stop, "stop_peak": before, "exact": exact}
    print(json.dumps(result | {"made": type(made).__name__}))


if __name__ == "__main__":
    main(*sys.argv[1:])
