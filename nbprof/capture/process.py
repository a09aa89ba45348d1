"""The process-wide words: one profiler for everybody, from a directory to a stopped recording.

In: a directory, or a person's wish to record. Out: the live controller, or a no-op one.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbprof.capture import files
from nbprof.capture.config import TorchProfilerConfig
from nbprof.capture.controller import TorchProfilerController, get_global_controller
from nbprof.capture.ending import Plan
from nbprof.capture.gate import DeviceGating
from nbprof.capture.notices import announce, warn, warn_once
from nbprof.capture.window import available_activities, make_profiler
from nbprof.errors import ProfilerBusyError
from nbprof.settings import CaptureOptions, read_settings

_lock = threading.RLock()


def get_or_create_profiler(
    trace_dir: str | Path | None,
    *,
    modules: Mapping[str, Any] | None = None,
    device_gating: DeviceGating = "filter",
) -> TorchProfilerController:
    """The process's controller, started; made at the first call with a directory, which then receives the trace.

    No directory (None or empty) gives a controller that does nothing. Regions are on as the environment says, else by
    their `default_enabled`. `device_gating="toggle"` switches device collection at each outermost region as well, for
    long runs with rare regions; it synchronises the device. `modules` are those that `NBPROF_CAPTURE_FX` is to capture;
    this version captures none yet, and says so where the variable is set. While another torch profiler is at work, a
    warning says so and a no-op controller is returned.
    Raises ValueError when nothing would be on, TraceWriteError when the directory can't be used.
    """
    with _lock:
        existing = get_global_controller()
        if existing is None:
            return _create(trace_dir, modules, device_gating)
        if trace_dir:
            announce(f"nbprof: the live controller is used ({existing.label}), with the folder that it was made with.")
        return existing


def _create(
    trace_dir: str | Path | None, modules: Mapping[str, Any] | None, device_gating: DeviceGating
) -> TorchProfilerController:
    if not trace_dir:
        return TorchProfilerController(None, (), disabled=True)
    settings = read_settings()
    if settings.captures_fx:
        warn_once(
            "fx", f"NBPROF_CAPTURE_FX is set, but this version captures no FX graphs ({len(modules or {})} modules)."
        )
    config = TorchProfilerConfig.from_env()
    directory = Path(trace_dir).expanduser()
    files.check_writable(directory)
    plan = Plan(
        path=files.unique_path(directory, files.worker_name(settings.rank)),
        label="get_or_create_profiler",
        options=settings.options,
        device_gating=device_gating,
    )
    try:
        controller = _start(plan, settings.options, config)
    except ProfilerBusyError as error:
        warn(f"Not profiling: {error}")
        return TorchProfilerController(None, (), disabled=True)
    announce(f"nbprof: profiling; the trace goes to {plan.path} at stop() or at exit.")
    return controller


def start_recording(
    directory: Path, *, label: str, cell: str | None = None, options: CaptureOptions | None = None
) -> TorchProfilerController:
    """A controller for a recording that a person asked for in a notebook: what is left to its default is on in it.

    `label` names it (`%%region training_dit`), also as the stem of its file.
    Raises ProfilerBusyError, TraceWriteError.
    """
    files.check_writable(directory)
    options = options or read_settings().options
    plan = Plan(
        path=files.unique_path(directory, label),
        label=label,
        kind="cell",
        cell=cell,
        default_on=True,
        options=options,
        with_summary=False,
    )
    return _start(plan, options, TorchProfilerConfig.from_env_or_defaults())


def _start(plan: Plan, options: CaptureOptions, config: TorchProfilerConfig) -> TorchProfilerController:
    controller = TorchProfilerController(make_profiler(options), available_activities(), config, plan=plan)
    controller.start()
    return controller
