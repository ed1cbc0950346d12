"""Couplings: relations of speeds, points, states and inputs against closed forms, independent equations and conservation."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kinetree.models import ModelError, load
from kinetree.models.engine.status import EvaluationError

PLATE = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
HEAD: dict[str, Any] = {"format": "kinetree/1", "gravity": [0, 0, 0]}


def planar(value: Any, speed=(1.0, 0.0, 1.0), **more: Any) -> dict[str, Any]:
    """A plate in the plane under one coupling."""
    joint = {"child": "b", "type": "planar", "coordinates": ["x", "y", "f"], "speed": list(speed)}
    return {
        **HEAD,
        "bodies": {"b": PLATE},
        "joints": {"j": joint},
        "couplings": {"c": value},
        **more,
    }


# -- blades ---------------------------------------------------------------------------------------------------------------------------------
SKATE = [{"blade": {"body": "b", "normal": "y"}}, "der(x)*sin(f) - der(y)*cos(f)"]


@pytest.mark.parametrize("form", SKATE)
@pytest.mark.parametrize("integrator", ["adams", "radau", "rk45"])
def test_skate_moves_on_a_circle(form, integrator):
    """A relation with der() was a relation of nothing: its rows had no slopes. A skate with constant speed and turn rate runs a circle."""
    system = load(planar(form)).compile()
    assert (system.freedoms, system.position_freedoms) == (2, 3)
    result = system.simulate(stop_time=3, output_step=0.5, integrator=integrator, tolerance=1e-9)
    assert np.abs(result["x"] - np.sin(result.time)).max() < 1e-7
    assert np.abs(result["y"] - (1 - np.cos(result.time))).max() < 1e-7


def test_knife_edge_on_an_incline_matches_closed_form():
    """From rest, spinning: x = g sin(a)/(2 w²) sin²(wt), y = g sin(a)/(2 w²) (wt - sin(2wt)/2), x down the slope: it does not slide away."""
    w, a = 1.3, 0.4
    d = planar(
        {"blade": {"body": "b", "normal": "y"}},
        (0.0, 0.0, w),
        gravity=[9.81 * np.sin(a), 0, -9.81 * np.cos(a)],
    )
    result = load(d).compile().simulate(stop_time=4, output_step=0.25, tolerance=1e-10)
    size, turn = 9.81 * np.sin(a) / (2 * w * w), w * result.time
    assert np.abs(result["x"] - size * np.sin(turn) ** 2).max() < 1e-7
    assert np.abs(result["y"] - size * (turn - 0.5 * np.sin(2 * turn))).max() < 1e-7


def test_chaplygin_sleigh_matches_equations():
    """Mass centre a ahead of the blade: v' = a w², w' = -m a v w/(J + m a²): the independent equations of the sleigh."""
    a, m, J = 0.4, 1.0, 0.1
    d = planar({"blade": {"body": "b", "normal": "y"}}, (1.0, 0.0, 0.7))
    d["bodies"] = {"b": {**PLATE, "com": [a, 0, 0]}}
    result = load(d).compile().simulate(stop_time=3, output_step=0.5, tolerance=1e-10)
    right = solve_ivp(
        lambda t, y: [y[3] * np.cos(y[2]), y[3] * np.sin(y[2]), y[4], a * y[4] ** 2, -m * a * y[3] * y[4] / (J + m * a * a)],
        (0, 3), [0, 0, 0, 1.0, 0.7], t_eval=result.time, rtol=1e-11, atol=1e-12, method="DOP853",
    ).y  # fmt: skip
    for name, row in zip("xyf", right, strict=False):
        assert np.abs(result[name] - row).max() < 1e-7, name


def test_knife_edge_on_a_moving_body_matches_reference():
    """On a carriage that moves evenly a skate runs its circle beside it (Galilei): the velocity of the body underneath is taken off."""
    d = planar({"blade": {"body": "b", "normal": "y", "on": "carriage"}}, (1.5, 0.0, 1.0))
    d["bodies"]["carriage"] = {"mass": 1e9, "inertia": [1, 1, 1, 0, 0, 0]}
    d["joints"]["rail"] = {
        "child": "carriage",
        "type": "prismatic",
        "axis": "x",
        "coordinates": ["s"],
        "speed": [0.5],
    }
    result = load(d).compile().simulate(stop_time=2, output_step=0.5, tolerance=1e-10)
    assert (
        np.abs(result["x"] - result["s"] - np.sin(result.time)).max() < 1e-7
    )  # the carriage yields by a billionth


# -- rolling --------------------------------------------------------------------------------------------------------------------------------
def disc_rates(y: np.ndarray, r: float, m: float, A: float, C: float, g: float) -> np.ndarray:
    """Rates of (alpha, w1, w2, w3) of a rolling disc in axes e1 along the rim's tangent, e2 up the plane of the disc, e3 along its axis.

    Newton and Euler with the contact force, solved for the rates: (-r e2) × (m a + m g z) = L̇, written out of any multibody theory.
    """
    alpha, w = y[0], y[1:]
    z = np.array([0.0, np.sin(alpha), np.cos(alpha)])
    frame = np.array([w[0], w[1], w[1] / np.tan(alpha)])
    inertia, down = np.array([A, A, C]), np.array([0.0, -r, 0.0])

    def moment(rate: np.ndarray) -> np.ndarray:
        a = r * np.array([-rate[2], 0.0, rate[0]]) + np.cross(
            frame, r * np.array([-w[2], 0.0, w[0]])
        )
        return inertia * rate + np.cross(frame, inertia * w) - np.cross(down, m * a + m * g * z)

    rest = moment(np.zeros(3))
    matrix = np.column_stack([moment(unit) - rest for unit in np.eye(3)])
    return np.concatenate(([w[0]], np.linalg.solve(matrix, -rest)))


def disc(**parameters: float):
    system = load("lib:rolling-disc", **parameters).compile()
    values = {
        name: float(system._fast.ws.val[system.compiled.registers[name]])
        for name in ("m", "r", "h", "g")
    }
    m, r, h = values["m"], values["r"], values["h"]
    return system, (r, m, m * (3 * r * r + h * h) / 12, m * r * r / 2, values["g"])


def test_rolling_disc_keeps_steady_precession():
    """The spin that steady rolling needs keeps the lean; height and energy stay; the contact runs a circle."""
    lean, turn = 0.5, 1.7
    _, (r, m, A, C, g) = disc()
    alpha = np.pi / 2 + lean  # towards positive lean the axis comes up
    w3 = (A * turn**2 * np.sin(alpha) * np.cos(alpha) - m * g * r * np.cos(alpha)) / (
        (C + m * r * r) * turn * np.sin(alpha)
    )
    system, _ = disc(lean_0=lean, turn_0=turn, spin_0=-w3 - turn * np.sin(lean))
    found = dict(zip(system.speeds, system.accelerations(0.0, *system.start()), strict=True))
    assert abs(found["der(lean)"]) < 1e-9 * g / r
    result = system.simulate(stop_time=3, output_step=0.1, tolerance=1e-10)
    assert np.abs(result["lean"] - lean).max() < 1e-6
    assert np.ptp(result["energy"]) < 1e-8 * abs(result["energy"][0])
    assert result["load"] == pytest.approx(m * g, rel=1e-6)


def test_rolling_disc_matches_newton_euler_equations():
    """Lean and spins over two seconds of a wobbling disc, against equations written without any multibody theory."""
    system, numbers = disc(lean_0=0.35, turn_0=0.8, spin_0=6.0)
    result = system.simulate(stop_time=2, output_step=0.1, tolerance=1e-11)

    def spins(k: int) -> list[float]:
        """(alpha, w1, w2, w3) of the same motion: e3 is the axis turned round."""
        lean, turn = result["lean"][k], result["der(heading)"][k]
        return [
            np.pi / 2 + lean,
            result["der(lean)"][k],
            turn * np.cos(lean),
            -(result["der(spin)"][k] + turn * np.sin(lean)),
        ]

    right = solve_ivp(
        lambda t, y: disc_rates(y, *numbers),
        (0, 2),
        spins(0),
        t_eval=result.time,
        rtol=1e-11,
        atol=1e-12,
        method="DOP853",
    ).y
    ours = np.array([spins(k) for k in range(result.time.size)]).T
    assert np.abs(ours - right).max() < 1e-6 * np.abs(right).max()
    height = numbers[0] * np.cos(result["lean"])
    assert (
        np.abs(result["z"] - height).max() < 1e-9
    )  # the contact is a relation of positions: it does not drift
    assert np.ptp(result["energy"]) < 1e-8 * result["energy"][0]


def test_sphere_rolls_down_incline_as_formula():
    """g sin(a) 5/7 for a solid ball, whatever joint it has."""
    a, r = 0.3, 0.1
    ball = {"mass": 2.0, "inertia": [0.4 * 2.0 * r * r] * 3 + [0, 0, 0]}
    d = {
        "format": "kinetree/1",
        "bodies": {"ball": ball},
        "joints": {
            "j": {"child": "ball", "type": "free", "start": [0, 0, r / np.cos(a), 1, 0, 0, 0]}
        },
        "couplings": {
            "c": {"rolling": {"body": "ball", "radius": r, "normal": [np.sin(a), 0, np.cos(a)]}}
        },
        "outputs": {"load": {"value": "force('c.normal')"}, "energy": {"quantity": "energy"}},
    }
    system = load(d).compile()
    q, u = system.start()
    assert (system.freedoms, system.position_freedoms) == (3, 5)
    expected = 5 / 7 * 9.81 * np.sin(a) * np.array([np.cos(a), 0, -np.sin(a)])
    assert system.accelerations(0.0, q, u)[:3] == pytest.approx(expected, abs=1e-10)
    assert system.outputs(0.0, q, u)["load"] == pytest.approx(2.0 * 9.81 * np.cos(a), rel=1e-10)
    result = system.simulate(stop_time=1, output_step=0.25, tolerance=1e-9)
    assert result["j.x"][-1] == pytest.approx(0.5 * expected[0], rel=1e-6)
    assert np.ptp(result["energy"]) < 1e-7


def test_ball_on_a_turntable_matches_closed_form():
    """A ball that rolls on an even turntable runs a circle at 2/7 of the table's rate, whatever its mass (R. Weltner, Am. J. Phys. 47, 1979, 984)."""
    r, rate = 0.05, 3.0
    d = {
        "format": "kinetree/1",
        "bodies": {
            "table": {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]},
            "ball": {"mass": 0.3, "inertia": [0.4 * 0.3 * r * r] * 3 + [0, 0, 0]},
        },
        "joints": {
            "hub": {"child": "table", "transforms": [{"rotate": "z", "by": f"{rate}*t"}]},
            "j": {
                "child": "ball",
                "type": "free",
                "start": [0.4, 0, r, 1, 0, 0, 0],
                "speed": [0.1, 0.3, 0, 0, 0, 0],
            },
        },
        "couplings": {"c": {"rolling": {"body": "ball", "radius": r, "on": "table"}}},
    }
    system = load(d).compile()
    result = system.simulate(stop_time=2, output_step=0.25, tolerance=1e-10)
    v = result["j.x"] + 1j * result["j.y"]
    turn = np.exp(2j / 7 * rate * result.time)
    centre = v[0] - (v[1] - v[0]) / (turn[1] - 1)  # of the circle through the first two places
    assert np.abs(v - centre - (v[0] - centre) * turn).max() < 1e-6


