"""Random mechanisms as descriptions, of every joint type of the registry in both directions, with everything that meets in a run.

Given motions with corners, forces of most kinds, inputs, states, couplings, closed loops, events and stages are put in by chance. All of it is plain
data: what fails can be shrunk key by key and kept in a file. Every body has outputs that do not depend on how the mechanism is written down.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kinetree.models import ModelError, load
from kinetree.models.joints.kinds import KINDS

STOP = 0.6
RUN = {"stop_time": STOP, "output_step": 0.05, "tolerances": 1e-10, "step_limit": 20000}
INPUTS = {"push": "3*sin(4*t + 1)", "pull": "2 - 5*t"}  # functions of time that inputs follow
GIVEN = (
    "0.2*sin(3*t + 0.4)",
    "max(0, 0.4*(t - 0.17))",
    "if(t < 0.23, 0.1*t, 0.023 + 0.5*(t - 0.23)**2)",
    "0.3*abs(t - 0.31)",
    "table('path', t)",
    "min(0.3*t, 0.1)",
)
SCALAR = tuple(name for name, kind in KINDS.items() if kind.coordinates and not kind.quaternion)


def vector(values: Any) -> list[float]:
    return [round(float(value), 3) for value in values]


def unit(rng: np.random.Generator) -> list[float]:
    a = rng.normal(size=3)
    return vector(a / np.linalg.norm(a))


class Draft:
    """A description while it is drawn."""

    def __init__(self, rng: np.random.Generator):
        self.rng = rng
        self.d: dict[str, Any] = {
            "format": "kinetree/1",
            "name": "random",
            "gravity": vector(rng.normal(0.0, 5.0, 3)),
            "parameters": {"k": {"value": 30.0, "tunable": True}, "count": 0.0},
            "tables": {
                "path": {"x": [0.0, 0.13, 0.29, 0.7], "y": [0.0, 0.05, -0.02, 0.1]},
                "law": {"x": [-1.0, 0.0, 0.3], "y": [-20.0, 0.0, 15.0]},
            },
            "bodies": {},
            "joints": {},
            "forces": {},
            "outputs": {},
            "run": dict(RUN),
        }
        self.scalars: dict[
            str, tuple[float, float]
        ] = {}  # coordinates whose rate is their speed, with their start values

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def some(self, scale: float = 0.5, count: int = 3) -> list[float]:
        return vector(self.rng.normal(0.0, scale, count))

    def pick(self, of: Any) -> Any:
        names = list(of)
        return names[int(self.rng.integers(len(names)))]

    def point(self, ground: bool = True) -> dict[str, Any]:
        return {
            "body": self.pick([*self.d["bodies"], *(["ground"] if ground else [])]),
            "point": self.some(0.4),
        }

    def pair(self) -> list[dict[str, Any]]:
        """Points of two different bodies."""
        first = self.point(ground=False)
        others = [name for name in (*self.d["bodies"], "ground") if name != first["body"]]
        return [first, {"body": self.pick(others), "point": self.some(0.4)}]

    # -- bodies and joints ----------------------------------------------------------------------------------------------------------------
    def tree(self, bodies: int) -> None:
        for i in range(1, bodies + 1):
            r = self.rng.normal(0.0, 0.3, (3, 3))
            P = r @ r.T + 0.02 * np.eye(3)
            J = np.trace(P) * np.eye(3) - P
            tensor = [float(J[a, b]) for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
            parent = self.pick(
                [*self.d["bodies"], *(["ground"] if i == 1 or self.chance(0.3) else [])]
            )
            self.d["bodies"][f"b{i}"] = {
                "mass": float(self.rng.uniform(0.5, 3.0)),
                "com": self.some(0.1),
                "inertia": tensor,
            }
            self.d["joints"][f"j{i}"] = self.joint(f"j{i}", parent, f"b{i}")

    def joint(self, name: str, parent: str, child: str) -> dict[str, Any]:
        ends = {"parent": parent, "child": child}
        kind = self.pick((*KINDS, *SCALAR, "revolute", "transforms", "transforms"))
        if kind != "free" and self.chance(0.25):
            ends = {"parent": child, "child": parent}  # written from the body to what carries it
        if kind == "transforms":
            return ends | {"transforms": self.transforms(name)}
        table: dict[str, Any] = ends | {"type": kind}
        for key, scale in (("at", 0.4), ("child_at", 0.3)):
            if self.chance(0.6):
                table[key] = self.some(scale)
        for key in ("frame", "child_frame"):
            if self.chance(0.3):
                table[key] = [{"rotate": unit(self.rng), "by": float(self.rng.normal(0.0, 0.6))}]
        axes, scalars = KINDS[kind].axes, KINDS[kind].coordinates
        if len(axes) == 1 and kind != "planar":
            table["axis"] = self.pick(("x", "y", "z", "-y")) if self.chance(0.4) else unit(self.rng)
        if len(axes) == 2:
            pair = np.linalg.qr(self.rng.normal(size=(3, 3)))[0]
            table["axis"] = [[float(x) for x in pair[0]], [float(x) for x in pair[1]]]
        if KINDS[kind].pitch:
            table["pitch"] = float(self.rng.uniform(0.1, 1.0))
        count = len(scalars)
        if KINDS[kind].quaternion:
            angle, axis = 0.5 * float(self.rng.normal(0.0, 1.0)), unit(self.rng)
            turn = [math.cos(angle), *(math.sin(angle) * x for x in axis)]
            table["start"] = [*(self.some(0.4) if kind == "free" else []), *turn]
            table["speed"] = self.some(0.5, 6 if kind == "free" else 3)
        elif count:
            table["start"], table["speed"] = self.some(0.3, count), self.some(0.6, count)
            self.scalars |= {
                f"{name}.{x}": each for x, each in zip(scalars, zip(table["start"], table["speed"]))
            }
        return table

    def transforms(self, name: str) -> list[dict[str, Any]]:
        axes = {
            word: list(np.linalg.qr(self.rng.normal(size=(3, 3)))[0])
            for word in ("rotate", "shift")
        }
        found: list[dict[str, Any]] = []
        for k in range(int(self.rng.integers(1, 4))):
            word = self.pick(("rotate", "rotate", "shift"))
            axis = [float(x) for x in axes[word].pop()]
            if self.chance(0.4):
                found.append({"shift": self.some(0.3)})
            start, speed = self.some(0.3, 1)[0], self.some(0.6, 1)[0]
            found.append({word: axis, "coordinate": f"{name}c{k}", "start": start, "speed": speed})
            self.scalars[f"{name}c{k}"] = start, speed
        if self.chance(0.5):
            found.insert(
                int(self.rng.integers(len(found) + 1)),
                {self.pick(("rotate", "shift")): unit(self.rng), "by": self.pick(GIVEN)},
            )
        return found

    # -- forces ---------------------------------------------------------------------------------------------------------------------------
    def forces(self) -> None:
        kinds = ["line", "rope", "wrench", "pair", "contact", "cylinder", "terrain"]
        kinds += ["spring", "friction", "stop", "law"] if self.scalars else []
        for i in range(int(self.rng.integers(0, 5))):
            self.d["forces"][f"f{i}"] = self.force(self.pick(kinds))

    def force(self, kind: str) -> dict[str, Any]:
        if kind in ("spring", "friction", "stop", "law"):
            coordinate = self.pick(self.scalars)
            start = self.scalars[coordinate][0]
            return {"coordinate": coordinate} | {
                "spring": {"stiffness": "k", "damping": 0.4, "length": start + 0.1},
                "friction": {"coulomb": 1.0, "viscous": 0.3, "speed": 0.2},
                "stop": {
                    "lower": start - 0.2,
                    "upper": start + 0.1,
                    "stiffness": 2.0,
                    "damping": 0.1,
                    "sharpness": 12.0,
                },
                "law": {"law": "law", "damping": 0.2},
            }[kind]
        if kind in ("line", "rope"):
            more = {"tension_only": True, "length": 0.7} if kind == "rope" else {"length": 0.4}
            return {"between": self.pair(), "stiffness": "k", "damping": 0.3} | more
        if kind == "wrench":
            force = [f"{x}*cos(5*t)" for x in self.some(2.0)]
            return self.point(ground=False) | {
                "force": force,
                "moment": self.some(0.3),
                "frame": self.pick(("ground", "body")),
            }
        if kind == "pair":
            return {
                "between": self.pair(),
                "force": self.some(1.0),
                "moment": self.some(0.3),
                "frame": self.pick(("ground", "body")),
            }
        if kind == "cylinder":
            return {
                "between": self.pair(),
                "area_a": 1e-3,
                "area_b": 6e-4,
                "pressure_a": 4e3,
                "pressure_b": 3e3,
                "viscous": 0.5,
            }
        surface = (
            {"height": "0.1*sin(ground.x) - 0.1"}
            if kind == "terrain"
            else {"height": float(self.rng.normal(-0.2, 0.2)), "normal": unit(self.rng)}
        )
        return (
            self.point(ground=False)
            | {
                "stiffness": 200.0,
                "damping": 4.0,
                "friction": 0.3,
                "friction_speed": 0.2,
                "radius": 0.05,
            }
            | surface
        )

    # -- what meets in a run --------------------------------------------------------------------------------------------------------------
    def states_and_inputs(self) -> None:
        if self.scalars and self.chance(0.3):
            c = self.pick(self.scalars)
            self.d["states"] = {"lag": {"rate": f"5*(sin({c}) - lag) + 0.3*der({c})", "start": 0.2}}
            self.d["forces"]["by_lag"] = {"coordinate": self.pick(self.scalars), "value": "3*lag"}
        if self.scalars and self.chance(0.4):
            self.d["inputs"] = {"push": {"start": 1.0}, "pull": {"start": 0.5}}
            self.d["forces"]["by_push"] = {"coordinate": self.pick(self.scalars), "value": "push"}
            self.d["forces"]["by_pull"] = {"between": self.pair(), "value": "pull"}

    def couplings(self) -> None:
        if len(self.scalars) > 2 and self.chance(0.25):
            names = [str(x) for x in self.rng.permutation(list(self.scalars))[:2]]
            a, b = (self.scalars[name][0] for name in names)
            r = round(float(self.rng.uniform(-1.5, 1.5)), 2)
            if self.chance(0.7):
                self.d["couplings"] = {"gear": f"{names[0]} - {r!r}*{names[1]} - {a - r * b!r}"}
            else:
                self.d["couplings"] = {
                    "slip": f"der({names[0]}) - {r!r}*der({names[1]})*cos({names[1]})"
                }

    def loop(self) -> None:
        """A rod of fixed length or a ball joint between points that meet at the start; needs freedoms to spare."""
        system = load(self.d).compile()
        spare = system.n - len(self.d.get("couplings", ()))
        if spare < 3 or not self.chance(0.5):
            return
        first, second = self.pair()
        probe = {"reference": {"body": second["body"], "point": second["point"]}}
        probes = {"far": {"quantity": "distance", "between": [first, second]}}
        if second["body"] != "ground":
            probes["place"] = {"quantity": "position", **first, "frame": second["body"]} | probe
        found = load(self.d | {"outputs": probes, "stages": [], "events": {}}).compile()
        t = 0.0
        values = found.outputs(t, *found.start())
        if spare >= 5 and "place[1]" in values and self.chance(0.6):
            at = [second["point"][k] + values[f"place[{k + 1}]"] for k in range(3)]
            self.d["joints"]["closing"] = {
                "parent": first["body"],
                "child": second["body"],
                "type": "spherical",
                "at": first["point"],
                "child_at": at,
            }
        elif values["far"] > 0.2:
            self.d.setdefault("couplings", {})["rod"] = {
                "between": [first, second],
                "length": values["far"],
            }
            try:
                load(self.d).compile()
            except ModelError:  # rigid joints hold both bodies together
                del self.d["couplings"]["rod"]

    def events(self) -> None:
        for i in range(int(self.rng.integers(0, 3))):
            if not self.scalars or not self.chance(0.6):
                return
            c = self.pick(self.scalars)
            start, speed = self.scalars[c]
            bound = round(start + math.copysign(float(self.rng.uniform(0.02, 0.2)), speed), 3)
            when = f"{c} {'>' if speed > 0 else '<'} {bound}"
            change = self.pick(
                (
                    {f"der({c})": f"-0.6*der({c})"},
                    {f"der({c})": f"0.5*der({c})", "count": "count + 1"},
                    {"k": "k + 5"},
                )
            )
            self.d.setdefault("events", {})[f"e{i}"] = {"when": when, "set": change}

    def stages(self) -> None:
        if not self.chance(0.4):
            return
        first = {"name": "first", "ends": self.pick(({"at": 0.21}, {"after": 0.15}))}
        if self.scalars and self.chance(0.3):
            c = self.pick(self.scalars)
            first["ends"] = {
                "when": f"{c} {'>' if self.scalars[c][1] > 0 else '<'} {self.scalars[c][0] + 0.05 * np.sign(self.scalars[c][1]):.4f}",
                "after": 0.3,
            }
        carried = [joint for joint in self.d["joints"] if joint != "closing"]
        leaves = [
            name
            for name in self.d["bodies"]
            if not any(
                name in (j["parent"], j["child"])
                for j in self.d["joints"].values()
                if j is not self.d["joints"]["j" + name[1:]]
            )
        ]
        way = self.pick(("free", "lock", "set", "drop"))
        if way == "free":
            first["free"] = [self.pick(list(self.d["joints"]))]
        elif way == "lock":
            first["lock"] = [self.pick(carried)]
        elif way == "drop" and len(leaves) and len(self.d["bodies"]) > 1:
            first["drop"] = [self.pick(leaves)]
        else:
            first["set"] = {"k": 60.0} | (
                {f"der({self.pick(self.scalars)})": 0.3}
                if self.scalars and self.chance(0.3)
                else {}
            )
        self.d["stages"] = [
            first,
            {"name": "second", "ends": {"after": 0.2}, "set": {"count": "count + 1"}},
            {"name": "third"},
        ]

    def outputs(self) -> None:
        for body in self.d["bodies"]:
            point = self.some(0.3)
            self.d["outputs"] |= {
                f"{body}_place": {"quantity": "position", "body": body, "point": point},
                f"{body}_speed": {"quantity": "velocity", "body": body, "point": point},
                f"{body}_turning": {"quantity": "angular_velocity", "body": body},
                f"{body}_pull": {"quantity": "acceleration", "body": body, "point": point},
            }


def random_mechanism(seed: int) -> dict[str, Any]:
    """A description by its seed."""
    draft = Draft(np.random.default_rng(seed))
    draft.tree(int(draft.rng.integers(1, 6)))
    draft.forces()
    draft.states_and_inputs()
    draft.couplings()
    draft.outputs()
    draft.loop()
    draft.events()
    draft.stages()
    return draft.d
