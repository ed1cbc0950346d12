"""One random mechanism in many ways that must agree: forms, cuts, ways of writing it down, integrators, output steps, back ends, books, slopes.

Every comparison allows what a change of the start by 1e-7 makes of the motion, so that sensitive motions are no findings; where that
changes the order of events nothing is compared.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from random_mechanisms import INPUTS, STOP

from kinetree.models import ModelError, load
from kinetree.models.engine.status import EvaluationError
from kinetree.models.result.events import Event, Events
from kinetree.models.result.result import Result
from kinetree.models.system.forms import HAMILTON, LAGRANGE
from kinetree.models.system.system import System
from kinetree.solvers.integrate.kinds import FIXED, NAMES
from kinetree.solvers.layout import Status

NUDGE = 1e-7
INSTANT = 1e-5  # s: as far apart events of two runs may lie
BLOW = 1e-9  # of momentum and energy: less is none
TOLERANCE = 1e-6  # of values of the order of 1, by integrators whose tolerance is 1e-10
FARTHEST = 1e6  # s: how far from zero a run begins
LATE = 1e-5  # 1/s: what the resolution of late times adds to what is allowed
UNLUCKY = (
    Status.CHATTERING,
    Status.DEAD_POINT,
    Status.STEP_TOO_SMALL,
    Status.TOO_MANY_STEPS,
    Status.NO_CONTACT_FORCE,
)


class Difference(Exception):
    """Two ways that must agree do not; `what` names the ways."""

    def __init__(self, what: str, more: str):
        super().__init__(f"{what}: {more}")
        self.what = what


@dataclass
class Case:
    """A description, its run, and how far a nudged start takes it."""

    description: dict[str, Any]
    system: System
    result: Result
    spread: dict[str, np.ndarray]

    @property
    def names(self) -> list[str]:
        return list(self.spread)


def inputs_of(description: dict[str, Any]) -> dict[str, Callable[[float], float]]:
    """Inputs as functions of time, by the texts of the drawn mechanisms."""
    known = {"push": lambda t: 3.0 * math.sin(4.0 * t + 1.0), "pull": lambda t: 2.0 - 5.0 * t}
    assert set(known) == set(INPUTS)
    return {name: known[name] for name in description.get("inputs", {})}


def run(system: System, description: dict[str, Any], **how: Any) -> Result:
    """A run; where oil may begin and cease to cavitate within some ms, or friction turn within 0.1 ms, no method sees that steps over them."""
    if most := largest_step(description):
        how["largest_step"] = most
    return system.simulate(inputs=inputs_of(description), **how)


def largest_step(description: dict[str, Any]) -> float | None:
    """The longest step that sees all that happens; none where every step does."""
    if any("kind" in law and "friction" in law for law in description.get("forces", {}).values()):
        return 0.0005
    oil = description.get("hydraulics") or any(
        "chambers" in each for each in description.get("actuators", {}).values()
    )
    return 0.002 if oil else None


def watched(result: Result) -> list[str]:
    """Columns that do not depend on how the mechanism is written down: places, speeds and turning of the bodies, and states."""
    return [
        name for name in result.names if "_" in name and name[0] == "b" and "pull" not in name
    ] + [n for n in result.names if n == "lag"]


def at_rows(result: Result, name: str) -> np.ndarray:
    return result[name] if name in result else np.full(result.time.size, np.nan)


def moments(result: Result) -> list[Event]:
    """Events; a contact whose impact is looked at twice at one instant counts once.

    Where contacts begin and cease to slide, touch without a blow or part shows in the motion; where they jam, and on bodies that cannot move, forces
    are not determined, nor when they reach the cone of friction or are none.
    """
    found: list[Event] = []
    for event in result.events:
        if event.cause.startswith("slip of contact") or (
            event.cause.startswith("contact") and without_a_blow(event)
        ):
            continue
        again = (
            found
            and event.cause.startswith("contact")
            and event.cause == found[-1].cause
            and abs(event.time - found[-1].time) < 1e-9
        )
        found += [] if again else [event]
    return found


def without_a_blow(event: Event) -> bool:
    """Whether momentum and energy are after it what they were before."""
    before, after = np.array(event.before), np.array(event.after)
    return bool(np.abs(after - before).max() <= BLOW * (1.0 + np.abs(before).max()))


def history(result: Result) -> list[tuple[str, str]]:
    return [(event.kind, event.cause) for event in moments(result)]


def nudged(description: dict[str, Any]) -> dict[str, Any]:
    """The mechanism with gravity and springs a little other: what a small change makes of the motion."""
    other = copy.deepcopy(description)
    other["gravity"] = [x + NUDGE * (1 + abs(x)) for x in other["gravity"]]
    other["parameters"]["k"]["value"] *= 1.0 + NUDGE
    for joint in other["joints"].values():
        if "speed" in joint and joint.get("type") not in ("spherical", "free"):
            joint["speed"] = [x + NUDGE for x in joint["speed"]]
        for part in joint.get("transforms", ()):
            if "coordinate" in part:
                part["speed"] = part.get("speed", 0.0) + NUDGE
    return other


def case_of(description: dict[str, Any]) -> Case | None:
    """The reference run; nothing for what may rightly fail, or whose events or their instants depend on a nudge."""
    system = load(description).compile()
    try:
        result = run(system, description, integrator="adams")
        other = run(load(nudged(description)).compile(), description, integrator="adams")
    except EvaluationError as error:
        # what was drawn may be determined, and three turns of a joint may come to lie in one plane
        if error.status in (
            *UNLUCKY,
            Status.INCONSISTENT,
            Status.PENETRATES,
            Status.DRIVEN_TOGETHER,
            Status.CANNOT_SET,
            Status.SINGULAR_JOINT,
        ):
            return None
        raise
    if history(result) != history(other):
        return None
    if any(
        abs(mine.time - its.time) > INSTANT / 3
        for mine, its in zip(moments(result), moments(other), strict=True)
    ):
        return None  # as where a stage ends at a bound on which a loop holds what is asked for
    names = watched(result)
    spread = {
        name: np.maximum.accumulate(np.abs(at_rows(result, name) - at_rows(other, name)))
        for name in names
    }
    if any(np.nanmax(each, initial=0.0) > 3e-4 for each in spread.values()):
        return None
    return Case(description, system, result, spread)


def agree(
    case: Case,
    what: str,
    other: Result,
    factor: float = 1.0,
    rows: slice | list[int] = slice(None),
    errors: dict[str, np.ndarray] | None = None,
) -> None:
    """The other run has the same motion at rows of the reference, but for its known errors, and the same events at the same instants."""
    if history(other) != history(case.result):
        raise Difference(f"{what}: events", f"{history(case.result)} and {history(other)}")
    for mine, its in zip(moments(case.result), moments(other), strict=True):
        if abs(mine.time - its.time) > factor * INSTANT:
            raise Difference(f"{what}: instant of an event", f"{mine} and {its}")
    for name in case.names:
        a, b = at_rows(case.result, name)[rows], at_rows(other, name)
        b = b[rows] if b.size != a.size else b
        allowed = factor * (TOLERANCE * (1.0 + np.abs(a)) + 3.0 * case.spread[name][rows]) + (
            errors[name] if errors else 0.0
        )
        wrong = np.flatnonzero((np.abs(a - b) > allowed) | (np.isnan(a) != np.isnan(b)))
        if wrong.size:
            k = int(wrong[0])
            raise Difference(
                what,
                f"{name} at t = {case.result.time[rows][k]:.4g}: {a[k]!r} and {b[k]!r}, allowed {allowed[k]:.2g}",
            )


# -- what must agree ------------------------------------------------------------------------------------------------------------------------
def integrators(case: Case, rng: np.random.Generator) -> None:
    """By others; radau, which takes what is not smooth with 0.1 rtol^(2/3), more exactly where laws have corners."""
    corners = case.description["forces"] or case.description.get("actuators")
    for name in rng.permutation([each for each in NAMES if each not in (*FIXED, "auto", "adams")])[
        :2
    ]:
        finer = {"tolerance": 1e-12} if name == "radau" and corners else {}
        agree(
            case,
            f"integrator {name}",
            run(case.system, case.description, integrator=str(name), **finer),
        )


def fixed_steps(case: Case, rng: np.random.Generator) -> None:
    """Fourth order: of the difference to twice the step its error is 1/15, for third order 1/7; only what is smooth, as corners cost an order."""
    if not case.description["forces"] and not case.result.events:
        fine, coarse = (
            run(case.system, case.description, integrator="rk4", step=h) for h in (5e-4, 1e-3)
        )
        errors = {
            name: 2.0
            / 15.0
            * np.maximum.accumulate(np.abs(at_rows(fine, name) - at_rows(coarse, name)))
            for name in case.names
        }
        agree(case, "integrator rk4", fine, errors=errors)


def output_steps(case: Case, rng: np.random.Generator) -> None:
    """The last row by other rows on the way."""
    for step in (STOP, 0.037):
        other = run(case.system, case.description, integrator="adams", output_step=step)
        last = [case.result.time.size - 1]
        trimmed = copy.copy(other)
        trimmed._table = other._table[-1:]
        agree(case, "output step", trimmed, rows=last)


def forms(case: Case, rng: np.random.Generator) -> None:
    """Accelerations by every form, and a run by one."""
    if case.system.compiled.loops:
        return
    t, (q, u) = 0.0, case.system.start()
    reference = case.system.accelerations(t, q, u)
    size = 1.0 + np.abs(reference).max(initial=0.0)
    condition = np.linalg.cond(case.system.mass_matrix(t, q)) if case.system.n else 1.0
    for name in LAGRANGE:
        other = case.system.accelerations(t, q, u, method=name)
        if np.abs(other - reference).max(initial=0.0) > 1e-12 * size * condition:
            raise Difference(f"form {name}", f"accelerations {reference} and {other}")
    name = str(
        rng.choice(
            sorted(
                (LAGRANGE | HAMILTON).keys() if isinstance(LAGRANGE, dict) else LAGRANGE | HAMILTON
            )
        )
    )
    agree(
        case, f"run by {name}", run(case.system, case.description, method=name, integrator="adams")
    )


def rewritten(case: Case, rng: np.random.Generator) -> None:
    """The same mechanism with its bodies and joints in another order."""
    other = copy.deepcopy(case.description)
    for key in ("bodies", "joints", "forces"):
        other[key] = {name: other[key][name] for name in rng.permutation(list(other[key]))}
    agree(case, "order of the description", run(load(other).compile(), other, integrator="adams"))


def cuts(case: Case, rng: np.random.Generator) -> None:
    """A loop that is cut elsewhere; where the start does not close it, what moves to close it depends on which joint's start values count."""
    if (
        "closing" not in case.description["joints"]
        or case.description.get("stages")
        or case.description.get("couplings")
    ):
        return
    if any(name in case.system.coordinates for name in case.system.start_changes):
        return
    for name in case.description["joints"]:
        other = copy.deepcopy(case.description)
        other["joints"][name]["cut"] = True
        try:
            system = load(other).compile()
            found = run(system, other, integrator="adams")
        except (EvaluationError, ModelError):
            continue  # nothing holds that cut, or a coordinate that an event uses is gone
        if system.n == case.system.n:
            agree(case, f"cut at {'a closing' if name == 'closing' else 'another'} joint", found)


