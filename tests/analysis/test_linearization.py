"""Small motions against closed solutions: pendulums, uniform chains, gyroscopes, states, inputs and outputs, closed loops, the chain integrator."""

import math

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.joints.moves.ball import turned
from kinetree.models.system.local_coordinates import Chart
from kinetree.solvers import chain

g = 9.81
MASS, STIFFNESS = 20000.0, 2e6  # a wagon and its coupling: sqrt(k/M) = 10 rad/s


def wagons(count: int, left: bool, right: bool, damping: float = 0.0, absolute: bool = True):
    """A train of equal wagons on coordinates from the ground (or from wagon to wagon), springs between them and at the ends that are held."""
    line = {"mass": MASS, "com": [0, 0, 0], "inertia": [1.0] * 3 + [0.0] * 3}
    bodies = {f"w{k}": line for k in range(1, count + 1)}
    parents = {k: "ground" if absolute or k == 1 else f"w{k - 1}" for k in range(1, count + 1)}
    joints = {
        f"j{k}": {
            "parent": parents[k],
            "child": f"w{k}",
            "transforms": [{"shift": "x", "coordinate": f"x{k}"}],
        }
        for k in range(1, count + 1)
    }
    forces = {}
    for k in range(count + 1):
        if not (0 < k < count or (k == 0 and left) or (k == count and right)):
            continue
        a, b = f"x{k}" if k else "0", f"x{k + 1}" if k < count else "0"
        if absolute:
            law = f"-{STIFFNESS}*({b} - {a}) - {damping}*({rate(b)} - {rate(a)})"
            forces |= {
                f"s{k}{name}": {"coordinate": name, "value": f"{sign}*({law})"}
                for name, sign in ((b, 1), (a, -1))
                if name != "0"
            }
        elif k < count:
            forces[f"s{k}"] = {"coordinate": b, "stiffness": STIFFNESS, "damping": damping}
    return load(
        {"gravity": [0, 0, 0], "bodies": bodies, "joints": joints, "forces": forces}
    ).compile()


def rate(name: str) -> str:
    return f"der({name})" if name != "0" else "0"


@pytest.mark.parametrize("count", [5, 20])
@pytest.mark.parametrize("absolute", [True, False])
def test_train_modes_match_closed_form(count: int, absolute: bool):
    """ω_r = 2 √(k/M) sin((2r-1) π / (2 (2n+1))); linear laws: the differences leave roundoff / step = 1e-13, times the condition of M if relative."""
    modes = wagons(count, True, False, absolute=absolute).linearize().modes()
    expected = [
        20 * math.sin((2 * r - 1) * math.pi / (2 * (2 * count + 1))) for r in range(1, count + 1)
    ]
    assert [2 * math.pi * mode.frequency for mode in modes] == pytest.approx(expected, rel=1e-10)
    assert all(mode.damping == 0.0 and mode.oscillates for mode in modes)


def test_modes_of_a_free_train_match_closed_form():
    """ω_r = 2 √(k/M) sin((r-1) π / (2n)), shapes cos((r-1) π (2j-1) / (2n)); the first one is a pair of zeros."""
    n = 20
    modes = wagons(n, False, False).linearize().modes()
    rigid, swings = [m for m in modes if not m.oscillates], [m for m in modes if m.oscillates]
    assert all(mode.eigenvalue == 0.0 for mode in rigid) and len(rigid) == 2
    assert [2 * math.pi * m.frequency for m in swings] == pytest.approx(
        [20 * math.sin(r * math.pi / (2 * n)) for r in range(1, n)], rel=1e-10
    )
    for r, mode in enumerate(swings, 1):
        shape = np.array([math.cos(r * math.pi * (2 * j - 1) / (2 * n)) for j in range(1, n + 1)])
        found = np.array([mode.shape[f"x{j}"] for j in range(1, n + 1)])
        assert abs(np.vdot(found, shape)) == pytest.approx(
            np.linalg.norm(found) * np.linalg.norm(shape), rel=1e-9
        )


def test_damped_modes_of_a_train_between_walls_match_closed_form():
    """ω_r = 2 √(k/M) sin(r π / (2 (n+1))) and, damping proportional to stiffness, ζ_r = d ω_r / (2 k)."""
    damping = 2e4
    modes = wagons(6, True, True, damping).linearize().modes()
    expected = [20 * math.sin(r * math.pi / 14) for r in range(1, 7)]
    assert [2 * math.pi * mode.frequency for mode in modes] == pytest.approx(expected, rel=1e-10)
    assert [mode.damping for mode in modes] == pytest.approx(
        [damping * omega / (2 * STIFFNESS) for omega in expected], rel=1e-9
    )


