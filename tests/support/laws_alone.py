"""Laws of force elements without a mechanism: their expressions, with numbers for whatever they would measure and for their states."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from kinetree.models.compilation.algebra import E
from kinetree.models.compilation.space import Vector
from kinetree.models.expressions.nodes import Der, Name, Node
from kinetree.models.expressions.simplify import substitute
from kinetree.models.expressions.text import evaluate_constant, parse


class Bench:
    """Stands for the compiler's builder: keeps what laws define, hands out no registers but the vectors they would hold."""

    def __init__(self, **numbers: float):
        self.numbers = numbers  # of names that nothing defines: measured values, states, inputs
        self.defined: dict[str, Node] = {}
        self.body = {"ground": 0, "a": 1, "b": 2}
        self.vectors: list[tuple[Node, ...]] = []
        self.forces: list[tuple[Any, ...]] = []
        self.sensors: dict[str, tuple[Any, ...]] = {}
        self.stored: list[Node] = []
        self.books: dict[str, Any] = {}
        self.potential_of: dict[str, E] = {}
        self.states: dict[str, Any] = {}
        self.columns: list[Any] = []
        self.early_laws: list[Any] = []
        self.topology = SimpleNamespace(joint=("j",))
        self.forms = {"j": SimpleNamespace(coordinates=("x", "y"), speeds=("der(x)", "der(y)"), quaternion=False)}
        self.registers = SimpleNamespace(names=self.sensors, expand=lambda node: node, add_table=lambda *given, **more: 0)
        self.description = SimpleNamespace(forces={}, hydraulics={}, bodies={})

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
        self.vectors.append(tuple(self.node(value) for value in values))
        return len(self.vectors) - 1

    def add_sensor(self, name: str, *what: Any, **more: Any) -> int:
        self.sensors[name] = (*what, *more.values())
        return 0

    def add_force(self, kind: Any, *arguments: Any) -> None:
        self.forces.append((kind, *arguments))

    # -- numbers ------------------------------------------------------------------------------------------------------------------------
    def value(self, expression: E | Node | str, **numbers: float) -> float:
        """The number of an expression, or of a defined name."""
        node = Name(expression) if isinstance(expression, str) else expression.node if isinstance(expression, E) else expression
        known = self.numbers | numbers
        for _ in range(50):
            fuller = substitute(node, lambda leaf: self.defined.get(leaf.key) if leaf.key not in known else None)
            if fuller is node:
                return evaluate_constant(node, known)
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