def parts(case: Case, rng: np.random.Generator) -> None:
    """Half of some bodies as parts on rigid joints, turned and shifted, which run as one body with the other half, and as bodies of their own."""
    other = copy.deepcopy(case.description)
    left = {body for stage in other.get("stages", ()) for body in stage.get("drop", ())}
    for name, body in case.description["bodies"].items():
        tensor = body.get("inertia")
        if (
            name in left
            or tensor is None
            or not all(isinstance(x, (int, float)) for x in (body["mass"], *tensor))
            or rng.random() < 0.4
        ):
            continue
        axis, angle, at = rng.normal(size=3), float(rng.normal()), rng.normal(0.0, 0.3, 3)
        axis /= np.linalg.norm(axis)
        K = np.cross(np.eye(3), axis)
        R = np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
        xx, yy, zz, xy, xz, yz = (0.5 * x for x in tensor)
        J = R.T @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R
        half = 0.5 * body["mass"]
        other["bodies"][name] |= {"mass": half, "inertia": [xx, yy, zz, xy, xz, yz]}
        com = R.T @ (np.array(body.get("com", [0.0, 0.0, 0.0])) - at)
        tensor = [float(x) for x in (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])]
        other["bodies"][f"half_{name}"] = {
            "mass": half,
            "com": com.tolist(),
            "inertia": tensor,
            "unphysical": True,
        }
        place = {"at": at.tolist(), "frame": [{"rotate": axis.tolist(), "by": angle}]}
        other["joints"][f"half_{name}"] = {
            "parent": name,
            "child": f"half_{name}",
            "type": "rigid",
        } | place
    for merge in (True, False):
        system = load(other | {"run": other.get("run", {}) | {"merge": merge}}).compile()
        halves = len(other["bodies"]) - len(case.description["bodies"])
        if len(system.compiled.running.carriers) != merge * halves:
            raise Difference(
                "parts", f"{sorted(system.compiled.running.carriers)} of {halves} run with others"
            )
        agree(case, "parts merged" if merge else "parts", run(system, other, integrator="adams"))


