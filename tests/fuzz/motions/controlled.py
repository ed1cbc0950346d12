"""Machines with controllers of every kind, started at any time from -1e6 to 1e6 s and stepped by 1e-5 to 10 s.

Laws of time are written by `begin`, the time at which a run begins, so that the same motion comes from every start. It is compared between starts,
output steps, integrators, hosts with steps of every pattern, model exchange by a host of the repository, ensembles and the engine as C99.
"""

from __future__ import annotations

import copy
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from differences import INSTANT, TOLERANCE, Case, Difference, books, start_time
from exchange_host import Exchange
from motions import Motions
from random_mechanisms import SCALAR, Draft
from translated_engine import in_its_place

from kinetree.fmu.archive.build import build_fmu
from kinetree.fmu.unit import fmu_unit
from kinetree.models import load
from kinetree.models.language.parts.controller_parts import CONTROLLERS
from kinetree.models.result.result import Result
from kinetree.scripts.fmi.fmpy_host import Archive, Host
from kinetree.scripts.fmi.in_process_reference import InProcess

FEW_ROWS = 4000  # of one run
RESOLUTION = 4e-16  # of a time, relative
DRAWN = tuple(kind for kind in CONTROLLERS if kind != "predictive")  # which needs an inner model
PATTERNS = ("even", "uneven", "bursts", "whole")


