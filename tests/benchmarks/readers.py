"""Readers of traces, nbprof and its peers: one of them reads one file in a process of its own.

In: a reader's name, a small file to warm up on, the file. Out: a line of JSON: seconds from the file to what the reader
makes of it, and the peak memory above what the imports took. `python -m tests.benchmarks.readers nbprof small.json big.json`
"""

from __future__ import annotations

import gzip
import io
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.benchmarks.child import peak_bytes

Read = Callable[[str], Any]


def nbprof() -> Read:
    """From file to `Trace`."""
    from nbprof.trace import load_trace

    return load_trace


def msgspec() -> Read:
    """A bare decode into the structs that nbprof decodes to, the whole text at once: as good as it can get with these."""
    import msgspec

    from nbprof.reader.entries import Event

    Whole = msgspec.defstruct("Whole", [("traceEvents", list[Event])])
    decoder = msgspec.json.Decoder(Whole)

    def read(path: str) -> Any:
        with opened(path) as file:
            return decoder.decode(file.read())

    return read


def hta() -> Read:
    """HolisticTraceAnalysis to its parsed frame, with its own defaults; what it links and fills in later isn't counted."""
    from hta.common.trace_parser import parse_trace_dataframe
    from hta.configs.parser_config import ParserConfig

    return lambda path: parse_trace_dataframe(path, ParserConfig.get_default_cfg())


def tracelens() -> Read:
    """AMD's TraceLens to its tree."""
    from TraceLens import TreePerfAnalyzer

    read: Read = TreePerfAnalyzer.from_file
    return read


def pandas() -> Read:
    """The standard library and pandas, as one would without any tool."""
    import pandas as pd

    def read(path: str) -> pd.DataFrame:
        with opened(path) as file:
            return pd.json_normalize(json.load(file)["traceEvents"])

    return read


def parquet() -> Read:
    """No reader of its own: writes the Parquet file beside the trace, which nbprof then reads."""
    from nbprof.trace import load_trace

    return lambda path: load_trace(path).to_parquet(f"{path}.parquet")


READERS = {reader.__name__: reader for reader in (nbprof, msgspec, hta, tracelens, pandas, parquet)}


def opened(path: str) -> io.BufferedIOBase:
    """The bytes of the text."""
    return gzip.GzipFile(path) if path.endswith(".gz") else Path(path).open("rb")


def main(name: str, small: str, path: str) -> None:
    read = READERS[name]()
    before = peak_bytes()
    read(small)  # what is imported or compiled at the first call is nobody's reading
    start = time.perf_counter()
    made = read(path)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "peak": peak_bytes() - before, "made": type(made).__name__}))


if __name__ == "__main__":
    main(*sys.argv[1:])