def slopes(case: Case, rng: np.random.Generator) -> None:
    """Exact slopes by speeds against differences."""
    t, (q, u) = 0.0, case.system.start()
    if not case.system.n or case.system.compiled.loops:
        return
    exact = case.system.derivatives(t, q, u)
    k = int(rng.integers(case.system.n))
    e = np.zeros(case.system.n)
    e[k] = h = 1e-5
    difference = (
        case.system.accelerations(t, q, u + e) - case.system.accelerations(t, q, u - e)
    ) / (2 * h)
    found = np.asarray(exact.u)[:, k]
    if (
        np.abs(difference - found).max()
        > 1e-5 * (1.0 + np.abs(difference).max())
        + 1e-9 * np.abs(case.system.accelerations(t, q, u)).max() / h
    ):
        raise Difference(
            "slopes", f"by speed {case.system.speeds[k]}: {found} and by differences {difference}"
        )


def lanes(case: Case, rng: np.random.Generator) -> None:
    """Accelerations of many states at once are those of each."""
    q, u = case.system.start()
    us = u + rng.normal(0.0, 0.3, (9, u.size))
    many = case.system.accelerations_many(0.0, np.tile(q, (9, 1)), us)
    for k in range(9):
        one = case.system.accelerations(0.0, q, us[k])
        if np.abs(many[k] - one).max(initial=0.0) > 1e-9 * (1.0 + np.abs(one).max(initial=0.0)):
            raise Difference("lanes", f"state {k}: {many[k]} and {one}")


