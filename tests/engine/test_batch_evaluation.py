"""Many states at once, slopes of the accelerations, motion of points: against one state at a time, differences and identities."""

import os

import numpy as np
import pytest
from random_descriptions import random_description

from kinetree.models import load
from kinetree.models.engine.status import EvaluationError
from kinetree.models.system.system import System

compiled = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="wide numbers exist in compiled kernels only"
)
ROUNDING = (
    1e-11  # ε times the condition of the drawn inertias, below 1e4, and some tens of freedoms
)


def random_states(
    system: System, count: int, seed: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """t, q, u near the start."""
    rng = np.random.default_rng(seed)
    q, u = system.start()
    return (
        rng.uniform(0, 1, count),
        q + 0.3 * rng.normal(size=(count, len(q))),
        u + rng.normal(size=(count, len(u))),
    )


def one_by_one(system: System, t, q, u, **rest) -> np.ndarray:
    return np.array(
        [system.accelerations(a, b, c, **rest) for a, b, c in zip(t, q, u, strict=True)]
    )


def assert_same(found: np.ndarray, wanted: np.ndarray, tolerance: float = ROUNDING) -> None:
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max(initial=0.0) <= tolerance * max(
        1.0, np.abs(wanted).max(initial=0.0)
    )


@pytest.mark.parametrize("seed", range(6))
def test_batch_matches_single_states_for_every_joint_kind(seed: int):
    system = load(random_description(np.random.default_rng(seed), 12).description).compile()
    for count in (1, 7, 8, 21):
        t, q, u = random_states(system, count)
        assert_same(system.accelerations_many(t, q, u), one_by_one(system, t, q, u))


@pytest.mark.parametrize(
    "name", ["regulator", "double-pendulum", "puma560", "carrier", "boom", "four-bar", "chain6"]
)
def test_many_states_match_single_states(name: str):
    """Loads, states and closed loops included."""
    system = load(f"lib:{name}").compile()
    t, q, u = random_states(system, 11)
    if system.compiled.loops:
        q, u = np.array([system.start()[0]] * 11), np.array([system.start()[1]] * 11)
    assert_same(system.accelerations_many(t, q, u), one_by_one(system, t, q, u), 1e-10)


LAWS = {
    "roots and powers": "sqrt(1 + a**2) + (2 + a)**1.5 - abs(a - 0.1) + 2**a",
    "circular": "sin(a) + cos(3*a) + tan(0.3*a) + atan(a) + asin(0.2*a) + acos(0.2*a) + atan2(a, 2 + w)",
    "exponential": "exp(-a) + log(3 + a) + sinh(a) + cosh(w/3) + tanh(2*a)",
    "choices": "min(a, 0.2) + max(w, -0.3) + sign(a) + if(a > w, 3*a, w**2) + (a + 9) % 2",
    "logic": "if(a > 0 and w > 0 or not (a < 0.5), 1, a)",
    "steps": "floor(3*a) + ceil(2*w) + a",
    "tables": "table('pull', a) + 0.3*table('field', a, w)",
}


def swinging(law: str) -> dict:
    """Two bodies with a law of angle a and its rate w, an input, a first-order state, a spring between points."""
    return {
        "format": "kinetree/1",
        "name": "law",
        "parameters": {"k": 3.0},
        "inputs": {"drive": {"start": 0.4}},
        "tables": {
            "pull": {"x": [-2, -0.5, 0.1, 0.4, 2], "y": [1, 0.2, 0.0, 0.7, 3], "method": "cubic"},
            "field": {"x": [-2, 0, 2], "y": [-3, 0, 1, 3], "z": [[1, 2, 0, 1], [0, 1, 3, 2], [2, 0, 1, 1]], "method": "cubic"},
        },
        "states": {"z": {"rate": "a - 2*z + drive", "start": 0.3}},
        "bodies": {
            "arm": {"mass": 1.0, "com": [0.1, 0, -0.4], "inertia": [0.05, 0.06, 0.02, 0.001, 0, 0.002]},
            "hand": {"mass": 0.5, "com": [0, 0.1, -0.2], "inertia": [0.02, 0.03, 0.01, 0, 0, 0]},
        },
        "joints": {
            "A": {"child": "arm", "type": "revolute", "axis": "y", "coordinates": ["a"], "start": 0.2, "speed": 0.5},
            "B": {"parent": "arm", "child": "hand", "type": "spherical", "at": [0, 0, -0.8], "speed": [0.1, 0.4, -0.2]},
        },
        "forces": {
            "law": {"coordinate": "a", "value": law.replace("w", "der(a)") + " + drive + z"},
            "spring": {"between": [{"body": "ground", "point": [1, 0, 0]}, {"body": "hand", "point": [0, 0, -0.3]}], "stiffness": "k", "damping": 0.3,
                       "length": 0.5},
        },
        "outputs": {"height": {"quantity": "position", "body": "hand", "axis": "z"}, "twice": "2*a", "load": {"quantity": "reaction", "joint": "B"}},
    }  # fmt: skip


@pytest.mark.parametrize("law", LAWS)
def test_force_laws_in_lanes_match_single_states(law: str):
    system = load(swinging(LAWS[law])).compile()
    t, q, u = random_states(system, 13)
    drive, z = np.linspace(-1, 1, 13), np.linspace(0, 2, 13)
    tau, loads = (
        np.random.default_rng(2).normal(size=(13, system.n)),
        np.random.default_rng(3).normal(size=(13, 2, 6)),
    )
    found, outputs = system.accelerations_many(
        t,
        q,
        u,
        {"drive": drive},
        tau=tau,
        loads=loads,
        states={"z": z},
        outputs=["twice", "height"],
        threads=2,
    )
    for k in range(13):
        system._fast.set_state(q[k], u[k], {"drive": drive[k]}, loads[k], tau[k])
        system._fast.ws.x[:] = z[k]
        system._fast.call("outputs", 0, t[k])
        assert_same(found[k], system._fast.ws.udot)
        assert outputs["twice"][k] == 2 * q[k, 0]
        height = system.outputs(t[k], q[k], u[k])["height"]
        assert abs(outputs["height"][k] - height) < 1e-14


def test_large_angles_keep_their_digits():
    """Whole turns are taken off exactly, and without end lane by lane."""
    system = load("lib:double-pendulum").compile()
    q = np.array([[1e3, 2.0], [1e5, -1e5], [7e6, 0.1], [1e9, 3.0], [-1e12, 1e3], [0.0, -0.0]])
    u = np.ones_like(q)
    assert_same(system.accelerations_many(0.0, q, u), one_by_one(system, np.zeros(6), q, u), 1e-13)


def test_state_without_solution_in_a_batch_is_named():
    text = swinging("0")
    text["bodies"]["hand"] = {"mass": 0.0}
    text["joints"]["B"] = {
        "parent": "arm",
        "child": "hand",
        "type": "prismatic",
        "axis": "x",
        "coordinates": ["s"],
    }
    del text["forces"]["spring"], text["outputs"]
    system = load(text).compile()
    with pytest.raises(EvaluationError, match="state 0: body 'hand' has no inertia"):
        system.accelerations_many(0.0, np.zeros((9, 2)), np.zeros((9, 2)))


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"q": np.zeros((3, 5))}, r"q has shape \(3, 5\), expected \(3, 2\)"),
        ({"u": np.zeros((4, 2))}, r"u has shape \(4, 2\), expected \(3, 2\) or \(2,\)"),
        ({"u": [[0, 0], [0, np.nan], [0, 0]]}, r"u\[1, 1\] is nan"),
        ({"inputs": {"push": 1.0}}, "'push' is not an input; there are: none"),
        ({"states": {"x": 1.0}}, "'x' is not a first-order state"),
        ({"outputs": ["what"]}, "'what' is not an output"),
        ({"tau": np.zeros(3)}, r"tau has shape \(3,\)"),
        ({"threads": 0}, "threads is 0"),
        ({"t": np.zeros(2)}, "t has shape"),
    ],
)
def test_invalid_batch_arguments_are_refused(arguments: dict, message: str):
    system = load("lib:double-pendulum").compile()
    given = {"t": 0.0, "q": np.zeros((3, 2)), "u": np.zeros((3, 2))} | arguments
    with pytest.raises((ValueError, KeyError), match=message):
        system.accelerations_many(given.pop("t"), given.pop("q"), given.pop("u"), **given)


