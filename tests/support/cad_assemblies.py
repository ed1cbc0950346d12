"""A four-bar linkage as CAD programs export it: with mates, with joints, and in the first generation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

LINKS = {"crank": 1.0, "coupler": 2.0, "rocker": 1.5}  # m
BASE = 2.0
MASSES = {"crank": 1.234567890123, "coupler": 2.5, "rocker": 1.75}
CRANK_ANGLE = 1.1  # rad


def turned(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def poses() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Where the links stand: their own x axes run from one pin to the other."""
    B = LINKS["crank"] * np.array([math.cos(CRANK_ANGLE), math.sin(CRANK_ANGLE), 0.0])
    D = np.array([BASE, 0.0, 0.0])
    d = D - B
    far = float(np.linalg.norm(d))
    b, c = LINKS["coupler"], LINKS["rocker"]
    along = (b * b - c * c + far * far) / (2 * far)
    up = math.sqrt(b * b - along * along)
    u = d / far
    C = B + along * u + up * np.array([-u[1], u[0], 0.0])
    angle = lambda v: math.atan2(v[1], v[0])  # noqa: E731
    return {
        "frame": (np.eye(3), np.zeros(3)),
        "crank": (turned(CRANK_ANGLE), np.zeros(3)),
        "coupler": (turned(angle(C - B)), B),
        "rocker": (turned(angle(C - D)), D),
    }


def inertia(name: str) -> np.ndarray:
    """About the middle of a link, with a product of inertia that shows its order and sign."""
    J = MASSES[name] * LINKS[name] ** 2 / 12
    return np.array([[0.02, 0.003, -0.002], [0.003, J, 0.001], [-0.002, 0.001, J + 0.01]])


# pins: part and place in its axes, twice
PINS = {
    "A": (("frame", 0.0), ("crank", 0.0)),
    "B": (("crank", LINKS["crank"]), ("coupler", 0.0)),
    "C": (("coupler", LINKS["coupler"]), ("rocker", LINKS["rocker"])),
    "D": (("frame", BASE), ("rocker", 0.0)),
}


def text(values: Any) -> str:
    return " ".join(repr(float(each)) for each in np.ravel(values))


def second_generation(joints: bool, length: str = "meter", mass: str = "kilogram") -> str:
    """Simscape Multibody Import XML with joints or with mates, in any units."""
    unit = {"meter": 1.0, "inch": 0.0254, "millimeter": 1e-3}[length]
    weight = {"kilogram": 1.0, "pound": 0.45359237}[mass]
    instances, parts, links = [], [], []
    for name, (R, r) in poses().items():
        grounded = ' grounded="true"' if name == "frame" else ""
        instances.append(
            f'<Instance name="{name}-1" uid="{name}-1"{grounded} entityUid="{name}"><Transform>'
            f"<Rotation>{text(R)}</Rotation><Translation>{text(r / unit)}</Translation>"
            "</Transform></Instance>"
        )
        m, J, com = (
            (5.0, np.eye(3), 0.0)
            if name == "frame"
            else (MASSES[name], inertia(name), LINKS[name] / 2)
        )
        order = J[0, 0], J[1, 1], J[2, 2], J[1, 2], J[0, 2], J[0, 1]
        parts.append(
            f'<Part name="{name}" uid="{name}"><MassProperties><Mass>{m / weight!r}</Mass>'
            f"<CenterOfMass>{text(np.array([com, 0, 0]) / unit)}</CenterOfMass>"
            f"<Inertia>{text(np.array(order) / weight / unit**2)}</Inertia></MassProperties>"
            f'<GeometryFile name="{name}.STEP" type="STEP"/></Part>'
        )
    for pin, ends in PINS.items():

        def side(end: tuple[str, float], tag: str, inner: str) -> str:
            return f"<{tag}><InstancePath><Uid>{end[0]}-1</Uid></InstancePath>{inner}</{tag.split()[0]}>"

        if joints:
            frames = [
                side(
                    end,
                    tag,
                    f"<Transform><Rotation>{text(np.eye(3))}</Rotation>"
                    f"<Translation>{text([end[1] / unit, 0, 0])}</Translation></Transform>",
                )
                for end, tag in zip(ends, ("BaseFrame", "FollowerFrame"), strict=True)
            ]
            links.append(f'<Revolute name="{pin}">{"".join(frames)}</Revolute>')
            continue
        for mate, kind in (("Concentric", "cylinder"), ("Coincident", "plane")):
            both = [
                side(
                    end,
                    f'ConstraintGeometry geomType="{kind}"',
                    f"<Position>{text([end[1] / unit, 0, 0])}</Position>"
                    f"<Axis>0 0 {1 if number else -1}</Axis>",
                )
                for number, end in enumerate(ends)
            ]
            links.append(f'<{mate} name="{mate}{pin}">{"".join(both)}</{mate}>')
    section = "Joints" if joints else "Constraints"
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<SimscapeMultibodyImportXML version="2.0" '
        'xmlns="urn:mathworks:SimscapeMultibody:import">'
        f'<DataUnits mass="{mass}" length="{length}"/><RootAssembly name="four bar" uid="top">'
        f"<InstanceTree>{''.join(instances)}</InstanceTree><{section}>{''.join(links)}</{section}>"
        f"</RootAssembly><Assemblies/><Parts>{''.join(parts)}</Parts></SimscapeMultibodyImportXML>"
    )


