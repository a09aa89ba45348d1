"""The process's one round of one-shot profiling, taken by the first call site that runs.

In: a callable and its arguments. Out: what it returned, and a recording beside it.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar

from nbprof.capture import files
from nbprof.capture.notices import announce, forget_warnings, warn, warn_once
from nbprof.capture.oneshot import OneShot
from nbprof.capture.recording import Recording
from nbprof.capture.schedule import Schedule
from nbprof.errors import ProfilerBusyError
from nbprof.settings import read_settings

P = ParamSpec("P")
R = TypeVar("R")
ProfileFormat = Literal["tensorboard", "chrome"]


class TorchTraceProfiler:
    """The process's one round of one-shot profiling: the first call site that runs takes it."""

    _lock = threading.Lock()
    _site: str | None = None
    _is_running = False

    @classmethod
    def reset_session(cls) -> None:
        """Arm the round again, for whichever site runs next. Raises RuntimeError while a session runs."""
        with cls._lock:
            if cls._is_running:
                raise RuntimeError(f"The one-shot session of {cls._site!r} is running; reset it when it has ended.")
            cls._site = None
            forget_warnings("site:")

    @classmethod
    def claim(cls, site: str) -> bool:
        """Whether `site` may profile now; another site is told once who has the round."""
        with cls._lock:
            if cls._site is None:
                cls._site, cls._is_running = site, True
                return True
            if cls._site == site:
                if not cls._is_running:
                    warn_once(
                        f"site:{site}",
                        f"{site} runs once, without profiling: it has been profiled in this process already. "
                        "TorchTraceProfiler.reset_session() arms it again.",
                    )
            else:
                warn_once(
                    f"site:{site}",
                    f"{site} runs once, without profiling: {cls._site} has this process's one-shot session. "
                    "TorchTraceProfiler.reset_session() arms it again.",
                )
            return False

    @classmethod
    def end(cls, *, is_done: bool) -> None:
        """The session has ended; when it got nothing, the round is free again."""
        with cls._lock:
            cls._is_running = False
            if not is_done:
                cls._site = None


class TorchTraceProfileContext:
    """A call site that is profiled once: `context.run(func, *args)` runs it wait + warmup + active times.

    `profile_format` "tensorboard" writes `<tb_dir>/<worker>.<time>.pt.trace.json` (default `save_results/torch_profile`),
    "chrome" writes `chrome_path` (default `save_results/trace.json`; a name ending in .gz is gzipped). `name` stands for
    the site in messages; by default the function's own. Raises ValueError that names every wrong value.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        profile_format: ProfileFormat = "tensorboard",
        tb_dir: str | Path | None = None,
        chrome_path: str | Path | None = None,
        wait: int = 1,
        warmup: int = 3,
        active: int = 1,
        with_stack: bool = False,
        tensorboard_port: int = 16006,
    ) -> None:
        if profile_format not in ("tensorboard", "chrome"):
            raise ValueError(f"profile_format={profile_format!r} is unknown; use 'tensorboard' or 'chrome'.")
        self.name = name
        self.plan = Schedule(wait, warmup, active)
        self.profile_format = profile_format
        self.tb_dir = Path(tb_dir or "save_results/torch_profile").expanduser().absolute()
        self.chrome_path = Path(chrome_path or "save_results/trace.json").expanduser().absolute()
        self.with_stack = with_stack
        self.tensorboard_port = tensorboard_port
        self.recording: Recording | None = None

    def __enter__(self) -> TorchTraceProfileContext:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def run(self, func: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call `func` wait + warmup + active times and return what the last call returned.

        Side effects repeat that often. Where the round is taken, or another profiler is at work, `func` is called once,
        with a warning. What `func` raises passes through; what was captured till then is kept. A coroutine function
        gives an awaitable that does the same.
        """
        if inspect.iscoroutinefunction(func):
            return self._run_async(func, *args, **kwargs)  # type: ignore[return-value]
        with self._session(func) as steps:
            for _ in steps:
                value = func(*args, **kwargs)
                if inspect.isawaitable(value):
                    site = self.name or _site_of(func)
                    warn_once(
                        f"await:{site}",
                        f"{site} returned something to await, and is not profiled: give the coroutine function.",
                    )
                    break
        return value

    async def _run_async(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        with self._session(func) as steps:
            for _ in steps:
                value = await func(*args, **kwargs)
        return value

    @contextmanager
    def _session(self, func: Callable[..., Any]) -> Iterator[Iterable[int]]:
        """The calls to make: those of a session that ends with the block, or a single plain one."""
        session = self._begin(func)
        if session is None:
            yield (0,)
            return
        error: BaseException | None = None
        try:
            yield session.steps()
        except BaseException as raised:
            error = raised
            raise
        finally:
            self._end(session, error)

    def _begin(self, func: Callable[..., Any]) -> OneShot | None:
        site = self.name or _site_of(func)
        if not TorchTraceProfiler.claim(site):
            return None
        try:
            options = replace(read_settings().options, stack=self.with_stack)
            session = OneShot(self.plan, self._path(), label=site, cell=None, options=options)
            session.start()
        except ProfilerBusyError as error:
            TorchTraceProfiler.end(is_done=False)
            warn(f"{site} runs once, without profiling: {error}")
            return None
        except BaseException:
            TorchTraceProfiler.end(is_done=False)
            raise
        announce(f"nbprof: {site} runs {self.plan.total} times ({self.plan.in_words()}) to be profiled once.")
        return session

    def _end(self, session: OneShot, error: BaseException | None) -> None:
        try:
            recording = self.recording = session.close(error)
        finally:
            TorchTraceProfiler.end(is_done=error is None)
        recording.release()
        announce("\n".join([recording.in_words(), *self._how_to_view()]) if recording.path else recording.in_words())

    def _path(self) -> Path:
        if self.profile_format == "chrome":
            return self.chrome_path
        return files.unique_path(self.tb_dir, files.worker_name(read_settings().rank))

    def _how_to_view(self) -> list[str]:
        lines = ["  In a notebook: nbprof.last.report(). In a browser: open the file at https://ui.perfetto.dev/."]
        if self.profile_format == "tensorboard":
            port = self.tensorboard_port
            lines.append(
                f"  TensorBoard with its profiler plugin: tensorboard --logdir {self.tb_dir} --port {port}, then "
                f"http://localhost:{port}/#pytorch_profiler (over SSH: forward port {port})."
            )
        return lines


def profile_once(func: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """`TorchTraceProfileContext().run(func, *args, **kwargs)`: all arguments go to `func`, all settings are the defaults."""
    return TorchTraceProfileContext().run(func, *args, **kwargs)


def _site_of(func: Callable[..., Any]) -> str:
    name = getattr(func, "__qualname__", None) or type(func).__qualname__
    return f"{getattr(func, '__module__', None) or type(func).__module__}.{name}"
