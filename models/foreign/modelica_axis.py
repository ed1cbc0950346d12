"""Components of Modelica.Mechanics.Rotational and Translational on the axes of joints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kinetree.models.foreign.modelica_parts import source
from kinetree.models.foreign.modelica_text import Component
from kinetree.models.foreign.robot import quoted

if TYPE_CHECKING:
    from kinetree.models.foreign.modelica import Translation

LAWS = ("Spring", "Damper", "SpringDamper")
SOURCES = {
    "ConstantTorque": "tau_constant",
    "ConstantForce": "f_constant",
    "Torque": "tau",
    "Force": "f",
}
INERTIAS = {"Inertia": "J", "Mass": "m"}


class AxisElements:
    """Springs, dampers, inertias and sources between the axis and the support of joints."""

    def __init__(self, translation: Translation):
        self.t = translation
        self.nodes = translation.nodes
        self.axes: dict[str, tuple[str, str]] = {}  # connector: joint, coordinate
        self.supports: dict[str, str] = {}
        for link in translation.links:
            for move in link.moves:
                path = move.coordinate.rpartition(".")[0]
                self.axes[self.nodes.find(f"{path}.axis")] = (link.name, move.coordinate)
                self.supports[self.nodes.find(f"{path}.support")] = move.coordinate
        self.fixed = {
            self.nodes.find(f"{c.path}.flange")
            for c in translation.model.components
            if c.kind.endswith("Components.Fixed")
        }

    def add(self) -> None:
        """Add what can be translated and name the rest."""
        for c in self.t.model.components:
            family, _, kind = c.kind.rpartition(".")
            if family not in ("Components", "Sources", "Rotational", "Translational"):
                continue
            if source(c) is not None or c.kind.endswith("Components.Fixed"):
                continue
            if not self._element(c, kind):
                self.t.leave_out(c)

    def _between(self, c: Component) -> tuple[str, float]:
        """Return the coordinate along which a component with two flanges acts, and its sign."""
        a, b = (self.nodes.find(f"{c.path}.flange_{end}") for end in "ab")
        for axis, other, sign in ((b, a, 1.0), (a, b, -1.0)):
            if axis in self.axes:
                coordinate = self.axes[axis][1]
                if self.supports.get(other) == coordinate or other in self.fixed:
                    return coordinate, sign
        return "", 0.0

    def _element(self, c: Component, kind: str) -> bool:
        sheet = self.t.sheet
        if kind in LAWS:
            coordinate, sign = self._between(c)
            if not coordinate:
                return False
            law: dict[str, Any] = {"coordinate": coordinate}
            if kind != "Damper":
                rest = c.number("phi_rel0", c.number("s_rel0", 0.0))
                law |= {"stiffness": c.number("c", 1.0e5), "length": sign * rest}
            if kind != "Spring":
                law["damping"] = c.number("d", 0.0)
            sheet.forces[sheet.fresh(c.path, "force", sheet.forces)] = law
            return True
        if kind in INERTIAS:
            return self._inertia(c, INERTIAS[kind])
        if kind in SOURCES:
            found = self.axes.get(self.nodes.find(f"{c.path}.flange"))
            if found is None:
                return False
            law = self._value(c, SOURCES[kind])
            sheet.forces[sheet.fresh(c.path, "force", sheet.forces)] = {
                "coordinate": found[1],
                "value": law,
            }
            return True
        return False

    def _value(self, c: Component, key: str) -> Any:
        """Return the law of a source; an input of the model where nothing is connected that is known."""
        if key.endswith("_constant"):
            return c.number(key, 0.0)
        law = self.t.signal(f"{c.path}.{key}")
        if law is not None:
            return law
        name = self.t.sheet.fresh(f"{c.path}.{key}", "input", self.t.sheet.inputs, value=True)
        self.t.sheet.inputs[name] = {"start": 0.0, "unit": "N.m" if key == "tau" else "N"}
        self.t.sheet.left_out.append(f"what drives {c.path}: it is the input '{name}'")
        return quoted(name)

    def _inertia(self, c: Component, key: str) -> bool:
        """Add an inertia that only turns, or slides, with one joint."""
        ends = [self.nodes.find(f"{c.path}.flange_{end}") for end in "ab"]
        found = [self.axes[end] for end in ends if end in self.axes]
        if len(found) != 1:
            return False
        joint, coordinate = found[0]
        table = self.t.sheet.joints.get(joint)
        if table is None or "transforms" not in table:
            return False
        own = [each["coordinate"] for each in table["transforms"] if "coordinate" in each]
        reflected = table.setdefault("rotor_inertia", [0.0] * len(own))
        reflected[own.index(coordinate)] += c.number(key, 0.0)
        speed = c.start("w" if key == "J" else "v")
        for each in table["transforms"]:
            if each.get("coordinate") == coordinate and speed and "speed" not in each:
                each["speed"] = speed
        return True