class Controlled(Draft):
    """A small damped machine whose joints controllers drive."""

    def whole(self) -> dict[str, Any]:
        self.d["parameters"] |= {"begin": 0.0, "gain": {"value": 5.0, "tunable": True}}
        self.duration()
        self.machine()
        self.setpoints = [self.law_of_time() for _ in range(3)]
        self.d["controllers"], self.d["actuators"], self.measures = {}, {}, [*self.scalars]
        for k in range(int(self.rng.integers(1, 4))):
            self.controller(f"c{k}")
        self.blocks()
        self.happenings()
        for name in self.scalars:
            self.d["outputs"][f"b_{name.replace('.', '_')}"] = {"value": name}
        return self.d

    def duration(self) -> None:
        """Mostly a second or less; sometimes many seconds with long steps, or an instant with steps of 10 us."""
        span, step = self.pick(
            ((0.6, 0.05), (0.6, 0.05), (1.3, 0.1), (0.02, 1e-5), (0.3, 1e-3), (25.0, 2.5))
        )
        self.d["run"] |= {"stop_time": span, "output_step": step, "step_limit": 200_000}
        self.span = span

    def machine(self) -> None:
        """One to three bodies on joints with one to three coordinates, each with a spring and a damper."""
        rng = self.rng
        for i in range(1, int(rng.integers(2, 5))):
            parent = self.pick([*self.d["bodies"], "ground"])
            name = f"j{i}"
            self.d["bodies"][f"b{i}"] = {
                "mass": float(rng.uniform(0.5, 3.0)),
                "com": self.some(0.1),
                "inertia": [0.3, 0.35, 0.4, 0.01, -0.02, 0.015],
            }
            before = dict(self.scalars)
            while True:
                joint = self.joint(name, parent, f"b{i}")
                if joint.get("type") in SCALAR:
                    break
                self.scalars = dict(before)
            self.d["joints"][name] = joint
        for name in self.scalars:
            stiffness, damping = rng.uniform(20.0, 60.0), rng.uniform(2.0, 6.0)
            self.d["forces"][f"hold_{name}"] = {
                "coordinate": name,
                "value": f"-{stiffness:.3f}*{name} - {damping:.3f}*der({name})",
            }

    def law_of_time(self) -> str:
        s = "(t - begin)"
        return self.pick(
            (
                "0.1",
                f"0.2*sin(3*{s})",
                f"if({s} < {0.37137 * self.span:.6f}, 0.05, 0.15)",
                f"0.1*exp(-{s})",
                f"min(0.2, 0.3*{s})",
                f"0.1*sin({s})**2",
            )
        )

    # -- controllers ----------------------------------------------------------------------------------------------------------------------
    def controller(self, name: str) -> None:
        kind = self.pick((*DRAWN, "pid", "pid"))
        law: dict[str, Any] = {"kind": kind, **getattr(self, kind.replace("-", "_"))()}
        law |= self.limits(kind) | self.sampling(kind, law)
        if kind == "observer":
            self.observed(law)
        self.d["controllers"][name] = law
        given = len(law.get("K", (0,)))
        if self.scalars and given == 1 and self.chance(0.8):
            motor = f"m{name}"
            self.d["actuators"][motor] = {"coordinate": self.pick(self.scalars)}
            law["drives"] = motor
        if given == 1:
            self.d["outputs"][f"b_{name}"] = {"value": name}
            if kind in ("sensor", "saturation", "rate-limit", "lead-lag"):
                self.measures.append(name)

    def tracked(self) -> dict[str, Any]:
        setpoint = self.pick(self.setpoints)
        found: dict[str, Any] = {"measure": self.pick(self.measures), "setpoint": setpoint}
        if "if" not in setpoint and "min" not in setpoint and self.chance(0.3):
            found |= {"speed_forward": 0.4, "acceleration_forward": 0.05}
        return found | ({"offset": "0.3*cos(2*(t - begin))"} if self.chance(0.2) else {})

    def pid(self) -> dict[str, Any]:
        law = self.tracked() | {"kp": self.pick((8.0, "gain", 20.0))}
        if self.chance(0.7):
            law["ki"] = float(self.rng.uniform(2.0, 30.0))
        if self.chance(0.6):
            law |= {"kd": float(self.rng.uniform(0.1, 1.0)), "filter": self.pick((0.02, 0.005))}
            law["derivative_weight"] = self.pick((0.0, 1.0))
        if self.chance(0.3):
            law["setpoint_weight"] = 0.7
        if "ki" in law and self.chance(0.3):
            law["tracking"] = 0.1
        return law

    def lead_lag(self) -> dict[str, Any]:
        return self.tracked() | {"gain": 4.0, "lead": 0.1, "lag_time": self.pick((0.02, 0.3))}

    def notch(self) -> dict[str, Any]:
        more = {"gain": 4.0, "frequency": 3.0, "width": 0.7, "depth": self.pick((0.0, 0.1))}
        return self.tracked() | more

    def state_feedback(self) -> dict[str, Any]:
        names = [str(n) for n in self.rng.permutation(list(self.scalars))[:2]]
        gains = dict.fromkeys(names, 4.0) | {f"der({names[0]})": 1.0}
        rests = {names[0]: self.pick(self.setpoints)} if self.chance(0.6) else {}
        return {"gains": gains, "rests": rests}

    def observer(self) -> dict[str, Any]:
        names = list(self.scalars)
        return {"measures": [self.pick(names), f"{self.pick(names)} + 0.1"]}

    def observed(self, law: dict[str, Any]) -> None:
        """Matrices of a stable observer, continuous or of its period."""
        n, commands = int(self.rng.integers(1, 4)), self.pick((1, 1, 2))
        sampled = "period" in law
        A = self.rng.normal(0.0, 1.0, (n, n))
        A = 0.6 * A / np.linalg.norm(A) if sampled else A - 4.0 * np.eye(n)
        shapes = {"A": A, "B": (n, commands), "C": (2, n), "L": (n, 2), "K": (commands, n)}
        for key, shape in shapes.items():
            values = shape if key == "A" else self.rng.normal(0.0, 0.4, shape)
            law[key] = [[round(float(x), 3) for x in row] for row in values]
        if commands == 2 and self.scalars:
            law["commands"] = []
            for _ in range(2):
                motor = f"mo{len(self.d['actuators'])}"
                self.d["actuators"][motor] = {"coordinate": self.pick(self.scalars)}
                law["commands"].append(motor)

    def saturation(self) -> dict[str, Any]:
        return {"input": f"3*{self.pick(self.measures)} + {self.pick(self.setpoints)}"}

    def rate_limit(self) -> dict[str, Any]:
        return {"input": f"3*({self.pick(self.setpoints)})", "rate": 2.0}

    def sensor(self) -> dict[str, Any]:
        return {"input": self.pick(self.measures)}

    def limits(self, kind: str) -> dict[str, Any]:
        law: dict[str, Any] = {}
        if kind == "saturation" or self.chance(0.4):
            law["high"] = float(self.rng.uniform(0.2, 3.0))
        if kind == "saturation" or self.chance(0.4):
            law["low"] = -float(self.rng.uniform(0.2, 3.0))
        if kind not in ("rate-limit", "sensor", "observer") and self.chance(0.25):
            law["rate"] = float(self.rng.uniform(1.0, 30.0))
        return law

    def sampling(self, kind: str, law: dict[str, Any]) -> dict[str, Any]:
        """Periods from 2 to 200 ms, delays shorter and longer than those, errors of sensors."""
        if kind != "sensor" and self.chance(0.5):
            lag = {"lag": self.pick((1e-3, 0.02))} if self.chance(0.5) else {}
            if kind == "pid" and "kd" in law:
                lag["filter"] = 0.02
            return lag
        shortest = 2e-3 if self.span < 2.0 else 0.02
        period = round(float(shortest * 10.0 ** self.rng.uniform(0.0, 2.0)), 7)
        found: dict[str, Any] = {"period": min(period, 0.5 * self.span)}
        if kind == "notch":
            found["frequency"] = min(3.0, 0.2 / found["period"])
        if self.chance(0.4):
            found["delay"] = found["period"] * self.pick((0.3, 1.0, 1.7, 3.0))
        if self.chance(0.2):
            found["jitter"] = 0.2 * found["period"]
        if self.chance(0.2):
            found["resolution"] = self.pick((1e-3, 0.02))
        if self.chance(0.2):
            found["noise"] = 1e-3
        if self.chance(0.2):
            found["start"] = 0.3
        return found

    # -- the rest -------------------------------------------------------------------------------------------------------------------------
    def blocks(self) -> None:
        """First-order blocks as expressions of states."""
        if self.chance(0.5):
            name = self.pick(self.measures)
            self.d["states"] = {"lag": {"rate": f"({name} - lag)/0.05", "start": 0.1}}
            self.d["forces"]["by_lag"] = {"coordinate": self.pick(self.scalars), "value": "-4*lag"}

    def happenings(self) -> None:
        """Counted turns, a knock, a change of stage."""
        if self.chance(0.4):
            pace = self.pick((2.0, 11.0, 60.0)) / self.span
            self.d.setdefault("states", {})["turns"] = {"rate": 0}
            when = f"sin({pace:.5f}*(t - begin) + 0.1) > {self.rng.uniform(-0.9, 0.9):.4f}"
            self.d["events"] = {"turn": {"when": when, "set": {"turns": "turns + 1"}}}
            self.d["outputs"]["b_turns"] = {"value": "turns"}
        if self.chance(0.3):
            name = self.pick(self.scalars)
            bound = round(self.scalars[name][0] + float(self.rng.normal(0.0, 0.1)), 3)
            self.d.setdefault("events", {})["knock"] = {
                "when": f"{name} > {bound}",
                "set": {f"der({name})": f"-0.5*der({name})"},
            }
        if self.chance(0.25):
            self.d["stages"] = [
                {"name": "first", "ends": {"after": round(0.4137 * self.span, 6)}},
                {"name": "second", "set": {"k": 40.0, "gain": 9.0}},
            ]