def books(case: Case, rng: np.random.Generator) -> None:
    """The balance of energy closes over the run, loops stay closed, events change momentum by impulses from the ground only."""
    result = case.result
    size = 1.0 + np.abs(result["energy"]).max()
    if (worst := np.abs(result["energy_residual"]).max()) > 1e-5 * size:
        raise Difference("energy residual", f"{worst:.3g} of {size:.3g}")
    if (worst := result["constraint_residual"].max()) > 1e-7:
        raise Difference("constraint residual", f"{worst:.3g}")


def later(description: Any, begin: float) -> Any:
    """The mechanism whose laws of time, and ends of stages, are those of a run that begins at another time."""
    if isinstance(description, str):
        return re.sub(r"(?<![\w.'])t(?![\w.'(])", f"(t - ({begin!r}))", description)
    if isinstance(description, list):
        return [later(each, begin) for each in description]
    if not isinstance(description, dict):
        return description
    found = {key: later(each, begin) for key, each in description.items()}
    for stage in found.get("stages", ()):
        if "at" in (ends := stage.get("ends", {})):
            ends["at"] += begin
    return found


def start_times(case: Case, rng: np.random.Generator) -> None:
    """From another time, up to 1e6 s away from zero; instants are then known to some 1e-10 s."""
    begin = start_time(rng)
    other = later(case.description, begin)
    given = {name: lambda t, f=f: f(t - begin) for name, f in inputs_of(case.description).items()}
    found = load(other).compile().simulate(
        inputs=given, integrator="adams", start_time=begin, stop_time=begin + STOP,
        largest_step=largest_step(case.description),
    )  # fmt: skip
    shown = copy.copy(found)
    shown.events = Events(
        replace(
            event, time=event.time - begin, cause=re.sub(r"\(at .*\)", "(at 0.21)", event.cause)
        )
        for event in found.events
    )
    time, instants = case.result.time, np.array([event.time for event in case.result.events])
    near = np.abs(time[:, None] - instants).min(axis=1, initial=1.0) < INSTANT
    rows = np.flatnonzero(~near).tolist()  # at an instant of an event rounding shows either side
    agree(case, "start time", shown, factor=1.0 + LATE * abs(begin), rows=rows)


def start_time(rng: np.random.Generator) -> float:
    """Near and far, before and behind zero, round and not."""
    size = 10.0 ** rng.uniform(-3.0, math.log10(FARTHEST))
    t = float(rng.choice((-1.0, 1.0)) * size)
    return float(rng.choice((t, round(t), round(t, 3))))


def again(case: Case, rng: np.random.Generator) -> None:
    """A second run is the first, bit for bit."""
    other = run(case.system, case.description, integrator="adams")
    if not np.array_equal(other._table, case.result._table, equal_nan=True):
        raise Difference("a second run", "other numbers")


CHECKS: dict[str, Callable[[Case, np.random.Generator], None]] = {
    "again": again,
    "start times": start_times,
    "books": books,
    "integrators": integrators,
    "fixed steps": fixed_steps,
    "output steps": output_steps,
    "forms": forms,
    "order": rewritten,
    "cuts": cuts,
    "parts": parts,
    "slopes": slopes,
    "lanes": lanes,
}


def findings(
    description: dict[str, Any], seed: int, checks: dict[str, Callable] | None = None
) -> Iterator[tuple[str, str]]:
    """Names of the ways that do not agree, and how."""
    try:
        case = case_of(description)
    except EvaluationError as error:
        yield f"the reference run fails: {error.status.name}", str(error)
        return
    for name, check in (checks or CHECKS).items() if case else ():
        try:
            check(case, np.random.default_rng(seed))
        except Difference as difference:
            yield difference.what, str(difference)
        except EvaluationError as error:
            if error.status not in UNLUCKY:
                yield f"{name}: {error.status!r}", str(error)
