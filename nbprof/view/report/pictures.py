"""`Contents` -> the pictures of a report, as `<img>` tags. matplotlib is loaded here, when something is drawn.

In: the tables `regions` and `steps`. Out: at most two small pictures, of the regions' time and of what ran in each step.
"""

from __future__ import annotations

from nbprof.view.quantities import counted, duration, literal
from nbprof.view.report.contents import Contents

_REGIONS = 8


def pictures(contents: Contents) -> tuple[str, ...]:
    """Charts of what there is: regions where there are several; steps where they, or a device, have more to say."""
    drawn = []
    if len(contents.regions) > 1:
        drawn.append(_regions(contents))
    steps = len(contents.steps)
    if steps > 1 or (steps and contents.steps["device_busy_us"].sum() > 0):
        drawn.append(_steps(contents))
    return tuple(drawn)


def _regions(contents: Contents) -> str:
    from nbprof.view import charts

    own = contents.regions["self_us"]
    name = literal(contents.regions["region"].tolist()[int(own.to_numpy().argmax())])
    alt = (
        f"Bar chart of {counted(len(contents.regions), 'region')}: "
        f"{name} has the largest self time, {duration(float(own.max()))}"
    )
    if contents.region_steps["step"].nunique() > 1:
        return charts.image(charts.regions_by_step(contents.region_steps), f"{alt}; by step")
    return charts.image(charts.regions(contents.regions, top=_REGIONS), alt)


def _steps(contents: Contents) -> str:
    from nbprof.view import charts

    wall = duration(float(contents.steps["wall_us"].sum()))
    alt = f"Chart of what ran in {counted(len(contents.steps), 'step')}, {wall} in all"
    return charts.image(charts.steps(contents.steps), alt)
