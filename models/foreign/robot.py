"""Parts shared by importers of robots: poses, combined inertias, joints, valid names."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

import numpy as np

from kinetree.models.description.names import name_fault
from kinetree.models.language.errors import ModelError, Problem
from kinetree.models.language.numbers_and_expressions import AXES
from kinetree.models.library.argument_checks import switch

MATRIX_ROUNDING = 1e-12  # angles and shares below it are rounding of matrices
STOP_SHARPNESS = 500.0  # 1/rad or 1/m: a stop's force grows e-fold over 2 mrad or 2 mm

ROBOT_ARGUMENTS = {
    "floating": switch("the base moves freely"),
    "limits": switch("end stops at the limits of the joints"),
    "torques": switch("an input force or torque for every joint"),
    "keep_fixed": switch("links that fixed joints hold stay bodies of their own"),
}


def refused(
    file: str, found: str, kind: str, hint: str = "", line: int | None = None
) -> ModelError:
    """Return the error for a file that does not contain a robot of the expected kind."""
    return ModelError(
        Problem(key="", file=file, found=found[:300], expected=kind, hint=hint, line=line)
    )


@dataclass
class Lump:
    """Mass, centre of mass and central inertia of a part, in the axes of the carrying body."""

    mass: float = 0.0
    com: np.ndarray = field(default_factory=lambda: np.zeros(3))
    tensor: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))

    def moved(self, R: np.ndarray, r: np.ndarray) -> Lump:
        """Return mass and inertia in the axes of another frame, in which this frame is at r with
        rotation R.
        """
        return Lump(self.mass, R @ self.com + r, R @ self.tensor @ R.T)

    def tensor_about(self, point: np.ndarray) -> np.ndarray:
        """Return the inertia tensor about a point (parallel-axis theorem) [kg.m2]."""
        d = self.com - point
        return self.tensor + self.mass * (d @ d * np.eye(3) - np.outer(d, d))

    def joined(self, other: Lump) -> Lump:
        """Return both masses as one rigid body."""
        if not other.mass and not other.tensor.any():
            return self
        if not self.mass and not self.tensor.any():
            return other
        mass = self.mass + other.mass
        com = (self.mass * self.com + other.mass * other.com) / mass if mass else self.com
        return Lump(mass, com, self.tensor_about(com) + other.tensor_about(com))

    def table(self) -> dict[str, Any]:
        """Return mass and inertia as a table of [bodies]."""
        J = self.tensor
        body: dict[str, Any] = {"mass": float(self.mass)}
        if self.com.any():
            body["com"] = numbers(self.com)
        if J.any():
            body["inertia"] = numbers((J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]))
            if unusual(J):
                body["unphysical"] = True
        return body


def unusual(J: np.ndarray) -> bool:
    """Return whether an inertia tensor is impossible for a rigid body."""
    smallest, middle, largest = np.linalg.eigvalsh(J)
    return smallest < 0.0 or smallest + middle < largest


def numbers(values: Any) -> list[float]:
    return [float(value) + 0.0 for value in values]


def rotation(R: np.ndarray) -> list[dict[str, Any]]:
    """Return a constant rotation as transforms: none, or one about an axis."""
    from scipy.spatial.transform import Rotation

    vector = Rotation.from_matrix(R).as_rotvec()
    angle = float(np.linalg.norm(vector))
    if angle < MATRIX_ROUNDING:
        return []
    axis = vector / angle
    axis[abs(axis) < MATRIX_ROUNDING] = 0.0
    letter = next(
        (
            name
            for name, each in AXES.items()
            if len(name) == 1 and np.count_nonzero(axis) == 1 and axis @ each
        ),
        None,
    )
    if letter:
        return [{"rotate": letter, "by": math.copysign(angle, axis @ AXES[letter])}]
    return [{"rotate": numbers(axis), "by": angle}]


def place(R: np.ndarray, r: np.ndarray, at: str = "at", frame: str = "frame") -> dict[str, Any]:
    """Return the keys that place a joint frame at r with rotation R."""
    table: dict[str, Any] = {}
    if r.any():
        table[at] = numbers(r)
    if turned := rotation(R):
        table[frame] = turned
    return table


@dataclass
class Sheet:
    """A description under construction, with the list of what was left out."""

    name: str
    file: str
    bodies: dict[str, dict[str, Any]] = field(default_factory=dict)
    joints: dict[str, dict[str, Any]] = field(default_factory=dict)
    couplings: dict[str, dict[str, Any]] = field(default_factory=dict)
    forces: dict[str, dict[str, Any]] = field(default_factory=dict)
    inputs: dict[str, dict[str, Any]] = field(default_factory=dict)
    states: dict[str, dict[str, Any]] = field(default_factory=dict)
    gravity: list[float] = field(default_factory=lambda: [0.0, 0.0, -9.81])
    left_out: list[str] = field(default_factory=list)
    values: set[str] = field(default_factory=set)  # names that expressions know

    def fresh(self, name: str, kind: str, taken: Any = (), value: bool = False) -> str:
        """Return the name from the file, or the nearest valid unused one, and list the change."""
        wanted = unicodedata.normalize("NFKC", name).strip()
        if name_fault(wanted, value):
            wanted = (
                "".join(
                    letter if letter.isalnum() or letter in "._-" else "_" for letter in wanted
                ).strip("-+")
                or kind
            )
            if name_fault(wanted, value):
                wanted = f"{kind}_{wanted}"
        if wanted == "ground" and kind == "body":
            wanted = "ground_body"
        known = self.values if value else ()
        more = (f"{wanted}.{kind}{k}" for k in count(2))
        tries = chain((wanted, f"{wanted}.{kind}"), more)
        found = next(each for each in tries if each not in taken and each not in known)
        if found != name:
            self.left_out.append(
                f"the name '{name}' of {'an' if kind[0] in 'aeiou' else 'a'} {kind}: it is '{found}' here"
            )
        if value:
            self.values.add(found)
        return found

    def rubbing(self, coordinate: str, damping: float, friction: float) -> None:
        """Add damping and dry friction along one coordinate."""
        if friction:
            self.forces[f"{coordinate}.friction"] = {
                "kind": "friction",
                "coordinate": coordinate,
                "coulomb": friction,
                "viscous": damping,
            }
        elif damping:
            self.forces[f"{coordinate}.friction"] = {"coordinate": coordinate, "damping": damping}

    def stop(self, coordinate: str, lower: float, upper: float, effort: float) -> None:
        """Add end stops whose force at the limit equals the joint's effort."""
        law = {"kind": "stop", "coordinate": coordinate, "lower": lower, "upper": upper}
        self.forces[f"{coordinate}.stop"] = law | {
            "stiffness": effort or 1.0,
            "sharpness": STOP_SHARPNESS,
        }

    def without_stops(self, count: int) -> None:
        """List that the limits of so many joints do not act, if there are any."""
        if count:
            self.left_out.append(f"limits of {count} joints (--limits makes stops of them)")

    def torque(self, coordinate: str, unit: str) -> None:
        """Add an input that drives one coordinate by a force or moment."""
        name = self.fresh(
            f"{coordinate}.torque" if unit == "N.m" else f"{coordinate}.force",
            "input",
            self.inputs,
            value=True,
        )
        self.inputs[name] = {"start": 0.0, "unit": unit}
        self.forces[f"{coordinate}.drive"] = {"coordinate": coordinate, "value": quoted(name)}

    def description(self) -> dict[str, Any]:
        """Return the description of the robot as plain tables of the format."""
        whole: dict[str, Any] = {
            "format": "kinetree/1",
            "name": self.name[:200],
            "text": f"Read from {self.file}",
            "gravity": self.gravity,
        }
        for section in ("bodies", "joints", "couplings", "forces", "inputs", "states"):
            if table := getattr(self, section):
                whole[section] = table
        return whole


def quoted(name: str) -> str:
    """Return a name as it must be written in expressions."""
    return name if all(part.isidentifier() for part in name.split(".")) else f"'{name}'"
