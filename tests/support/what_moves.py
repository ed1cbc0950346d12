"""One small mechanism, or one of the library, for everything that constrains, strikes, drives or measures: what docs/library.md lists."""

from dataclasses import dataclass, field
from typing import Any

BODY = {"mass": 1.0, "inertia": [0.1, 0.12, 0.15, 0, 0, 0]}


@dataclass(frozen=True)
class Shown:
    """A mechanism, what is compared, how long, and whether it can rest."""

    model: Any  # a description, or a name of the library
    watch: tuple[str, ...]
    stop: float = 1.0
    inputs: dict[str, float] = field(default_factory=dict)
    rests: bool = False
    bound: float = 1e-6  # of the largest value, in model exchange at 1e-9


def made(bodies: dict[str, Any], joints: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"format": "kinetree/1", "name": "shown", "bodies": bodies, "joints": joints, **more}


def plane(start: dict[str, float], speed: dict[str, float], **more: Any) -> dict[str, Any]:
    """A body that moves in the plane x, z."""
    ways = (("shift", "x", "x"), ("shift", "z", "z"), ("rotate", "y", "tilt"))
    transforms = [
        {
            word: axis,
            "coordinate": name,
            "start": start.get(name, 0.0),
            "speed": speed.get(name, 0.0),
        }
        for word, axis, name in ways
    ]
    return made({"b": BODY}, {"j": {"child": "b", "transforms": transforms}}, **more)


def flat(coupling: Any, **more: Any) -> dict[str, Any]:
    joint = {
        "child": "b",
        "type": "planar",
        "coordinates": ["x", "y", "f"],
        "speed": [1.0, 0.0, 1.0],
    }
    return made({"b": BODY}, {"j": joint}, gravity=[0, 0, 0], couplings={"c": coupling}, **more)


def slider(relation: Any, **more: Any) -> dict[str, Any]:
    """A crank and a slider under one relation, both on springs."""
    joints = {
        "turn": {
            "child": "crank",
            "type": "revolute",
            "axis": "y",
            "coordinates": ["p"],
            "start": 0.4,
        },
        "way": {"child": "mass", "type": "prismatic", "axis": "x", "coordinates": ["x"]},
    }
    forces = {
        name: {"coordinate": name, "stiffness": 20.0, "length": 0.1, "damping": 0.5}
        for name in ("p", "x")
    }
    crank = {**BODY, "com": [0.2, 0, 0]}
    return made(
        {"crank": crank, "mass": BODY}, joints, couplings={"c": relation}, forces=forces, **more
    )


def bead(**coupling: Any) -> dict[str, Any]:
    ways = [
        {"shift": axis, "coordinate": axis, "start": start}
        for axis, start in (("x", 0.5), ("y", 0.0), ("z", 0.2))
    ]
    return made(
        {"bead": {"mass": 1.0}}, {"j": {"child": "bead", "transforms": ways}}, couplings=coupling
    )


def struck(law: str) -> dict[str, Any]:
    """A tilted block that falls on one edge and slides."""
    contacts = {
        name: {"body": "b", "point": [x, 0, -0.1], "restitution": 0.4, "friction": 0.3, "law": law}
        for name, x in (("a", -0.2), ("c", 0.2))
    }
    return plane(
        {"z": 0.4, "tilt": 0.2},
        {"x": 0.6},
        contacts=contacts,
        outputs={"load": "a.force + c.force"},
    )


