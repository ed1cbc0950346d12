"""Laws along coordinates and lines: springs by tables, ropes and buffers, exponential stops, dry friction; energy, continuity, who pulls."""

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.system.system import System

MASS = 2.0
LAW = {
    "x": [-1.0, 0.0, 0.1, 0.3, 1.0],
    "y": [-50.0, 0.0, 20.0, 30.0, 200.0],
}  # piecewise stiffness, softer in the middle
DRAG = {"x": [-2.0, -0.5, 0.0, 0.5, 2.0], "y": [-30.0, -10.0, 0.0, 4.0, 6.0]}
STOP = {
    "kind": "stop",
    "coordinate": "x",
    "lower": -0.5,
    "upper": 0.5,
    "stiffness": 40.0,
    "damping": 8.0,
    "sharpness": 60.0,
}
FRICTION = {
    "kind": "friction",
    "coordinate": "x",
    "coulomb": 3.0,
    "coulomb_negative": 5.0,
    "viscous": 0.4,
    "speed": 0.01,
}
ROPE = {
    "between": [{"body": "ground"}, {"body": "b"}],
    "stiffness": 500.0,
    "damping": 20.0,
    "length": 1.0,
    "tension_only": True,
}
BUFFER = ROPE | {"tension_only": False, "compression_only": True}


def slider(force: dict, **start: float) -> System:
    """A mass on a rail along x with one force."""
    joint = {"child": "b", "type": "prismatic", "axis": "x", "coordinates": ["x"]} | start
    description = {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"b": {"mass": MASS}},
        "joints": {"j": joint},
        "tables": {"law": LAW, "drag": DRAG},
        "forces": {"f": force},
        "outputs": {"push": "force('f')"},
    }
    return load(description).compile()


def value(system: System, x: float, v: float) -> float:
    return system.outputs(0.0, [x], [v])["push"]


# every law with the place and the speed around which it has a corner or begins
CASES = {
    "table": ({"coordinate": "x", "law": "law", "damping_law": "drag"}, 0.1, 0.5),
    "spring": ({"coordinate": "x", "stiffness": 100.0, "damping": 3.0}, 0.0, 0.0),
    "piecewise": (
        {"coordinate": "x", "value": "if(x > 0.2, -80*(x - 0.2), 0) - 2*der(x)"},
        0.2,
        0.0,
    ),
    "stop": (STOP, 0.5, 5.0),
    "friction": (FRICTION, 0.0, 0.0),
    "rope": (ROPE | {"damping": 0.0}, 1.0, 0.0),
    "buffer": (BUFFER | {"damping": 0.0}, 1.0, 0.0),
}


@pytest.mark.parametrize("case", CASES)
def test_force_laws_are_continuous(case: str):
    """A step of 1e-9 in place or speed across a corner moves the force by no more than its steepest slope there."""
    force, x, v = CASES[case]
    system = slider(force)
    steepest = 5e3
    for dx, dv in ((1e-9, 0.0), (0.0, 1e-9)):
        assert abs(value(system, x + dx, v + dv) - value(system, x - dx, v - dv)) < 2e-9 * steepest
    assert value(system, x + 0.3, v) != value(system, x - 0.3, v) or case == "friction"


@pytest.mark.parametrize("case", CASES)
def test_force_laws_never_generate_energy(case: str):
    """Work of the force over a closed motion x = a + b sin(s), out and back: at most 0; exactly 0 (to the sum's 1e-6) at standstill speeds."""
    system = slider(CASES[case][0])
    s = np.linspace(0.0, 2.0 * np.pi, 4001)
    reach = 0.04 if case == "stop" else 0.4
    x = CASES[case][1] + reach * np.sin(s)
    for rate in (1e-9, 1.0, 5.0):
        forces = np.array(
            [value(system, place, rate * reach * c) for place, c in zip(x, np.cos(s), strict=True)]
        )
        work = np.trapezoid(forces, x)
        assert work < 1e-6
        if rate == 1e-9:
            assert abs(work) < 1e-6


