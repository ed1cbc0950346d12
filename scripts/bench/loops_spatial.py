"""Mechanisms in space whose loops close at points, as `constraintDynamics` and `lcaba` take them: Cassie, a delta robot, a Stewart platform, a
double-wishbone axle and an excavator's linkage.

A mechanism is specified in a configuration with closed loops: joints, centres of mass and closure
points by their positions in ground axes, with which the axes of all bodies then coincide. Our model
and Pinocchio's are made from the same specification; accelerations of the moving mechanism are
compared before anything is timed.
"""

import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kinetree.models import load
from kinetree.models.specialised.specialised_system import Specialised
from kinetree.models.system.system import System
from kinetree.scripts.bench.loops_peers import call_overhead
from kinetree.scripts.bench.robots import folder

Timer = Callable[[Callable[[int], object], int], float]
AGREED = 1e-6  # of the largest acceleration
GRAVITY = 9.81
BENT = 0.03  # rad


class Link(NamedTuple):
    """A body with the joint to its parent; a free joint is at the body's origin, `axis` is that of
    a hinge.
    """

    name: str
    parent: str
    kind: str  # free, revolute, prismatic, spherical
    at: np.ndarray
    axis: np.ndarray | None
    mass: float
    com: np.ndarray
    inertia: np.ndarray  # about the centre of mass


class Drawing(NamedTuple):
    """Bodies, parents first, and the points at which pairs of bodies are connected."""

    links: list[Link]
    closures: list[tuple[str, str, np.ndarray]]


def delta() -> Drawing:
    """Return a delta robot with the values of lib:delta: three arms on hinges, each forearm as two
    rods, and the platform hanging on the first rod.
    """
    base, plate, arm, forearm, half, angle = 0.2, 0.06, 0.25, 0.55, 0.03, 0.3
    reach = base + arm * np.cos(angle) - plate
    height = -arm * np.sin(angle) - np.sqrt(forearm**2 - reach**2)
    middle, disc = np.array([0, 0, height]), 0.5 * plate**2 / 4 * np.diag([1.0, 1.0, 2.0])
    links = []
    closures = []
    for k in range(3):
        c, s = np.cos(2 * np.pi * k / 3), np.sin(2 * np.pi * k / 3)
        out, side = np.array([c, s, 0.0]), np.array([-s, c, 0.0])
        hinge, elbow = (
            base * out,
            (base + arm * np.cos(angle)) * out - np.array([0, 0, arm * np.sin(angle)]),
        )
        links.append(
            Link(
                f"arm{k}",
                "ground",
                "revolute",
                hinge,
                side,
                0.6,
                (hinge + elbow) / 2,
                rod(0.6, hinge, elbow, arm / 20),
            )
        )
        for j, across in enumerate((-half * side, half * side)):
            start, end = elbow + across, plate * out + np.array([0, 0, height]) + across
            name = f"rod{k}{j}"
            links.append(
                Link(
                    name,
                    f"arm{k}",
                    "spherical",
                    start,
                    None,
                    0.1,
                    (start + end) / 2,
                    rod(0.1, start, end, forearm / 40),
                )
            )
            if len(links) == 2:
                links.append(Link("plate", name, "spherical", end, None, 0.5, middle, disc))
            else:
                closures.append((name, "plate", end))
    return Drawing(links, closures)


def rod(mass: float, start: np.ndarray, end: np.ndarray, radius: float) -> np.ndarray:
    """Return the inertia matrix of a round rod about its centre."""
    along = end - start
    length = np.linalg.norm(along)
    e = np.outer(along, along) / length**2
    return mass * (radius**2 / 2 * e + (length**2 / 12 + radius**2 / 4) * (np.eye(3) - e))


def cassie() -> Drawing:
    """Cassie as the package example-robot-data has it (cassie_v2.sdf): a free pelvis, eleven bodies a leg, rods that end in balls."""
    root = (
        ET.parse(folder() / "cassie_description" / "robots" / "cassie_v2.sdf")
        .getroot()
        .find("model")
    )
    assert root is not None
    places = {link.get("name", ""): pose(link) for link in root.findall("link")}
    links, closures, carried = {}, [], {"pelvis"}
    for joint in root.findall("joint"):
        parent, child = joint.findtext("parent") or "", joint.findtext("child") or ""
        R, r = places[child]
        turned, at = pose(joint)
        if joint.get("type") == "ball":
            closures.append((parent, child, r + R @ at))
            continue
        assert joint.get("type") == "revolute" and child not in carried, child
        carried.add(child)
        axis = np.array((joint.findtext("axis/xyz") or "").split(), float)
        hangs = child.endswith(
            "-rod"
        )  # a hinge there and a ball at the other end would hold some of its turns twice
        links[child] = (
            (parent, "spherical", r + R @ at, None)
            if hangs
            else (parent, "revolute", r + R @ at, R @ turned @ axis)
        )
    links = {"pelvis": ("ground", "free", places["pelvis"][1], None)} | links
    ordered: list[str] = []

    def follow(name: str) -> None:  # Pinocchio numbers a branch before it begins the next
        ordered.append(name)
        for child, (parent, *_) in links.items():
            if parent == name:
                follow(child)

    follow("pelvis")
    bodies = {
        link.get("name", ""): mass_of(link, *places[link.get("name", "")])
        for link in root.findall("link")
    }
    drawn = []
    for name in ordered:
        parent, kind, at, axis = links[name]
        mass, com, inertia = bodies[name]
        drawn.append(Link(name, parent, kind, at, axis, mass, com, inertia))
    return Drawing(drawn, closures)


