"""Slopes of controlled machines: linearisation beside differences of the flow, gradients beside differences of runs.

About a state that is drawn, at a time from -1e6 to 1e6 s, the matrix A of the linear system is compared with what short motions from neighbouring
states become, and for sampled controllers with what becomes of the state over short periods. Gradients of runs of fixed steps by parameters are
compared with central differences of the same runs. Where the differences themselves depend on their size, as across a corner, nothing is compared.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from controlled import RESOLUTION, begun_at, controlled
from differences import UNLUCKY, Difference, start_time
from motions import Motions

from kinetree.models import load
from kinetree.models.engine.status import EvaluationError
from kinetree.models.system.controller_variants import resting
from kinetree.models.system.system import System
from kinetree.solvers.layout import Status

SHORT = 1e-3  # s: of a motion whose end is compared, at most
PACE = 0.05  # of the time constant of the fastest mode: the same
NUDGE = 3e-4  # of the states at its start
ALLOWED = 2e-4  # of the largest slope of a row: what the curvature of short motions makes
ROUGH = 1e-3  # of a slope: differences of two sizes that differ so much lie across a corner
EXACT = 2e-6  # of the largest slope of an output by a parameter relative to its size
RELATIVE = 1e-5  # of a parameter: steps of differences
VALUES = {"k": 30.0, "gain": 5.0, "load": 1.0}  # of the parameters of gradients


# -- linearisation ------------------------------------------------------------------------------------------------------------------------------
def state_of(system: System, rng: np.random.Generator) -> dict[str, float]:
    """A state near the start: places, speeds, first-order states; controllers have begun."""
    c, (q, u) = system.compiled, system.start()
    names = (*c.coordinates, *c.speeds, *c.states)
    values = np.concatenate((q, u, np.zeros(len(c.states)))) + rng.normal(0.0, 0.1, len(names))
    found = dict(zip(names, map(float, values), strict=True))
    return found | {name: 1.0 for name in c.states if name.endswith(".begun")}


def ends(system: System, t: float, span: float, states: list[dict[str, float]]) -> np.ndarray:
    """The states a short time after those that are given, a row for each."""
    c = system.compiled
    names = (*c.coordinates, *c.speeds, *c.states)
    rows = []
    stepper = system.stepper(step=span, integrator="verner65", tolerance=1e-13, start_time=t)
    for state in states:
        stepper.reset(state)
        stepper.advance()
        rows.append(stepper.read(names))
    return np.array(rows)


def flow_slopes(system: System, t: float, state: dict[str, float], span: float) -> np.ndarray:
    """(Φ(span) - 1)/span, Φ the matrix of the flow over a span, by central differences."""
    names = list(state)
    nudged = [state | {name: state[name] + sign * NUDGE} for name in names for sign in (1.0, -1.0)]
    found = ends(system, t, span, nudged)
    slopes = (found[0::2] - found[1::2]).T / (2.0 * NUDGE)
    return (slopes - np.eye(len(names))) / span


def linear_flow(description: dict[str, Any], rng: np.random.Generator) -> bool:
    """Compare A with the flow of the system that it stands for; whether there was something to compare."""
    begin = start_time(rng) * float(rng.choice((1.0, 1e-6)))
    system = load(begun_at(description, begin)).compile()
    if system.compiled.loops or len(system.coordinates) != len(system.speeds):
        return False
    present = resting(system)
    t = begin + float(rng.uniform(0.0, 0.4))
    state = state_of(present, rng)
    c = present.compiled
    q, u = (np.array([state[name] for name in part]) for part in (c.coordinates, c.speeds))
    A = present.linearize(t=t, q=q, u=u, states={name: state[name] for name in c.states}).A
    longest = min(SHORT, PACE / np.abs(np.linalg.eigvals(A)).max())
    spans = (0.25 * longest, 0.5 * longest, longest)
    D = [flow_slopes(present, t, state, span) for span in spans]
    once = [2.0 * D[0] - D[1], 2.0 * D[1] - D[2]]
    found = (4.0 * once[0] - once[1]) / 3.0
    size = np.abs(A).max(axis=1, keepdims=True) + 1.0
    rates = np.abs(ends(present, t, longest, [state])[0] - list(state.values())).max() / longest
    blur = RESOLUTION * abs(t) * rates / (2.0 * NUDGE * spans[0])
    rough = np.abs(once[0] - once[1]) > 10 * ROUGH * size
    wrong = (np.abs(found - A) > ALLOWED * size + 100.0 * blur + np.abs(once[0] - once[1])) & ~rough
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        names = list(state)
        text = f"rate of {names[i]} by {names[j]}: {A[i, j]!r}, by the flow {found[i, j]!r}"
        raise Difference("linearisation", text)
    return True


# -- gradients ----------------------------------------------------------------------------------------------------------------------------------
def with_load(description: dict[str, Any]) -> dict[str, Any]:
    """The machine with one more parameter, by which a body's mass is multiplied."""
    found = {**description, "parameters": {**description["parameters"], "load": 1.0}}
    name, body = next(iter(description["bodies"].items()))
    found["bodies"] = {**description["bodies"], name: {**body, "mass": f"{body['mass']}*load"}}
    return found


