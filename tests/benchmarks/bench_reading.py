"""From file to trace, against peers and against a bare decode of the same bytes; how memory and time grow with the file.

In: a generated trace of 367 MB, plain and gzipped, and the largest recorded one. Out: ratios within a turn; every reading
in a process of its own, from the page cache, imports and a first small reading aside.
"""

from __future__ import annotations

import gzip
import math
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from tests.benchmarks.child import outcome
from tests.benchmarks.ratio import Ratio
from tests.generated import write_generated

EVENTS = 1_100_000
TURNS = 3
RECORDED = Path(__file__).parents[3] / "shared" / "traces"


@dataclass(frozen=True)
class Peer:
    """Another reader, the share of its time that is promised, and where it comes from."""

    reader: str
    name: str
    limit: float
    package: str
    source: str = ""

    @property
    def is_here(self) -> bool:
        return find_spec(self.package) is not None


PEERS = (
    Peer("hta", "HolisticTraceAnalysis", 1 / 10, "hta", "make bench installs it"),
    Peer("tracelens", "TraceLens", 1 / 6, "TraceLens", "on no package index; github.com/AMD-AGI/TraceLens"),
    Peer("pandas", "json_normalize", 1 / 6, "pandas"),
)
BARE = Peer("msgspec", "bare msgspec decode", 2.5, "msgspec")


@dataclass(frozen=True)
class Reading:
    """One turn of one reader with one file: seconds, and bytes of peak memory above what its imports took."""

    seconds: float
    peak: int


Readings = dict[tuple[str, Path], list[Reading]]


def bench_reading() -> list[Ratio]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain = write_generated(folder / "generated.json", EVENTS)
        quarter = write_generated(folder / "quarter.json", EVENTS // 4)
        packed, recorded = gzipped(plain), largest_recorded()
        pairs = [(packed, peer) for peer in PEERS] + [(path, peer) for path in recorded for peer in PEERS]
        pairs += [(plain, BARE), (packed, BARE)]
        subjects = [("nbprof", path) for path in (quarter, plain, packed, *recorded)]
        subjects += [(peer.reader, path) for path, peer in pairs if peer.is_here]
        small = write_generated(folder / "small.json", 1)
        readings = measured(subjects, small)
        labels = {plain: "1.1M events .json", packed: "1.1M events .json.gz"}
        return [
            *[against(labels.get(path, "largest recorded trace"), path, peer, readings) for path, peer in pairs],
            *([] if recorded else [Ratio("largest recorded trace / peers", math.nan, 1.0, f"{RECORDED} isn't there")]),
            *[peak(labels[path], readings["nbprof", path], plain.stat().st_size) for path in labels],
            growth(readings["nbprof", quarter], readings["nbprof", plain]),
            parquet(small, plain),
        ]


def measured(subjects: Iterable[tuple[str, Path]], small: Path) -> Readings:
    """All in turns, so that the machine's moods hit all alike."""
    readings: Readings = {subject: [] for subject in subjects}
    for _ in range(TURNS):
        for (reader, path), found in readings.items():
            found.append(read(reader, small, path))
    return readings


def read(reader: str, small: Path, path: Path) -> Reading:
    result = outcome("tests.benchmarks.readers", reader, small, path)
    return Reading(result["seconds"], result["peak"])


def against(label: str, path: Path, peer: Peer, readings: Readings) -> Ratio:
    """Our time over a peer's for one file."""
    name = f"{label}, load_trace / {peer.name}"
    if not peer.is_here:
        return Ratio(name, math.nan, peer.limit, f"{peer.name} is not installed: {peer.source}")
    ours, theirs = readings["nbprof", path], readings[peer.reader, path]
    note = f"{typical(ours):.2f} / {typical(theirs):.2f} s"
    return Ratio(name, median(a.seconds / b.seconds for a, b in zip(ours, theirs, strict=True)), peer.limit, note)


def peak(label: str, ours: list[Reading], size: int) -> Ratio:
    """Memory that reading takes over what there is to read."""
    most = median(reading.peak for reading in ours)
    return Ratio(f"{label}, peak memory / bytes of JSON", most / size, 0.9, f"{most / 1e6:.0f} / {size / 1e6:.0f} MB")


def growth(quarter: list[Reading], whole: list[Reading]) -> Ratio:
    """Time for all events over time for a quarter of them."""
    value = median(b.seconds / a.seconds for a, b in zip(quarter, whole, strict=True))
    return Ratio("4 times the events / time", value, 4.4, f"{typical(whole):.2f} / {typical(quarter):.2f} s")


def parquet(small: Path, plain: Path) -> Ratio:
    """Seconds to open the same trace from a Parquet file."""
    name = "1.1M events .parquet, load_trace"
    if find_spec("pyarrow") is None:
        return Ratio(name, math.nan, 1.0, "pyarrow is not installed: pip install 'nbprof[parquet]'")
    read("parquet", small, plain)
    copies = [Path(f"{path}.parquet") for path in (small, plain)]
    return Ratio(name, typical([read("nbprof", *copies) for _ in range(TURNS)]), 1.0, "s")


def typical(readings: list[Reading]) -> float:
    return median(reading.seconds for reading in readings)


def gzipped(plain: Path) -> Path:
    target = plain.with_name(f"{plain.name}.gz")
    with plain.open("rb") as source, gzip.open(target, "wb", compresslevel=6) as packed:
        shutil.copyfileobj(source, packed, 1 << 20)
    return target


def largest_recorded() -> list[Path]:
    """The recorded trace with the most text, or nothing; reading it here brings it into the page cache."""
    # A gzip file ends in the size of its text.
    found = RECORDED.glob("*.json.gz")
    return sorted(found, key=lambda path: int.from_bytes(path.read_bytes()[-4:], "little"))[-1:]