def test_rattleback_reverses_spin():
    """Spun against its preferred direction it starts to rattle and turns back, spun the other way it goes on; energy stays (Kane and Levinson)."""
    result = load("lib:rattleback").compile().simulate(stop_time=5, output_step=0.02)
    assert result["der(turn)"][0] == -5.0 and result["der(turn)"].max() > 0.5
    assert np.ptp(result["energy"]) < 1e-6 * result["energy"][0]
    other = load("lib:rattleback", spin_0=5.0).compile().simulate(stop_time=2, output_step=0.02)
    assert other["der(turn)"].min() > 3.0


def test_trailer_folds_in_reverse():
    """tan(angle/2) grows like exp(-v t/bar) while the car reverses straight."""
    result = (
        load("lib:trailer", speed_0=-1.0, angle_0=0.05)
        .compile()
        .simulate(stop_time=8, output_step=0.5, tolerance=1e-10)
    )
    assert np.tan(result["angle"] / 2) == pytest.approx(
        np.tan(0.025) * np.exp(result.time / 3.0), rel=1e-6
    )


def test_trailer_on_a_circle_matches_closed_form():
    """Steady turn: radius wheelbase/tan(steer), sin(angle) = -bar/radius."""
    result = (
        load("lib:trailer", angle_0=0.0)
        .compile()
        .simulate(stop_time=40, output_step=1, inputs={"steer_command": 0.2}, tolerance=1e-9)
    )
    radius = 2.7 / np.tan(0.2)
    assert result["der(heading)"][-1] == pytest.approx(2.0 / radius, rel=1e-6)
    assert np.sin(result["angle"][-1]) == pytest.approx(-3.0 / radius, rel=1e-5)