def test_tabulated_springs_pass_through_their_points():
    system = slider(CASES["table"][0])
    for x, v in ((-0.4, 0.0), (0.05, 0.0), (0.2, 1.0), (0.7, -1.5)):
        expected = -np.interp(x, LAW["x"], LAW["y"]) - np.interp(v, DRAG["x"], DRAG["y"])
        assert value(system, x, v) == pytest.approx(expected, rel=1e-13)


def test_tabulated_spring_conserves_energy():
    """The work of a piecewise linear law is a sum of trapezoids; over 8 s it and the kinetic energy stay within 1e-8 of what it stores."""
    result = slider({"coordinate": "x", "law": "law"}, start=0.5).simulate(
        8.0, output_step=0.01, tolerance=1e-11
    )
    points = np.concatenate((LAW["x"], result["x"]))
    order = np.unique(points)
    work = np.concatenate(
        ([0.0], np.cumsum(0.5 * np.diff(order) * (inner(order[1:]) + inner(order[:-1]))))
    )
    total = 0.5 * MASS * result["der(x)"] ** 2 + np.interp(result["x"], order, work)
    stored = np.ptp(np.interp(result["x"], order, work))
    assert -1.0 < result["x"].min() < -0.8 and np.ptp(total) < 1e-8 * stored
    assert np.abs(result["energy_residual"]).max() < 1e-8 * stored


def inner(x: np.ndarray) -> np.ndarray:
    return np.interp(x, LAW["x"], LAW["y"])


def test_end_stops_push_and_never_pull():
    """At any place and speed the lower stop pushes up and the upper one down, or both do nothing."""
    lower, upper = slider(STOP | {"upper": None}), slider(STOP | {"lower": None})
    pushing = 0
    for x in np.linspace(-0.7, 0.7, 29):
        for v in np.linspace(-12.0, 12.0, 25):
            assert value(lower, x, v) >= 0.0 >= value(upper, x, v)
            pushing += value(lower, x, v) > 1.0
    assert pushing > 50
    assert value(lower, -0.5, 6.0) == 0.0 and value(lower, -0.5, -6.0) == pytest.approx(
        40.0 + 8.0 * 6.0
    )


def test_undamped_end_stops_conserve_energy():
    """A mass flies to and fro between two exponential stops; the potential is part of the energy of the run."""
    result = slider(STOP | {"damping": 0.0}, speed=1.5).simulate(
        4.0, output_step=0.01, tolerance=1e-11
    )
    assert np.ptp(result["energy"]) < 1e-8 * result["energy"][0] and np.ptp(result["x"]) > 0.9
    damped = slider(STOP, speed=1.5).simulate(4.0, output_step=0.01, tolerance=1e-11)["energy"]
    assert np.diff(damped).max() < 1e-9 and damped[-1] < 0.5 * damped[0]


@pytest.mark.parametrize("force, sign", [(ROPE, -1.0), (BUFFER, 1.0)])
def test_ropes_never_push_and_buffers_never_pull(force: dict, sign: float):
    system = slider(force)
    values = np.array(
        [
            sign * value(system, x, v)
            for x in np.linspace(0.5, 1.5, 21)
            for v in np.linspace(-20.0, 20.0, 21)
        ]
    )
    assert values.min() >= 0.0 and (values > 10.0).sum() > 50


def test_friction_stops_a_slider():
    """Dry friction of 3 N takes v²/(2 a); each way has its own; where speeds are below `speed` the mass creeps to rest."""
    dry = FRICTION | {"viscous": 0.0, "speed": 1e-4}
    for speed, force in ((1.0, 3.0), (-1.0, 5.0)):
        result = slider(dry, speed=speed).simulate(
            2.0, output_step=0.01, tolerance=1e-9, integrator="radau"
        )
        assert abs(result["x"][-1]) == pytest.approx(0.5 * MASS / force, rel=1e-3)
        assert abs(result["der(x)"][-1]) < 1e-4
        assert np.diff(result["energy"]).max() < 1e-9
