"""Random mechanisms, round by round: drawn, run in ways that must agree, and shrunk where they do not."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from dense_motion import Bodies, Dense
from differences import CHECKS, TOLERANCE, Case, Difference, findings, inputs_of
from hosts import HOSTS
from random_mechanisms import STOP, random_mechanism
from readers import numbered, patience, shrunk

from kinetree.models import ModelError, load
from kinetree.models.engine.status import EvaluationError

PATIENCE = 120  # seconds of the processor for one mechanism


def has_a_dense_twin(description: dict[str, Any]) -> bool:
    """What the dense matrices know: no events, no ground contact, no rolling or speed couplings."""
    plain = not description.get("events") and not description.get("stages")
    return (
        plain
        and "slip" not in description.get("couplings", {})
        and not any("height" in force for force in description["forces"].values())
    )


def plain(description: dict[str, Any]) -> dict[str, Any]:
    """The mechanism without events, stages and ground contacts."""
    forces = {name: force for name, force in description["forces"].items() if "height" not in force}
    couplings = {
        name: each for name, each in description.get("couplings", {}).items() if name != "slip"
    }
    return {**description, "forces": forces, "couplings": couplings, "events": {}, "stages": []}


def beside_dense(case: Case, rng: np.random.Generator, stop: float = 0.0) -> None:
    """Places, speeds and accelerations at the start, or places and speeds at the end, against dense matrices."""
    if not has_a_dense_twin(case.description) or not case.system.n:
        return
    d, system, inputs = case.description, case.system, inputs_of(case.description)
    dense = Dense(d, inputs)
    y = dense.state(
        dict(
            zip(
                (*system.coordinates, *system.speeds),
                [float(x) for part in system.start() for x in part],
                strict=True,
            )
        )
    )
    if stop:
        q, u = dense.motion(y, stop)
        udot = None
    else:
        stop = 1e-9  # one-sided at corners at t = 0
        q, u, udot = (
            y[: dense.nq],
            y[dense.nq :][: dense.nu],
            dense.rates(stop, y)[dense.nq :][: dense.nu],
        )
    values = (
        {name: case.result[name][-1] for name in case.names}
        if udot is None
        else outputs_at_start(case)
    )
    bodies = Bodies(dense, stop, q, u)
    for body in d["bodies"]:
        point = d["outputs"].get(f"{body}_place", {}).get("point")
        if point is None:
            continue
        x, v, a, J = bodies.point(body, point)
        owns = (
            {"place": x, "speed": v}
            if udot is None
            else {"place": x, "speed": v, "pull": a + J @ udot}
        )
        for word, own in owns.items():
            for k in range(3):
                name = f"{body}_{word}[{k + 1}]"
                allowed = TOLERANCE * (1.0 + abs(own[k])) * (
                    100.0 if word == "pull" else 1.0
                ) + 3.0 * (case.spread[name][-1] if udot is None else 0.0)
                if name in values and abs(values[name] - own[k]) > allowed:
                    raise Difference(
                        f"dense matrices: {word}", f"{name}: {values[name]!r}, dense {own[k]!r}"
                    )


def outputs_at_start(case: Case) -> dict[str, float]:
    inputs = {name: f(0.0) for name, f in inputs_of(case.description).items()}
    return case.system.outputs(0.0, *case.system.start(), inputs=inputs or None)


def dense_motion(case: Case, rng: np.random.Generator) -> None:
    beside_dense(case, rng, STOP)


FAST: dict[str, Callable[[Case, np.random.Generator], None]] = {
    **CHECKS,
    "dense start": beside_dense,
    "co-simulation": HOSTS["co-simulation"],
}
LONG = {**FAST, **HOSTS, "dense motion": dense_motion}
RARELY = {
    "native": 6,
    "python": 12,
    "model exchange": 6,
    "dense motion": 6,
}  # one mechanism of so many


class Motions:
    """One mechanism per round, every second one without what the dense matrices do not know."""

    checks = LONG
    rarely = RARELY
    name = "mechanisms"
    compare = staticmethod(findings)  # names of the ways that do not agree, and how

    def draw(self, seed: int) -> dict[str, Any]:
        description = random_mechanism(seed)
        return plain(description) if seed % 2 else description

    def round(self, draw: random.Random, out: Path) -> tuple[dict[str, int], list[str]]:
        seed = draw.randrange(2**31)
        checks = {
            name: check
            for name, check in self.checks.items()
            if draw.randrange(self.rarely.get(name, 1)) == 0
        }
        told: list[str] = []
        try:
            description = self.draw(seed)
            with patience(PATIENCE):
                found = list(self.compare(description, seed, checks))
        except (
            ModelError,
            EvaluationError,
        ):  # no mechanism, or one whose loops the start does not close
            return {f"{self.name} that are refused": 1}, []
        except Exception as error:  # what no way of running may raise, and what takes too long
            found = [(type(error).__name__, str(error))]
        for what, more in found:
            run = description["run"]  # hosts and single runs have the same end
            small = shrunk(
                description,
                lambda each, what=what, run=run: (
                    each.get("run") == run and fails(each, seed, checks, what, self.compare)
                ),
            )
            path = numbered(out, "motion")
            path.write_text(
                json.dumps({"finding": what, "more": more, "seed": seed, "input": small}, indent=1)
            )
            told.append(f"motion: {what}: {more}: {path}")
        return {self.name: 1, "comparisons": len(checks)}, told


def fails(
    description: dict[str, Any],
    seed: int,
    checks: dict[str, Callable],
    what: str,
    compare: Callable = findings,
) -> bool:
    """Whether a smaller description still shows the same difference."""
    try:
        load(description).compile()
        with patience(PATIENCE):
            return any(found == what for found, _ in compare(description, seed, checks))
    except Exception:  # not a mechanism any more
        return False