def pose(element: ET.Element) -> tuple[np.ndarray, np.ndarray]:
    """Return the rotation matrix and position of an SDF element."""
    x, y, z, roll, pitch, yaw = map(float, (element.findtext("pose") or "0 0 0 0 0 0").split())
    (cr, sr), (cp, sp), (cy, sy) = ((np.cos(a), np.sin(a)) for a in (roll, pitch, yaw))
    R = np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
    return R, np.array([x, y, z])


def mass_of(link: ET.Element, R: np.ndarray, r: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the mass, centre of mass and inertia of an SDF link in ground axes."""
    inertial = link.find("inertial")
    assert inertial is not None
    turned, com = pose(inertial)
    xx, yy, zz, xy, xz, yz = (
        float(inertial.findtext(f"inertia/i{key}") or 0.0)
        for key in ("xx", "yy", "zz", "xy", "xz", "yz")
    )
    S = R @ turned
    return (
        float(inertial.findtext("mass") or 0.0),
        r + R @ com,
        S @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ S.T,
    )


def bar(name: str, parent: str, kind: str, ends: Any, mass: float, radius: float, axis: Any = None):
    """Return a round rod as a link whose joint is at the rod's first end."""
    start, end = np.array(ends, float)
    along = None if axis is None else np.array(axis, float)
    middle = (start + end) / 2
    return Link(name, parent, kind, start, along, mass, middle, rod(mass, start, end, radius))


def stewart() -> Drawing:
    """Return a Stewart platform: six legs between ball joints, each a cylinder and a piston; the
    platform hangs on the first.
    """
    links, closures = [], []
    for k in range(6):
        third, side = 2 * np.pi * (k // 2) / 3, 1.0 if k % 2 else -1.0
        low, high = third + 0.9 * side, third + 0.25 * side
        foot = 0.8 * np.array([np.cos(low), np.sin(low), 0.0])
        head = 0.4 * np.array([np.cos(high), np.sin(high), 0.0]) + np.array([0.05, 0.02, 0.7])
        along = (head - foot) / np.linalg.norm(head - foot)
        middle = foot + 0.45 * (head - foot)
        links.append(bar(f"cylinder{k}", "ground", "spherical", (foot, middle), 2.0, 0.04))
        links.append(
            bar(f"piston{k}", f"cylinder{k}", "prismatic", (middle, head), 1.0, 0.02, along)
        )
        if k == 0:
            centre, disc = np.array([0.05, 0.02, 0.75]), np.diag([0.4, 0.45, 0.8])
            links.append(Link("plate", "piston0", "spherical", head, None, 10.0, centre, disc))
        else:
            closures.append((f"piston{k}", "plate", head))
    return Drawing(links, closures)


def wishbones() -> Drawing:
    """Return an axle with double wishbones, a steering rack and two wheels under a free chassis."""
    frame, wheel = np.diag([40.0, 160.0, 180.0]), np.diag([0.6, 1.1, 0.6])
    links = [Link("chassis", "ground", "free", np.zeros(3), None, 600.0, np.zeros(3), frame)]
    rack = (np.array([-0.1, -0.35, 0.05]), np.array([-0.1, 0.35, 0.05]))
    links.append(bar("rack", "chassis", "prismatic", rack, 4.0, 0.02, (0, 1, 0)))
    closures = []
    for side, s in (("left", 1.0), ("right", -1.0)):
        low = np.array([[0.05, 0.35 * s, -0.1], [0.0, 0.75 * s, -0.12]])
        top = np.array([[-0.02, 0.42 * s, 0.15], [-0.03, 0.7 * s, 0.17]])
        tie = np.array([rack[1] * [1, s, 1], [-0.12, 0.72 * s, 0.04]])
        hub = np.array([0.0, 0.8 * s, 0.03])
        upright = np.diag([0.2, 0.15, 0.1])
        links += [
            bar(f"lower.{side}", "chassis", "revolute", low, 5.0, 0.03, (1, 0.02, 0.05)),
            bar(f"upper.{side}", "chassis", "revolute", top, 3.0, 0.03, (1, -0.03, 0.1)),
            Link(f"upright.{side}", f"lower.{side}", "spherical", low[1], None, 15.0, hub, upright),
            Link(
                f"wheel.{side}",
                f"upright.{side}",
                "revolute",
                hub,
                np.array([0.0, 1.0, 0.0]),
                20.0,
                hub,
                wheel,
            ),
            bar(f"tie.{side}", "rack", "spherical", tie, 1.0, 0.02),
        ]
        closures.append((f"upper.{side}", f"upright.{side}", top[1]))
        closures.append((f"tie.{side}", f"upright.{side}", tie[1]))
    order = ["chassis", *(f"{part}.{side}" for side in ("left", "right") for part in WISHBONE)]
    order += ["rack", "tie.left", "tie.right"]
    found = {link.name: link for link in links}
    return Drawing([found[name] for name in order], closures)


WISHBONE = ("lower", "upright", "wheel", "upper")  # of a side, branch by branch


def excavator() -> Drawing:
    """Return an excavator with the values of lib:excavator: house, boom, stick and bucket with its
    four-bar, with the arm stretched.
    """
    y, z = np.array([0.0, -1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    pin, tip = np.array([0.3, 0.0, 1.7]), np.array([4.9, 0.0, 4.9])
    end = np.array([6.2, 0.0, 2.3])
    along, across = (end - tip) / 2.9, np.array([2.6, 0.0, 1.3]) / 2.9
    pivot = tip + 2.45 * along + 0.1 * across
    knee, ear = pivot + 0.55 * across + 0.35 * along, end + 0.45 * across - 0.05 * along
    house = np.diag([12e3, 30e3, 30e3])
    middle = np.array([-1.2, 0.0, 1.9])
    return Drawing(
        [
            Link("house", "ground", "revolute", np.array([0, 0, 1.0]), z, 12e3, middle, house),
            bar("boom", "house", "revolute", (pin, tip), 1900.0, 0.2, y),
            bar("stick", "boom", "revolute", (tip, end), 1000.0, 0.15, y),
            bar("bucket", "stick", "revolute", (end, end + 1.4 * along), 1600.0, 0.4, y),
            bar("rocker", "stick", "revolute", (pivot, knee), 60.0, 0.05, y),
            bar("link", "rocker", "revolute", (knee, ear), 70.0, 0.05, y),
        ],
        [("link", "bucket", ear)],
    )


DRAWINGS: dict[str, Callable[[], Drawing]] = {
    "delta": delta,
    "cassie": cassie,
    "stewart": stewart,
    "wishbones": wishbones,
    "excavator": excavator,
}


def ours(drawing: Drawing) -> System:
    """Return the specification as a Kinetree description."""
    places = {"ground": np.zeros(3)} | {link.name: link.at for link in drawing.links}
    bodies, joints = {}, {}
    for link in drawing.links:
        I = link.inertia
        com, entries = link.com - link.at, [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
        bodies[link.name] = {
            "mass": link.mass,
            "com": [*map(float, com)],
            "inertia": [*map(float, entries)],
        }
        joint: dict[str, Any] = {
            "parent": link.parent,
            "child": link.name,
            "type": link.kind,
            "at": [*map(float, link.at - places[link.parent])],
        }
        joints[f"{link.name}.joint"] = joint | (
            {"axis": [*map(float, link.axis)]} if link.axis is not None else {}
        )
    for k, (a, b, point) in enumerate(drawing.closures):
        ends = {
            "at": [*map(float, point - places[a])],
            "child_at": [*map(float, point - places[b])],
        }
        joints[f"closure{k}"] = {"parent": a, "child": b, "type": "spherical"} | ends
    return load(
        {"format": "kinetree/1", "gravity": [0, 0, -GRAVITY], "bodies": bodies, "joints": joints}
    ).compile()


def unit(axis: np.ndarray | None) -> np.ndarray:
    """Return the axis of a revolute or prismatic joint as a unit vector."""
    assert axis is not None, "joints of these kinds have an axis"
    return axis / np.linalg.norm(axis)


def pinocchios(drawing: Drawing) -> tuple[Any, Any]:
    """Return the specification as a Pinocchio model, and its loop constraints."""
    import pinocchio as pin

    model, one = pin.Model(), np.eye(3)
    model.gravity.linear = np.array([0.0, 0.0, -GRAVITY])
    number, places = {"ground": 0}, {"ground": np.zeros(3)}
    for link in drawing.links:
        make = {
            "free": pin.JointModelFreeFlyer,
            "spherical": pin.JointModelSpherical,
            "revolute": lambda axis=link.axis: pin.JointModelRevoluteUnaligned(unit(axis)),
            "prismatic": lambda axis=link.axis: pin.JointModelPrismaticUnaligned(unit(axis)),
        }
        joint: Any = make[link.kind]()
        number[link.name] = model.addJoint(
            number[link.parent], joint, pin.SE3(one, link.at - places[link.parent]), link.name
        )
        model.appendBodyToJoint(
            number[link.name],
            pin.Inertia(link.mass, link.com - link.at, link.inertia),
            pin.SE3.Identity(),
        )
        places[link.name] = link.at
    loops = pin.StdVec_RigidConstraintModel()
    for a, b, point in drawing.closures:
        ends = (
            model,
            number[a],
            pin.SE3(one, point - places[a]),
            number[b],
            pin.SE3(one, point - places[b]),
            pin.ReferenceFrame.LOCAL,
        )
        loops.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, *ends))
    return model, loops


NAMES = {  # of coordinates and of speeds, in Pinocchio's order; both tell velocities in the axes of the body that moves
    "free": (("x", "y", "z", "qx", "qy", "qz", "qw"), ("vx", "vy", "vz", "wx", "wy", "wz")),
    "spherical": (("qx", "qy", "qz", "qw"), ("wx", "wy", "wz")),
    "revolute": (("angle",), ("angle",)),
    "prismatic": (("s",), ("s",)),
}


def places(drawing: Drawing, system: System) -> tuple[list[int], list[int]]:
    """Return, in Pinocchio's order, the indices of coordinates and speeds in our state."""
    q, u = [], []
    for link in drawing.links:
        coordinates, speeds = NAMES[link.kind]
        q += [system.coordinates.index(f"{link.name}.joint.{name}") for name in coordinates]
        words = [f"{link.name}.joint.{name}" for name in speeds]
        u += [
            system.speeds.index(f"der({word})" if link.axis is not None else word) for word in words
        ]
    return q, u


def moving(system: System) -> tuple[np.ndarray, np.ndarray]:
    """Return an assembled state near the specified configuration, with speeds of about 1."""
    q, _ = system.start()
    bent = [
        name.endswith(".angle") and ("foot" in name or "arm" in name) for name in system.coordinates
    ]
    q[bent] += BENT
    return system.project(0.0, q, np.ones(system.n))


def accelerations(name: str, timed: Timer) -> list[dict[str, Any]]:
    """Return times and deviations of our engine, our straight-line code and Pinocchio's two
    methods.
    """
    drawing = DRAWINGS[name]()
    system, (model, loops) = ours(drawing), pinocchios(drawing)
    q, u = moving(system)
    at_q, at_u = places(drawing, system)
    mine, repeat = system.accelerations(0.0, q, u)[at_u], system._fast.entry("repeat")
    row = {"loops": len(loops), "bodies": len(system.bodies), "mechanism": name}
    found = [{**row, "method": "kinetree", "us": shortest(timed, lambda count: repeat(count, 0.0))}]
    found.append(
        {
            **row,
            "method": "kinetree straight-line",
            "us": 1e6 * Specialised(system).times["specialised"],
        }
    )
    overhead = call_overhead(timed)
    for method, call in peers(model, loops, q[at_q], u[at_u]).items():
        deviation = float(np.abs(call() - mine).max() / np.abs(mine).max())
        us = shortest(timed, lambda count, call=call: [call() for _ in range(count)]) - overhead
        found.append({**row, "method": method, "us": us, "deviation": deviation})
    return found


def shortest(timed: Timer, call: Callable[[int], object]) -> float:
    """Return the least time [µs] of one evaluation over many short rounds."""
    return min(timed(call, 50) for _ in range(30))


def peers(
    model: Any, loops: Any, q: np.ndarray, u: np.ndarray
) -> dict[str, Callable[[], np.ndarray]]:
    """Return functions for Pinocchio's accelerations by both methods."""
    import pinocchio as pin

    calls = {}
    for method in ("constraintDynamics", "lcaba"):
        data, datas, settings = (
            model.createData(),
            pin.StdVec_RigidConstraintData(),
            pin.ProximalSettings(1e-12, 1e-6, 3),
        )
        for loop in loops:
            datas.append(loop.createData())
        if method == "lcaba":
            pin.computeJointMinimalOrdering(model, data, loops)
        else:
            pin.initConstraintDynamics(model, data, loops, datas)
        arguments = (model, data, q, u, np.zeros(model.nv), loops, datas, settings)
        calls[f"pinocchio {method}"] = partial(getattr(pin, method), *arguments)
    return calls
