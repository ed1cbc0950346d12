"""Modelica models as flat lists of components and connections, parsed by pymoca.

Classes of the file are taken apart; classes of libraries stay what they are. Parameters are numbers
after reading: modifications are evaluated where they are written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.models.foreign.robot import refused

KIND = "a model of Modelica.Mechanics.MultiBody"
LARGEST_MODELICA = 400_000  # bytes
DEEPEST_MODELICA = 12  # components inside one another
MOST_BRACKETS = 40  # inside one another
MOST_COMPONENTS = 5_000
PLAIN = ("Real", "Integer", "Boolean", "String")
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "exp": np.exp, "log": np.log, "abs": np.abs, "min": np.minimum, "max": np.maximum, "cross": np.cross, "transpose": np.transpose,
    "length": np.linalg.norm, "norm": np.linalg.norm, "from_deg": np.radians, "to_deg": np.degrees, "from_rpm": lambda x: x * math.pi / 30.0,
    "normalize": lambda v: v / np.linalg.norm(v), "vector": np.ravel, "sum": np.sum, "from_bar": lambda x: 1e5 * x,
}  # fmt: skip
WORLD_DEFAULTS = {  # for a nominal length of 1 m
    "defaultJointLength": 0.1, "defaultJointWidth": 0.05, "defaultForceLength": 0.1, "defaultForceWidth": 0.05, "defaultBodyDiameter": 1.0 / 9.0,
    "defaultWidthFraction": 20.0, "nominalLength": 1.0, "defaultAxisLength": 0.2,
}  # fmt: skip
AXIS_DEFAULTS = {
    "Revolute": (0.0, 0.0, 1.0),
    "Prismatic": (1.0, 0.0, 0.0),
    "Cylindrical": (1.0, 0.0, 0.0),
}
CONSTANTS = {"pi": math.pi, "e": math.e, "g_n": 9.80665, "eps": 2.0**-52, "inf": 1e60}


class Unreadable(ValueError):
    """An expression or a class that cannot be evaluated; the text says which."""


@dataclass
class Component:
    """One component of a library class: its path, its class and its modifications."""

    path: str
    kind: str  # the last two names of the class, as Joints.Revolute
    values: dict[str, Any] = field(default_factory=dict)

    def number(self, key: str, default: float) -> float:
        """Return a scalar parameter."""
        value = self.given(key)
        if value is None:
            return default
        if isinstance(value, str) or np.ndim(value) != 0 or not math.isfinite(value):
            raise Unreadable(f"{self.path}.{key} as a number")
        return float(value)

    def vector(self, key: str, default: Any = (0.0, 0.0, 0.0)) -> np.ndarray:
        """Return a parameter of three numbers."""
        value = self.given(key)
        found = np.asarray(default if value is None else value)
        if found.shape != (3,) or found.dtype.kind not in "fiub" or not np.isfinite(found).all():
            raise Unreadable(f"{self.path}.{key} as three numbers")
        return found.astype(float)

    def given(self, key: str, inner: str = "") -> Any:
        """Return a modification, as of phi or of phi(start); None where there is none."""
        value = self.values.get(key)
        if isinstance(value, dict):
            return value.get(inner)
        return None if inner else value

    def start(self, key: str, inner: str = "start") -> float:
        """Return the start value of a variable, 0 where none is given."""
        value = self.given(key, inner)
        if value is None:
            return 0.0
        if isinstance(value, str) or np.ndim(value) != 0 or not math.isfinite(value):
            raise Unreadable(f"{self.path}.{key}({inner}) as a number")
        return float(value)


@dataclass
class Model:
    """A model, flat."""

    name: str
    components: list[Component] = field(default_factory=list)
    connections: list[tuple[str, str]] = field(default_factory=list)
    aliases: list[tuple[str, str]] = field(default_factory=list)  # output, what it is
    left_out: list[str] = field(default_factory=list)


def parsed(path: Path, wanted: str = "") -> Model:
    """Return the flat model of a file: that of a name, or the last one."""
    try:
        from pymoca.parser import parse
    except ImportError:
        raise refused(
            str(path),
            "a file that needs the package pymoca",
            KIND,
            "install it with 'pip install kinetree[modelica]'",
        ) from None
    try:
        if (size := path.stat().st_size) > LARGEST_MODELICA:
            raise refused(str(path), f"{size} bytes", f"at most {LARGEST_MODELICA}")
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise refused(str(path), f"what cannot be read: {error}", KIND) from None
    if _nesting(text) > MOST_BRACKETS:
        raise refused(str(path), "expressions nested too deeply", KIND)
    try:
        tree = parse(text, bypass_cache=True)
    except RecursionError:
        raise refused(str(path), "expressions nested too deeply", KIND) from None
    except Exception as error:  # what the parser and the listeners of its tree raise
        raise refused(
            str(path), f"no Modelica: {' '.join(str(error).split())[:200]}", KIND
        ) from None
    models = list(_models(tree, ""))
    if not models:
        raise refused(str(path), "no model", KIND)
    names = [name for name, _, _ in models]
    found = [each for each in models if wanted in ("", each[0], each[0].rpartition(".")[2])]
    if not found:
        raise refused(str(path), f"no model '{wanted[:60]}'", f"one of {', '.join(names)[:200]}")
    name, chosen, around = found[-1]
    model = Model(name.rpartition(".")[2])
    try:
        _Flattening(model).add(chosen, "", {}, around, 0)
    except Unreadable as error:
        raise refused(str(path), str(error), KIND) from None
    except RecursionError:
        raise refused(str(path), "expressions nested too deeply", KIND) from None
    return model


def _nesting(text: str) -> int:
    """Return how many brackets stand inside one another at most, outside of texts and comments."""
    depth = most = 0
    for sign in re.findall(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|[(){}\[\]]', text, re.DOTALL):
        depth = max(0, depth + (sign in "({[") - (sign in ")}]")) if len(sign) == 1 else depth
        most = max(most, depth)
    return most


def _models(tree: Any, path: str, around: tuple[Any, ...] = ()) -> Any:
    for name, each in tree.classes.items():
        inside = f"{path}.{name}".lstrip(".")
        if each.type in ("model", "block", "class") and name not in PLAIN:
            yield inside, each, (tree, *around)
        else:
            yield from _models(each, inside, (tree, *around))


class _Flattening:
    """Components and connections of a class, with those of its components inside."""

    def __init__(self, model: Model):
        self.model = model

    def add(
        self, cls: Any, path: str, given: dict[str, Any], around: tuple[Any, ...], depth: int
    ) -> None:
        """Add an instance of a class of the file."""
        if depth > DEEPEST_MODELICA:
            raise Unreadable(f"components nested too deeply, as {path[-60:]}")
        for clause in cls.extends:
            self._extend(clause, path, given, (cls, *around), depth)
        values = self._values(cls, given)
        parts = {name: symbol for name, symbol in cls.symbols.items() if not _is_value(symbol)}
        for _ in range(3):  # parameters of components may refer to those of others
            for name, symbol in parts.items():
                values |= _offered(name, symbol, values, given.get(name))
        for name, symbol in parts.items():
            inside = f"{path}.{name}".lstrip(".")
            modified = _modifications(symbol.class_modification, values, inside)
            own = given.get(name)
            if isinstance(own, dict):
                modified = _merged(modified, own)
            self._component(symbol, inside, modified, (cls, *around), depth)
        for equation in cls.equations:
            self._equation(equation, path)

    def _extend(
        self, clause: Any, path: str, given: dict[str, Any], around: tuple[Any, ...], depth: int
    ) -> None:
        name = str(clause.component)
        if "Icons." in name:
            return
        base = _found(name, around)
        if base is None:
            self.model.left_out.append(f"{path or self.model.name}: extends {name}")
            return
        more = _modifications(clause.class_modification, self._values(around[0], given), path)
        self.add(base, path, _merged(more, given), around, depth + 1)

    def _component(
        self, symbol: Any, path: str, given: dict[str, Any], around: tuple[Any, ...], depth: int
    ) -> None:
        kind = str(symbol.type)
        if len(self.model.components) > MOST_COMPONENTS:
            raise Unreadable(f"more than {MOST_COMPONENTS} components")
        inner = _found(kind, around)
        if inner is not None:
            self.add(inner, path, given, around, depth + 1)
            return
        names = kind.split(".")
        component = Component(path, ".".join(names[-2:]), given)
        if _is_array(symbol) and "Constant" not in names[-1]:
            self.model.left_out.append(f"{path}: an array of {kind}")
            return
        self.model.components.append(component)

    def _equation(self, equation: Any, path: str) -> None:
        sides = [getattr(equation, key, None) for key in ("left", "right")]
        texts = [_reference(each) for each in sides]
        where = path or self.model.name
        if type(equation).__name__ == "ConnectClause" and all(texts):
            one, other = (f"{path}.{text}".lstrip(".") for text in texts)
            self.model.connections.append((one, other))
        elif type(equation).__name__ == "Equation" and all(texts):
            one, other = (f"{path}.{text}".lstrip(".") for text in texts)
            self.model.aliases.append((one, other))
        else:
            self.model.left_out.append(f"{where}: an equation ({type(equation).__name__})")

    def _values(self, cls: Any, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of the parameters of a class."""
        values: dict[str, Any] = {}
        waiting = {name: symbol for name, symbol in cls.symbols.items() if _is_value(symbol)}
        for name in list(waiting):
            if name in given and not isinstance(given[name], dict):
                values[name] = given[name]
                del waiting[name]
        for _ in range(len(waiting) + 1):
            for name, symbol in list(waiting.items()):
                try:
                    found = _modifications(symbol.class_modification, values, name, strict=True)
                except Unreadable:
                    continue
                if "value" in found:
                    values[name] = found["value"]
                del waiting[name]
        return values


