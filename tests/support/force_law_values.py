"""Laws of force elements without a mechanism: their expressions, with numbers for their states and for whatever they measure of bodies that move."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from kinetree.models.expressions.node_arithmetic import E
from kinetree.models.expressions.nodes import Der, Name, Node
from kinetree.models.expressions.parse import evaluate_constant, names, parse
from kinetree.models.expressions.simplify import substitute
from kinetree.models.expressions.vectors import Vector
from kinetree.solvers.sensors.kinds import Kind
from kinetree.solvers.sensors.kinds.bodies import ANGULAR_VELOCITY, ORIENTATION
from kinetree.solvers.sensors.kinds.points import (
    DIRECTION,
    DISTANCE,
    DISTANCE_RATE,
    POSITION,
    VELOCITY,
)


@dataclass
class Moving:
    """A body: where it is, its quaternion, the velocity of its origin and its spin, all in ground axes."""

    place: Any = (0.0, 0.0, 0.0)
    quaternion: Any = (1.0, 0.0, 0.0, 0.0)
    velocity: Any = (0.0, 0.0, 0.0)
    spin: Any = (0.0, 0.0, 0.0)
    R: np.ndarray = field(init=False)

    def __post_init__(self):
        self.place, self.quaternion, self.velocity, self.spin = map(
            np.array, (self.place, self.quaternion, self.velocity, self.spin)
        )
        w, v = self.quaternion[0], self.quaternion[1:]
        K = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
        self.R = np.eye(3) + 2.0 * w * K + 2.0 * K @ K

    def at(self, point: Any) -> np.ndarray:
        return self.place + self.R @ np.array(point)

    def speed(self, point: Any) -> np.ndarray:
        """Velocity of a point in body axes."""
        return self.velocity + np.cross(self.spin, self.R @ np.array(point))


class Bench:
    """Stands for the compiler's builder: keeps what laws define, hands out no registers but the vectors they would hold."""

    def __init__(self, **numbers: float):
        self.numbers = numbers  # of names that nothing defines: measured values, states, inputs
        self.defined: dict[str, Node] = {}
        self.body = {"ground": 0, "a": 1, "b": 2}
        self.vectors: list[tuple[Node, ...]] = []
        self.forces: list[tuple[Any, ...]] = []
        self.sensors: dict[str, tuple[Any, ...]] = {}
        self.moving = [Moving(), Moving(), Moving()]  # the ground, a and b
        self.stored: list[Node] = []
        self.books: dict[str, Any] = {}
        self.potential_of: dict[str, E] = {}
        self.states: dict[str, Any] = {}
        self.columns: list[Any] = []
        self.early_laws: list[Any] = []
        self.topology = SimpleNamespace(joint=("j",))
        self.forms = {
            "j": SimpleNamespace(
                coordinates=("x", "y"), speeds=("der(x)", "der(y)"), quaternion=False
            )
        }
        self.registers = SimpleNamespace(
            names=self.sensors,
            expand=lambda node: node,
            add_table=lambda *given, **more: 0,
            add=lambda name: self.numbers.setdefault(name, 0.0),
        )
        self.jumps: list[Any] = []
        self.description = SimpleNamespace(
            forces={}, hydraulics={}, bodies={}, pieces={}, beam_forms={}
        )

    def node(self, value: float | str | Node, key: str = "") -> Node:
        return value if isinstance(value, Node) else parse(value)

    def define(self, name: str, node: Node) -> None:
        self.defined[name] = node

    def offer(self, name: str, value: str) -> None:
        self.defined.setdefault(name, Name(value))

    def made(self, name: str) -> str:
        return name

    def store(self, potential: Node) -> None:
        self.stored.append(potential)

    def register(self, value: Any, key: str = "") -> int:
        return self.vector((value,))

    def vector(self, values: Any, key: str = "") -> int:
        parts = tuple(self.node(value) for value in values)
        if parts not in self.vectors:
            self.vectors.append(parts)
        return self.vectors.index(parts)

    def add_sensor(
        self,
        name: str,
        kind: Kind,
        a: int = 0,
        point_a: int = -1,
        b: int = 0,
        point_b: int = -1,
        axis: int = 0,
        frame: int = 0,
    ) -> int:
        self.sensors[name] = (kind, a, point_a, b, point_b, axis)
        return 0

    def add_force(self, kind: Any, *arguments: Any) -> None:
        self.forces.append((kind, *arguments))

    # -- numbers ------------------------------------------------------------------------------------------------------------------------
    def measured(self, name: str) -> float:
        """What a sensor tells."""
        kind, a, point_a, b, point_b, axis = self.sensors[name]
        one, two = self.moving[a], self.moving[b]
        if kind == ORIENTATION:
            return float(one.quaternion[axis])
        if kind == ANGULAR_VELOCITY:
            return float(one.spin[axis])
        first = self.values(point_a)
        if kind in (DISTANCE, DISTANCE_RATE):
            second = self.values(point_b)
            way, speed = two.at(second) - one.at(first), two.speed(second) - one.speed(first)
            return float(
                np.linalg.norm(way) if kind == DISTANCE else way @ speed / np.linalg.norm(way)
            )
        return float(
            {POSITION: one.at, VELOCITY: one.speed, DIRECTION: one.R.__matmul__}[kind](
                np.array(first)
            )[axis]
        )

    def value(self, expression: E | Node | str, **numbers: float) -> float:
        """The number of an expression, or of a defined name."""
        node = (
            Name(expression)
            if isinstance(expression, str)
            else expression.node
            if isinstance(expression, E)
            else expression
        )
        known = self.numbers | numbers
        for _ in range(50):
            fuller = substitute(
                node, lambda leaf: self.defined.get(leaf.key) if leaf.key not in known else None
            )
            if fuller is node:
                return evaluate_constant(
                    node,
                    known
                    | {
                        key: self.measured(key)
                        for key in names(node) - known.keys()
                        if key in self.sensors
                    },
                )
            node = fuller
        raise AssertionError("definitions without end")

    def values(self, vector: Vector | list[E] | int, **numbers: float) -> list[float]:
        """The numbers of a vector, or of one that was handed out."""
        parts = self.vectors[vector] if isinstance(vector, int) else vector
        return [self.value(part, **numbers) for part in parts]

    def rate(self, state: str, **numbers: float) -> float:
        """The rate of a state that an element brings along."""
        return self.value(f"{state}:rate", **numbers)

    def sensed(self, label: str, numbers: Any) -> None:
        """Numbers of LABEL[1], LABEL[2], ..."""
        self.numbers |= {f"{label}[{k}]": float(each) for k, each in enumerate(numbers, 1)}


def derivative(key: str) -> str:
    """The name of a speed."""
    return Der(key).key
