"""What is known of a capture -> lines that say how it went, and why nothing was recorded.

In: `CaptureInfo` and `TraceMetadata`. Out: labelled facts; the words are the same in every format.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nbprof.metadata import CaptureInfo, TraceMetadata
from nbprof.view.quantities import counted, duration, literal, size

_PHASES = (("wait", "waiting"), ("warmup", "warming up"), ("active", "recorded"))
_OPTIONS = {"shapes": "shapes", "memory": "memory", "stack": "stacks", "flops": "FLOPs"}
_CALLS_LISTED = 12


@dataclass(frozen=True)
class Fact:
    """One line of how the capture went."""

    label: str
    value: str


def capture_facts(capture: CaptureInfo | None, metadata: TraceMetadata) -> tuple[Fact, ...]:
    """How the capture went: outcome, steps, each call, what was recorded beside times, regions, versions, rank."""
    if capture is None:
        return (Fact("Capture", "not made by nbprof, so how it was captured isn't known"), *_device_facts(metadata))
    facts = [Fact("Outcome", _outcome(capture))]
    if capture.planned_steps is not None or capture.run_steps is not None:
        facts.append(Fact("Steps", _steps(capture)))
    if capture.calls_us:
        facts.append(Fact("Wall time of the calls", _calls(capture)))
    if capture.stop_us is not None:
        facts.append(Fact("Stopping the profiler", duration(capture.stop_us)))
    if capture.options:
        facts.append(Fact("Recorded beside times", _options(capture)))
    if capture.regions:
        entries = sum(count.entries for count in capture.regions)
        names = len({count.region for count in capture.regions})
        facts.append(Fact("Regions", f"{counted(names, 'region')}, {counted(entries, 'entry', 'entries')}"))
    if capture.world_size > 1:
        facts.append(Fact("Rank", f"{capture.rank} of {capture.world_size}"))
    tools = [
        f"{tool} {literal(version)}"
        for tool, version in (("nbprof", capture.version), ("torch", capture.torch))
        if version
    ]
    if tools:
        facts.append(Fact("Made with", ", ".join(tools)))
    return (*facts, *_device_facts(metadata))


def file_fact(metadata: TraceMetadata) -> Fact:
    """Where the file is and how big."""
    if not metadata.source:
        return Fact("File", "none was written")
    path = Path(metadata.source)
    if path.is_absolute() and path.is_relative_to(Path.cwd()):  # as a person here would type it
        path = path.relative_to(Path.cwd())
    big = size(metadata.bytes) if metadata.bytes else f"{size(metadata.text_bytes)} as JSON, packed after this report"
    return Fact("File", f"{literal(str(path))} ({big})")


def why_empty(capture: CaptureInfo | None) -> str:
    """Why a recording holds nothing, and what to do about it."""
    if capture is None:
        return "The file holds no operator, no kernel and no region."
    if capture.planned_steps is not None and (capture.run_steps or 0) < capture.planned_steps:
        ran = f"{capture.run_steps or 0} of {counted(capture.planned_steps, 'planned step')} ran"
        plan = f" ({_schedule(capture)})" if capture.schedule else ""
        ended = f" before {literal(capture.error)} was raised" if capture.error else ""
        return f"{ran}{ended}{plan}: the recorded part was never reached."
    if capture.gated and not capture.regions:
        return "No region that is on was entered. %regions lists them; %regions enable NAME switches one on."
    return "The code ran, but called no torch operator on the thread that was recorded."


def _outcome(capture: CaptureInfo) -> str:
    error = f": {literal(capture.error)}" if capture.error else ""
    words = {
        "complete": "complete",
        "interrupted": f"interrupted{error}; shown is what was recorded till then",
        "failed": f"failed{error}; shown is what was recorded till then",
        "empty": f"nothing was recorded{error}",
    }
    return words[capture.outcome]


def _steps(capture: CaptureInfo) -> str:
    run = capture.run_steps or 0
    planned = capture.planned_steps
    text = counted(run, "step") + " ran" if planned is None else f"{run} of {counted(planned, 'planned step')} ran"
    return f"{text} ({_schedule(capture)})" if capture.schedule else text


def _schedule(capture: CaptureInfo) -> str:
    return ", ".join(f"{phase} {capture.schedule[phase]}" for phase, _ in _PHASES if phase in capture.schedule)


def _calls(capture: CaptureInfo) -> str:
    """Each call's wall time, by phase, with a note on how often the code ran."""
    times = capture.calls_us
    if len(times) == 1:
        return f"{duration(times[0])}; the code ran once"
    phases = [words for phase, words in _PHASES for _ in range(capture.schedule.get(phase, 0))]
    groups: list[tuple[str, list[str]]] = []
    for position, time in enumerate(times[:_CALLS_LISTED]):
        words = phases[position] if position < len(phases) else ""
        if not groups or groups[-1][0] != words:
            groups.append((words, []))
        groups[-1][1].append(duration(time))
    listed = "; ".join(f"{words} {', '.join(texts)}".strip() for words, texts in groups)
    rest = f" and {len(times) - _CALLS_LISTED} more" if len(times) > _CALLS_LISTED else ""
    return f"{listed}{rest}. The code ran {len(times)} times, and so did its side effects"


def _options(capture: CaptureInfo) -> str:
    on = [words for key, words in _OPTIONS.items() if capture.options.get(key)]
    off = [words for key, words in _OPTIONS.items() if not capture.options.get(key)]
    return "; ".join(part for part in (", ".join(on), f"not {', '.join(off)}" if off else "") if part)


def _device_facts(metadata: TraceMetadata) -> tuple[Fact, ...]:
    names = [literal(device["name"]) for device in metadata.devices if device.get("name")]
    counts = {name: names.count(name) for name in names}
    text = ", ".join(name if count == 1 else f"{count} x {name}" for name, count in counts.items())
    return (Fact("Device", text),) if text else ()
