"""Translation of classes of Modelica.Mechanics.MultiBody: bodies, joints, forces, sources."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from kinetree.models.foreign.modelica_component import Component, Unreadable
from kinetree.models.foreign.robot import Lump, numbers, place
from kinetree.models.language.inertia_rotation import turn

Pose = tuple[np.ndarray, np.ndarray]
Shapes = list[tuple[dict[str, Any], Pose]]
NEGLIGIBLE_LENGTH = 1e-15  # m
DENSITY, WIDTH_FRACTION = 7700.0, 20.0  # defaults of BodyBox and BodyCylinder, and of the world
# what decides the motion: where it cannot be evaluated the model is refused
PHYSICAL = {
    "r", "r_CM", "m", "n", "n_a", "n_b", "n_x", "n_y", "angle", "angles", "I_11", "I_22", "I_33", "I_21", "I_31", "I_32", "density", "length",
    "width", "height", "diameter", "innerDiameter", "innerWidth", "innerHeight", "c", "d", "s_unstretched", "g", "rodLength", "rRod_ia",
    "tau_constant", "f_constant", "J", "phi_rel0", "s_rel0", "r_shape", "lengthDirection", "widthDirection",
}  # fmt: skip


def unit(v: np.ndarray, what: str) -> np.ndarray:
    """Return a direction normalised to length 1."""
    size = float(np.linalg.norm(v))
    if size < NEGLIGIBLE_LENGTH:
        raise Unreadable(f"{what}, a direction of length 0")
    return v / size


def axes_of(x: np.ndarray, y: np.ndarray, what: str) -> np.ndarray:
    """Return the rotation whose first axis is x and whose second axis is as near as possible to y."""
    e = unit(x, what)
    side = y / (np.linalg.norm(y) or 1.0)
    z = np.cross(e, side)
    if z @ z <= 1e-6:
        side = np.array([0.0, 1.0, 0.0]) if abs(e[0]) > 1e-6 else np.array([1.0, 0.0, 0.0])
        z = np.cross(e, side)
    z = z / np.linalg.norm(z)
    return np.column_stack([e, np.cross(z, e), z])


def sequence(axes: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Return the rotation of three successive rotations about the moving axes 1, 2 or 3."""
    R = np.eye(3)
    for axis, angle in zip(axes, angles, strict=True):
        if axis not in (1, 2, 3):
            raise Unreadable("a sequence of axes other than 1, 2, 3")
        R = R @ turn(np.eye(3)[int(axis) - 1].tolist(), float(angle))
    return R


def fixed_rotation(c: Component) -> np.ndarray:
    """Return the axes of frame_b in those of frame_a for a fixed rotation."""
    if not c.kind.endswith("FixedRotation"):
        return np.eye(3)
    kind = str(c.given("rotationType") or "RotationAxis").rpartition(".")[2]
    if kind == "RotationAxis":
        n = unit(c.vector("n", (1, 0, 0)), f"{c.path}.n")
        return turn(n.tolist(), math.radians(c.number("angle", 0.0)))
    if kind == "TwoAxesVectors":
        return axes_of(c.vector("n_x", (1, 0, 0)), c.vector("n_y", (0, 1, 0)), f"{c.path}.n_x")
    return sequence(c.vector("sequence", (1, 2, 3)), np.radians(c.vector("angles")))


# -- bodies -------------------------------------------------------------------------------------------
def _given_lump(c: Component) -> Lump:
    J = {key: c.number(f"I_{key}", 0.001 if key[0] == key[1] else 0.0)
         for key in ("11", "22", "33", "21", "31", "32")}  # fmt: skip
    tensor = np.array([
        [J["11"], J["21"], J["31"]], [J["21"], J["22"], J["32"]], [J["31"], J["32"], J["33"]],
    ])  # fmt: skip
    mass = c.number("m", 1.0)
    return Lump(mass, c.vector("r_CM"), tensor)


def body(c: Component) -> tuple[Lump, Shapes, np.ndarray | None]:
    return _given_lump(c), [], None