def rods(first: float = 0.0, second: float = 0.0, forces: dict | None = None):
    """Two point masses on massless rods of 1 m: the textbook double pendulum, relative angles."""
    point = {"mass": 1.0, "com": [0, 0, -1.0], "inertia": [0.0] * 6}
    joints = {
        "a": {"child": "upper", "transforms": [{"rotate": "y", "coordinate": "p", "start": first}]},
        "b": {
            "parent": "upper",
            "child": "lower",
            "transforms": [
                {"shift": [0, 0, -1.0]},
                {"rotate": "y", "coordinate": "r", "start": second},
            ],
        },
    }
    return load(
        {"bodies": {"upper": point, "lower": point}, "joints": joints, "forces": forces or {}}
    ).compile()


def test_double_pendulum_modes_match_closed_form():
    """ω² = (2 ∓ √2) g/l; amplitudes of the absolute angles 1 : ±√2. Differences of fourth order: step⁴ = 1e-12."""
    slow, fast = rods().linearize().modes()
    assert (2 * math.pi * slow.frequency) ** 2 == pytest.approx((2 - math.sqrt(2)) * g, rel=1e-11)
    assert (2 * math.pi * fast.frequency) ** 2 == pytest.approx((2 + math.sqrt(2)) * g, rel=1e-11)
    assert (slow.shape["p"] + slow.shape["r"]) / slow.shape["p"] == pytest.approx(
        math.sqrt(2), rel=1e-9
    )
    assert (fast.shape["p"] + fast.shape["r"]) / fast.shape["p"] == pytest.approx(
        -math.sqrt(2), rel=1e-9
    )


def test_inverted_double_pendulum_has_unstable_modes():
    """Upside down the same numbers are rates of growth."""
    modes = rods(first=math.pi).linearize().modes()
    growth = sorted(mode.eigenvalue.real for mode in modes if mode.eigenvalue.real > 0)
    assert growth == pytest.approx(
        [math.sqrt((2 - math.sqrt(2)) * g), math.sqrt((2 + math.sqrt(2)) * g)], rel=1e-9
    )


def test_linearisation_returns_mass_damping_and_stiffness():
    """M, F, K of the double pendulum in relative angles, by hand."""
    linear = rods(forces={"d": {"coordinate": "r", "damping": 0.3, "stiffness": 7.0}}).linearize()
    assert linear.coordinates == ("p", "r")
    assert np.allclose(linear.mass, [[5, 2], [2, 1]], atol=1e-12)
    assert np.allclose(linear.damping, [[0, 0], [0, 0.3]], atol=1e-11)
    assert np.allclose(
        linear.stiffness, g * np.array([[3, 1], [1, 1]]) + [[0, 0], [0, 7]], rtol=1e-10
    )


