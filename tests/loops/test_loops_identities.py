"""Closed loops: independence of the choice of cuts, dense check of the constrained equations, assembly, couplings, redundancy, singular positions."""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.engine.flat_blocks import model_fields
from kinetree.models.engine.status import EvaluationError

LIBRARY = Path(__file__).parents[2] / "models" / "library"


def described(name: str) -> dict[str, Any]:
    """A library mechanism as a plain dict."""
    return tomllib.loads((LIBRARY / f"{name}.toml").read_text(encoding="utf-8"))


def with_cuts(name: str, *cuts: str) -> dict[str, Any]:
    """The mechanism with other joints cut."""
    d = described(name)
    for joint in d["joints"].values():
        joint.pop("cut", None)
    for cut in cuts:
        d["joints"][cut]["cut"] = True
    if "ball" in d["joints"]:  # a closing ball whose coordinates nothing reads has none
        d["outputs"]["turning"] = {"value": "ball.wx"}
    return d


def state(
    system, values: dict[str, float], speeds: dict[str, float]
) -> tuple[np.ndarray, np.ndarray]:
    return np.array([values[c] for c in system.coordinates]), np.array(
        [speeds[c] for c in system.speeds]
    )


CUTS = {
    "slider_crank_spatial": [("bearing",), ("ball",), ("guide",), ("cross",)],
    "four_bar": [("bearing",), ("crankpin",), ("pivot",), ("pin",)],
    "bricard": [("P1",), ("P3",), ("P6",)],
    "six_bar": [("C", "K"), ("A", "P"), ("D", "H")],
    "delta": [("wrist2", "wrist3"), ("hinge1", "elbow2"), ("elbow1", "wrist2")],
}


@pytest.mark.parametrize("name", CUTS)
def test_motion_is_independent_of_cut_joint(name):
    """Accelerations and reactions of all joints are those of any other cut: eps times the condition of the multipliers, 1e4."""
    first, *others = (load(with_cuts(name, *cuts)).compile() for cuts in CUTS[name])
    q, u = first.start()
    u = first.project(0.0, q, u + 0.5)[1]
    values, speeds = (
        dict(zip(first.coordinates, q, strict=True)),
        dict(zip(first.speeds, u, strict=True)),
    )
    udot = dict(zip(first.speeds, first.accelerations(0.0, q, u), strict=True))
    reactions = first.joint_reactions(0.0, q, u)
    size = max(abs(each).max() for each in reactions.values())
    for system in others:
        assert set(system.cut_joints) != set(first.cut_joints)
        assert system.freedoms == first.freedoms
        state_here = state(system, values, speeds)
        assert system.constraint_residual(0.0, *state_here) < 1e-11
        for speed, value in zip(system.speeds, system.accelerations(0.0, *state_here), strict=True):
            assert value == pytest.approx(udot[speed], rel=1e-9, abs=1e-9)
        if not first.redundant or name in (
            "four_bar",
            "six_bar",
        ):  # plane loops carry nothing out of the plane
            for joint, wrench in system.joint_reactions(0.0, *state_here).items():
                assert np.abs(wrench - reactions[joint]).max() < 1e-9 * size, joint


def test_motion_with_three_cuts_agrees():
    """Motion to 1e-8 and reactions to 1e-6 after 2 s, whatever is cut."""
    ends = []
    for cuts in CUTS["slider_crank_spatial"][:3]:
        system = load(with_cuts("slider_crank_spatial", *cuts)).compile()
        result = system.simulate(stop_time=2, output_step=0.5, integrator="adams", tolerance=1e-11)
        q, u = (
            np.array([result[name][-1] for name in names])
            for names in (system.coordinates, system.speeds)
        )
        ends.append(
            (dict(zip(system.coordinates, q, strict=True)), system.joint_reactions(2.0, q, u))
        )
    for values, reactions in ends[1:]:
        for name in ("theta", "x", "alpha", "beta"):
            assert values[name] == pytest.approx(ends[0][0][name], abs=1e-8)
        for joint, wrench in reactions.items():
            assert np.abs(wrench - ends[0][1][joint]).max() < 1e-6