def body_shape(c: Component) -> tuple[Lump, Shapes, np.ndarray | None]:
    return _given_lump(c), [], c.vector("r")


def point_mass(c: Component) -> tuple[Lump, Shapes, np.ndarray | None]:
    return Lump(c.number("m", 1.0)), [], None


def _solid(c: Component) -> tuple[np.ndarray, np.ndarray, float, np.ndarray, np.ndarray]:
    """Return r, the axes of the shape, its length, its middle and its start point."""
    r, begin = c.vector("r", (0.1, 0, 0)), c.vector("r_shape")
    along = c.vector("lengthDirection", r - begin)
    length = c.number("length", float(np.linalg.norm(r - begin)))
    e = unit(along, f"{c.path}.lengthDirection")
    return r, e, length, begin + e * length / 2.0, begin


def body_box(c: Component) -> tuple[Lump, Shapes, np.ndarray | None]:
    """Return the body of a box of given density along r, hollow if an inner width is given."""
    r, e, length, middle, _ = _solid(c)
    width = c.number("width", length / WIDTH_FRACTION)
    height = c.number("height", width)
    inner_width = c.number("innerWidth", 0.0)
    inner_height = c.number("innerHeight", inner_width)
    density = c.number("density", DENSITY)
    R = axes_of(r, c.vector("widthDirection", (0, 1, 0)), f"{c.path}.r")
    out, hole = density * length * width * height, density * length * inner_width * inner_height
    J = np.diag([
        out * (width**2 + height**2) - hole * (inner_width**2 + inner_height**2),
        out * (length**2 + height**2) - hole * (length**2 + inner_height**2),
        out * (length**2 + width**2) - hole * (length**2 + inner_width**2),
    ]) / 12.0  # fmt: skip
    shape: Shapes = [({"box": [length, width, height]}, (R, middle))]
    return Lump(out - hole, middle, R @ J @ R.T), shape, r


def body_cylinder(c: Component) -> tuple[Lump, Shapes, np.ndarray | None]:
    """Return the body of a cylinder of given density along r, hollow if an inner diameter is given."""
    r, e, length, middle, _ = _solid(c)
    radius = c.number("diameter", length / WIDTH_FRACTION) / 2.0
    hollow = c.number("innerDiameter", 0.0) / 2.0
    density = c.number("density", DENSITY)
    R = axes_of(r, np.array([0.0, 1.0, 0.0]), f"{c.path}.r")
    out = density * math.pi * length * radius**2
    hole = density * math.pi * length * hollow**2
    side = (out * (length**2 + 3 * radius**2) - hole * (length**2 + 3 * hollow**2)) / 12.0
    J = np.diag([(out * radius**2 - hole * hollow**2) / 2.0, side, side])
    upright = R @ turn([0.0, 1.0, 0.0], math.pi / 2)  # the format's cylinder stands along z
    shape: Shapes = [({"cylinder": [radius, length]}, (upright, middle))]
    return Lump(out - hole, middle, R @ J @ R.T), shape, r


BODIES: dict[str, Callable[[Component], tuple[Lump, Shapes, np.ndarray | None]]] = {
    "Body": body, "BodyShape": body_shape, "BodyBox": body_box, "BodyCylinder": body_cylinder, "PointMass": point_mass,
}  # fmt: skip


def _body_values(c: Component) -> dict[str, Any]:
    """Return the values of a body that expressions elsewhere may use: mass, centre of mass, inertia
    tensor, vector r.
    """
    lump, _, r = BODIES[c.kind.rpartition(".")[2]](c)
    return {"m": lump.mass, "r_CM": lump.com, "I": lump.tensor} | ({} if r is None else {"r": r})