def measured() -> dict[str, Any]:
    """A load on a trolley, with everything that is asked of it."""
    bodies = {"trolley": BODY, "load": {**BODY, "com": [0, 0, -0.1]}}
    joints = {
        "rail": {
            "child": "trolley",
            "type": "prismatic",
            "axis": "x",
            "coordinates": ["s"],
            "at": [0, 0, 1.04],
        },
        "pin": {
            "parent": "trolley",
            "child": "load",
            "type": "revolute",
            "axis": "y",
            "coordinates": ["a"],
            "start": 0.4,
            "child_at": [0, 0, 1],
        },
    }
    forces = {
        "spring": {
            "between": [{"body": "trolley"}, {"body": "ground", "point": [1, 0, 1.04]}],
            "stiffness": 30.0,
            "damping": 2.0,
            "length": 1.0,
        },
        "drive": {"coordinate": "a", "value": "0.3*sin(3*t)"},
        "floor": {"body": "load", "shape": {"sphere": 0.05}, "stiffness": 2e3, "dissipation": 0.4},
    }
    outputs = {
        "centre": {"quantity": "centre_of_mass"},
        "part": {"quantity": "centre_of_mass", "bodies": ["load"]},
        "momentum": {"quantity": "momentum"},
        "spin": {"quantity": "angular_momentum", "about": "centre"},
        "sway": {
            "quantity": "position",
            "body": "load",
            "reference": {"body": "trolley"},
            "frame": "trolley",
            "axis": "x",
            "unit": "mm",
        },
        "power": {"quantity": "power", "joint": "pin"},
        "stored": {"quantity": "stored_energy", "force": "spring"},
        "lost": {"quantity": "dissipated_energy", "force": "spring"},
        "push": {"quantity": "force", "force": "floor", "axis": "z"},
        "gap": {"quantity": "clearance", "force": "floor"},
    }
    return made(bodies, joints, forces=forces, outputs=outputs)


PENDULUM = {
    "parent": "cart",
    "child": "arm",
    "type": "revolute",
    "axis": "y",
    "coordinates": ["a"],
    "start": 0.2,
}