def dense_rank(system, q: np.ndarray) -> tuple[int, np.ndarray]:
    """Rank of the constraints, which is that of the freedoms, and a basis whose rows from there on are free directions."""
    values, basis = np.linalg.svd(numerical_jacobian(system, q))[1:]
    rank = int(np.sum(values > 1e-9 * values[0]))
    assert rank == system.n - system.freedoms
    return rank, basis


def numerical_jacobian(system, q: np.ndarray, t: float = 0.0) -> np.ndarray:
    """Rows of velocity residuals per speed, which are linear in the speeds."""
    rest = residuals(system, t, q, np.zeros(system.n))
    return np.array([residuals(system, t, q, unit) - rest for unit in np.eye(system.n)]).T


def residuals(system, t: float, q: np.ndarray, u: np.ndarray, level: int = 1) -> np.ndarray:
    system._fast.set_state(q, u)
    system._fast.call("constraints", level, t)
    return system._fast.ws.loop_r.copy()


def floating_four_bar() -> dict[str, Any]:
    """A four-bar whose ground is a free body."""
    d = described("four_bar")
    d["bodies"]["frame"] = {
        "mass": 3.0,
        "com": [0.4, 0.1, 0.05],
        "inertia": [0.2, 0.3, 0.4, 0.01, 0.02, 0.0],
    }
    for name in ("bearing", "pivot"):
        d["joints"][name]["parent"] = "frame"
    d["joints"]["base"] = {
        "child": "frame",
        "type": "free",
        "start": [0.1, 0.2, 0.3, 0.9, 0.1, -0.3, 0.2],
        "speed": [0.1, 0.2, 0.3, 0.5, -0.4, 0.3],
    }
    return d


def three_cranks() -> dict[str, Any]:
    """A plate on three equal parallel cranks: one of them is too many, also in the plane."""
    bar = {"mass": 1.0, "com": [0.25, 0, 0], "inertia": [0.01, 0.1, 0.1, 0, 0, 0]}
    joints: dict[str, Any] = {}
    for i, x in enumerate((0.0, 0.7, 1.6)):
        start = {"start": 1.1, "speed": 2.0} if i == 0 else {"start": 1.0}
        joints[f"A{i}"] = {
            "child": f"crank{i}",
            "at": [x, 0.2 * i, 0],
            "transforms": [{"rotate": "z", "coordinate": f"a{i}"} | start],
        }
        turn = {"rotate": "z", "coordinate": f"b{i}", "start": -1.1}
        joints[f"B{i}"] = {
            "parent": f"crank{i}",
            "child": "plate",
            "at": [0.5, 0, 0],
            "transforms": [turn, {"shift": [-x, -0.2 * i, 0]}],
        }
    plate = {"mass": 5.0, "com": [0.8, 0.2, 0], "inertia": [0.1, 0.4, 0.5, 0, 0, 0]}
    return {
        "format": "kinetree/1",
        "gravity": [0, -9.81, 0],
        "bodies": {"plate": plate} | {f"crank{i}": bar for i in range(3)},
        "joints": joints,
    }


MECHANISMS = {"floating": floating_four_bar, "three cranks": three_cranks}


@pytest.mark.parametrize(
    "name", ["slider_crank_spatial", "four_bar", "andrews", "delta", "bricard", *MECHANISMS]
)
def test_loops_match_dense_equations(name):
    """M u̇ = f + Jᵀλ and the second derivative of the constraints vanishes, with a dense Jacobian and independent inverse dynamics."""
    system = load(MECHANISMS[name]() if name in MECHANISMS else f"lib:{name}").compile()
    q, u = system.start()
    q, u = system.project(
        0.0, *shifted(system, q, u + 1.0, 0 * u, 0.05)
    )  # away from symmetric starts
    rank, basis = dense_rank(system, q)
    udot = system.accelerations(0.0, q, u)
    forces = system.inverse_dynamics(0.0, q, u, udot)
    size = np.abs(system.inverse_dynamics(0.0, q, u, 0 * udot)).max()
    assert np.abs(basis[rank:] @ forces).max() < 1e-9 * size  # no force along the free directions
    h = 1e-5  # rate of the velocity residual by central difference: error step²
    moved = [residuals(system, 0.0, *shifted(system, q, u, udot, s)) for s in (h, -h)]
    scale = max(1.0, np.abs(udot).max(), np.abs(u).max() ** 2)
    assert np.abs(moved[0] - moved[1]).max() / (2 * h) < 1e-6 * scale


