"""Joint assemblies of Modelica.Mechanics.MultiBody, decomposed into elementary joints and rods.

In Modelica an assembly solves its loop in closed form; here its joints close a loop like any
others. A rod between a universal and a spherical joint with nothing attached becomes a distance
constraint.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from kinetree.models.foreign.modelica_component import Component
from kinetree.models.foreign.modelica_parts import line_axes, unit
from kinetree.models.foreign.robot import quoted

Parts = tuple[list[Component], list[tuple[str, str]]]


class _Assembly:
    """The components and connections that replace one assembly."""

    def __init__(self, c: Component, used: Collection[str]):
        self.c, self.used = c, used
        self.parts: list[Component] = []
        self.connections: list[tuple[str, str]] = []

    def at(self, end: str) -> str:
        """Return a connector of the assembly."""
        return f"{self.c.path}.{end}"

    def add(self, name: str, kind: str, values: dict[str, Any], a: str, b: str) -> None:
        """Add a component between two connectors of the assembly."""
        part = Component(self.at(name), kind, values)
        self.parts.append(part)
        self.connections += [
            (f"{part.path}.frame_a", self.at(a)), (f"{part.path}.frame_b", self.at(b)),
        ]  # fmt: skip

    def axis(self, name: str) -> None:
        """Connect the flanges of a joint to those of the assembly."""
        self.connections += [
            (self.at(f"{name}.axis"), self.at("axis")),
            (self.at(f"{name}.support"), self.at("bearing")),
        ]

    # -- the two halves -------------------------------------------------------------------------------
    def rod_from_universal(self, key: str, axis: str, end: str) -> None:
        """Add the rod from the universal joint at frame_a to the spherical joint at `end`."""
        c, ia = self.c, self.at("frame_ia")
        rod = c.vector(key, (1, 0, 0))
        if ia not in self.used:
            length = float(np.linalg.norm(rod))
            self.add("rod1", "Joints.SphericalSpherical", {"rodLength": length}, "frame_a", end)
            return
        first = unit(c.vector(axis, (0, 0, 1)), self.at(axis))
        second = unit(np.cross(first, rod), f"{self.at(key)} across {axis}")
        axes = {"n_a": first, "n_b": second}
        self.add("universal", "Joints.Universal", axes, "frame_a", "frame_ia")
        self.add("rod1", "Parts.FixedTranslation", {"r": rod}, "frame_ia", "tip")
        self.add("spherical", "Joints.Spherical", {}, "tip", end)

    def rod_from_revolute(self, axis: np.ndarray) -> None:
        """Add the rod from the revolute joint at frame_a to the middle revolute joint."""
        rod = self.c.vector("rRod1_ia", (1, 0, 0))
        self.add("revolute_a", "Joints.Revolute", {"n": axis}, "frame_a", "frame_ia")
        self.add("rod1", "Parts.FixedTranslation", {"r": rod}, "frame_ia", "tip")
        self.add("revolute_m", "Joints.Revolute", {"n": axis}, "tip", "frame_im")

    def rod_of_length(self) -> None:
        """Add the rod between two spherical joints."""
        values = {"rodLength": self.c.number("rod1Length", 1.0), "m": self.c.number("rod1Mass", 0)}
        self.add("rod1", "Joints.SphericalSpherical", values, "frame_a", "frame_im")

    def turn_at_b(self, axis: np.ndarray, rod: tuple[float, float, float]) -> None:
        """Add the revolute joint at frame_b and the rod that it carries."""
        c = self.c
        guess = {"start": float(np.radians(c.number("phi_guess", 0.0)))}
        offset = {"n": axis, "angle": c.number("phi_offset", 0.0)}
        self.add("revolute", "Joints.Revolute", {"n": axis, "phi": guess}, "frame_b", "turned")
        self.add("offset", "Parts.FixedRotation", offset, "turned", "frame_ib")
        self._rod2("revolute", rod)

    def slide_at_b(
        self, default: tuple[float, float, float], rod: tuple[float, float, float]
    ) -> None:
        """Add the prismatic joint at frame_b and the rod that it carries."""
        c = self.c
        axis = unit(c.vector("n_b", default), self.at("n_b"))
        guess = {"start": c.number("s_guess", 0.0)}
        offset = {"r": axis * c.number("s_offset", 0.0)}
        self.add("prismatic", "Joints.Prismatic", {"n": axis, "s": guess}, "frame_b", "slid")
        self.add("offset", "Parts.FixedTranslation", offset, "slid", "frame_ib")
        self._rod2("prismatic", rod)

    def _rod2(self, joint: str, default: tuple[float, float, float]) -> None:
        rod = {"r": self.c.vector("rRod2_ib", default)}
        self.add("rod2", "Parts.FixedTranslation", rod, "frame_ib", "frame_im")
        self.axis(joint)


def _ups(a: _Assembly) -> None:
    """Decompose a strut; one without bodies becomes a force along the line between its ends."""
    if not {a.at("frame_ia"), a.at("frame_ib")} & set(a.used):
        offset = {"s_offset": a.c.number("s_offset", 0.0)}
        a.parts.append(Component(a.c.path, "Joints.Strut", offset))
        return
    first, second, line = line_axes(a.c)
    offset = a.c.number("s_offset", 0.0)
    length = float(np.linalg.norm(a.c.vector("nAxis_ia", (1, 0, 0))))
    slide = {"n": line, "s": {"start": length - offset}, "strut": True}
    a.add("universal", "Joints.Universal", {"n_a": first, "n_b": second}, "frame_a", "frame_ia")
    a.add("prismatic", "Joints.Prismatic", slide, "frame_ia", "slid")
    a.add("offset", "Parts.FixedTranslation", {"r": line * offset}, "slid", "frame_ib")
    a.add("spherical", "Joints.Spherical", {}, "frame_ib", "frame_b")
    a.axis("prismatic")


def _usr(a: _Assembly) -> None:
    a.rod_from_universal("rRod1_ia", "n1_a", "frame_im")
    a.turn_at_b(unit(a.c.vector("n_b", (0, 0, 1)), a.at("n_b")), (-1, 0, 0))


def _usp(a: _Assembly) -> None:
    a.rod_from_universal("rRod1_ia", "n1_a", "frame_im")
    a.slide_at_b((-1, 0, 0), (-1, 0, 0))


def _ssr(a: _Assembly) -> None:
    a.rod_of_length()
    a.turn_at_b(unit(a.c.vector("n_b", (0, 0, 1)), a.at("n_b")), (1, 0, 0))


def _ssp(a: _Assembly) -> None:
    a.rod_of_length()
    a.slide_at_b((0, 0, 1), (1, 0, 0))


def _rrr(a: _Assembly) -> None:
    axis = unit(a.c.vector("n_a", (0, 0, 1)), a.at("n_a"))
    a.rod_from_revolute(axis)
    a.turn_at_b(axis, (-1, 0, 0))  # frame_b is parallel to frame_a where all angles are 0


def _rrp(a: _Assembly) -> None:
    a.rod_from_revolute(unit(a.c.vector("n_a", (0, 0, 1)), a.at("n_a")))
    a.slide_at_b((-1, 0, 0), (-1, 0, 0))


def _universal_spherical(a: _Assembly) -> None:
    a.rod_from_universal("rRod_ia", "n1_a", "frame_b")


def _gear(a: _Assembly) -> None:
    """Decompose two shafts in one bearing whose angles have a fixed ratio."""
    for end, start in (("a", {}), ("b", a.c.values.get("phi_b") or {})):
        shaft = {"n": a.c.vector(f"n_{end}", (1, 0, 0)), "phi": start}
        if end == "b" and isinstance(speed := a.c.values.get("w_b"), dict):
            shaft["w"] = speed
        place = {"r": a.c.vector(f"r_{end}")}
        a.add(f"place_{end}", "Parts.FixedTranslation", place, "bearing", f"placed_{end}")
        joint = f"actuatedRevolute_{end}"
        a.add(joint, "Joints.Revolute", shaft, f"placed_{end}", f"frame_{end}")
        a.connections.append((a.at(f"{joint}.axis"), a.at(f"idealGear.flange_{end}")))
    ratio = {"ratio": a.c.number("ratio", 2.0)}
    a.parts.append(Component(a.at("idealGear"), "Components.IdealGear", ratio))


ASSEMBLIES: dict[str, Callable[[_Assembly], None]] = {
    "JointUPS": _ups, "JointUSR": _usr, "JointUSP": _usp, "JointSSR": _ssr, "JointSSP": _ssp,
    "JointRRR": _rrr, "JointRRP": _rrp, "GearConstraint": _gear,
}  # fmt: skip
VARIABLES = {"prismatic.distance": "prismatic.s", "revolute.angle": "revolute.phi"}


def assembly_variable(text: str, components: list[Component], known: Collection[str]) -> Any:
    """Return the expression of an assembly's variable in terms of coordinates; None for others."""
    for name, own in VARIABLES.items():
        path = text.removesuffix(f".{name}")
        if path != text and f"{path}.{own}" in known:
            offset = next((c for c in components if c.path == f"{path}.offset"), None)
            if offset is None:
                return None
            turned = offset.kind.endswith("FixedRotation")
            slide = float(np.linalg.norm(offset.vector("r")))
            if not turned:
                axis = next(c for c in components if c.path == f"{path}.prismatic").vector("n")
                slide = float(offset.vector("r") @ axis)
            more = np.radians(offset.number("angle", 0.0)) if turned else slide
            return f"{quoted(f'{path}.{own}')} + {float(more)!r}"
    return None


def taken_apart(components: list[Component], connections: list[tuple[str, str]]) -> Parts:
    """Return components and connections with all assemblies decomposed."""
    there = {c.path for c in components}
    used = {one for pair in connections for one, other in (pair, pair[::-1])
            if other.rpartition(".")[0] in there}  # fmt: skip
    parts, joined = [], list(connections)
    for c in components:
        kind = c.kind.rpartition(".")[2]
        make = ASSEMBLIES.get(kind)
        if (
            kind == "UniversalSpherical"
            and f"{c.path}.frame_ia" in used
            and not c.given("rodLength")
        ):
            make = _universal_spherical
        if make is None:
            parts.append(c)
            continue
        assembly = _Assembly(c, used)
        make(assembly)
        parts += assembly.parts
        joined += assembly.connections
    return parts, joined
