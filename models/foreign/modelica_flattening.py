"""Modelica models flattened to lists of components and connections, parsed by pymoca.

Classes defined in the file are expanded; library classes stay components. Parameters are numbers
after reading: modifications are evaluated in the scope where they are written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.models.foreign import modelica_parts as parts
from kinetree.models.foreign.modelica_component import Component, Unreadable
from kinetree.models.foreign.modelica_parser import KIND, PLAIN, Packages, models_of, syntax_tree
from kinetree.models.foreign.modelica_values import (
    MOST_ROUNDS,
    evaluated,
    reference,
    rounds,
    whole_number,
)
from kinetree.models.foreign.robot import refused

DEEPEST_MODELICA = 12  # components inside one another
MOST_COMPONENTS = 5_000
WORLD_DEFAULTS = {  # for a nominal length of 1 m
    "defaultJointLength": 0.1, "defaultJointWidth": 0.05, "defaultForceLength": 0.1, "defaultForceWidth": 0.05, "defaultBodyDiameter": 1.0 / 9.0,
    "defaultWidthFraction": 20.0, "nominalLength": 1.0, "defaultAxisLength": 0.2,
}  # fmt: skip
AXIS_DEFAULTS = {
    "Revolute": (0.0, 0.0, 1.0),
    "Prismatic": (1.0, 0.0, 0.0),
    "Cylindrical": (1.0, 0.0, 0.0),
}


@dataclass
class Model:
    """A flattened Modelica model."""

    name: str
    components: list[Component] = field(default_factory=list)
    connections: list[tuple[str, str]] = field(default_factory=list)
    aliases: list[tuple[str, str]] = field(default_factory=list)  # output, what it is
    left_out: list[str] = field(default_factory=list)
    arrays: dict[str, int] = field(default_factory=dict)  # numbers of elements, by path
    equations: Counter[str] = field(default_factory=Counter)  # that are left out, by path
    absent: set[str] = field(default_factory=set)  # components whose condition does not hold

    def finish(self) -> None:
        """Drop connections of absent components, and list what was left out."""
        self.connections = [
            pair for pair in self.connections if not any(self._is_absent(each) for each in pair)
        ]
        for path, count in self.equations.items():
            what = "an equation" if count == 1 else f"{count} equations"
            self.left_out.append(f"{path}: {what}")

    def _is_absent(self, node: str) -> bool:
        names = node.split(".")
        return any(".".join(names[:k]) in self.absent for k in range(1, len(names) + 1))


def parsed(path: Path, wanted: str = "") -> Model:
    """Return the flattened model of a file: the named one, or the last one."""
    tree = syntax_tree(path)
    models = list(models_of(tree, ""))
    if not models:
        raise refused(str(path), "no model", KIND)
    names = [name for name, _, _ in models]
    found = [each for each in models if wanted in ("", each[0], each[0].rpartition(".")[2])]
    if not found:
        raise refused(str(path), f"no model '{wanted[:60]}'", f"one of {', '.join(names)[:200]}")
    name, chosen, around = found[-1]
    model = Model(name.rpartition(".")[2])
    packages = Packages(path, tree.within_names)
    try:
        _Flattening(model).add(chosen, "", {}, (*around, *packages.around), 0)
        model.finish()
    except Unreadable as error:
        raise refused(str(path), str(error), KIND) from None
    except RecursionError:
        raise refused(str(path), "expressions nested too deeply", KIND) from None
    return model


@dataclass(frozen=True)
class _Each:
    """A modification of every element of an array."""

    value: Any


@dataclass(frozen=True)
class _Redeclared:
    """A class that replaces a replaceable one."""

    name: str
    modification: Any
    around: tuple[Any, ...]


LIBRARY = (
    "Parts", "Joints", "Forces", "Sensors", "Constraints", "Assemblies", "Components", "Sources", "MultiBody",
)  # fmt: skip


class _Flattening:
    """Components and connections of a class, with those inside its components."""

    def __init__(self, model: Model):
        self.model = model

    def add(
        self, cls: Any, path: str, given: dict[str, Any], around: tuple[Any, ...], depth: int
    ) -> None:
        """Add an instance of a class that is defined in the file."""
        if depth > DEEPEST_MODELICA:
            raise Unreadable(f"components nested too deeply, as {path[-60:]}")
        around = (cls, *around)
        values = self._values(cls, given, around, depth)
        for clause in cls.extends:
            self._extend(clause, path, given, values, around, depth)
        inside = {name: each for name, each in cls.symbols.items() if not _is_value(each)}
        for _ in range(3):  # parameters of components may refer to those of others
            for name, symbol in inside.items():
                values |= self._offered(name, symbol, values, given.get(name), around, depth)
        for name, symbol in inside.items():
            self._symbol(symbol, f"{path}.{name}".lstrip("."), given, values, around, depth)
        for equation in cls.equations:
            self._equation(equation, path, values)
        where = path or self.model.name
        if cls.initial_equations:
            self.model.left_out.append(f"{where}: initial equations")
        if cls.statements:
            self.model.left_out.append(f"{where}: an algorithm")

    def _extend(
        self, clause: Any, path: str, given: dict[str, Any], values: dict[str, Any],
        around: tuple[Any, ...], depth: int,
    ) -> None:  # fmt: skip
        name = _imported(str(clause.component), around)
        if "Icons." in name or "Interfaces." in name:
            return
        more = _modifications(clause.class_modification, values, path, around)
        base, scope = _found(name, around[1:])
        if base is not None:
            self.add(base, path, _merged(more, given), scope, depth + 1)
        elif path and len(name.split(".")) > 1 and name.split(".")[-2] in LIBRARY:
            self._library(path, name, _merged(more, given))
        else:
            self.model.left_out.append(f"{path or self.model.name}: extends {name}")

    # -- components -----------------------------------------------------------------------------------
    def _symbol(
        self, symbol: Any, path: str, given: dict[str, Any], values: dict[str, Any],
        around: tuple[Any, ...], depth: int,
    ) -> None:  # fmt: skip
        """Add a component, or the elements of an array of them."""
        kind = _imported(str(symbol.type), around)
        if "Visualizers." in kind or "Icons." in kind:
            return
        if (condition := getattr(symbol, "condition", None)) is not None:
            try:
                there = bool(evaluated(condition, values))
            except Unreadable as error:
                there = False
                self.model.left_out.append(f"{path} ({kind}): whether it is there: {error}")
            if not there:
                self.model.absent.add(path)
                return
        sizes = [each for row in symbol.dimensions for each in row if _is_size(each)]
        modified = _modifications(symbol.class_modification, values, path, around, bool(sizes))
        own = given.get(symbol.name)
        if isinstance(own, dict):
            modified = _merged(modified, own)
        if isinstance(other := given.get(kind), _Redeclared):
            more = _modifications(other.modification, values, path, other.around)
            kind, modified, around = other.name, _merged(more, modified), other.around
        if not sizes:
            self._component(kind, path, modified, around, depth)
            return
        try:
            count = whole_number(sizes[0], values)
        except Unreadable as error:
            self.model.left_out.append(f"{path}: an array of {kind} ({error})")
            return
        if len(sizes) > 1 or count > MOST_ROUNDS:
            self.model.left_out.append(f"{path}: an array of {kind}")
            return
        self.model.arrays[path] = count
        for k in range(1, count + 1):
            self._component(kind, f"{path}.{k}", _element_of(modified, k, count), around, depth)

    def _component(
        self, kind: str, path: str, given: dict[str, Any], around: tuple[Any, ...], depth: int
    ) -> None:
        if len(self.model.components) > MOST_COMPONENTS:
            raise Unreadable(f"more than {MOST_COMPONENTS} components")
        inner, scope = _found(kind, around)
        if inner is not None:
            self.add(inner, path, given, scope, depth + 1)
        else:
            self._library(path, kind, given)

    def _library(self, path: str, kind: str, given: dict[str, Any]) -> None:
        """Add a component of a library class."""
        changed = [name for name, each in given.items() if isinstance(each, _Redeclared)]
        if changed:
            self.model.left_out.append(f"{path}: a redeclaration of {', '.join(changed)}")
        plain = {name: each for name, each in given.items() if name not in changed}
        self.model.components.append(Component(path, ".".join(kind.split(".")[-2:]), plain))

    # -- equations ------------------------------------------------------------------------------------
    def _equation(self, equation: Any, path: str, values: dict[str, Any]) -> None:
        kind, where = type(equation).__name__, path or self.model.name
        if kind == "ConnectClause":
            try:
                ends = [reference(each, values) for each in (equation.left, equation.right)]
            except Unreadable as error:
                self.model.left_out.append(f"{where}: a connection: {error}")
                return
            one, other = (f"{path}.{end}".lstrip(".") for end in ends)
            self.model.connections += self._pairs(one, other)
        elif kind == "ForEquation":
            self._loop(equation, path, values)
        elif kind == "IfEquation":
            self._branch(equation, path, values)
        elif kind != "Function" or str(getattr(equation, "name", "")) != "assert":
            texts = [reference(getattr(equation, key, None)) for key in ("left", "right")]
            if kind == "Equation" and all(texts):
                one, other = (f"{path}.{text}".lstrip(".") for text in texts)
                self.model.aliases.append((one, other))
            elif "assert" not in str(getattr(equation, "left", ""))[:200]:
                self.model.equations[where] += 1

    def _loop(self, equation: Any, path: str, values: dict[str, Any]) -> None:
        index, *more = equation.indices
        try:
            numbers = rounds(index.expression, values)
        except Unreadable as error:
            self.model.left_out.append(f"{path or self.model.name}: a loop of equations: {error}")
            return
        for number in numbers:
            inside = values | {str(index.name): number}
            if more:
                rest = type(equation)(indices=more, equations=equation.equations)
                self._loop(rest, path, inside)
                continue
            for each in equation.equations:
                self._equation(each, path, inside)

    def _branch(self, equation: Any, path: str, values: dict[str, Any]) -> None:
        try:
            for condition, block in zip(equation.conditions, equation.blocks, strict=False):
                if condition is True or evaluated(condition, values):
                    for each in block:
                        self._equation(each, path, values)
                    return
        except Unreadable:
            self.model.equations[path or self.model.name] += 1

    def _pairs(self, one: str, other: str) -> list[tuple[str, str]]:
        """Return a connection, or the connections between the elements of two component arrays."""
        found = [self._array_of(each) for each in (one, other)]
        counts = {count for _, count in found}
        if counts == {0} or 0 in counts or len(counts) > 1:
            return [(one, other)]
        return [
            tuple(each.replace(array, f"{array}.{k}", 1) for each, (array, _) in
                  zip((one, other), found, strict=True))
            for k in range(1, counts.pop() + 1)
        ]  # fmt: skip # pyright: ignore[reportReturnType]

    def _array_of(self, node: str) -> tuple[str, int]:
        """Return the array that a connector without index belongs to, and its size; 0 for none."""
        names = node.split(".")
        for k in range(1, len(names)):
            path = ".".join(names[:k])
            if path in self.model.arrays and not names[k].isdigit():
                return path, self.model.arrays[path]
        return "", 0

    # -- parameters -----------------------------------------------------------------------------------
    def _values(
        self, cls: Any, given: Mapping[str, Any], around: tuple[Any, ...], depth: int
    ) -> dict[str, Any]:
        """Return the parameter values of a class and of the classes it extends."""
        values: dict[str, Any] = {}
        waiting = {name: symbol for name, symbol in cls.symbols.items() if _is_value(symbol)}
        for name in list(waiting):
            if name in given and not isinstance(given[name], (dict, _Redeclared)):
                values[name] = given[name]
                del waiting[name]
        bases = [] if depth > DEEPEST_MODELICA else cls.extends
        for _ in range(len(waiting) + 1):
            for clause in bases:
                base, scope = _found(_imported(str(clause.component), around), around[1:])
                if base is not None:
                    more = _modifications(clause.class_modification, values, "", around)
                    inner = _merged(more, dict(given))
                    values |= self._values(base, inner, (base, *scope), depth + 1)
            bases = []
            for name, symbol in list(waiting.items()):
                try:
                    found = _modifications(
                        symbol.class_modification, values, name, around, strict=True
                    )
                except Unreadable:
                    continue
                if "value" in found:
                    values[name] = found["value"]
                del waiting[name]
        return values

    def _offered(
        self, name: str, symbol: Any, values: dict[str, Any], given: Any,
        around: tuple[Any, ...], depth: int,
    ) -> dict[str, Any]:  # fmt: skip
        """Return those values of a component that expressions in the enclosing class may use, by
        name.
        """
        whole = _imported(str(symbol.type), around)
        kind = whole.rpartition(".")[2]
        own = _modifications(symbol.class_modification, values, name, around)
        own = _merged(own, given) if isinstance(given, dict) else own
        plain = {
            key: each for key, each in own.items() if not isinstance(each, (dict, _Redeclared))
        }
        known = {key: each for key, each in plain.items() if not str(each).startswith("? ")}
        if kind == "World":
            known = WORLD_DEFAULTS | known
        if kind in AXIS_DEFAULTS:
            known.setdefault("n", np.array(AXIS_DEFAULTS[kind]))
        inner, scope = _found(whole, around)
        if inner is not None and depth < DEEPEST_MODELICA:
            known = self._values(inner, known, (inner, *scope), depth + 1) | known
        elif kind in parts.DERIVED:
            try:
                known |= parts.DERIVED[kind](Component(name, kind, own))
            except Unreadable:
                pass  # where it is needed it is refused by its own name
        return {f"{name}.{key}": value for key, value in known.items()}


def _is_size(node: Any) -> bool:
    """Return whether a declaration has a nonempty dimension, as arrays have."""
    return node is not None and getattr(node, "value", 0) is not None


def _element_of(given: dict[str, Any], k: int, count: int) -> dict[str, Any]:
    """Return the modifications of the k-th element of an array."""
    found: dict[str, Any] = {}
    for key, value in given.items():
        if isinstance(value, _Each):
            found[key] = value.value
        elif isinstance(value, dict):
            found[key] = _element_of(value, k, count)
        elif isinstance(value, np.ndarray) and value.shape[:1] == (count,):
            found[key] = value[k - 1]
        else:
            found[key] = value
    return found


def _is_value(symbol: Any) -> bool:
    """Return whether a symbol is a number, a string, or a variable of such a type."""
    names = str(symbol.type).split(".")
    plain = names[-1] in PLAIN or (
        len(names) > 1 and names[-2] in ("SI", "SIunits", "NonSI", "Types")
    )
    return plain or bool({"parameter", "constant"} & set(symbol.prefixes))


def _imported(name: str, around: tuple[Any, ...]) -> str:
    """Return a name with its first part replaced by the full name of an import."""
    first, dot, rest = name.partition(".")
    for each in around:
        clause = getattr(each, "imports", {}).get(first)
        if clause is not None:
            whole = str(getattr(clause, "components", [clause])[0])
            return whole + dot + rest
    return name


def _found(name: str, around: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Return the class of a name from the file or its package, and the classes that enclose it."""
    first, *rest = name.split(".")
    for depth, each in enumerate(around):
        inner, scope = each.classes.get(first), around[depth:]
        for part in rest:
            scope = (inner, *scope)
            inner = None if inner is None else inner.classes.get(part)
        if inner is not None and inner.type != "package" and first not in PLAIN:
            return inner, scope
    return None, ()