def test_redundant_crank_is_detected():
    """Three equal cranks move like two: A θ̈ = B cos θ with the plate in translation; the count of freedoms knows it."""
    system = load(three_cranks()).compile()
    assert system.freedoms == 1
    q, u = system.start()
    angle = dict(zip(system.coordinates, q, strict=True))["a0"]
    inertia = 3 * (0.1 + 1.0 * 0.25**2) + 5.0 * 0.5**2
    torque = -9.81 * np.cos(angle) * (3 * 0.25 + 5.0 * 0.5)
    udot = dict(zip(system.speeds, system.accelerations(0.0, q, u), strict=True))
    for i in range(3):
        assert udot[f"der(a{i})"] == pytest.approx(torque / inertia, rel=1e-9)


def rotation_matrix(p: np.ndarray) -> np.ndarray:
    w, v = p[0] / np.linalg.norm(p), p[1:] / np.linalg.norm(p)
    return (
        (w * w - v @ v) * np.eye(3)
        + 2 * np.outer(v, v)
        + 2 * w * np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    )


def shifted(system, q, u, udot, h):
    """The state after a step h along the motion, second order in q."""
    fields = model_fields(system.compiled.ints, system.compiled.floats)
    q = q.copy()
    for j, k in enumerate(fields.u_q):
        if k >= 0:
            q[k] += h * u[j] + 0.5 * h * h * udot[j]
    for e, kind in enumerate(fields.e_kind):
        if kind in (6, 7, 8):
            k, j = fields.e_q[e], fields.e_u[e]
            if kind == 7:
                R = rotation_matrix(q[k + 3 : k + 7])
                w, rate = u[j + 3 : j + 6], u[j : j + 3]
                q[k : k + 3] += R @ (h * rate + 0.5 * h * h * (udot[j : j + 3] + np.cross(w, rate)))
                k, j = k + 3, j + 3
            v = h * u[j : j + 3] + 0.5 * h * h * udot[j : j + 3]
            a = np.linalg.norm(v)
            w, r = np.cos(a / 2), (np.sin(a / 2) / a if a else 0.5) * v
            p = q[k : k + 4].copy()
            q[k] = p[0] * w - p[1:] @ r
            q[k + 1 : k + 4] = p[0] * r + w * p[1:] + np.cross(p[1:], r)
    return q, u + h * udot


# -- assembly -------------------------------------------------------------------------------------------------------------------------------
def test_given_start_values_are_kept():
    """The crank's angle and speed stay as given; the others close the loop."""
    system = load("lib:four_bar", crank_0=2.0, speed_0=-3.0).compile()
    q, u = system.start()
    values = dict(zip(system.coordinates, q, strict=True))
    speeds = dict(zip(system.speeds, u, strict=True))
    assert values["phi"] == 2.0 and speeds["der(phi)"] == -3.0
    assert system.constraint_residual(0.0, q, u) < 1e-11


def four_bar_with(**starts: float) -> dict[str, Any]:
    d = described("four_bar")
    for joint in d["joints"].values():
        for transform in joint["transforms"]:
            if transform.get("coordinate") in starts:
                transform["start"] = starts[transform["coordinate"]]
    return d