def test_empty_batch_returns_empty_arrays():
    system = load("lib:double-pendulum").compile()
    assert system.accelerations_many(0.0, np.zeros((0, 2)), np.zeros((0, 2))).shape == (0, 2)


# -- slopes ---------------------------------------------------------------------------------------------------------------------------------
def differences(function, x: np.ndarray, step: float = 2e-3) -> np.ndarray:
    """Central differences of sixth order, one column per component: h⁶/140 of the seventh derivative and 2ε/h of roundoff."""
    columns = []
    for k in range(len(x)):
        e = np.zeros(len(x))
        e[k] = step
        pairs = [function(x + m * e) - function(x - m * e) for m in (1, 2, 3)]
        columns.append((45 * pairs[0] - 9 * pairs[1] + pairs[2]) / (60 * step))
    return np.array(columns).T


@compiled
@pytest.mark.parametrize("seed", range(4))
def test_derivatives_match_differences_for_every_joint_kind(seed: int):
    system = load(random_description(np.random.default_rng(seed), 12).description).compile()
    t, q, u = (values[0] for values in random_states(system, 1))
    found = system.derivatives(t, q, u)
    scale = max(np.abs(part).max() for part in found if part.size)
    for got, wanted in (
        (found.q, differences(lambda x: system.accelerations(t, x, u), q)),
        (found.u, differences(lambda x: system.accelerations(t, q, x), u)),
        (found.tau, np.linalg.inv(system.mass_matrix(t, q))),
    ):
        assert np.abs(got - wanted).max() < 1e-9 * scale