def line_axes(c: Component) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the directions of the universal joint and the line of a JointUPS assembly, in
    frame_ia.
    """
    first = unit(c.vector("n1_a", (0, 0, 1)), f"{c.path}.n1_a")
    line = unit(c.vector("nAxis_ia", (1, 0, 0)), f"{c.path}.nAxis_ia")
    return first, unit(np.cross(first, line), f"{c.path}.nAxis_ia across n1_a"), line


def _line_values(c: Component) -> dict[str, Any]:
    _, second, line = line_axes(c)
    return {"eAxis_ia": line, "e2_ia": second, "e3_ia": np.cross(line, second)}


DERIVED: dict[str, Callable[[Component], dict[str, Any]]] = {
    "BodyBox": _body_values, "BodyCylinder": _body_values, "JointUPS": _line_values,
}  # fmt: skip


# -- joints -------------------------------------------------------------------------------------------
Elementary = tuple[str, np.ndarray, str, float | None, float | None, bool]


def moves(c: Component, kind: str) -> list[Elementary] | None:
    """Return the elementary motions of a joint from frame_a to frame_b; None for unknown joints."""

    def turning(axis: Any, angle: str, rate: str) -> Elementary:
        return ("rotate", axis, f"{c.path}.{angle}", *c.starts(angle, rate))

    def sliding(axis: Any, way: str, rate: str) -> Elementary:
        return ("shift", axis, f"{c.path}.{way}", *c.starts(way, rate))

    def axis(key: str, default: tuple[float, float, float]) -> np.ndarray:
        return unit(c.vector(key, default), f"{c.path}.{key}")

    if c.kind == "Constraints.Prismatic":  # its frames stay parallel
        return [
            sliding(np.eye(3)[k], f"s_{key}", f"v_{key}")
            for k, key in enumerate("xyz")
            if c.given(f"{key}_locked") is False
        ]
    if kind in ("Revolute", "RevolutePlanarLoopConstraint"):
        return [turning(axis("n", (0, 0, 1)), "phi", "w")]
    if kind == "Prismatic":
        return [sliding(axis("n", (1, 0, 0)), "s", "v")]
    if kind == "Cylindrical":
        n = axis("n", (1, 0, 0))
        return [sliding(n, "s", "v"), turning(n, "phi", "w")]
    if kind == "Universal":
        a, b = axis("n_a", (1, 0, 0)), axis("n_b", (0, 1, 0))
        return [turning(a, "phi_a", "w_a"), turning(b, "phi_b", "w_b")]
    if kind == "Planar":
        R = axes_of(c.vector("n", (0, 0, 1)), c.vector("n_x", (1, 0, 0)), f"{c.path}.n")
        n, x = R[:, 0], R[:, 1]
        return [
            sliding(x, "s_x", "v_x"),
            sliding(np.cross(n, x), "s_y", "v_y"),
            turning(n, "phi", "w"),
        ]
    return None


def quaternion(R: np.ndarray) -> list[float]:
    """Return the quaternion w, x, y, z of a rotation matrix."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(R).as_quat()
    return [float(w), float(x), float(y), float(z)]


def start_turn(c: Component) -> np.ndarray:
    """Return the rotation given by the start angles of a joint."""
    return sequence(c.vector("sequence_start", (1, 2, 3)), c.vector("angles_start"))


def spherical(c: Component) -> dict[str, Any]:
    """Return a ball joint with its start values."""
    R = start_turn(c)
    speed = R.T @ c.vector("w_rel_a_start")
    table: dict[str, Any] = {"type": "spherical"}
    if c.given("angles_start") is not None or c.given("angles_fixed") is True:
        table["start"] = quaternion(R)
    if speed.any() or c.given("w_rel_a_fixed") is True:
        table["speed"] = numbers(speed)
    return table


def free(c: Component, suffix: str) -> dict[str, Any]:
    """Return a free joint with its start values."""
    R = start_turn(c)
    r = c.given(f"r_{suffix}", "start")
    place_, rate = (c.start_vector(f"{key}_{suffix}") for key in "rv")
    spin = c.vector(f"w_{suffix}_start")
    table: dict[str, Any] = {"type": "free"}
    if r is not None or c.given("angles_start") is not None or c.given("angles_fixed") is True:
        table["start"] = [*numbers(place_), *quaternion(R)]
    if rate.any() or spin.any() or c.given(f"w_{suffix}_fixed") is True:
        table["speed"] = [*numbers(R.T @ rate), *numbers(R.T @ spin)]
    return table