def controlled(seed: int) -> dict[str, Any]:
    """A description by its seed."""
    return Controlled(np.random.default_rng([seed, 13])).whole()


# -- runs that begin elsewhere ----------------------------------------------------------------------------------------------------------------
def begun_at(description: dict[str, Any], begin: float) -> dict[str, Any]:
    """The same machine, whose run begins at another time."""
    other = copy.deepcopy(description)
    other["parameters"]["begin"] = begin
    return other


def rounded(case: Case, begin: float) -> dict[str, np.ndarray]:
    """What the resolution of time makes of the columns: of its size, times their rates, at every event anew."""
    found = {}
    instants = RESOLUTION * abs(begin) * (10.0 + len(case.result.events))
    for name in case.names:
        rates = np.abs(np.gradient(case.result[name], case.result.time))
        found[name] = np.full(case.result.time.size, 100.0 * instants * (1.0 + rates.max()))
    return found


def same_events(case: Case, what: str, found: Result, begin: float) -> None:
    """As many events at the same instants; those that one rounding of a late time holds count as many as they are."""
    mine, its = (
        np.repeat([e.time for e in each.events], [e.together for e in each.events])
        for each in (case.result, found)
    )
    if mine.size != its.size:
        raise Difference(f"{what}: events", f"{mine.size} and {its.size}")
    off = np.abs(its - begin - mine)
    if off.max(initial=0.0) > INSTANT + 100 * RESOLUTION * abs(begin):
        k = int(off.argmax())
        raise Difference(f"{what}: instant of an event", f"{mine[k]} and {its[k]} - {begin!r}")