JOINTS = (
    {"type": "revolute", "axis": "y", "rotor_inertia": [0.2]},
    {"type": "universal", "axis": ["x", "y"]},
    {"type": "prismatic", "axis": [1, 1, 0]},
    {"type": "spherical"},
    {"type": "cylindrical", "axis": "z"},
    {"type": "free"},
)


@compiled
@pytest.mark.parametrize("loaded", [False, True])
def test_derivatives_of_a_long_tree_match_differences(loaded: bool):
    """More directions than lanes, joints whose directions two groups share, first bodies without any; with loads all bodies count."""
    body = {"mass": 1.3, "com": [0.1, -0.05, 0.2], "inertia": [0.3, 0.25, 0.2, 0.01, 0.02, -0.01]}
    bodies = {"base": body} | {f"b{k}": body for k in range(20)}
    joints = {"foot": {"child": "base", "type": "rigid", "at": [0, 0, 1]}}
    for k in range(20):
        parent = "base" if k == 0 else f"b{k - 1 if k % 4 else k // 2}"
        joints[f"j{k}"] = {
            "parent": parent,
            "child": f"b{k}",
            "at": [0.2, 0.1, -0.3],
            **JOINTS[k % len(JOINTS)],
        }
    system = load({"bodies": bodies, "joints": joints}).compile()
    t, q, u = (values[0] for values in random_states(system, 1))
    rng = np.random.default_rng(8)
    loads = rng.normal(size=(len(system.bodies), 6)) if loaded else None
    found = system.derivatives(t, q, u, loads=loads)
    assert system.n > 40 and np.abs(found.q).max() > 1.0
    v, w, f = rng.normal(size=q.size), rng.normal(size=u.size), rng.normal(size=u.size)
    wanted = (
        differences(lambda x: system.accelerations(t, q + x[0] * v, u, loads=loads), np.zeros(1)),
        differences(lambda x: system.accelerations(t, q, u + x[0] * w, loads=loads), np.zeros(1)),
        differences(
            lambda x: system.accelerations(t, q, u, loads=loads, tau=x[0] * f), np.zeros(1)
        ),
    )
    for got, right in zip((found.q @ v, found.u @ w, found.tau @ f), wanted, strict=True):
        assert_same(got, right[:, 0], 1e-8)


@compiled
@pytest.mark.parametrize("law", [law for law in LAWS if law not in ("choices", "logic", "steps")])
def test_derivatives_of_force_laws_match_differences(law: str):
    system = load(swinging(LAWS[law])).compile()
    t, q, u = (values[0] for values in random_states(system, 1, 5))
    found = system.derivatives(t, q, u, {"drive": 0.7})
    assert_same(
        found.q, differences(lambda x: system.accelerations(t, x, u, {"drive": 0.7}), q), 1e-9
    )
    assert_same(
        found.u, differences(lambda x: system.accelerations(t, q, x, {"drive": 0.7}), u), 1e-9
    )
    assert_same(
        found.inputs,
        differences(lambda x: system.accelerations(t, q, u, {"drive": x[0]}), np.array([0.7])),
        1e-9,
    )
    assert_same(found.states, found.inputs, 1e-12)  # the law adds both


