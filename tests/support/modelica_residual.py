"""Right-hand side of a Modelica model out of rumoca's equations: evaluates the residuals of its DAE and solves them one unknown at a time."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any

BINARY = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "power": operator.pow,
    "less": operator.lt,
    "greater": operator.gt,
}
BUILTIN = {"sqrt": math.sqrt, "max": max, "min": min, "cos": math.cos, "sin": math.sin}
KNOWN = ("parameter", "state", "input", "algebraic", "derivative")


class Equations:
    """Residuals 0 = r(t, states, derivatives, algebraics, inputs, parameters) of one model."""

    def __init__(self, model: Any):
        storage = model.to_dict()["storage"]
        self.nodes, self.functions = storage["expressions"]["nodes"], storage["functions"]
        self.names = [variable["name"] for variable in storage["variables"]]
        self.bindings = {
            v["name"]: v["attributes"]["binding"]
            for v in storage["variables"]
            if v["role"] == "parameter"
        }
        self.states = [v["name"] for v in storage["variables"] if v["role"] == "state"]
        self.unknown = [
            v["name"] for v in storage["variables"] if v["role"] in ("algebraic", "output")
        ]
        self.residuals = [
            each["residual"]["residual"] for each in storage["continuous_equation_operations"]
        ]
        operands = iter(storage["expressions"]["operands"])
        self.operands = {}
        for index, node in enumerate(self.nodes):
            inner = next(iter(node.values()))
            count = inner.get("operand_count", 0) if isinstance(inner, dict) else 0
            if count:
                self.operands[index] = [next(operands) for _ in range(count)]
        assert next(operands, None) is None

    def value(
        self, index: int, known: Mapping[str, float], arguments: tuple[float, ...] = ()
    ) -> float:
        """A node of an expression."""
        kind, node = next(iter(self.nodes[index].items()))
        inner = (
            [self.value(each, known, arguments) for each in self.operands.get(index, ())]
            if kind != "conditional"
            else []
        )
        if kind == "literal":
            return next(iter(node.values()))
        if kind == "binary":
            return BINARY[node["operator"]](
                self.value(node["lhs"], known, arguments), self.value(node["rhs"], known, arguments)
            )
        if kind == "unary":
            assert node["operator"] == "negate"
            return -self.value(node["operand"], known, arguments)
        if kind == "builtin":
            return BUILTIN[node["builtin"]](*inner)
        if kind == "call":
            (statement,) = self.functions[node["function"]]["statements"]
            return self.value(statement["assignment"]["rhs"], known, tuple(inner))
        if kind == "conditional":
            *branches, last = self.operands[index]
            for condition, result in zip(branches[::2], branches[1::2], strict=True):
                if self.value(condition, known, arguments):
                    return self.value(result, known, arguments)
            return self.value(last, known, arguments)
        return self.coordinate(node, known, arguments)

    def coordinate(
        self, node: Any, known: Mapping[str, float], arguments: tuple[float, ...]
    ) -> float:
        """A variable, the time or an argument of a function."""
        if node == "time":
            return known["time"]
        (role, which), *_ = node.items()
        if role == "function_parameter":
            return arguments[which["ordinal"]]
        assert role in KNOWN
        return known[f"der({self.names[which]})" if role == "derivative" else self.names[which]]

    def parameters(self) -> dict[str, float]:
        """Values of all parameters; a binding may use others."""
        found: dict[str, float] = {}
        rest = dict(self.bindings)
        while rest:
            for name, binding in list(rest.items()):
                try:
                    found[name] = self.value(binding, found)
                    del rest[name]
                except KeyError:
                    continue
        return found

    def solve(self, known: Mapping[str, float]) -> dict[str, float]:
        """Derivatives and algebraic variables: always an equation with one unknown left, in which it is linear."""
        values = self.parameters() | dict(known)
        missing = {f"der({name})" for name in self.states} | set(self.unknown)
        rest = list(self.residuals)
        while rest:
            before = len(rest)
            for residual in list(rest):
                lacking = self.lacking(residual, values)
                if len(lacking) == 1:
                    (name,) = lacking
                    values[name] = self.root(residual, values, name)
                    missing.discard(name)
                    rest.remove(residual)
            assert len(rest) < before, "an algebraic loop"
        assert not missing
        return values

    def lacking(self, residual: int, values: Mapping[str, float]) -> set[str]:
        """Names in an equation that have no value yet."""
        found: set[str] = set()
        stack = [residual]
        while stack:
            index = stack.pop()
            kind, node = next(iter(self.nodes[index].items()))
            stack += self.operands.get(index, [])
            stack += [
                node[key]
                for key in ("lhs", "rhs", "operand")
                if isinstance(node, dict) and key in node
            ]
            if kind == "coordinate" and isinstance(node, dict) and next(iter(node)) in KNOWN:
                role, which = next(iter(node.items()))
                found.add(
                    f"der({self.names[which]})" if role == "derivative" else self.names[which]
                )
        return found - values.keys()

    def root(self, residual: int, values: Mapping[str, float], name: str) -> float:
        """The value of the last unknown of an equation that is linear in it; two steps, so that rounding is that of the result."""
        x, slope = 0.0, 1.0
        for _ in range(3):
            here = self.value(residual, {**values, name: x})
            step = abs(x) or abs(here)
            if step == 0.0:
                break
            slope = (self.value(residual, {**values, name: x + step}) - here) / step
            x -= here / slope
        assert abs(self.value(residual, {**values, name: x})) <= 1e-12 * max(
            abs(slope * x), self.largest(residual, values, name)
        ), "not linear"
        return x

    def largest(self, residual: int, values: Mapping[str, float], name: str) -> float:
        """Size of the terms that the residual adds: those of its top sum."""
        node = self.nodes[residual].get("binary")
        if node is None or node["operator"] not in ("add", "subtract"):
            return abs(self.value(residual, {**values, name: 0.0}))
        return self.largest(node["lhs"], values, name) + self.largest(node["rhs"], values, name)