# -- points ---------------------------------------------------------------------------------------------------------------------------------
def test_bead_on_a_parabola_matches_closed_form():
    """(1 + 4k²x²) ẍ + 4k²x ẋ² + 2gkx = 0 for z = k x²: the place of a point in a coupling, exact to rounding."""
    k, x, v = 0.8, 0.3, 1.1
    d = {
        "format": "kinetree/1",
        "bodies": {"bead": {"mass": 0.7, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}},
        "joints": {"j": {"child": "bead", "transforms": [
            {"shift": "x", "coordinate": "x", "start": x, "speed": v}, {"shift": "z", "coordinate": "z"}]}},
        "couplings": {"wire": {"point": {"body": "bead"}, "value": f"wire[3] - {k}*wire[1]**2"}},
    }  # fmt: skip
    system = load(d).compile()
    q, u = system.start()
    assert q == pytest.approx([x, k * x * x], abs=1e-12) and u == pytest.approx(
        [v, 2 * k * x * v], abs=1e-12
    )
    right = -(4 * k * k * x * v * v + 2 * 9.81 * k * x) / (1 + 4 * k * k * x * x)
    assert system.accelerations(0.0, q, u)[0] == pytest.approx(right, rel=1e-12)


def bob(length: Any, **more: Any) -> dict[str, Any]:
    """A small body on a rod without mass."""
    return {
        "format": "kinetree/1",
        "bodies": {"bob": {"mass": 2.0, "inertia": [1e-3, 1e-3, 1e-3, 0, 0, 0]}},
        "joints": {
            "j": {
                "child": "bob",
                "type": "free",
                "start": [0.6, 0, -0.8, 1, 0, 0, 0],
                "speed": [0, 0.9, 0, 0, 0, 0],
            }
        },
        "couplings": {"rod": {"between": [{"body": "ground"}, {"body": "bob"}], "length": length}},
        "outputs": {
            "pull": {"value": "force('rod')"},
            "far": {"quantity": "distance", "between": [{"body": "ground"}, {"body": "bob"}]},
        },
        **more,
    }


