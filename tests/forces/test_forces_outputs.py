"""Outputs of systems and elements against identities: rates of what is measured, balances of momentum and energy, action and reaction, frames."""

import numpy as np
import pytest

from kinetree.models import ModelError, load

H = 1e-3
A = {"mass": 2.0, "com": [0.1, 0, -0.5], "inertia": [0.1, 0.2, 0.15, 0.01, 0, 0]}
B = {"mass": 1.5, "com": [0, 0.1, -0.3], "inertia_at_origin": [0.5, 0.6, 0.3, 0, 0, 0]}
C = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
JOINTS = {
    "J": {
        "child": "a",
        "type": "universal",
        "coordinates": ["q1", "q2"],
        "start": [0.3, 0.4],
        "speed": [1, 2],
    },
    "K": {
        "parent": "a",
        "child": "b",
        "at": [0, 0, -1],
        "type": "spherical",
        "start": [0.8, 0.6, 0, 0],
        "speed": [1, -1, 0.5],
    },
    "F": {
        "child": "c",
        "type": "free",
        "start": [0, 0, 0.3, 1, 0, 0, 0],
        "speed": [1, 0, 0, 0.2, -0.3, 0.1],
    },
}
ABOVE_B = {"body": "b", "point": [0, 0, 0.1]}
ON_B = {"body": "b", "point": [0, 0, -0.1]}
FORCES = {
    "s": {"coordinate": "q1", "stiffness": 10, "damping": 0.5},
    "stop": {"coordinate": "q2", "upper": 1.0, "stiffness": 2.0, "damping": 0.1, "sharpness": 5.0},
    "rub": {"coordinate": "q2", "coulomb": 0.3, "viscous": 0.1, "speed": 0.1},
    "line": {"between": [{"body": "a", "point": [0, 0, -0.2]}, {"body": "c"}], "stiffness": 20, "damping": 1, "length": 0.5},
    "w": {"kind": "wrench", "body": "a", "force": ["1", "2*t", "3"], "moment": ["0", "q1", "1"], "frame": "body", "point": [0, 0, -0.1]},
    "p": {"kind": "pair", "between": [ON_B, {"body": "c"}], "force": ["1", 0, "q1"], "moment": [0, "1", 0], "frame": "body"},
    "g": {"body": "c", "radius": 0.1, "stiffness": 1e3, "exponent": 1.5, "damping": 10, "friction": 0.3, "height": "0.1*ground.x**2"},
    "tyre": {"kind": "tyre", "body": "c", "point": [0.1, 0, 0], "radius": 0.1, "stiffness": 500, "side_stiffness": 50, "friction": 0.4},
    "soil": {"kind": "jack", "body": "c", "extension": "0.1 + 0.01*t", "stiffness": 900, "damping": 5, "soil": {"strength": 1, "viscosity": 500}},
    "rail": {"between": [{"body": "a"}, ABOVE_B], "axis": "z", "stiffness": 50, "clearance": 0.01, "begin": -3, "friction": 0.1},
}  # fmt: skip


def mechanism(forces=FORCES, **outputs: dict) -> dict:
    return {
        "format": "kinetree/1",
        "bodies": {"a": A, "b": B, "c": C},
        "joints": JOINTS,
        "forces": forces,
        "outputs": outputs,
    }


def run(d: dict, stop=1.0, **options):
    return load(d).compile().simulate(stop_time=stop, output_step=H, tolerance=1e-11, **options)


def vector(r, name: str) -> np.ndarray:
    return np.column_stack([r[f"{name}[{k}]"] for k in (1, 2, 3)])


def rates(y: np.ndarray) -> np.ndarray:
    """Central differences: error h² y'''/6."""
    return (y[2:] - y[:-2]) / (2 * H)


SMOOTH = {name: force for name, force in FORCES.items() if name in ("s", "line", "w", "p")}


@pytest.mark.parametrize("frame", ["ground", "a", "c"])
@pytest.mark.parametrize("observer", [None, "a", "b"])
def test_motion_is_measured_relative_to_any_body(frame, observer):
    """In the axes of the observer the velocity is the rate of the position and the acceleration that of the velocity; other axes only turn them."""
    more = {} if observer is None else {"reference": {"body": observer, "point": [0.1, 0.2, -0.2]}}
    own, names = (
        observer or "ground",
        ("position", "velocity", "acceleration", "angular_velocity", "angular_acceleration"),
    )
    outputs = {
        f"{name}_{k}": {
            "quantity": name,
            "body": "b" if observer != "b" else "c",
            "frame": f,
            **more,
        }
        for name in names
        for k, f in (("o", own), ("f", frame))
    }
    outputs |= {
        f"{name}_{k}": out | {"point": [0, 0.1, -0.3]}
        for name in names[:3]
        for k in "of"
        for out in (outputs[f"{name}_{k}"],)
    }
    r = run(mechanism(SMOOTH, **outputs), stop=0.3)
    for first, second in (
        ("position", "velocity"),
        ("velocity", "acceleration"),
        ("angular_velocity", "angular_acceleration"),
    ):
        expected = vector(r, f"{second}_o")[1:-1]
        assert rates(vector(r, f"{first}_o")) == pytest.approx(
            expected, abs=3e-4 * np.abs(expected).max()
        )
    for name in names:
        assert np.linalg.norm(vector(r, f"{name}_f"), axis=1) == pytest.approx(
            np.linalg.norm(vector(r, f"{name}_o"), axis=1), rel=1e-11
        )