def starts(case: Case, rng: np.random.Generator) -> None:
    """From another time, row by row."""
    begin = start_time(rng)
    description = begun_at(case.description, begin)
    found = load(description).compile().simulate(
        start_time=begin, stop_time=begin + span_of(case), integrator="adams"
    )  # fmt: skip
    same_events(case, "start time", found, begin)
    errors = rounded(case, begin)
    for name in case.names:
        right, value = case.result[name], found[name]
        allowed = TOLERANCE * (1.0 + np.abs(right)) + 3.0 * case.spread[name] + errors[name]
        wrong = np.flatnonzero(~(np.abs(value - right) <= allowed))
        if wrong.size:
            k = int(wrong[0])
            text = f"{name} {case.result.time[k]:.6g} s after {begin!r}: {value[k]!r}, {right[k]!r}"
            raise Difference("start time", text)


def span_of(case: Case) -> float:
    return float(case.description["run"]["stop_time"])


def at_end(case: Case, what: str, found: Result, begin: float) -> None:
    """Events, and the last rows, of a run with other rows on the way."""
    same_events(case, what, found, begin)
    near(case, what, {name: float(found[name][-1]) for name in case.names}, rounded(case, begin))


def near(case: Case, what: str, ends: dict[str, float], errors: dict[str, np.ndarray]) -> None:
    """Values at the end are those of the reference run."""
    for name, value in ends.items():
        right = float(case.result[name][-1])
        allowed = 30.0 * (TOLERANCE * (1.0 + abs(right)) + 3.0 * float(case.spread[name][-1]))
        if not abs(value - right) <= allowed + float(errors[name].max()):
            text = f"{name} at the end: {value!r}, reference {right!r}, allowed {allowed:.2g}"
            raise Difference(what, text)


def steps(case: Case, rng: np.random.Generator) -> None:
    """Output steps from 1e-5 to 10 s, from another time."""
    begin, span = start_time(rng), span_of(case)
    description = begun_at(case.description, begin)
    system = load(description).compile()
    for _ in range(2):
        step = float(10.0 ** rng.uniform(max(-5.0, math.log10(span / FEW_ROWS)), 1.0))
        found = system.simulate(
            start_time=begin, stop_time=begin + span, output_step=step, integrator="adams"
        )
        at_end(case, "output step", found, begin)


def integrators(case: Case, rng: np.random.Generator) -> None:
    """Every adaptive integrator, from another time."""
    begin, name = start_time(rng), str(rng.choice(("auto", "rk45", "radau", "tsit5", "verner65")))
    tolerance = 1e-12 if name == "radau" else None
    found = load(begun_at(case.description, begin)).compile().simulate(
        start_time=begin, stop_time=begin + span_of(case), integrator=name, tolerance=tolerance
    )  # fmt: skip
    at_end(case, f"integrator {name}", found, begin)


# -- hosts ------------------------------------------------------------------------------------------------------------------------------------
def communication_points(span: float, rng: np.random.Generator) -> np.ndarray:
    """Instants after the start: even, uneven, in bursts of 10 us, or the end alone."""
    way = rng.choice(PATTERNS)
    if way == "whole":
        return np.array([span])
    if way == "even":
        step = max(float(10.0 ** rng.uniform(-5.0, 1.0)), span / FEW_ROWS)
        points = step * np.arange(1, int(span / step) + 1)
    elif way == "uneven":
        points = np.sort(rng.uniform(0.0, span, int(rng.integers(1, 60))))
    else:
        begins = np.sort(rng.uniform(0.0, 0.9 * span, 5))
        points = np.sort(np.concatenate([b + 1e-5 * np.arange(1, 60) for b in begins]))
    points = points[points < span * (1.0 - 1e-6)]
    return np.concatenate((points[np.diff(points, append=span) > 5e-6], [span]))


def in_process(case: Case, rng: np.random.Generator) -> None:
    """Co-simulation in this process, in steps of a pattern."""
    begin = start_time(rng)
    device = InProcess(fmu_unit(load(begun_at(case.description, begin)), integrator="adams"))
    device.start(start_time=begin)
    for t in communication_points(span_of(case), rng):
        device.step(begin + float(t))
    names = [name for name in case.names if name in device.places]
    ends = dict(zip(names, device.get(names), strict=True))
    near(case, "co-simulation in this process", ends, rounded(case, begin))