def _is_value(symbol: Any) -> bool:
    """Whether a symbol is a number or a text, or a variable of a type of one."""
    names = str(symbol.type).split(".")
    plain = names[-1] in PLAIN or (
        len(names) > 1 and names[-2] in ("SI", "SIunits", "NonSI", "Types")
    )
    return plain or bool({"parameter", "constant"} & set(symbol.prefixes))


def _is_array(symbol: Any) -> bool:
    return any(getattr(each, "value", 0) is not None for row in symbol.dimensions for each in row)


def _offered(name: str, symbol: Any, values: Mapping[str, Any], given: Any) -> dict[str, Any]:
    """Return the parameters of a component by the names that expressions beside it use."""
    kind = str(symbol.type).rpartition(".")[2]
    if kind == "World":
        return {f"{name}.{key}": value for key, value in WORLD_DEFAULTS.items()}
    own = _modifications(symbol.class_modification, values, name)
    own = _merged(own, given) if isinstance(given, dict) else own
    plain = {key: value for key, value in own.items() if not isinstance(value, dict)}
    known = {key: value for key, value in plain.items() if not str(value).startswith("? ")}
    if kind in AXIS_DEFAULTS:
        known.setdefault("n", np.array(AXIS_DEFAULTS[kind]))
    return {f"{name}.{key}": value for key, value in known.items()}


