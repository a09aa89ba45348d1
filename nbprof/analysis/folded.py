"""Stacks as flame graph tools read them.

In: the table `flame`. Out: folded lines of text, or a speedscope document.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from nbprof.schema import VERSION

_SPEEDSCOPE = "https://www.speedscope.app/file-format-schema.json"


def folded(flame: pd.DataFrame) -> str:
    """One line for each stack with time of its own: frames joined by `;`, a space, whole microseconds.

    What flamegraph.pl, inferno and speedscope read. Most tools take whole numbers only: each is rounded so that the sum
    of all lines up to it is right to half a microsecond.
    """
    whole = np.diff(np.rint(flame["self_us"].cumsum().to_numpy()), prepend=0).astype(np.int64)
    lines = zip(flame["stack"], whole, strict=True)
    return "".join(f"{stack} {time}\n" for stack, time in lines if time)


def speedscope(flame: pd.DataFrame, *, name: str = "nbprof") -> dict[str, Any]:
    """A profile of type "sampled" after speedscope's file format schema: one sample a stack, weighted by `self_us`.

    `json.dumps` of it is a file for https://www.speedscope.app.
    """
    timed = flame[flame["self_us"] > 0]
    stacks = [str(stack).split(";") for stack in timed["stack"]]
    frames = {frame: place for place, frame in enumerate(dict.fromkeys(frame for stack in stacks for frame in stack))}
    profile = {
        "type": "sampled",
        "name": name,
        "unit": "microseconds",
        "startValue": 0,
        "endValue": float(timed["self_us"].sum()),
        "samples": [[frames[frame] for frame in stack] for stack in stacks],
        "weights": timed["self_us"].tolist(),
    }
    return {
        "$schema": _SPEEDSCOPE,
        "name": name,
        "exporter": f"nbprof {VERSION}",
        "activeProfileIndex": 0,
        "shared": {"frames": [{"name": frame} for frame in frames]},
        "profiles": [profile],
    }