def test_distance_coupling_equals_pendulum():
    """A point mass at a constant distance: ẍ = g - (g·e + v²/l) e, the pull in the rod is the force of the coupling."""
    system = load(bob(1.0)).compile()
    q, u = system.start()
    e, g = np.array([0.6, 0, -0.8]), np.array([0, 0, -9.81])
    pull = 2.0 * (g @ e + 0.81)
    assert system.accelerations(0.0, q, u)[:3] == pytest.approx(g - pull / 2.0 * e, abs=1e-11)
    assert system.outputs(0.0, q, u)["pull"] == pytest.approx(
        -pull, rel=1e-11
    )  # positive pushes the points apart


def test_coupled_length_follows_time_and_states():
    """A winch: the distance is a law of time, or a state that has the same rate; both move alike and the books have the winch's work."""
    laws = ("1 - 0.1*t", "rope")
    ends = []
    for law in laws:
        d = bob(law, states={"rope": {"rate": "-0.1", "start": 1.0}})
        result = load(d).compile().simulate(stop_time=1.5, output_step=0.25, tolerance=1e-10)
        assert np.abs(result["far"] - (1 - 0.1 * result.time)).max() < 1e-8
        assert np.abs(result["energy_residual"]).max() < 1e-6
        ends.append(np.array([result[f"j.{axis}"] for axis in "xyz"]))
    assert np.abs(ends[0] - ends[1]).max() < 1e-7


