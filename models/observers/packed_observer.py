"""Serialisation of a mechanism and an observer's settings as text, from which the observer can be
started elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from kinetree.models.observers.estimation import EstimationProblem
from kinetree.models.observers.estimation_setup import Sensor, Setup, Unknown
from kinetree.models.system.mechanism import load


def packed(mechanism: Mapping[str, Any], setup: Setup) -> str:
    """Return a mechanism and an observer's settings as text."""
    return json.dumps({"mechanism": mechanism, "setup": asdict(setup)}, indent=1)


def problem_of(text: str) -> EstimationProblem:
    """Return the estimation problem from a serialised text."""
    data = json.loads(text)
    setup = data["setup"]
    setup["sensors"] = tuple(Sensor(**each) for each in setup["sensors"])
    for kind in ("parameters", "forces"):
        setup[kind] = tuple(Unknown(**each) for each in setup[kind])
    return EstimationProblem(load(data["mechanism"]).compile(), Setup(**setup))