def test_orientation_is_measured_relative_to_any_body():
    """Seen from its parent a spherical joint's child has the joint's quaternion, and the turns about x, y, z lead there."""
    see = {"body": "b", "reference": {"body": "a"}}
    r = run(
        mechanism(
            SMOOTH,
            e={"quantity": "orientation", **see},
            w={"quantity": "angular_velocity", "frame": "body", **see},
            x={"quantity": "angles", **see},
        )
    )
    system = load(mechanism(SMOOTH)).compile()
    e, own = (
        np.column_stack([r[n] for n in names])
        for names in (
            [f"e[{k}]" for k in (1, 2, 3, 4)],
            [n for n in system.coordinates if n[:2] == "K."],
        )
    )
    assert np.abs(np.sum(e * own, axis=1)) == pytest.approx(
        np.ones(len(e)), abs=1e-9
    )  # the same turn, also with the opposite sign
    assert vector(r, "w") == pytest.approx(
        np.column_stack([r[n] for n in system.speeds if n[:2] == "K."]), abs=1e-9
    )
    a, b, c = vector(r, "x").T
    half = lambda x: (np.cos(x / 2), np.sin(x / 2))  # noqa: E731
    (ca, sa), (cb, sb), (cc, sc) = half(a), half(b), half(c)
    product = [
        ca * cb * cc - sa * sb * sc,
        sa * cb * cc + ca * sb * sc,
        ca * sb * cc - sa * cb * sc,
        ca * cb * sc + sa * sb * cc,
    ]
    assert np.abs(np.sum(np.array(product).T * e, axis=1)) == pytest.approx(
        np.ones(len(e)), abs=1e-12
    )


def test_system_totals_match_sums_over_bodies():
    """m C = sum of m c; C' = p/m; without weight and outside forces p and H are constant; about the centre H differs by C x p."""
    free = {
        "F": JOINTS["F"],
        "G": {
            "child": "a",
            "type": "free",
            "start": [0.2, 0.3, -0.5, 1, 0, 0, 0],
            "speed": [0, 1, 0, 1, 2, -1],
        },
        "K": JOINTS["K"],
    }
    outputs = {
        "m": {"quantity": "mass"},
        "m_ab": {"quantity": "mass", "bodies": ["a", "b"]},
        "C": {"quantity": "centre_of_mass"},
        "v": {"quantity": "centre_velocity"},
        "p": {"quantity": "momentum"},
        "H": {"quantity": "angular_momentum"},
        "Hp": {"quantity": "angular_momentum", "point": [1, 2, 3]},
        "Hc": {"quantity": "angular_momentum", "about": "centre"},
        "Ha": {"quantity": "angular_momentum", "bodies": ["a"], "about": "centre", "frame": "a"},
        "wa": {"quantity": "angular_velocity", "body": "a", "frame": "body"},
    }
    forces = {
        "line": FORCES["line"],
        "p": FORCES["p"] | {"force": ["1", 0, 2], "moment": [0, "1", 0]},
    }
    d = mechanism(forces, **outputs) | {"joints": free, "gravity": [0, 0, 0]}
    r = run(d)
    assert r["m"][0] == 4.5 and r["m_ab"][-1] == 3.5
    assert rates(vector(r, "C")) == pytest.approx(vector(r, "v")[1:-1], abs=1e-4)
    assert vector(r, "p") == pytest.approx(4.5 * vector(r, "v"), rel=1e-13)
    scale = np.abs(vector(r, "H")).max()
    assert np.ptp(vector(r, "p"), axis=0) == pytest.approx(np.zeros(3), abs=1e-8)
    assert np.ptp(vector(r, "H"), axis=0) == pytest.approx(np.zeros(3), abs=1e-8 * scale)
    assert vector(r, "Hp") == pytest.approx(
        vector(r, "H") - np.cross([1, 2, 3], vector(r, "p")), abs=1e-12 * scale
    )
    assert vector(r, "Hc") == pytest.approx(
        vector(r, "H") - np.cross(vector(r, "C"), vector(r, "p")), abs=1e-12 * scale
    )
    tensor = np.array([[0.1, 0.01, 0], [0.01, 0.2, 0], [0, 0, 0.15]])
    assert vector(r, "Ha") == pytest.approx(vector(r, "wa") @ tensor, abs=1e-12)