def _found(name: str, around: tuple[Any, ...]) -> Any:
    """Return the class of a name that the file itself has, in the classes around."""
    first, *rest = name.split(".")
    for each in around:
        inner = each.classes.get(first)
        for part in rest:
            inner = None if inner is None else inner.classes.get(part)
        if inner is not None and inner.type != "package" and first not in PLAIN:
            return inner
    return None


def _merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return both modifications; the outer one, `other`, wins."""
    found = dict(one)
    for key, value in other.items():
        inner = found.get(key)
        both = isinstance(inner, dict) and isinstance(value, dict)
        found[key] = _merged(inner, value) if both else value  # pyright: ignore[reportArgumentType]
    return found


def _modifications(
    modification: Any, values: Mapping[str, Any], path: str, strict: bool = False
) -> dict[str, Any]:
    """Return a class modification as nested tables of numbers."""
    found: dict[str, Any] = {}
    for argument in getattr(modification, "arguments", ()):
        element = argument.value
        component = getattr(element, "component", None)
        if component is None:
            raise Unreadable(f"{path}: a redeclaration")
        key = str(component)
        for each in element.modifications:
            if type(each).__name__ == "ClassModification":
                inner = _modifications(each, values, f"{path}.{key}", strict)
                found[key] = _merged(found.get(key) or {}, inner) if key in found else inner
                continue
            try:
                value = evaluated(each, values)
            except Unreadable as error:
                if strict:
                    raise
                value = f"? {error}"
            if isinstance(found.get(key), dict):
                found[key][""] = value
            else:
                found[key] = value
    return found


def _reference(node: Any) -> str:
    """Return a reference to a connector as text; of arrays without the index."""
    if type(node).__name__ != "ComponentRef":
        return ""
    name = str(node.name)
    return f"{name}.{_reference(node.child[0])}" if node.child else name


def evaluated(node: Any, values: Mapping[str, Any]) -> Any:
    """Return the value of an expression: a number, an array, a truth or the name of a choice."""
    kind = type(node).__name__
    if kind == "Primary":
        if node.value is None:
            raise Unreadable("an expression without a value")
        return node.value
    if kind == "ComponentRef":
        text = _reference(node)
        if text in values:
            value = values[text]
            if isinstance(value, str) and value.startswith("? "):
                raise Unreadable(value[2:])
            return _element(value, node, values)
        last = text.rpartition(".")[2]
        if "Constants" in text and last in CONSTANTS or text == "pi":
            return CONSTANTS[last]
        if text[:1].isupper():
            return text
        raise Unreadable(f"the unknown name {text[:60]}")
    if kind == "Array":
        return _array([evaluated(each, values) for each in node.values])
    if kind == "IfExpression":
        for condition, value in zip(node.conditions, node.expressions, strict=False):
            if evaluated(condition, values):
                return evaluated(value, values)
        return evaluated(node.expressions[-1], values)
    if kind == "Expression":
        operands = [evaluated(each, values) for each in node.operands]
        with np.errstate(all="ignore"):
            return _operation(str(node.operator), operands)
    raise Unreadable(f"an expression ({kind})")


def _array(parts: list[Any]) -> np.ndarray:
    try:
        return np.array(parts, dtype=float)
    except (ValueError, TypeError):
        raise Unreadable("an array of unequal rows, or of texts") from None


def _element(value: Any, node: Any, values: Mapping[str, Any]) -> Any:
    indices = [each for row in node.indices for each in row if each is not None]
    if not indices:
        return value
    try:
        return value[tuple(int(evaluated(each, values)) - 1 for each in indices)]
    except (IndexError, TypeError, ValueError):
        raise Unreadable(f"an element of {node.name}") from None


def _operation(operator: str, operands: list[Any]) -> Any:
    name = operator.rpartition(".")[2]
    if any(isinstance(each, str) for each in operands):
        if operator in ("==", "<>"):
            same = str(operands[0]).split(".")[-1] == str(operands[1]).split(".")[-1]
            return same == (operator == "==")
        raise Unreadable(f"{operator[:20]} of texts")
    try:
        if operator in ("-", "+") and len(operands) == 1:
            return -operands[0] if operator == "-" else operands[0]
        if name in ("zeros", "ones", "fill"):
            count = [int(each) for each in operands[name == "fill" :]]
            if max(count) > 100 or len(count) > 2:
                raise Unreadable(f"an array of {count}")
            return np.full(count, {"zeros": 0.0, "ones": 1.0}.get(name, operands[0]))
        if name in FUNCTIONS:
            return FUNCTIONS[name](*operands)
        a, b = operands
        if operator == "*" and np.ndim(a) and np.ndim(b):
            return np.asarray(a) @ np.asarray(b)
        table: dict[str, Callable[[Any, Any], Any]] = {
            "+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, ".*": lambda: a * b, "/": lambda: a / b, "./": lambda: a / b,
            "^": lambda: float(a) ** float(b), ".^": lambda: a**b, "<": lambda: a < b, "<=": lambda: a <= b, ">": lambda: a > b,
            ">=": lambda: a >= b, "==": lambda: a == b, "<>": lambda: a != b, "and": lambda: a and b, "or": lambda: a or b,
        }  # fmt: skip # pyright: ignore
        return table[operator]()  # pyright: ignore[reportCallIssue]
    except (ValueError, TypeError, KeyError, ArithmeticError) as error:
        raise Unreadable(f"{operator[:20]}: {str(error)[:60]}") from None
