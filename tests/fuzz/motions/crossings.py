"""Random mechanisms in which features meet that have rooms of their own: rigid contacts, controllers, motions that inputs give, oil.

They are added to what `random_mechanisms` draws. Beside the ways of `differences` they run as straight-line code, as ensembles beside single runs,
and with a parameter that a host sets on the way beside the same change as an event.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from differences import CHECKS, TOLERANCE, Case, Difference, agree, history, inputs_of, run
from hosts import HOSTS, compare
from impact_books import impacts
from motions import Motions
from random_mechanisms import STOP, Draft, random_mechanism, unit, vector

from kinetree.fmu.unit import fmu_unit
from kinetree.models import load
from kinetree.scripts.fmi.in_process_reference import InProcess
from kinetree.solvers.library.load import needed_library

BOOKS = 1e-7  # of the momenta, energies and speeds at an impact
SOFT = {
    "area_a": 1e-3,
    "area_b": 6e-4,
    "volume_a": 1e-3,
    "volume_b": 1e-3,
    "bulk_modulus": 2e6,
    "shortest": 0.01,
    "longest": 5.0,
}


class Crossing(Draft):
    """A drawn mechanism that gets more."""

    def __init__(self, rng: np.random.Generator, description: dict[str, Any]):
        super().__init__(rng)
        self.d = description
        self.scalars = self.scalars_of(description)

    @staticmethod
    def scalars_of(description: dict[str, Any]) -> dict[str, tuple[float, float]]:
        """Coordinates whose rate is their speed, with their start values."""
        system = load(description).compile()
        q, u = system.start()
        starts, speeds = (
            dict(zip(system.coordinates, q, strict=True)),
            dict(zip(system.speeds, u, strict=True)),
        )
        return {
            name: (float(starts[name]), float(speeds[f"der({name})"]))
            for name in starts
            if f"der({name})" in speeds
        }

    def contacts(self) -> None:
        """A plane near a point of a body, not touched at the start; sometimes a plane of another body."""
        for k in range(int(self.rng.integers(1, 3))):
            point = self.point(ground=False)
            others = [name for name in self.d["bodies"] if name != point["body"]]
            on = self.pick(others) if others and self.chance(0.25) else "ground"
            seen = {
                "quantity": "position",
                **point,
                "frame": on,
                **({"reference": {"body": on}} if on != "ground" else {}),
            }
            system = load(
                self.d | {"outputs": {"seen": seen}, "stages": [], "events": {}}
            ).compile()
            values = system.outputs(0.0, *system.start())
            normal = np.array(unit(self.rng))
            at = [values[f"seen[{i + 1}]"] for i in range(3)] - normal * float(
                self.rng.uniform(0.02, 0.12)
            )
            table = {
                **point,
                "on": on,
                "at": [float(x) for x in at],
                "normal": vector(normal),
                "restitution": float(self.rng.choice((0.0, 0.3, 0.8))),
            }
            if self.chance(0.4):
                table["friction"] = 0.3
            table["law"] = self.pick(("newton", "poisson", "energetic"))
            self.d.setdefault("contacts", {})[f"touch{k}"] = table
            self.d["outputs"][f"b_gap{k}"] = {"value": f"touch{k}.gap"}

    def controllers(self) -> None:
        if not self.scalars:
            return
        name = self.pick(self.scalars)
        self.d["actuators"] = {"motor": {"coordinate": self.pick(self.scalars)}}
        law = {
            "kind": "pid",
            "measure": name,
            "setpoint": "0.2*sin(3*t)",
            "kp": 8.0,
            "ki": 3.0,
            "kd": 0.5,
            "filter": 0.02,
            "drives": "motor",
        }
        law |= self.pick(({}, {"period": 0.02, "delay": 0.005}, {"low": -1.5, "high": 1.0}))
        self.d["controllers"] = {"hold": law}

    def follow(self) -> None:
        joint = self.d["joints"][self.pick(name for name in self.d["joints"] if name != "closing")]
        if "transforms" not in joint:
            return
        self.d.setdefault("inputs", {}).setdefault("push", {"start": 1.0})
        word = self.pick(("rotate", "shift"))
        joint["transforms"].append(
            {word: unit(self.rng), "follow": {"input": "push", "bandwidth": 8.0, "damping": 0.8}}
        )

    def oil(self) -> None:
        points = self.pair()
        self.d.setdefault("actuators", {})["ram"] = {
            "between": points,
            "chambers": dict(SOFT, viscous=2.0),
        }


def crossing(seed: int) -> dict[str, Any]:
    """A description by its seed: two of the features on top of a drawn mechanism."""
    rng = np.random.default_rng([seed, 7])
    draft = Crossing(rng, random_mechanism(seed))
    for name in rng.permutation(["contacts", "contacts", "controllers", "follow", "oil"])[:2]:
        getattr(draft, str(name))()
    return draft.d


# -- what must agree ------------------------------------------------------------------------------------------------------------------------
def specialised(case: Case, rng: np.random.Generator) -> None:
    """Runs by straight-line code of the mechanism, for the parameters it was made with and for others."""
    agree(
        case,
        "straight-line code",
        case.system.specialise().simulate(inputs=inputs_of(case.description), integrator="adams"),
    )


def ensembles(case: Case, rng: np.random.Generator) -> None:
    """Runs of an ensemble are single runs with their parameter."""
    values = [25.0, 30.0, 41.0]
    held = {name: f(0.0) for name, f in inputs_of(case.description).items()}
    names = [name for name in case.names if name in case.result]
    runs = case.system.simulate_many(
        {"k": np.array(values)},
        inputs={name: np.full(3, x) for name, x in held.items()} or None,
        outputs=names,
    )
    for k, value in enumerate(values):
        one = (
            load(case.description)
            .compile(k=value)
            .simulate(inputs=held or None, integrator="adams")
        )
        if k in runs.failures or len(one.events) != len(case.result.events):
            continue
        for name in names:
            spread = 10.0 * float(np.nanmax(case.spread[name], initial=0.0))
            wrong = (
                np.abs(runs[name][k] - one[name])
                > 100 * TOLERANCE * (1.0 + np.abs(one[name])) + spread
            )
            if wrong.any():
                row = int(np.flatnonzero(wrong)[0])
                found, right = runs[name][k][row], one[name][row]
                raise Difference(
                    f"ensemble ({runs.engine})",
                    f"k = {value}: {name} at t = {one.time[row]:.4g}: {found!r}, alone {right!r}",
                )


def set_on_the_way(case: Case, rng: np.random.Generator) -> None:
    """A parameter that a host sets between two steps is the same as an event at that instant."""
    instant, value = float(rng.uniform(0.1, 0.5)), 44.0
    other = copy.deepcopy(case.description)
    other.setdefault("events", {})["turned"] = {"when": f"t > {instant!r}", "set": {"k": value}}
    expected = load(other).compile().simulate(integrator="adams")
    if [each for each in history(expected) if each != ("event", "turned")] != history(case.result):
        return  # the change moves other events
    device = InProcess(fmu_unit(load(case.description), integrator="adams")).start()
    device.step(instant)
    device.set({"k": value})
    device.step(STOP)
    names = [name for name in case.names if name in device.places and name in expected]
    found = dict(zip(names, device.get(names), strict=True))
    compare(
        case,
        "parameter set on the way",
        {name: float(expected[name][-1]) for name in names},
        found,
        30 * TOLERANCE,
    )


def at_ease(case: Case, rng: np.random.Generator) -> None:
    """At tolerances that people take nothing passes through a contact, whatever else they cost."""
    gaps = [name for name in case.names if name.startswith("b_gap")]
    for name in ("adams", "radau") if gaps else ():
        loose = run(case.system, case.description, integrator=name, tolerance=1e-5)
        for gap in gaps:
            if (deepest := float(np.nanmin(loose[gap], initial=0.0))) < -1e-3:
                raise Difference(f"integrator {name} at ease", f"{gap} comes to {deepest:.3g}")


def impact_balances(case: Case, rng: np.random.Generator) -> None:
    """Momentum, energy and constraints around every impact, by the mass matrix and the velocities of the points that touch."""
    if not case.description.get("contacts"):
        return
    given = inputs_of(case.description)
    for impact in impacts(
        case.description,
        STOP,
        lambda t: {name: f(t) for name, f in given.items()},
        step=0.05 if given else 0.0,
    ):
        if impact.worst > BOOKS:
            raise Difference("books of an impact", repr(impact))


CROSSED: dict[str, Callable[[Case, np.random.Generator], None]] = {
    **{
        name: CHECKS[name]
        for name in ("again", "books", "integrators", "output steps", "order", "cuts")
    },
    "at ease": at_ease,
    "co-simulation": HOSTS["co-simulation"],
    "ensembles": ensembles,
    "impacts": impact_balances,
    "set on the way": set_on_the_way,
}
CROSSED_LONG = {
    **CROSSED,
    **{name: HOSTS[name] for name in ("engine as C99", "native", "model exchange")},
    "specialised": specialised,
}


class Crossings(Motions):
    """One mechanism per round in which features meet."""

    checks = CROSSED_LONG
    rarely = {"native": 6, "model exchange": 6, "specialised": 20}
    name = "crossings"

    def __init__(self) -> None:
        needed_library("lanes")  # a build does not count as the time of a mechanism

    def draw(self, seed: int) -> dict[str, Any]:
        return crossing(seed)