@pytest.mark.parametrize("frame", ["ground", "body", "b"])
def test_force_components_are_measured(frame):
    """A constant wrench is told as it is given, and the norm belongs to the components whatever the axes."""
    axes = {"force": "w", "quantity": "force", "frame": frame}
    outputs = {f"f{k}": {**axes, "axis": k} for k in ("x", "y", "z", "norm")} | {
        f"m{k}": {**axes, "axis": k, "part": "moment"} for k in "xyz"
    }
    r = run(mechanism(SMOOTH, value={"quantity": "force", "force": "w"}, **outputs), stop=0.1)
    found, moment = (np.column_stack([r[f"{key}{k}"] for k in "xyz"]) for key in "fm")
    given = np.column_stack([np.ones(len(r)), 2 * r.time, 3 * np.ones(len(r))])
    if frame == "body":
        assert found == pytest.approx(given, abs=1e-14)
        assert moment == pytest.approx(
            np.column_stack([0 * r["q1"], r["q1"], np.ones(len(r))]), abs=1e-14
        )
    assert r["fnorm"] == pytest.approx(np.linalg.norm(given, axis=1), rel=1e-13)
    assert np.linalg.norm(found, axis=1) == pytest.approx(r["fnorm"], rel=1e-13) and r[
        "value"
    ] == pytest.approx(r["fnorm"], rel=1e-13)


def test_a_force_between_points_pushes_its_first_body():
    """A weight that hangs at rest on a spring is pulled up by its weight; the contact of another one carries it."""
    d = {
        "format": "kinetree/1",
        "bodies": {"a": {"mass": 2.0}},
        "joints": {"j": {"child": "a", "type": "prismatic", "axis": "z", "coordinates": ["z"]}},
        "forces": {
            "s": {
                "between": [{"body": "a"}, {"body": "ground", "point": [0, 0, 1]}],
                "value": "-2*9.81",
            }
        },
        "outputs": {"fz": {"quantity": "force", "force": "s", "axis": "z"}},
    }
    assert run(d, stop=0.01)["fz"] == pytest.approx(2 * 9.81, rel=1e-14)


def test_element_powers_balance_energy():
    """Energy at the start + all that wrenches and moving legs bring in = energy + all that is dissipated; and element by element dU = -(P + D)."""
    asked = ("power", "stored_energy", "dissipation", "dissipated_energy")
    outputs = {f"{name}.{q}": {"quantity": q, "force": name} for name in FORCES for q in asked}
    integrals = {
        f"{name}.{q}_sum": {"rate": f"{name}.{q}"}
        for name in FORCES
        for q in ("power", "dissipation")
    }
    d = mechanism(
        FORCES,
        E={"quantity": "energy"},
        T={"quantity": "kinetic_energy"},
        J={"quantity": "power", "joint": "J"},
        **outputs,
    ) | {"states": integrals}
    r = run(d)
    extended = {"soil"}  # its leg is pushed out: that work comes from outside
    for name in FORCES:
        U, lost, work = (
            r[f"{name}.stored_energy"],
            r[f"{name}.dissipated_energy"],
            r[f"{name}.power_sum"],
        )
        assert r[f"{name}.dissipation_sum"] == pytest.approx(lost, abs=1e-8)
        if name not in extended:
            assert U - U[0] == pytest.approx(-(work + lost), abs=1e-7), name
        if name not in ("w", "p", "tyre"):  # the elastic side of a tyre gives back what it took
            assert r[f"{name}.dissipation"].min() > -1e-9, name
    outside = sum(
        r[f"{name}.power_sum"]
        + r[f"{name}.dissipated_energy"]
        + r[f"{name}.stored_energy"]
        - r[f"{name}.stored_energy"][0]
        for name in extended
    )
    lost = sum(r[f"{name}.dissipated_energy"] for name in FORCES)
    assert r["E"] - r["E"][0] == pytest.approx(outside - lost, abs=1e-7)
    assert r["J"] == pytest.approx(
        r["s.power"] + r["stop.power"] + r["rub.power"], rel=1e-13, abs=1e-13
    )
    for name in ("g", "tyre", "soil", "rail"):
        assert np.ptp(r[f"{name}.stored_energy"]) > 0, f"{name} never touches"


def test_clearance_output_is_the_gap():
    outputs = {name: {"quantity": "clearance", "force": name} for name in ("g", "rail")}
    r = run(mechanism(FORCES, depth={"value": "-g.penetration"}, **outputs), stop=0.2)
    assert np.array_equal(r["g"], r["depth"]) and r["g"][0] > 0