def archived(case: Case, rng: np.random.Generator, backend: str, version: int) -> None:
    """An archive in a host; half of the time the state is saved and brought back on the way."""
    begin = start_time(rng)
    what = f"back end {backend}, FMI {version}"
    with tempfile.TemporaryDirectory() as folder:
        unit = load(begun_at(case.description, begin))
        path = build_fmu(unit, Path(folder) / "m.fmu", backend, version, integrator="adams")
        with Archive(path) as archive:
            host = Host(archive).start(start_time=begin)
            points = communication_points(span_of(case), rng)
            back = int(rng.integers(points.size)) if backend == "native" else -1
            for k, t in enumerate(points):
                if k == back:
                    state = host.save()
                    host.step(begin + float(t))
                    host.restore(state)
                    host.forget(state)
                host.step(begin + float(t))
            names = [name for name in case.names if name in archive.references]
            near(case, what, dict(zip(names, host.get(names), strict=True)), rounded(case, begin))
            host.close()


def native(case: Case, rng: np.random.Generator) -> None:
    archived(case, rng, "native", int(rng.choice((2, 3))))


def python(case: Case, rng: np.random.Generator) -> None:
    archived(case, rng, "python", int(rng.choice((2, 3))))


def translated(case: Case, rng: np.random.Generator) -> None:
    """The engine as C99, which the source back end packs, from another time."""
    with in_its_place():
        starts(case, rng)


def exchanged(case: Case, rng: np.random.Generator) -> None:
    """Model exchange by classical Runge-Kutta steps; twice as long steps tell their error."""
    span = span_of(case)
    if span > 2.0 or len(case.result.events) > 400:
        return
    begin = start_time(rng)
    with tempfile.TemporaryDirectory() as folder:
        unit = load(begun_at(case.description, begin))
        path = build_fmu(unit, Path(folder) / "m.fmu", "native", 2, integrator="adams")
        step = min(5e-4, span / 20)
        found = [exchanged_ends(case, path, begin, h) for h in (step, 2.0 * step)]
    for name, value in found[0].items():
        right, twice = float(case.result[name][-1]), found[1][name]
        allowed = 30 * TOLERANCE * (1 + abs(right)) + 90 * float(case.spread[name][-1])
        allowed += float(np.max(rounded(case, begin)[name])) + 2.0 * abs(twice - value)
        if not abs(value - right) <= allowed:
            text = f"{name} at the end: {value!r}, reference {right!r}, allowed {allowed:.2g}"
            raise Difference("model exchange", text)


def exchanged_ends(case: Case, path: Path, begin: float, step: float) -> dict[str, float]:
    """Values at the end of a run by the host of the repository."""
    with tempfile.TemporaryDirectory() as inner:
        host = Exchange(path, Path(inner), step, start=begin)
        host.advance(begin + span_of(case))
        found = {name: host.read(name) for name in case.names if name in host.places}
        host.end()
        return found


# -- ensembles --------------------------------------------------------------------------------------------------------------------------------
def ensembles(case: Case, rng: np.random.Generator) -> None:
    """Runs of an ensemble, from another time, are single runs."""
    begin, span, values = start_time(rng), span_of(case), [4.0, 5.0, 6.5]
    description = begun_at(case.description, begin)
    description["run"] |= {"start_time": begin, "stop_time": begin + span}
    names = [name for name in case.names if name in case.result]
    many = load(description).compile().simulate_many({"gain": np.array(values)}, outputs=names)
    near(
        case, f"ensemble ({many.engine})", {n: many[n][1][-1] for n in names}, rounded(case, begin)
    )


CONTROLLED: dict[str, Callable[[Case, np.random.Generator], None]] = {
    "books": books,
    "starts": starts,
    "steps": steps,
    "integrators": integrators,
    "co-simulation": in_process,
    "ensembles": ensembles,
}
CONTROLLED_LONG = {
    **CONTROLLED,
    "native": native,
    "model exchange": exchanged,
    "engine as C99": translated,
    "python": python,
}


class ControlledMachines(Motions):
    """One machine with controllers per round."""

    checks = CONTROLLED_LONG
    rarely = {"native": 3, "model exchange": 3, "engine as C99": 2, "python": 25}
    name = "controlled machines"

    def draw(self, seed: int) -> dict[str, Any]:
        return controlled(seed)
