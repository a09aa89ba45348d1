"""How often code runs in a one-shot session: wait, warm up, active.

In: three counts. Out: a frozen `Schedule`, all of whose wrong values are reported together.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Schedule:
    """`wait` calls without the profiler, `warmup` calls whose events are dropped, `active` calls that are recorded."""

    wait: int = 1
    warmup: int = 3
    active: int = 1

    def __post_init__(self) -> None:
        """Raises ValueError that names every wrong value."""
        least = {"wait": 0, "warmup": 0, "active": 1}
        wrong = [
            f"{name}={value!r} must be a whole number of at least {least[name]}"
            for name, value in asdict(self).items()
            if isinstance(value, bool) or not isinstance(value, int) or value < least[name]
        ]
        if wrong:
            raise ValueError("Bad schedule: " + "; ".join(wrong) + ".")

    @property
    def total(self) -> int:
        """Calls in all."""
        return self.wait + self.warmup + self.active

    def in_words(self) -> str:
        """`1 wait + 3 warmup + 1 active`."""
        return f"{self.wait} wait + {self.warmup} warmup + {self.active} active"
