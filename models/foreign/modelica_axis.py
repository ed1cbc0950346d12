"""Import of Modelica.Mechanics.Rotational and Translational components that act on the axes of
joints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kinetree.models.foreign.modelica_component import Component
from kinetree.models.foreign.modelica_loads import Loads
from kinetree.models.foreign.modelica_parts import source
from kinetree.models.foreign.robot import quoted

if TYPE_CHECKING:
    from kinetree.models.foreign.modelica import Translation

AXIS_FAMILIES = ("Components", "Sources", "Rotational", "Translational")
LAWS = ("Spring", "Damper", "SpringDamper")
SOURCES = {
    "ConstantTorque": "tau_constant",
    "ConstantForce": "f_constant",
    "Torque": "tau",
    "Force": "f",
}
POSITIONS = {"Position": ("phi_ref", "s_ref")}
BY_SPEED = {  # torques and forces over the speed: exponent
    "LinearSpeedDependentTorque": (1, "tau", "w"), "QuadraticSpeedDependentTorque": (2, "tau", "w"),
    "LinearSpeedDependentForce": (1, "f", "v"), "QuadraticSpeedDependentForce": (2, "f", "v"),
}  # fmt: skip
INERTIAS = {"Inertia": "J", "Mass": "m"}


class AxisElements:
    """Springs, dampers, inertias, gears and sources between the axis and the support of joints."""

    def __init__(self, translation: Translation):
        self.t = translation
        self.nodes = translation.nodes
        self.loads = Loads(translation)
        self.fixed = {
            self.nodes.find(f"{c.path}.flange")
            for c in translation.model.components
            if c.kind.endswith("Components.Fixed")
        }
        self._join_shafts()
        self.axes: dict[str, tuple[str, str]] = {}  # connector: joint, coordinate
        self.supports: dict[str, str] = {}
        self.carriers: dict[str, str] = {}  # coordinate: the cluster that carries its joint
        for link in translation.links:
            for move in link.moves:
                path = move.coordinate.rpartition(".")[0]
                self.carriers[move.coordinate] = self.nodes.place(f"{path}.frame_a")[0]
                for end in ("axis", "flange_a", "flange_b"):
                    self.axes[self.nodes.find(f"{path}.{end}")] = (link.name, move.coordinate)
                self.supports[self.nodes.find(f"{path}.support")] = move.coordinate
        self.struts = {
            self.nodes.find(f"{c.path}.axis"): c
            for c in translation.model.components
            if c.kind.endswith("Strut")
        }
        self.given: dict[str, tuple[Component, Any]] = {}  # motions, by coordinate
        self.mounts = {
            self.nodes.find(f"{c.path}.flange_b"): self.nodes.place(f"{c.path}.frame_a")[0]
            for c in translation.model.components
            if c.kind.endswith("Mounting1D")
        }

    def _join_shafts(self) -> None:
        """Join the two flanges of components that are rigid, such as shafts and torque sensors."""
        for c in self.t.model.components:
            family, _, kind = c.kind.rpartition(".")
            stiff = kind in INERTIAS and not c.number("L", 0.0)
            if (stiff and family == "Components") or kind == "Rotor1D" or (
                family == "Sensors" and kind in ("TorqueSensor", "ForceSensor", "PowerSensor")
            ):  # fmt: skip
                self.nodes.join(f"{c.path}.flange_a", f"{c.path}.flange_b")

    def add(self) -> None:
        """Add everything that can be translated, and list the rest."""
        for c in self.t.model.components:
            family, _, kind = c.kind.rpartition(".")
            if family == "Sensors" and not self.loads.is_frame_sensor(c):
                self.t.leave_out(c, "its signal")
            if family not in AXIS_FAMILIES or kind == "Mounting1D":
                continue
            if source(c) is not None or c.kind.endswith("Components.Fixed"):
                continue
            if not self._element(c, kind):
                self.t.leave_out(c)
        for coordinate, (c, law) in self.given.items():
            self._give(coordinate, c, law)

    def _between(self, c: Component) -> tuple[str, float]:
        """Return the coordinate along which a component with two flanges acts, and its sign."""
        a, b = (self.nodes.find(f"{c.path}.flange_{end}") for end in "ab")
        for axis, other, sign in ((b, a, 1.0), (a, b, -1.0)):
            if axis in self.axes:
                coordinate = self.axes[axis][1]
                if self.supports.get(other) == coordinate or self._stands(other, coordinate):
                    return coordinate, sign
        return "", 0.0

    def _stands(self, flange: str, coordinate: str) -> bool:
        """Return whether a flange is fixed to the ground or to the body that carries the joint."""
        carrier = self.carriers.get(coordinate)
        return flange in self.fixed or (flange in self.mounts and self.mounts[flange] == carrier)

    def _element(self, c: Component, kind: str) -> bool:
        if kind in LAWS:
            return self._spring(c, kind) or self._strut(c, kind)
        if kind in INERTIAS:
            return self._inertia(c, INERTIAS[kind])
        if kind == "IdealGear":
            return self._gear(c)
        if kind not in SOURCES and kind not in BY_SPEED and kind not in POSITIONS:
            return False
        flange = self.nodes.find(f"{c.path}.flange")
        if kind in SOURCES and flange in self.struts:
            self._line(c, self.struts[flange], {"value": self._value(c, SOURCES[kind])})
            return True
        found = self.axes.get(flange)
        if found is None or not self._supported(c, found[1]):
            return False
        if kind in POSITIONS:
            return self._position(c, found[1])
        law = (
            self._speed_law(c, kind, found[1])
            if kind in BY_SPEED
            else self._value(c, SOURCES[kind])
        )
        self._force(c, {"coordinate": found[1], "value": law})
        return True

    def _force(self, c: Component, law: dict[str, Any]) -> None:
        forces = self.t.sheet.forces
        forces[self.t.sheet.fresh(c.path, "force", forces)] = law

    def _supported(self, c: Component, coordinate: str) -> bool:
        """Return whether a source has no support, or is supported by the body that carries the
        joint.
        """
        if c.given("useSupport") is not True:
            return True
        support = self.nodes.find(f"{c.path}.support")
        return self.supports.get(support) == coordinate or self._stands(support, coordinate)

    def _spring(self, c: Component, kind: str) -> bool:
        coordinate, sign = self._between(c)
        if not coordinate:
            return False
        law: dict[str, Any] = {"coordinate": coordinate}
        if kind != "Damper":
            rest = c.number("phi_rel0", c.number("s_rel0", 0.0))
            law |= {"stiffness": c.number("c", 1.0e5), "length": sign * rest}
        if kind != "Spring":
            law["damping"] = c.number("d", 0.0)
        self._force(c, law)
        return True

    def _strut(self, c: Component, kind: str) -> bool:
        """Add a spring or damper between the axis and the bearing of a strut without mass; return
        whether that is possible.
        """
        a, b = (self.nodes.find(f"{c.path}.flange_{end}") for end in "ab")
        for axis, other, sign in ((b, a, 1.0), (a, b, -1.0)):
            strut = self.struts.get(axis)
            if strut is None or self.nodes.find(f"{strut.path}.bearing") != other:
                continue
            law: dict[str, Any] = {}
            if kind != "Damper":
                rest = sign * c.number("s_rel0", 0.0) + strut.number("s_offset", 0.0)
                law |= {"stiffness": c.number("c", 1.0e5), "length": rest}
            if kind != "Spring":
                law["damping"] = c.number("d", 0.0)
            self._line(c, strut, law)
            return True
        return False

    def _line(self, c: Component, strut: Component, law: dict[str, Any]) -> None:
        """Add a force between the two frames of a strut."""
        ends = [self.loads.at(f"{strut.path}.frame_{end}") for end in "ab"]
        self._force(c, {"kind": "line", "between": ends} | law)

    def _gear(self, c: Component) -> bool:
        """Add the gear ratio between two coordinates, phi_a = ratio phi_b; return whether that is
        possible.
        """
        found = [self.axes.get(self.nodes.find(f"{c.path}.flange_{end}")) for end in "ab"]
        if found[0] is None or found[1] is None or found[0][1] == found[1][1]:
            return False
        if not all(self._supported(c, each[1]) for each in found if each):
            return False
        one, other = (quoted(each[1]) for each in found if each)
        name = self.t.sheet.fresh(c.path, "coupling", self.t.sheet.couplings)
        ratio = c.number("ratio", 1.0)
        self.t.sheet.couplings[name] = {"value": f"{one} - {ratio!r}*{other}"}
        return True

    def _position(self, c: Component, coordinate: str) -> bool:
        """Make a coordinate follow a known signal; return whether that is possible."""
        law = next((law for key in POSITIONS["Position"]
                    if (law := self.loads.signal(f"{c.path}.{key}")) is not None), None)  # fmt: skip
        if law is None or isinstance(law, list):
            return False
        self.given[coordinate] = (c, law)
        if c.given("exact") is not True:
            self.t.sheet.left_out.append(
                f"assumed: {c.path} follows its reference exactly, without its filter"
            )
        return True

    def _give(self, coordinate: str, c: Component, law: Any) -> None:
        """Prescribe a coordinate as a function of time; by a coupling if other parts depend on the
        coordinate.
        """
        sheet, joint = self.t.sheet, self._joint_of(coordinate)
        tables = [sheet.forces, sheet.couplings, sheet.states, self.t.outputs, self.t.model.aliases]
        transforms = sheet.joints[joint].get("transforms", [])
        step = next((each for each in transforms if each.get("coordinate") == coordinate), None)
        free = not any(coordinate in repr(each) for each in tables)
        if step is None or not free or "rotor_inertia" in sheet.joints[joint]:
            name = sheet.fresh(c.path, "coupling", sheet.couplings)
            sheet.couplings[name] = {"value": f"{quoted(coordinate)} - ({law})"}
            return
        for key in ("coordinate", "start", "speed", "guess"):
            step.pop(key, None)
        step["by"] = law

    def _joint_of(self, coordinate: str) -> str:
        """Return the joint that has a coordinate."""
        links = self.t.links
        return next(x.name for x in links if coordinate in [m.coordinate for m in x.moves])

    def _speed_law(self, c: Component, kind: str, coordinate: str) -> str:
        power, load, speed = BY_SPEED[kind]
        most = c.number(f"{load}_nominal", 1.0)
        share = f"(der({quoted(coordinate)})/{c.number(f'{speed}_nominal', 1.0)!r})"
        one_way = c.given("TorqueDirection" if load == "tau" else "ForceDirection") is not False
        if power == 1:
            return f"{most!r}*" + (f"abs{share}" if one_way else share)
        return f"{most!r}*{share}" + ("**2" if one_way else f"*abs{share}")

    def _value(self, c: Component, key: str) -> Any:
        """Return the expression of a source; an input of the model if no known signal is connected."""
        if key.endswith("_constant"):
            return c.number(key, 0.0)
        law = self.loads.signal(f"{c.path}.{key}")
        if law is not None and not isinstance(law, list):
            return law
        name = self.t.sheet.fresh(f"{c.path}.{key}", "input", self.t.sheet.inputs, value=True)
        self.t.sheet.inputs[name] = {"start": 0.0, "unit": "N.m" if key == "tau" else "N"}
        self.t.sheet.left_out.append(f"what drives {c.path}: it is the input '{name}'")
        return quoted(name)

    def _inertia(self, c: Component, key: str) -> bool:
        """Add an inertia that rotates, or translates, with one joint only."""
        ends = {self.nodes.find(f"{c.path}.flange_{end}") for end in "ab"}
        found = {self.axes[end] for end in ends if end in self.axes}
        if len(found) != 1:
            return False
        joint, coordinate = found.pop()
        table = self.t.sheet.joints.get(joint)
        if table is None or "transforms" not in table:
            return False
        own = [each["coordinate"] for each in table["transforms"] if "coordinate" in each]
        reflected = table.setdefault("rotor_inertia", [0.0] * len(own))
        reflected[own.index(coordinate)] += c.number(key, 0.0)
        speed = c.start("w" if key == "J" else "v")
        for each in table["transforms"]:
            if each.get("coordinate") == coordinate and speed and not each.get("speed"):
                each["speed"] = speed
                each.pop("guess", None)
        return True