def test_coupling_moves_coordinate_by_a_state():
    """A state in a relation of positions counted as a constant: its rate belongs to the speeds and the rate of its rate to the accelerations."""
    d = {
        **HEAD,
        "bodies": {"a": PLATE},
        "states": {"s": {"rate": "w"}, "w": {"rate": "-4*s", "start": 1.0}},
        "joints": {"j": {"child": "a", "type": "revolute", "coordinates": ["q"]}},
        "couplings": {"c": "q - s"},
    }
    result = load(d).compile().simulate(stop_time=2, output_step=0.25, tolerance=1e-10)
    assert np.abs(result["q"] - 0.5 * np.sin(2 * result.time)).max() < 1e-8
    assert np.abs(result["der(q)"] - np.cos(2 * result.time)).max() < 1e-8


def test_coupling_moves_speed_by_an_input():
    """A relation of speeds follows an input; one of positions with an input is said: where the input jumps the mechanism does."""
    d = {
        **HEAD,
        "bodies": {"a": PLATE},
        "inputs": {"w": 0.7},
        "joints": {"j": {"child": "a", "type": "revolute", "coordinates": ["q"]}},
    }
    result = (
        load({**d, "couplings": {"c": "der(q) - w"}})
        .compile()
        .simulate(stop_time=1, output_step=0.5)
    )
    assert result["q"] == pytest.approx(0.7 * result.time, abs=1e-9)
    system = load({**d, "couplings": {"c": "q - w"}}).compile()
    assert "'w'" in " ".join(system.warnings)
    assert system.start()[0] == pytest.approx([0.7])


def test_coupling_handles_input_jumps_and_slopes():
    """A jump of the commanded speed counts from its instant, not from the end of the next step, and its impulse stands in the books.

    A smooth command has its rates: of a command 0.7 + t² the force is J times 2, to the tolerance of the samples between rows.
    """
    d = {
        **HEAD,
        "bodies": {"a": PLATE},
        "inputs": {"w": 0.7},
        "joints": {"j": {"child": "a", "type": "revolute", "coordinates": ["q"]}},
    }
    system = load({**d, "couplings": {"c": "der(q) - w"}}).compile()
    result = system.simulate(stop_time=1, output_step=0.25, inputs={"w": 2.0})
    assert result["q"][1:] == pytest.approx(2.0 * result.time[1:], abs=1e-9)
    assert np.abs(result["energy_residual"]).max() < 1e-9
    d["outputs"] = {"torque": {"value": "force('c')"}}
    placed = (
        load({**d, "couplings": {"c": "q - w"}})
        .compile()
        .simulate(stop_time=1, output_step=0.25, inputs={"w": lambda t: 0.7 + t * t})
    )
    assert placed["q"] == pytest.approx(0.7 + placed.time**2, abs=1e-8)
    assert placed["der(q)"][1:] == pytest.approx(2 * placed.time[1:], abs=1e-6)
    assert placed["torque"][1:] == pytest.approx(0.2, rel=1e-5)


def free_pair(couplings: dict[str, Any], outputs: dict[str, Any]) -> dict[str, Any]:
    """A free body with a ball-jointed one on it."""
    body = {"mass": 1.3, "com": [0.1, 0.05, -0.02], "inertia": [0.2, 0.3, 0.25, 0.01, -0.02, 0.03]}
    return {
        "format": "kinetree/1",
        "bodies": {"a": body, "b": body},
        "joints": {
            "f": {
                "child": "a",
                "type": "free",
                "start": [0.1, 0.2, 0.3, 0.9, 0.1, -0.3, 0.2],
                "speed": [0.3, 0.2, -0.1, 0.5, -0.4, 0.3],
            },
            "s": {
                "parent": "a",
                "child": "b",
                "at": [0.5, 0, 0.1],
                "type": "spherical",
                "start": [0.8, 0.2, 0.5, -0.1],
                "speed": [0.2, 0.7, -0.6],
            },
        },
        "couplings": couplings,
        "outputs": outputs,
    }


