"""Mechanism and setup of an observer as one text, from which it begins elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from kinetree.models.observers.estimation import EstimationProblem
from kinetree.models.observers.estimation_setup import Sensor, Setup, Unknown
from kinetree.models.system.mechanism import load


def packed(mechanism: Mapping[str, Any], setup: Setup) -> str:
    """Return the text of an observer."""
    return json.dumps({"mechanism": mechanism, "setup": asdict(setup)}, indent=1)


def problem_of(text: str) -> EstimationProblem:
    """Return the estimation problem of a text."""
    data = json.loads(text)
    setup = data["setup"]
    setup["sensors"] = tuple(Sensor(**each) for each in setup["sensors"])
    for kind in ("parameters", "forces"):
        setup[kind] = tuple(Unknown(**each) for each in setup[kind])
    return EstimationProblem(load(data["mechanism"]).compile(), Setup(**setup))