def test_linear_model_follows_small_motion_of_the_mechanism():
    """Away from rest, on quaternions: a small difference of two motions changes as A says, up to the step and the size of the difference."""
    system = load("lib:heavy-top").compile()
    q, u = system.start()[0], np.array([0.3, 0.5, -0.2])
    linear, chart = system.linearize(0.0, q, u), Chart(system, 0.0, q)
    step = size = 1e-4

    def later(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        place, speeds = chart.position(z[:3]), u + z[3:]
        return turned(place, step * speeds), speeds + step * system.accelerations(
            0.0, place, speeds
        )

    for k in range(6):
        z = size * np.eye(6)[k]
        (ahead, fast), (behind, slow), (middle, _) = later(z), later(-z), later(0.0 * z)
        reference = Chart(system, 0.0, middle)
        change = np.concatenate((reference.local(ahead) - reference.local(behind), fast - slow)) / (
            2 * size
        )
        assert (change - np.eye(6)[k]) / step == pytest.approx(linear.A[:, k], abs=1e-3)


def test_linear_system_matrices_have_states_inputs_and_outputs():
    """A cart on a spring driven through a lag: ẋ = (command - x)/T, force = gain x. A, B, C, D by hand."""
    cart = {"mass": 2.0, "com": [0, 0, 0], "inertia": [1, 1, 1, 0, 0, 0]}
    system = load(
        {
            "bodies": {"cart": cart},
            "joints": {
                "rail": {"child": "cart", "transforms": [{"shift": "x", "coordinate": "s"}]}
            },
            "forces": {"spring": {"coordinate": "s", "value": "50*lag - 8*s - 0.6*der(s)"}},
            "inputs": {"command": 0.0},
            "states": {"lag": {"rate": "(command - lag)/0.25", "start": 0.0}},
            "outputs": {"place": {"value": "s + 0.1*command"}, "push": {"value": "50*lag"}},
        }
    ).compile()
    linear = system.linearize(outputs=("place", "push", "der(s)"))
    assert linear.states == ("s", "der(s)", "lag") and linear.inputs == ("command",)
    assert np.allclose(linear.A, [[0, 1, 0], [-4, -0.3, 25], [0, 0, -4]], atol=1e-10)
    assert np.allclose(linear.B, [[0], [0], [4]], atol=1e-10)
    assert np.allclose(linear.C, [[1, 0, 0], [0, 0, 50], [0, 1, 0]], atol=1e-10)
    assert np.allclose(linear.D, [[0.1], [0], [0]], atol=1e-10)
    found = system.equilibrium(inputs={"command": 0.4})
    assert found.states["lag"] == pytest.approx(0.4, abs=1e-12) and found.coordinates[
        "s"
    ] == pytest.approx(50 * 0.4 / 8, rel=1e-12)
    assert found.stability == "stable" and found.residual < 1e-9
    with pytest.raises(KeyError, match="'nothing' is not an output"):
        system.linearize(outputs=("nothing",))


def test_stiffness_of_a_four_bar_is_the_curvature_of_its_potential():
    """One freedom: K = d²V/dy² along the constraints, M = 2 T for ẏ = 1. Second differences with 1e-3: 1e-6 of the curvature."""
    system = load("lib:four-bar").compile()
    found = system.equilibrium()
    linear = found.linear
    chart = Chart(system, 0.0, found.q)
    assert linear.mass.shape == (1, 1) and linear.coordinates[0] in system.coordinates

    def potential(y: float) -> float:
        return system.energy(0.0, chart.position(np.array([y])), np.zeros(system.n))[1]

    h = 1e-3
    assert linear.stiffness[0, 0] == pytest.approx(
        (potential(h) - 2 * potential(0.0) + potential(-h)) / h**2, rel=1e-5
    )
    kinetic = system.energy(0.0, found.q, chart.speeds(found.q, np.ones(1)))[0]
    assert linear.mass[0, 0] == pytest.approx(2 * kinetic, rel=1e-10)
    u = chart.speeds(chart.position(np.array([0.1])), np.ones(1))
    assert system.constraint_residual(0.0, chart.position(np.array([0.1])), u) < 1e-10


def test_linearisation_of_a_sharp_force_law_uses_a_finer_step():
    """A limit of growth length 1e-4 m: sinh law; a step of 1e-3 m would be wrong by orders of magnitude."""
    cart = {"mass": 1.0, "com": [0, 0, 0], "inertia": [1, 1, 1, 0, 0, 0]}
    system = load(
        {
            "bodies": {"cart": cart},
            "joints": {
                "rail": {"child": "cart", "transforms": [{"shift": "x", "coordinate": "s"}]}
            },
            "forces": {"stop": {"coordinate": "s", "value": "-sinh(s/1e-4)"}},
        }
    ).compile()
    assert system.linearize().stiffness[0, 0] == pytest.approx(1e4, rel=1e-8)


def test_linear_chain_of_a_mechanism_steps_as_exact_solution():
    """A hand-over of three damped wagons steps as the exact solution exp(A t) does, with a force held on the last one."""
    from scipy.linalg import expm

    system = wagons(3, True, False, damping=1e4)
    dt = 0.05
    unit = system.linear_chain(dt, channels=["x3"])
    linear = system.linearize()
    x, v = np.array([0.01, 0.0, -0.02]), np.zeros(3)
    z, load_z = (
        np.concatenate((x, v)),
        np.concatenate((np.zeros(3), np.linalg.solve(linear.mass, [0.0, 0.0, 1e4]))),
    )
    step = expm(np.block([[linear.A, load_z[:, None]], [np.zeros((1, 7))]]) * dt)
    for _ in range(40):
        x, v = chain.advance(unit, x, v, [1e4])
        z = (step @ np.append(z, 1.0))[:6]
    assert np.concatenate((x, v)) == pytest.approx(z, abs=1e-10)
    with pytest.raises(KeyError, match="'x9' is not a coordinate"):
        system.linear_chain(dt, channels=["x9"])