def test_power_of_joint_without_forces_is_zero():
    d = mechanism(
        {},
        none={"quantity": "power", "joint": "K"},
        P={"quantity": "power", "actuator": "turn"},
        J={"quantity": "power", "joint": "J"},
    )
    r = run(d | {"actuators": {"turn": {"coordinate": "q1", "force": 3.0}}}, stop=0.1)
    assert not r["none"].any()
    assert r["P"] == pytest.approx(3 * r["der(q1)"], rel=1e-14) and np.array_equal(r["P"], r["J"])


def test_groups_exclude_bodies_that_have_left():
    """After a drop the totals are those of the bodies that are there; an output of dropped bodies alone keeps its last value."""
    d = mechanism(
        {},
        m={"quantity": "mass"},
        c={"quantity": "mass", "bodies": ["b", "c"]},
        p={"quantity": "momentum", "bodies": ["c"], "axis": "x"},
    )
    r = run(
        d | {"stages": [{"ends": {"at": 0.05}, "drop": ["c"]}, {}], "gravity": [0, 0, 0]}, stop=0.1
    )
    assert (r["m"][0], r["m"][-1], r["c"][0], r["c"][-1]) == (4.5, 3.5, 2.5, 1.5)
    assert r["p"] == pytest.approx(1.0, abs=0.1)


REFUSED = [
    ({"quantity": "force", "force": "s", "axis": "x"}, "axis"),
    ({"quantity": "force", "force": "w", "frame": "a"}, "axis"),
    ({"quantity": "clearance", "force": "w"}, "force"),
    ({"quantity": "power"}, "force"),
    ({"quantity": "power", "force": "s", "joint": "J"}, "force"),
    ({"quantity": "position", "body": "a", "frame": "d"}, "frame"),
    ({"quantity": "momentum", "bodies": ["d"]}, "bodies"),
    ({"quantity": "energy", "bodies": ["a"]}, "bodies"),
    ({"quantity": "mass", "axis": "x"}, "axis"),
    ({"quantity": "distance", "body": "a"}, "between"),
    ({"quantity": "velocity", "body": "a", "about": "centre"}, "about"),
    ({"value": "q1", "frame": "a"}, "frame"),
]


@pytest.mark.parametrize("output, key", REFUSED, ids=[str(k) for k in range(len(REFUSED))])
def test_meaningless_output_keys_are_refused(output, key):
    with pytest.raises(ModelError) as error:
        load(mechanism(o=output))
    assert f"outputs.o.{key}" in [problem.key for problem in error.value.problems]


@pytest.mark.parametrize("part", ["force", "moment"])
@pytest.mark.parametrize("turned", [False, True], ids=["as written", "turned"])
def test_reactions_are_measured_in_axes_of_any_body(part: str, turned: bool):
    """One vector in the axes of the ground, of a body and of the child, by R_y(0.7) and R_x(0.4); a joint may lead back to its parent."""
    body = {"mass": 2.0, "inertia": [0.1, 0.2, 0.25, 0, 0, 0]}
    end = {
        "parent": "arm",
        "child": "tip",
        "at": [0, 0, -1.5],
        "type": "revolute",
        "axis": "x",
        "coordinates": ["b"],
    }
    if turned:  # the tree still grows from the ground: the joint is gone through backwards
        end = {
            "parent": "tip",
            "child": "arm",
            "child_at": [0, 0, -1.5],
            "type": "revolute",
            "axis": "x",
            "coordinates": ["b"],
        }
    pivot = {"child": "arm", "type": "revolute", "axis": "y", "coordinates": ["a"]}
    frames = ("ground", "arm", "tip", "body")
    outputs = {
        f"{f}_{x}": {"quantity": "reaction", "joint": "end", "part": part, "frame": f, "axis": x}
        for f in frames
        for x in "xyz"
    }
    bodies = {"arm": body | {"com": [0, 0, -1]}, "tip": body}
    system = load(
        {
            "format": "kinetree/1",
            "bodies": bodies,
            "joints": {"pivot": pivot, "end": end},
            "outputs": outputs,
        }
    ).compile()
    told = system.outputs(0.0, [0.7, -0.4 if turned else 0.4], [1.0, 2.0 if turned else -2.0])
    ground, arm, tip, own = (np.array([told[f"{f}_{x}"] for x in "xyz"]) for f in frames)
    c, s = np.cos(0.7), np.sin(0.7)
    about_y = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    c, s = np.cos(0.4), np.sin(0.4)
    about_x = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    assert np.abs(tip).max() > 0.5
    assert ground == pytest.approx(about_y @ arm, abs=1e-12) and arm == pytest.approx(
        about_x @ tip, abs=1e-12
    )
    assert own == pytest.approx(
        arm if turned else tip, abs=1e-12
    )  # its axes are those of the child