@pytest.mark.parametrize(("guess", "sign"), [(1.3, 1.0), (-1.3, -1.0)])
def test_guess_selects_assembly_branch(guess, sign):
    """The rocker's guess above or below the ground decides between the open and the crossed four-bar."""
    system = load(four_bar_with(chi=guess)).compile()
    q, _ = system.start()
    values = dict(zip(system.coordinates, q, strict=True))
    assert np.sin(values["chi"]) * sign > 0
    assert system.constraint_residual(0.0, q) < 1e-10
    way = (values["phi"] - 1.0) ** 2 + (values["chi"] - guess) ** 2
    if (
        way > 1e-12
    ):  # both given, and they do not fit: no place of the mechanism is nearer, but for the small weights of the others
        assert way < nearest_four_bar(load("lib:four_bar"), 1.0, guess) + 1e-3


def nearest_four_bar(mechanism, phi: float, chi: float) -> float:
    """Least squared distance of all positions of the four-bar from two angles: rocker turned in small steps, crank from two circles."""
    a, b, c, d = (float(mechanism.description.parameters[name].value) for name in "abcd")
    turn = np.linspace(chi - 2.0, chi + 2.0, 40001)
    x, y = d + c * np.cos(turn), c * np.sin(turn)
    far = np.hypot(x, y)
    cosine = (a * a + far * far - b * b) / (2 * a * far)
    possible = np.abs(cosine) <= 1.0
    angle, half = np.arctan2(y, x)[possible], np.arccos(cosine[possible])
    crank = np.array([angle + half, angle - half])
    away = (crank - phi + np.pi) % (2 * np.pi) - np.pi
    return float((away**2 + (turn[possible] - chi) ** 2).min())


def test_rough_guesses_are_changed_least():
    """Where all start values are given and wrong, all give way a little."""
    start = load("lib:four_bar").compile()
    right = dict(zip(start.coordinates, start.start()[0], strict=True))
    wrong = {name: value + 0.02 * (-1) ** k for k, (name, value) in enumerate(right.items())}
    system = load(four_bar_with(**wrong)).compile()
    q, _ = system.start()
    assert system.constraint_residual(0.0, q) < 1e-10
    assert (
        max(abs(value - wrong[name]) for name, value in zip(system.coordinates, q, strict=True))
        < 0.05
    )


def test_impossible_loop_names_its_joint():
    """A coupler that is too short cannot be mounted: the message names the loop's joint."""
    system = load("lib:four_bar", b=0.05, d=3.0).compile()
    with pytest.raises(EvaluationError, match="'pin'"):
        system.start()


# -- couplings, given motions, screws --------------------------------------------------------------------------------------------------------
def wheel(mass: float, J: float) -> dict[str, Any]:
    return {"mass": mass, "inertia": [J / 2, J / 2, J, 0, 0, 0]}


def test_gear_pair_adds_reflected_inertia():
    """Two wheels with a ratio: the torque on the first sees J1 + J2/n²."""
    d = {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "parameters": {"n": 3.0},
        "bodies": {"w1": wheel(1, 0.2), "w2": wheel(4, 1.7)},
        "joints": {
            "a": {
                "child": "w1",
                "type": "revolute",
                "coordinates": ["p"],
                "start": [0.0],
                "speed": [2.0],
            },
            "b": {"child": "w2", "type": "revolute", "at": [1, 0, 0], "coordinates": ["r"]},
        },
        "couplings": {"teeth": "p + n*r"},
        "forces": {"drive": {"coordinate": "p", "value": 5.0}},
    }
    system = load(d).compile()
    q, u = system.start()
    assert u == pytest.approx([2.0, -2.0 / 3.0], abs=1e-12)
    assert system.freedoms == 1
    assert system.accelerations(0.0, q, u)[0] == pytest.approx(5.0 / (0.2 + 1.7 / 9), rel=1e-12)