def carriage(way: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A pendulum on a carriage whose motion is given."""
    bodies = {"cart": BODY, "arm": {**BODY, "com": [0, 0, -0.5]}}
    return made(
        bodies,
        {"rail": {"child": "cart", "transforms": [{"shift": "x", **way}]}, "pin": PENDULUM},
        **more,
    )


CORNERED = {"x": [0.0, 0.35, 1.0, 2.0], "y": [0.0, 0.2, 0.1, 0.1]}
TOOLS = {
    "flange": {
        "parent": "b",
        "child": "tool",
        "type": "rigid",
        "at": [0.3, 0, 0.1],
        "frame": [{"rotate": "y", "by": 0.4}],
    },
    "hook": {
        "parent": "tool",
        "child": "hook",
        "type": "revolute",
        "axis": "y",
        "coordinates": ["h"],
        "at": [0, 0, -0.2],
    },
    "j": {"child": "b", "type": "revolute", "axis": "y", "coordinates": ["a"], "start": 0.5},
}

SHOWN: dict[str, Shown] = {
    "blade": Shown(flat({"blade": {"body": "b", "normal": "y"}}), ("x", "y", "f")),
    "snakeboard": Shown("lib:snakeboard", ("x", "heading"), stop=3.0, bound=1e-5),
    "trailer": Shown(
        "lib:trailer", ("x", "y", "angle"), inputs={"speed_command": 1.0, "steer_command": 0.2}
    ),
    "relation of speeds": Shown(flat("der(x)*sin(f) - der(y)*cos(f)"), ("x", "y", "f")),
    "driven speed": Shown(
        flat("der(x)*cos(f) + der(y)*sin(f) - pull", inputs={"pull": {"start": 1.0}}),
        ("x", "y", "f"),
        inputs={"pull": 1.0},
    ),
    "rolling-disc": Shown("lib:rolling-disc", ("x", "y", "lean")),
    "rattleback": Shown("lib:rattleback", ("turn", "roll"), stop=0.5, bound=1e-5),
    "relation with t": Shown(slider("x - 0.3*sin(p) - 0.1*sin(2*t)"), ("x", "p")),
    "relation": Shown(slider("x - 0.3*sin(p)"), ("x", "p"), rests=True),
    "relation with a state": Shown(
        slider(
            "x - 0.3*sin(p) - lag",
            states={"lag": {"rate": "5*(push - lag)"}},
            inputs={"push": {"start": 0.0}},
        ),
        ("x", "p"),
        inputs={"push": 0.2},
    ),
    "relation with an input": Shown(
        slider(
            {"value": "x - 0.3*sin(p) - deck", "follow": [{"input": "deck", "bandwidth": 20.0}]},
            inputs={"deck": {"start": 0.0}},
        ),
        ("x", "p"),
        inputs={"deck": 0.1},
    ),
    "distance": Shown(
        bead(
            rod={
                "between": [{"body": "bead"}, {"body": "ground", "point": [0, 0, 1]}],
                "length": "sqrt(0.89) - 0.1*t*t",
            }
        ),
        ("x", "z"),
    ),
    "point on a curve": Shown(
        bead(
            a={"point": {"body": "bead"}, "value": "a[3] - 0.8*a[1]**2"},
            b={"point": {"body": "bead"}, "value": "b[2] - 0.2*b[1]"},
        ),
        ("x", "z"),
    ),
    "coordinates of a free joint": Shown(
        made(
            {"b": BODY},
            {"j": {"child": "b", "type": "free", "speed": [0.5, 0, 0, 0.3, 0.2, 0.4]}},
            couplings={"c": "j.z - 0.1*sin(3*t)"},
        ),
        ("j.x", "j.z", "j.qw"),
    ),
    "newtons-cradle": Shown("lib:newtons-cradle", ("a1", "a5"), stop=1.5),
    "rocking-block": Shown("lib:rocking-block", ("theta", "x"), stop=1.0, bound=1e-5),
    "painleve-rod": Shown("lib:painleve-rod", ("theta", "z"), stop=0.2),
    "woodpecker": Shown("lib:woodpecker", ("z", "sleeve_angle"), stop=0.3, bound=1e-5),
    "impact-pair": Shown("lib:impact-pair", ("x",)),
    "falling-stack": Shown("lib:falling-stack", ("z1", "z3"), bound=1e-5),
    **{
        f"impact by {law}": Shown(struck(law), ("x", "z", "tilt"), stop=0.6, bound=1e-5)
        for law in ("newton", "poisson", "energetic")
    },
    "stiction": Shown(
        plane(
            {"z": 0.1},
            {},
            contacts={
                n: {"body": "b", "point": [x, 0, -0.1], "friction": 0.3}
                for n, x in (("l", -0.2), ("r", 0.2))
            },
        )
        | {"forces": {"pull": {"coordinate": "x", "value": "6*t"}}},
        ("x", "z"),
        bound=1e-5,
    ),
    "corner of a given motion": Shown(
        carriage({"by": "table('way', t)"}, tables={"way": CORNERED}), ("a",)
    ),
    "motion by an input": Shown(
        carriage({"follow": {"input": "deck", "bandwidth": 20.0}}, inputs={"deck": 0.0}),
        ("a",),
        inputs={"deck": 0.1},
    ),
    "excavator": Shown("lib:excavator", ("boom_angle", "bucket_angle"), bound=1e-5),
    "mobile-robot": Shown("lib:mobile-robot", ("speed", "tilt")),
    "quadruped": Shown("lib:quadruped", ("trunk.x", "trunk.z"), stop=0.4, bound=1e-5),
    "parts on rigid joints": Shown(
        made({"b": BODY, "tool": BODY, "hook": {**BODY, "com": [0, 0, -0.2]}}, TOOLS),
        ("a", "h"),
        rests=True,
    ),
    "outputs": Shown(
        measured(),
        (
            "s",
            "a",
            "centre[1]",
            "part[3]",
            "momentum[1]",
            "spin[2]",
            "sway",
            "power",
            "stored",
            "lost",
            "push",
            "gap",
        ),
        bound=1e-5,
    ),
}