def gradient(description: dict[str, Any], rng: np.random.Generator) -> bool:
    """Compare the gradient of a run with differences; whether it has one."""
    begin = start_time(rng)
    description = with_load(begun_at(description, begin))
    span = min(float(description["run"]["stop_time"]), 0.3)
    how = {
        "start_time": begin,
        "stop_time": begin + span,
        "output_step": span,
        "integrator": str(rng.choice(("rk4", "rk4", "semi-implicit"))),
        "step": span / int(rng.integers(40, 150)),
    }
    result = load(description, **VALUES).compile().simulate(**how)
    outputs = [name for name in result.names if name.startswith("b_")][:3]
    try:
        exact = result.gradient(outputs, list(VALUES))
    except ValueError:
        return False
    for j, name in enumerate(VALUES):
        slopes = []
        for part in (1.0, 2.0):
            h = part * RELATIVE * VALUES[name]
            high, low = (
                load(description, **(VALUES | {name: VALUES[name] + s * h}))
                .compile()
                .simulate(**how)
                for s in (1.0, -1.0)
            )
            slopes.append([(high[each][-1] - low[each][-1]) / (2.0 * h) for each in outputs])
        for i, each in enumerate(outputs):
            once, twice = slopes[0][i], slopes[1][i]
            size = (1e-2 + abs(float(result[each][-1]))) / VALUES[name] + abs(once)
            if abs(once - twice) > ROUGH * size:
                continue
            if abs(exact[i, j] - once) > 100 * EXACT * size + 3 * abs(once - twice):
                text = f"{each} by {name}: {exact[i, j]!r}, by differences {once!r} ({how['integrator']})"
                raise Difference("gradient", text)
    return True


CHECKS = {"linear flow": linear_flow, "gradient": gradient}


def slope_findings(
    description: dict[str, Any], seed: int, checks: dict[str, Any] | None = None
) -> list[tuple[str, str]]:
    """Names of what does not agree, and how."""
    found = []
    for name, check in (checks or CHECKS).items():
        try:
            check(description, np.random.default_rng(seed))
        except Difference as difference:
            found.append((difference.what, str(difference)))
        except EvaluationError as error:
            if error.status not in (*UNLUCKY, Status.SLIDING):
                found.append((f"{name}: {error.status!r}", str(error)))
    return found


class Slopes(Motions):
    """One machine per round: its linear system and a gradient."""

    checks = CHECKS
    rarely = {}
    name = "slopes of machines"
    compare = staticmethod(slope_findings)

    def draw(self, seed: int) -> dict[str, Any]:
        return controlled(seed)