def _merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return two modifications merged; the outer one, `other`, takes precedence."""
    found = dict(one)
    for key, value in other.items():
        inner = found.get(key)
        both = isinstance(inner, dict) and isinstance(value, dict)
        found[key] = _merged(inner, value) if both else value  # pyright: ignore[reportArgumentType]
    return found


def _modifications(
    modification: Any, values: Mapping[str, Any], path: str, around: tuple[Any, ...],
    array: bool = False, strict: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Return a class modification as nested tables of numbers; for an `array`, `each` is marked."""
    found: dict[str, Any] = {}
    for argument in getattr(modification, "arguments", ()):
        element = argument.value
        component = getattr(element, "component", None)
        if argument.redeclare or component is None or not hasattr(element, "modifications"):
            name = str(getattr(element, "name", "") or "something")
            other = _imported(str(component or ""), around)
            found[name] = _Redeclared(other, getattr(element, "class_modification", None), around)
            continue
        key = str(component)
        for each in element.modifications:
            if type(each).__name__ == "ClassModification":
                inner = _modifications(each, values, f"{path}.{key}", around, array, strict)
                value = _merged(found.get(key) or {}, inner) if key in found else inner
            else:
                try:
                    value = evaluated(each, values)
                except Unreadable as error:
                    if strict:
                        raise
                    value = f"? {error}"
                if isinstance(found.get(key), dict):
                    value = found[key] | {"": value}
            found[key] = _Each(value) if array and getattr(argument, "each", False) else value
    return found
