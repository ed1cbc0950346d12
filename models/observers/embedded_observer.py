"""An estimator as an observer inside its mechanism, with the measurements as inputs, as native FMUs
contain it.

The engine supports only the extended Kalman filter, sampled once per period. Measurements are
inputs `measured.NAME`; estimates and their standard deviations are outputs `estimate.NAME` and
`std.NAME`, those of the last sample; the speed der(x) is named der_x there.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Mapping
from typing import Any

from kinetree.models.observers.estimation import EstimationProblem
from kinetree.models.observers.estimation_setup import Setup, Unknown

NAME = "observer"


def watched_mechanism(
    source: Mapping[str, Any], problem: EstimationProblem, period: float
) -> dict[str, Any]:
    """Return the description of a mechanism with an observer inside that samples once per period
    [s]; raises ValueError for unsupported settings.
    """
    setup = problem.setup
    refuse_methods(setup)
    filter = problem.begin(0.0, period)
    sensors = [each.name for each in setup.sensors]
    values = dict(zip(sensors, filter.flow.read(filter.state, sensors), strict=True))
    compiled = problem.system.compiled
    keys = {key: plain(key) for key in (*compiled.coordinates, *compiled.speeds, *compiled.states)}
    quantities = [*(each.name for each in setup.parameters), *(each.name for each in setup.forces)]
    raw = copy.deepcopy(dict(source))
    raw.setdefault("inputs", {}).update(
        {f"measured.{each.name}": {"start": float(values[each.name])} for each in setup.sensors}
    )
    raw.setdefault("observers", {})[NAME] = {
        "period": period,
        "readings": [
            {
                "value": quoted(each.name), "reads": f"'measured.{each.name}'", "noise": each.noise,
                "bias": each.bias, "bias_walk": each.bias_walk,
            }
            for each in setup.sensors
        ],
        "estimates": {key: quoted(name) for name, key in keys.items()},
        "parameters": {each.name: estimated(each) for each in setup.parameters},
        "unknowns": {each.name: estimated(each) for each in setup.forces},
        "start": dict(setup.start), "initial": dict(setup.start_deviations), "process": dict(setup.process),
    }  # fmt: skip
    outputs = raw.setdefault("outputs", {})
    for key in (*keys.values(), *quantities):
        outputs[f"estimate.{key}"] = {"value": f"'{NAME}.{key}'"}
        outputs[f"std.{key}"] = {"value": f"'{NAME}.{key}.std'"}
    return raw


def refuse_methods(setup: Setup) -> None:
    """Raise ValueError for estimators that the engine does not support."""
    if setup.method != "ekf":
        raise ValueError(
            f"method is '{setup.method}': a native FMU holds an extended Kalman filter (ekf); the others need --backend python"
        )
    for sensor in setup.sensors:
        for key in ("delay", "period"):
            if getattr(sensor, key) > 0.0:
                raise ValueError(
                    f"measurements.{sensor.name}.{key} is {getattr(sensor, key):g} s: a native FMU takes in what was read at "
                    "its own sample; --backend python takes late and rare readings"
                )


def estimated(unknown: Unknown) -> dict[str, float]:
    """Return the table of an estimated quantity; one with zero standard deviation is not estimated."""
    found = {"start": unknown.start, "std": unknown.deviation, "walk": unknown.walk}
    limits = {"min": unknown.least, "max": unknown.most}
    return found | {key: limit for key, limit in limits.items() if math.isfinite(limit)}


def plain(name: str) -> str:
    """Return a name reduced to letters, digits and underscores."""
    text = re.sub(r"\W+", "_", re.sub(r"^der\((.*)\)$", r"der_\1", name)).strip("_")
    return text if text[:1].isalpha() else f"value_{text}"


def quoted(name: str) -> str:
    """Return a name as it must be written in expressions."""
    return name if re.fullmatch(r"[A-Za-z_][\w.]*|der\([A-Za-z_][\w.]*\)", name) else f"'{name}'"