DENSE = {
    "free coordinates": lambda: free_pair({"slope": "f.z - 0.3*f.x", "turn": "f.qx*s.qy - 0.05"}, {}),
    "distance": lambda: free_pair({"d": "far**2 - 1.5*tip"}, {
        "far": {"quantity": "distance", "between": [{"body": "b", "point": [0.3, 0, 0]}, {"body": "ground", "point": [1, 1, 0]}]},
        "tip": {"quantity": "position", "body": "b", "point": [0, 0.2, 0], "axis": "norm"}}),
    "orientation": lambda: free_pair({"o": "turn[2]*turn[3] + h[1] - 0.1"}, {
        "turn": {"quantity": "orientation", "body": "b"},
        "h": {"quantity": "position", "body": "b", "point": [0.1, 0.2, 0.3], "frame": "body"}}),
    "speeds": lambda: free_pair({"v": "w[3] - 2*v[1]*f.x"}, {
        "w": {"quantity": "angular_velocity", "body": "b", "frame": "body"}, "v": {"quantity": "velocity", "body": "b", "point": [0.4, 0, 0]}}),
    "place": lambda: free_pair({"p": {"point": {"body": "b", "point": [0.3, 0.1, 0]}, "on": "a", "value": "p[1]*p[2] - 0.3*p[3]"}}, {}),
    "ellipsoid": lambda: free_pair({"e": {"rolling": {"body": "b", "semiaxes": [0.5, 0.3, 0.2]}}}, {}),
    "disc on a body": lambda: free_pair({"e": {"rolling": {"body": "b", "on": "a", "radius": 0.4, "axis": [1, 0.2, 0.1], "at": [0, 0, -0.2]}}}, {}),
    "blade": lambda: free_pair({"e": {"blade": {"body": "b", "point": [0.1, 0.2, 0], "normal": [1, 2, 3], "on": "a"}}}, {}),
}  # fmt: skip


def check_dense(system) -> None:
    """Reaction forces of couplings do no work on what the rows allow, and the second derivative of every relation vanishes along the motion."""
    from test_loops_identities import dense_rank, residuals, shifted

    q, u = system.start()
    rank, basis = dense_rank(system, q)
    udot = system.accelerations(0.0, q, u)
    forces = system.inverse_dynamics(0.0, q, u, udot)
    assert (
        np.abs(basis[rank:] @ forces).max()
        < 1e-9 * np.abs(system.inverse_dynamics(0.0, q, u, 0 * udot)).max()
    )
    h = 1e-5  # rates of the residuals by central differences: error step²
    levels = [
        [residuals(system, 0.0, *shifted(system, q, u, udot, s), level) for s in (h, -h)]
        for level in (0, 1)
    ]
    scale = max(1.0, np.abs(udot).max(), np.abs(u).max() ** 2)
    for ends in levels:  # positions stay, speeds stay
        assert np.abs(ends[0] - ends[1]).max() / (2 * h) < 1e-6 * scale
    assert system.constraint_residual(0.0, q, u) < 1e-10


@pytest.mark.parametrize("name", DENSE)
def test_couplings_match_dense_equations(name):
    """Coordinates of free joints, distances, orientations, components in body axes have the slopes of what they measure."""
    check_dense(load(DENSE[name]()).compile())


# -- what is refused ------------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("der(x)**2 + der(y)**2 - 1", "linear"),
        ("x - s", "speeds"),
        ("t - 1", "no coordinate"),
        ("x - energy", "energy"),
        ({"blade": {"body": "b", "normal": [0, 0, 0]}}, "length 0"),
        ({"between": [{"body": "ground"}, {"body": "b"}], "length": 0}, "above 0"),
        ({"rolling": {"body": "b"}}, "radius"),
        ({"rolling": {"body": "b", "radius": 1, "normal": ["2", 0, 0]}}, "numbers"),
        ({"value": "x", "blade": {"body": "b", "normal": "y"}}, "one of"),
        ({"point": {"body": "b"}, "on": "b", "value": "c[1]"}, "own frame"),
        ({"blade": {"body": "nobody", "normal": "y"}}, "nobody"),
    ],
)
def test_invalid_couplings_are_refused(value, word):
    """What is no constraint that could be held is refused with the reason."""
    states = {"s": {"rate": "der(y)"}}
    with pytest.raises(ModelError, match=word):
        load(planar(value, states=states, outputs={"energy": {"quantity": "energy"}})).compile()