def test_noncircular_gear_with_time_dependence_matches_formula():
    """A coupling that is curved in the coordinates and moves with time: its second derivative vanishes along the motion."""
    d = {
        "format": "kinetree/1",
        "bodies": {"w1": wheel(1, 0.2), "rack": {"mass": 2.0, "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {
            "a": {
                "child": "w1",
                "type": "revolute",
                "coordinates": ["p"],
                "start": [0.4],
                "speed": [1.5],
            },
            "b": {"child": "rack", "type": "prismatic", "axis": "z", "coordinates": ["x"]},
        },
        "couplings": {"cam": "x - 0.3*sin(p) - 0.1*sin(2*t)*p**2"},
    }
    system = load(d).compile()
    q, u = system.start()
    assert q == pytest.approx([0.4, 0.3 * np.sin(0.4)], abs=1e-12)
    assert u[1] == pytest.approx(0.3 * np.cos(0.4) * 1.5 + 0.2 * 0.16, abs=1e-12)
    result = system.simulate(stop_time=2, output_step=0.1, integrator="adams", tolerance=1e-10)
    p, x, t = result["p"], result["x"], result.time
    assert np.abs(x - 0.3 * np.sin(p) - 0.1 * np.sin(2 * t) * p**2).max() < 1e-9


def test_driven_crank_has_zero_degrees_of_freedom():
    """A crank with a given motion in a loop: nothing is free, the rocker follows; accelerations agree with differences of the assembly."""
    d = described("four_bar")
    d["joints"]["bearing"]["transforms"] = [{"rotate": "z", "by": "1 + 2*t + 0.3*sin(3*t)"}]
    d["forces"] = {}
    d["parameters"].pop("crank_0"), d["parameters"].pop("speed_0")
    system = load(d).compile()
    assert system.freedoms == 0
    q, u = system.start()
    udot = system.accelerations(0.0, q, u)
    h = 1e-4
    ends = [system.assemble(s, q + s * u, u) for s in (h, -h)]
    assert (ends[0][0] - ends[1][0]) / (2 * h) == pytest.approx(u, abs=1e-6)
    assert (ends[0][1] - ends[1][1]) / (2 * h) == pytest.approx(udot, abs=1e-5)


def test_driven_joint_may_be_cut():
    """The same when the driven joint itself is cut."""
    systems = []
    for cut in ("bearing", "pin"):
        d = with_cuts("four_bar", cut)
        d["joints"]["bearing"]["transforms"] = [{"rotate": "z", "by": "1 + 2*t + 0.3*sin(3*t)"}]
        d["forces"] = {}
        d["parameters"].pop("crank_0"), d["parameters"].pop("speed_0")
        systems.append(load(d).compile())
    accelerations = [
        dict(zip(s.speeds, s.accelerations(0.0, *s.start()), strict=True)) for s in systems
    ]
    for name, value in accelerations[0].items():
        assert value == pytest.approx(accelerations[1][name], abs=1e-9)


def test_screw_in_a_loop_matches_closed_form():
    """A nut that cannot turn on a turning spindle: a screw between them closes the loop, m h² + J is what a torque sees (h = pitch/2π)."""
    d = {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"spindle": wheel(1, 0.3), "nut": wheel(2, 0.1)},
        "joints": {
            "bearing": {
                "child": "spindle",
                "type": "revolute",
                "coordinates": ["p"],
                "start": [0.0],
                "speed": [4.0],
            },
            "guide": {"child": "nut", "type": "prismatic", "coordinates": ["s"]},
            "thread": {
                "parent": "spindle",
                "child": "nut",
                "type": "screw",
                "pitch": 0.5,
                "coordinates": ["r"],
                "cut": True,
            },
        },
        "forces": {"drive": {"coordinate": "p", "value": 7.0}},
    }
    system = load(d).compile()
    q, u = system.start()
    h = 0.5 / (2 * np.pi)
    values = dict(zip(system.speeds, u, strict=True))
    assert values["der(s)"] == pytest.approx(-4.0 * h, abs=1e-12) and values[
        "der(r)"
    ] == pytest.approx(-4.0, abs=1e-12)
    udot = dict(zip(system.speeds, system.accelerations(0.0, q, u), strict=True))
    assert udot["der(p)"] == pytest.approx(7.0 / (0.3 + 2 * h * h), rel=1e-12)