def first_generation() -> str:
    """SimMechanics XML: lengths in millimetres, the centre given from the frame CS1."""
    number, bodies, grounds, joints = 0, [], [], []
    refs: dict[tuple[str, float], list[int]] = {}

    def frame(name: str, ref: int, position: Any, origin: str, R: np.ndarray) -> str:
        mark = f' ref="{ref}"' if ref else ""
        return (
            f'<Frame{mark}><name>"{name}"</name><position>{",".join(text(position).split())}</position>'
            f'<positionOrigin>"{origin}"</positionOrigin>'
            f'<positionReferenceFrame>"{origin}"</positionReferenceFrame>'
            '<positionUnits>"mm"</positionUnits>'
            f"<orientation>{','.join(text(R).split())}</orientation>"
            '<orientationType>"3x3 Transform"</orientationType>'
            '<orientationReferenceFrame>"WORLD"</orientationReferenceFrame></Frame>'
        )

    ends = [end for pin in PINS.values() for end in pin]
    for name, (R, r) in poses().items():
        own = [end for end in ends if end[0] == name]
        frames = []
        for end in own:
            number += 1
            refs.setdefault(end, []).append(number)
            place = (r + R @ [end[1], 0, 0]) * 1000
            frames.append(frame(f"CS{len(frames) + 2}", number, place, "WORLD", R))
        if name == "frame":
            grounds += [
                f'<Ground><name>"G"</name><frame>{each}</frame></Ground>' for each in frames
            ]
            continue
        begin = frame("CG", 0, [LINKS[name] * 500, 0, 0], "CS1", R)
        begin += frame("CS1", 0, r * 1000, "WORLD", R)
        bodies.append(
            f'<Body><name>"{name}"</name><nodeID>"{name}"</nodeID><mass>{MASSES[name]!r}</mass>'
            f'<massUnits>"kg"</massUnits><inertia>{",".join(text(inertia(name)).split())}</inertia>'
            f'<inertiaUnits>"kg*m^2"</inertiaUnits><frames>{begin}{"".join(frames)}</frames></Body>'
        )
    for pin, (one, other) in PINS.items():
        sides = "".join(
            f'<{key}><JointSide><connection><Frame ref="{refs[end].pop(0)}"/></connection>'
            f"</JointSide></{key}>"
            for key, end in (("base", one), ("follower", other))
        )
        joints.append(
            f'<SimpleJoint><name>"{pin}"</name>{sides}<primitives><Primitive>'
            '<name>"revolute"</name><referenceFrame>"WORLD"</referenceFrame>'
            "<axis>0,0,1</axis></Primitive></primitives></SimpleJoint>"
        )
    return (
        '<?xml version="1.0"?><PhysicalModelingXMLFile><SimMechanics><name>"bar"</name>'
        f"<bodies>{''.join(bodies)}</bodies><joints>{''.join(joints)}</joints>"
        f"<grounds>{''.join(grounds)}</grounds></SimMechanics></PhysicalModelingXMLFile>"
    )


def native() -> dict[str, Any]:
    """The same linkage as a description of one's own."""
    J = {name: inertia(name) for name in LINKS}
    place = poses()
    angles = {name: math.atan2(R[1, 0], R[0, 0]) for name, (R, _) in place.items()}
    start = {
        "A": angles["crank"],
        "B": angles["coupler"] - angles["crank"],
        "C": angles["rocker"] - angles["coupler"],
        "D": angles["rocker"],
    }
    joints = {}
    for pin, (one, other) in PINS.items():
        joints[pin] = {
            "parent": "ground" if one[0] == "frame" else one[0],
            "child": other[0],
            "type": "revolute",
            "at": [one[1], 0, 0],
            "child_at": [other[1], 0, 0],
            "start": start[pin],
        }
    return {
        "format": "kinetree/1",
        "bodies": {
            name: {
                "mass": MASSES[name],
                "com": [length / 2, 0, 0],
                "inertia": [
                    J[name][i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
                ],
                "unphysical": True,
            }
            for name, length in LINKS.items()
        },
        "joints": joints,
        "gravity": [0, -9.81, 0],
    }