def test_couplings_are_dropped_with_their_bodies():
    """A blade whose body is dropped falls away with it, and so does its force."""
    d = planar({"blade": {"body": "b", "normal": "y"}})
    d["bodies"]["other"] = PLATE
    d["joints"]["k"] = {
        "child": "other",
        "type": "prismatic",
        "axis": "x",
        "coordinates": ["s"],
        "speed": [1.0],
    }
    d["stages"] = [{"ends": {"at": 0.5}, "drop": ["b"]}, {"name": "after"}]
    result = load(d).compile().simulate(stop_time=1, output_step=0.25)
    assert result["s"][-1] == pytest.approx(1.0)


def test_knife_edge_contradicting_a_drive_is_reported():
    """Rows that contradict each other: the relation is named."""
    d = planar("x - t")
    d["couplings"]["still"] = "x"
    with pytest.raises(EvaluationError, match="coupling"):
        load(d).compile().simulate(stop_time=1)


# -- bodies that joints hold together already -----------------------------------------------------------------------------------------------
def pair(hand: str, coupling: dict | None = None, **more) -> dict:
    """An arm on a hinge with a hand on a joint of the kind `hand`, and a coupling between them."""
    joints = {
        "shoulder": {"child": "arm", "type": "revolute", "axis": "y", "coordinates": ["a"], "speed": [0.3]},
        "wrist": {"parent": "arm", "child": "hand", "type": hand, "at": [0.4, 0.1, 0.3]},
    }  # fmt: skip
    if hand == "revolute":
        joints["wrist"] |= {"axis": "x", "coordinates": ["w"], "speed": [1.0]}
    bodies = dict.fromkeys(("arm", "hand"), PLATE | {"com": [0.1, 0.2, -0.3]})
    couplings = {} if coupling is None else {"c": coupling}
    return {
        "format": "kinetree/1",
        "bodies": bodies,
        "joints": joints,
        "couplings": couplings,
        **more,
    }


ENDS = [{"body": "arm", "point": [0.1, 0.2, 0.3]}, {"body": "hand", "point": [-0.3, 0.1, 0.07]}]
LENGTH = math.dist((0.1, 0.2, 0.3), (0.4 - 0.3, 0.1 + 0.1, 0.3 + 0.07))


@pytest.mark.parametrize(
    "coupling",
    [
        {"between": ENDS, "length": LENGTH},
        {"blade": {"body": "hand", "on": "arm", "normal": "y"}},
        {"rolling": {"body": "hand", "on": "arm", "radius": 0.3}},
    ],
)
def test_coupling_of_rigidly_joined_bodies_is_refused(coupling):
    """Its rows are roundings, and divided by one another they gave any acceleration."""
    with pytest.raises(ModelError, match=r"couplings\.c.*joints hold together"):
        load(pair("rigid", coupling)).compile()


def test_coupling_of_locked_bodies_has_no_effect():
    """From the lock on the rod between both bodies is idle: the motion is the one without it."""
    stages = [
        {"ends": {"at": 0.2}, "lock": ["wrist"]},
        {"name": "locked", "set": {"der(a)": 0.5}},
    ]
    runs = []
    for coupling in ({"between": ENDS, "length": LENGTH}, None):
        d = pair("revolute", coupling, stages=stages)
        d["joints"]["wrist"]["speed"] = [0.0]
        if coupling is None:
            d["couplings"] = {"c": "w"}  # the rod's only position: it holds the wrist
        runs.append(load(d).compile().simulate(stop_time=1.0, output_step=0.1))
    for name in ("a", "der(a)"):
        assert runs[0][name] == pytest.approx(runs[1][name], abs=1e-7)