def test_loop_joint_to_the_ground_is_closed():
    """The ground as child: a rod between two hinges on the ground, described towards the ground, hangs still and carries its weight."""
    d = {
        "format": "kinetree/1",
        "gravity": [0, -9.81, 0],
        "bodies": {"rod": {"mass": 2.0, "com": [0.5, 0, 0], "inertia": [0.01, 0.2, 0.2, 0, 0, 0]}},
        "joints": {
            "left": {"child": "rod", "type": "revolute"},
            "right": {
                "parent": "rod",
                "child": "ground",
                "transforms": [
                    {"shift": [1, 0, 0]},
                    {"rotate": "z", "coordinate": "e"},
                    {"shift": [-1, 0, 0]},
                ],
            },
        },
    }
    system = load(d).compile()
    q, u = system.start()
    assert system.freedoms == 0
    assert system.accelerations(0.0, q, u) == pytest.approx([0, 0], abs=1e-12)
    reactions = system.joint_reactions(0.0, q, u)
    assert reactions["left"][1] - reactions["right"][1] == pytest.approx(2 * 9.81, rel=1e-12)


# -- redundancy, singular positions, drift ---------------------------------------------------------------------------------------------------
def test_redundant_rows_are_named():
    """A plane loop in space has three redundant rows: out of the plane and two rotations."""
    system = load("lib:four_bar").compile()
    assert system.redundant == ("pin: z", "pin: rotation x", "pin: rotation y")
    system._fast.ws.loop_found[:] = 0.0  # whatever was evaluated before
    assert system.redundant == ("pin: z", "pin: rotation x", "pin: rotation y")


def test_mechanism_moves_from_singular_start():
    """The flat parallelogram starts in its singular position with equal speeds and stays on its branch."""
    system = load("lib:n_four_bar", n=2).compile()
    flat = {"theta": 0.0, "phi": 0.0, "mu": 0.0}
    q = np.array([flat[name.rstrip("0123456789")] for name in system.coordinates])
    signs = {"theta": -1.0, "phi": 1.0, "mu": -1.0}
    u = np.array([signs[name[4:-1].rstrip("0123456789")] for name in system.speeds])
    assert system.freedoms == 1
    assert system.constraint_residual(0.0, q, u) < 1e-15
    udot = system.accelerations(0.0, q, u)
    assert np.isfinite(udot).all()
    assert -3.5 * 9.81 / 3 == pytest.approx(
        np.mean([a for a, name in zip(udot, system.speeds, strict=True) if "theta" in name]),
        rel=0.1,
    )


def test_constraint_drift_stays_bounded_over_many_steps():
    """Position residual below 1e-9 for 1e4 steps of a method of fixed step."""
    system = load("lib:slider_crank_spatial").compile()
    result = system.simulate(stop_time=20, output_step=0.5, integrator="rk4", step=0.002)
    for k, t in enumerate(result.time):
        q = np.array([result[name][k] for name in system.coordinates])
        assert system.constraint_residual(t, q) < 1e-9
    assert np.ptp(result["energy"]) < 2e-6  # of 0.7 J; rk4 loses it evenly


def test_projection_is_mass_weighted_minimum_norm():
    """The correction of speeds is M-orthogonal to every motion the constraints allow."""
    system = load("lib:slider_crank_spatial").compile()
    q, u = system.start()
    wrong = u + np.linspace(-1, 1, system.n)
    right = system.project(0.0, q, wrong)[1]
    J = numerical_jacobian(system, q)
    free = np.linalg.svd(J)[2][system.n - system.freedoms :]
    M = system.mass_matrix(0.0, q)
    assert np.abs(J @ right).max() < 1e-10
    assert np.abs(free @ M @ (right - wrong)).max() < 1e-9 * np.abs(M).max()


# -- stages ----------------------------------------------------------------------------------------------------------------------------------
def staged(change: dict[str, Any], at: float = 0.3) -> Any:
    """The four-bar with a change at an instant."""
    d = described("four_bar")
    d["stages"] = [{"name": "closed", "ends": {"at": at}} | change, {"name": "after"}]
    return load(d).compile()