@compiled
@pytest.mark.parametrize("law", ["choices", "logic", "steps"])
def test_derivatives_between_kinks_match_differences(law: str):
    """One side of every switch, where differences of small steps are exact up to curvature."""
    system = load(swinging(LAWS[law])).compile()
    q, u = system.start()
    q[0], u[0] = 0.27, 0.13
    found = system.derivatives(0.0, q, u)
    assert_same(found.q, differences(lambda x: system.accelerations(0.0, x, u), q, 1e-3), 1e-9)
    assert_same(found.u, differences(lambda x: system.accelerations(0.0, q, x), u, 1e-3), 1e-9)


@compiled
@pytest.mark.parametrize("name", ["four-bar", "slider-crank"])
def test_derivatives_on_closed_loops_match_differences(name: str):
    """Slopes by speeds and forces along the freedoms that the loop leaves; ∂u̇/∂τ is symmetric and annihilates the constraint forces."""
    system = load(f"lib:{name}").compile()
    q, u = system.start()
    found = system.derivatives(0.0, q, u)
    assert_same(found.u, differences(lambda x: system.accelerations(0.0, q, x), u), 1e-8)
    assert_same(
        found.tau,
        differences(lambda x: system.accelerations(0.0, q, u, tau=x), np.zeros(system.n)),
        1e-9,
    )
    assert_same(found.tau, found.tau.T, 1e-10)
    assert np.linalg.matrix_rank(found.tau, tol=1e-8 * np.abs(found.tau).max()) == system.freedoms


@compiled
def test_derivatives_name_the_massless_body():
    text = swinging("0")
    text["bodies"]["hand"] = {"mass": 0.0}
    del text["forces"]["spring"], text["outputs"]
    system = load(text).compile()
    with pytest.raises(EvaluationError, match="'hand'"):
        system.derivatives(0.0, *system.start())


# -- points ---------------------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(3))
def test_point_velocities_match_jacobian(seed: int):
    """Velocity by speeds; its slope is the Jacobian; the acceleration is the velocity's rate along the motion."""
    system = load(random_description(np.random.default_rng(seed), 12).description).compile()
    t, q, u = (values[0] for values in random_states(system, 1))
    at = [0.3, -0.2, 0.5]
    for body in system.bodies:
        found = system.point(t, q, u, body, at)
        assert_same(
            found.jacobian,
            differences(lambda x, body=body: system.point(t, q, x, body, at).velocity, u, 0.1),
            1e-10,
        )
        assert_same(
            found.turning,
            differences(
                lambda x, body=body: system.point(t, q, x, body, at).angular_velocity, u, 0.1
            ),
            1e-10,
        )
        assert_same(found.rotation @ found.rotation.T, np.eye(3), 1e-13)


def test_point_path_matches_run():
    system = load("lib:double-pendulum").compile()
    result = system.simulate(stop_time=0.02, output_step=0.002, tolerance=1e-12)
    places = [[result[name][k] for name in system.coordinates] for k in range(11)]
    speeds = [[result[f"der({name})"][k] for name in system.coordinates] for k in range(11)]
    points = [
        system.point(t, q, u, system.bodies[-1], [0.1, 0.2, 0.3])
        for t, q, u in zip(result.time, places, speeds, strict=True)
    ]
    h = 0.002
    for values, rates in (("position", "velocity"), ("velocity", "acceleration")):
        x = [getattr(point, values) for point in points]
        slope = (45 * (x[6] - x[4]) - 9 * (x[7] - x[3]) + (x[8] - x[2])) / (60 * h)
        assert_same(getattr(points[5], rates), slope, 1e-9)


def test_point_on_unknown_body_is_refused():
    system = load("lib:double-pendulum").compile()
    with pytest.raises(KeyError, match="'nobody' is not a body"):
        system.point(0.0, *system.start(), "nobody")
    with pytest.raises(ValueError, match=r"at has shape \(2,\)"):
        system.point(0.0, *system.start(), system.bodies[0], [0, 1])
