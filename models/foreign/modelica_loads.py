"""Import of forces, fields and sensors of Modelica.Mechanics.MultiBody that act on bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.models.foreign.modelica_component import Component, Unreadable
from kinetree.models.foreign.modelica_parts import source
from kinetree.models.foreign.robot import quoted

if TYPE_CHECKING:
    from kinetree.models.foreign.modelica import Translation

LINE_FORCES = ("Spring", "Damper", "SpringDamperParallel", "SpringDamperSeries")
LOADS = (
    "WorldForce", "WorldTorque", "WorldForceAndTorque", "Force", "Torque", "ForceAndTorque",
)  # fmt: skip
ABSOLUTE = {  # sensors at one frame: the signal, the quantity
    "AbsolutePosition": {"r": "position"},
    "AbsoluteVelocity": {"v": "velocity"},
    "AbsoluteAngularVelocity": {"w": "angular_velocity"},
    "AbsoluteSensor": {
        "r": "position", "v": "velocity", "a": "acceleration", "w": "angular_velocity",
        "z": "angular_acceleration",
    },
}  # fmt: skip
RELATIVE = {  # sensors of frame_b from frame_a
    "RelativePosition": {"r_rel": "position"},
    "RelativeVelocity": {"v_rel": "velocity"},
    "RelativeAngularVelocity": {"w_rel": "angular_velocity"},
    "RelativeSensor": {
        "r_rel": "position", "v_rel": "velocity", "a_rel": "acceleration",
        "w_rel": "angular_velocity", "z_rel": "angular_acceleration",
    },
    "Distance": {"distance": "distance"},
}  # fmt: skip
MATRIX_ROUNDING = 1e-12  # rad and shares: rounding of matrices


class Loads:
    """Translation of the forces on bodies and of the sensors of a Modelica model."""

    def __init__(self, translation: Translation):
        self.t, self.sheet, self.nodes = translation, translation.sheet, translation.nodes

    def add(self) -> None:
        """Add all forces and sensors that can be translated, and list the rest."""
        for c, law in self.t.lines:
            self._line(c, dict(law))
        for c in self.t.model.components:
            family, _, kind = c.kind.rpartition(".")
            if kind in LOADS and family != "Sources":
                self._load(c, kind)
            elif family == "Sensors" and kind in ABSOLUTE | RELATIVE:
                self._sensor(c, kind)
            elif family == "Sensors" and kind not in CUTS and self.is_frame_sensor(c):
                self.t.leave_out(c)
        if self.t.point_gravity:
            self._field(self.t.point_gravity)

    def is_frame_sensor(self, c: Component) -> bool:
        """Return whether a sensor is connected to frames only, not to the flanges of an axis."""
        connected = {node for pair in self.t.model.connections for node in pair}
        return not any(f"{c.path}.flange{end}" in connected for end in ("", "_a", "_b"))

    def at(self, node: str) -> dict[str, Any]:
        """Return a frame as a point of a body."""
        cluster, (_, r) = self.nodes.place(node)
        if cluster not in self.t.bodies:
            raise Unreadable(f"{node}: forces that meet where there is no body (add a PointMass)")
        point = {"point": [float(each) + 0.0 for each in r]} if r.any() else {}
        return {"body": self.t.bodies[cluster], **point}

    # -- lines ----------------------------------------------------------------------------------------
    def _line(self, c: Component, law: dict[str, Any]) -> None:
        ends = [self.at(f"{c.path}.frame_{end}") for end in "ab"]
        if ends[0]["body"] == ends[1]["body"]:
            self.t.leave_out(c, "both ends are on one body")
        elif "rod" in law:
            name = self.sheet.fresh(c.path, "coupling", self.sheet.couplings)
            self.sheet.couplings[name] = {"between": ends, "length": law["rod"]}
        else:
            name = self.sheet.fresh(c.path, "force", self.sheet.forces)
            if "series" in law:
                law = self._series(c, law.pop("series"), ends)
            self.sheet.forces[name] = {"between": ends} | law

    def _series(self, c: Component, p: dict[str, float], ends: list[Any]) -> dict[str, Any]:
        """Return the force of a spring and a damper in series; the damper's length is a state."""
        if p["d"] <= 0.0:
            raise Unreadable(f"{c.path}.d: a damper of {p['d']:g} N.s/m in series")
        length, state = f"{c.path}.length", f"{c.path}.s_damper"
        self.t.outputs[length] = {"quantity": "distance", "between": ends}
        pull = f"{p['c']!r}*({quoted(length)} - {p['s_unstretched']!r} - {quoted(state)})"
        self.sheet.states[state] = {"rate": f"{pull}/{p['d']!r}", "start": p["s_damper_start"]}
        return {"kind": "line", "value": f"-{pull}"}

    # -- loads ----------------------------------------------------------------------------------------
    def _load(self, c: Component, kind: str) -> None:
        world = kind.startswith("World")
        default = "world" if world else "frame_b"
        frame = str(c.given("resolveInFrame") or default).rpartition(".")[2]
        loads: dict[str, Any] = {}
        for key, name in (("force", "force"), ("torque", "moment")):
            if key.capitalize() in kind:
                law = self.signal(f"{c.path}.{key}")
                if not isinstance(law, list) or len(law) != 3:
                    self.t.leave_out(c, "a signal that no source of the file gives")
                    return
                loads[name] = law
        try:
            b = self.at(f"{c.path}.frame_b")
            a = None if world else self.at(f"{c.path}.frame_a")
        except Unreadable as error:
            self.t.leave_out(c, str(error))
            return
        axes = self._axes(c, frame)
        if axes is None:
            self.t.leave_out(c, f"a load in the axes of {frame}")
            return
        in_frame, R = axes
        loads = {key: _turned(R, law) for key, law in loads.items()} | in_frame
        name = self.sheet.fresh(c.path, "force", self.sheet.forces)
        if a is None or a["body"] == "ground":
            self.sheet.forces[name] = {"kind": "wrench"} | b | loads
        elif b["body"] == "ground" and in_frame["frame"] == "ground":
            opposite = {
                key: _turned(-np.eye(3), loads[key]) for key in ("force", "moment") if key in loads
            }
            if "force" in loads:
                self.t.leave_out(c, "a force on the ground that moves with a body")
                return
            self.sheet.forces[name] = {"kind": "wrench", **a, **opposite, **in_frame}
        elif a["body"] == b["body"]:
            self.t.leave_out(c, "both ends are on one body")
            del name
        else:
            self.sheet.forces[name] = {"kind": "pair", "between": [b, {"body": a["body"]}]} | loads

    def _axes(self, c: Component, frame: str) -> tuple[dict[str, str], np.ndarray] | None:
        """Return the axes of a load in terms of the description, and the rotation from the frame's
        axes into them; None if there are none.
        """
        if frame == "world":
            return {"frame": "ground"}, np.eye(3)
        if frame not in ("frame_a", "frame_b", "frame_resolve"):
            return None
        cluster, (R, _) = self.nodes.place(f"{c.path}.{frame}")
        if self.t.bodies.get(cluster) == "ground":
            return {"frame": "ground"}, R
        if cluster == self.nodes.place(f"{c.path}.frame_b")[0]:
            return {"frame": "body"}, R
        return None

    def signal(self, node: str) -> Any:
        """Return the expression of the source connected to an input, three for an array; None for
        unknown sources.
        """
        root = self.nodes.find(node)
        model = self.t.model
        for path, count in model.arrays.items():
            if self.nodes.find(f"{path}.y") == root and f"{path}.y" in self.nodes.same | {root: ""}:
                elements = {c.path: c for c in model.components}
                laws = [
                    source(elements[each]) if (each := f"{path}.{k}") in elements else None
                    for k in range(1, count + 1)
                ]
                return None if any(law is None for law in laws) else laws
        for c in model.components:
            if self.nodes.find(f"{c.path}.y") == root and f"{c.path}.y" != node:
                return source(c)
        return None

    def _field(self, mu: float) -> None:
        """Add the gravitational attraction of every body by a point mass at the origin."""
        for node, lump, _, c in self.t.lumps:
            cluster, (R, r) = self.nodes.place(node)
            name = self.t.bodies.get(cluster, "ground")
            if not lump.mass or name == "ground":
                continue
            mass, place = lump.mass, f"{c.path}.centre"
            centre = [float(each) + 0.0 for each in R @ lump.com + r]
            at = {"point": centre} if any(centre) else {}
            self.t.outputs[place] = {"quantity": "position", "body": name, **at}
            r = [quoted(f"{place}[{k}]") for k in (1, 2, 3)]
            far = f"({r[0]}**2 + {r[1]}**2 + {r[2]}**2)**1.5"
            force = [f"-{mu * mass!r}*{each}/{far}" for each in r]
            key = self.sheet.fresh(f"{c.path}.gravity", "force", self.sheet.forces)
            self.sheet.forces[key] = {"kind": "wrench", "body": name, **at, "force": force}

    # -- sensors --------------------------------------------------------------------------------------
    def _sensor(self, c: Component, kind: str) -> None:
        relative = kind in RELATIVE
        signals = (RELATIVE if relative else ABSOLUTE)[kind]
        ends = ["frame_a", "frame_b"] if relative else ["frame_a"]
        try:
            points = [self.at(f"{c.path}.{end}") for end in ends]
        except Unreadable as error:
            self.t.leave_out(c, str(error))
            return
        if kind == "Distance":
            self.t.outputs[c.path] = {"quantity": "distance", "between": points}
            return
        frame = str(c.given("resolveInFrame") or "frame_a").rpartition(".")[2]
        axes = "ground"
        if frame != "world":
            cluster, (R, _) = self.nodes.place(f"{c.path}.{frame}")
            axes = self.t.bodies.get(cluster, "")
            if not axes or abs(R - np.eye(3)).max() > MATRIX_ROUNDING:
                self.t.leave_out(c, f"its signals in the axes of {frame}, which are no body's")
                return
        single = len(signals) == 1
        for signal, quantity in signals.items():
            if not single and c.given(f"get_{signal}") is not True:
                continue
            table = {"quantity": quantity} | points[-1]
            if quantity.startswith("angular"):
                table = {"quantity": quantity, "body": points[-1]["body"]}
            table |= {} if axes == "ground" else {"frame": axes}
            if relative and points[0]["body"] != "ground":
                turning = quantity.startswith("angular")
                table["reference"] = {"body": points[0]["body"]} if turning else points[0]
            elif relative and quantity == "position" and "point" in points[0]:
                self.t.leave_out(c, "a position from a point of the ground")
                continue
            self.t.outputs[c.path if single else f"{c.path}.{signal}"] = table
        if any(c.given(f"get_{other}") is True for other in ("angles",)):
            self.t.leave_out(c, "its angles")


CUTS = ("CutForce", "CutTorque", "CutForceAndTorque", "Power")


def _turned(R: np.ndarray, law: list[Any]) -> list[Any]:
    """Return three expressions transformed to other axes."""
    if all(isinstance(each, float) for each in law):
        return [float(each) + 0.0 for each in R @ np.array(law)]
    found: list[Any] = []
    for row in R:
        terms = [
            str(each) if abs(share - 1.0) < MATRIX_ROUNDING else f"{float(share)!r}*({each})"
            for share, each in zip(row, law, strict=True)
            if abs(share) > MATRIX_ROUNDING and each != 0.0
        ]
        found.append(" + ".join(f"({each})" for each in terms) if terms else 0.0)
    return found