def free_joint(c: Component) -> dict[str, Any]:
    """Return a free joint whose start is given by vectors or by single components."""
    if c.kind.endswith("ScalarInit"):
        single = {
            key: np.array([c.start(f"{name}_{k}") for k in (1, 2, 3)])
            for key, name in (("r", "r_rel_a"), ("v", "v_rel_a"), ("a", "angle"), ("w", "w_rel_b"))
        }
        R = sequence(c.vector("sequence_start", (1, 2, 3)), single["a"])
        return {
            "type": "free",
            "start": [*numbers(single["r"]), *quaternion(R)],
            "speed": [*numbers(R.T @ single["v"]), *numbers(single["w"])],
        }
    return free(c, "rel_a")


def tells_start(c: Component) -> bool:
    """Return whether a body or free joint has start values of its own."""
    return any(
        key.endswith("_start") or (isinstance(value, dict) and "start" in value)
        for key, value in c.values.items()
    )


def free_body(c: Component | None, pose: Pose, alone: bool = True) -> dict[str, Any]:
    """Return the free joint of a body that nothing holds; its frame_a is at `pose` on the body."""
    if c is None:
        return {"type": "free"}
    if c.kind.endswith("PointMass") and alone:
        at, rate = c.start_vector("r_0"), c.start_vector("v_0")
        return {
            "transforms": [
                {"shift": axis, "coordinate": f"{c.path}.r_0_{k + 1}", "start": float(at[k]),
                 "speed": float(rate[k])}
                for k, axis in enumerate("xyz")
            ]
        }  # fmt: skip
    return free(c, "0") | framed((np.eye(3), np.zeros(3)), pose)


def framed(A: Pose, B: Pose) -> dict[str, Any]:
    """Return the keys that place a typed joint at frames A of its parent and B of its child."""
    return place(*A) | place(*B, "child_at", "child_frame")


# -- forces -------------------------------------------------------------------------------------------
def line_force(c: Component, kind: str) -> dict[str, Any]:
    """Return the law of a spring or damper between two frames."""
    law: dict[str, Any] = {"kind": "line"}
    if kind == "SpringDamperSeries":
        keys = ("c", "s_unstretched", "d", "s_damper_start")
        return law | {"series": {key: c.number(key, 0.0) for key in keys}}
    if kind != "Damper":
        law |= {"stiffness": c.number("c", 0.0), "length": c.number("s_unstretched", 0.0)}
    if kind != "Spring":
        law["damping"] = c.number("d", 0.0)
    return law


def source(c: Component) -> Any:
    """Return the expression of a signal: a number, three, or an expression; None for unknown
    signals.
    """
    kind = c.kind.rpartition(".")[2]
    if kind == "Constant":
        value = c.given("k")
        if value is None or isinstance(value, str):
            return None
        return numbers(value) if np.ndim(value) else float(value)
    begin, offset = c.number("startTime", 0.0), c.number("offset", 0.0)
    if kind == "Step":
        return f"{offset!r} + if(t < {begin!r}, 0, {c.number('height', 1.0)!r})"
    if kind == "Ramp":
        slope = c.number("height", 1.0) / max(c.number("duration", 2.0), NEGLIGIBLE_LENGTH)
        last = begin + c.number("duration", 2.0)
        return f"{offset!r} + {slope!r}*(min(max(t, {begin!r}), {last!r}) - {begin!r})"
    if kind in ("Sine", "Cosine"):
        rate = 2.0 * math.pi * (c.number("f", c.number("freqHz", 1.0)))
        name = "sin" if kind == "Sine" else "cos"
        wave = f"{name}({rate!r}*(t - {begin!r}) + {c.number('phase', 0.0)!r})"
        wave = f"{c.number('amplitude', 1.0)!r}*{wave}"
        if begin <= 0.0:
            return f"{offset!r} + {wave}"
        return f"{offset!r} + if(t < {begin!r}, 0, {wave})"
    return None