def test_released_loop_joint_conserves_momentum():
    """A cut joint that lets go opens the loop: speeds and energy are continuous, afterwards crank with coupler and rocker swing free."""
    result = staged({"free": ["pin"]}).simulate(
        stop_time=0.6, output_step=0.01, integrator="adams", tolerance=1e-9
    )
    assert len(result.events) == 1
    assert np.ptp(result["energy"]) < 1e-6
    k = 30
    before, after = result["der(chi)"][k - 1], result["der(chi)"][k + 1]
    assert abs(after - before) < 1.0


def test_released_tree_joint_keeps_loop_joints():
    """The same for a joint of the tree: the loop's other joints carry on."""
    result = staged({"free": ["bearing"]}).simulate(
        stop_time=0.6, output_step=0.01, integrator="adams", tolerance=1e-9
    )
    assert np.ptp(result["energy"]) < 1e-6


def test_lock_stops_a_loop():
    """A locked joint leaves no freedom: everything stops, energy falls to the weight's."""
    result = staged({"lock": ["crankpin"]}).simulate(
        stop_time=0.6, output_step=0.01, integrator="adams", tolerance=1e-9
    )
    assert abs(result["der(phi)"][-1]) < 1e-9
    assert abs(result["phi"][-1] - result["phi"][31]) < 1e-9


# -- loop equations of the library -----------------------------------------------------------------------------------------------------------
def moved_states(name: str, **parameters: float):
    """A system and its states after a few steps of its own motion."""
    system = load(f"lib:{name}", **parameters).compile()
    result = system.simulate(stop_time=0.4, output_step=0.1, integrator="adams", tolerance=1e-9)
    return system, result


def test_slider_crank_matches_closed_form():
    """x = r cos φ + sqrt(l² - r² sin² φ) and its rate."""
    _, result = moved_states("slider_crank")
    phi, rate, r, l = result["phi"], result["der(phi)"], 0.05, 0.2
    root = np.sqrt(l**2 - (r * np.sin(phi)) ** 2)
    assert result["x"] == pytest.approx(r * np.cos(phi) + root, abs=1e-10)
    assert result["der(x)"] == pytest.approx(
        -r * np.sin(phi) * (1 + r * np.cos(phi) / root) * rate, abs=1e-8
    )
    assert np.ptp(result["energy"]) < 1e-6


def test_delta_robot_matches_closed_form():
    """The platform is where three spheres about the shifted elbows meet, and does not turn."""
    system, result = moved_states("delta")
    base, plate, arm, forearm = 0.2, 0.06, 0.25, 0.55
    assert system.freedoms == 3
    for k in range(len(result.time)):
        place = np.array([result[f"position[{i}]"][k] for i in (1, 2, 3)])
        for i in (1, 2, 3):
            a, q = 2 * np.pi * (i - 1) / 3, result[f"q{i}"][k]
            out = base - plate + arm * np.cos(q)
            assert np.linalg.norm(
                place - [out * np.cos(a), out * np.sin(a), -arm * np.sin(q)]
            ) == pytest.approx(forearm, abs=1e-10)


def test_six_bar_matches_closed_form():
    """Both loops close: lengths of the rocker and of the dyad; energy is kept."""
    _, result = moved_states("six_bar")
    phi, beta = result["phi"], result["phi"] + result["beta"]
    end = np.array([0.1 * np.cos(phi) + 0.3 * np.cos(beta), 0.1 * np.sin(phi) + 0.3 * np.sin(beta)])
    assert np.hypot(end[0] - 0.3, end[1]) == pytest.approx(0.25, abs=1e-10)
    rod = beta + result["epsilon"]
    top = np.array([result["P[1]"] + 0.35 * np.cos(rod), result["P[2]"] + 0.35 * np.sin(rod)])
    assert np.hypot(top[0] - 0.55, top[1] - 0.1) == pytest.approx(0.3, abs=1e-10)
    assert np.ptp(result["energy"]) < 1e-6
