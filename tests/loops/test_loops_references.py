"""Runs of closed-loop mechanisms against published and exact references; sources and digits stand in tests/data."""

from typing import Any

import numpy as np
import pytest
from references import columns, reference

from kinetree.models import load

TIGHT = 1e-10


def state_at(system, result, k: int) -> tuple[np.ndarray, np.ndarray]:
    return np.array([result[name][k] for name in system.coordinates]), np.array(
        [result[name][k] for name in system.speeds]
    )


def check_drift(system, result, limit: float = 1e-9) -> None:
    """The loops stay closed at all output times."""
    worst = max(
        system.constraint_residual(t, state_at(system, result, k)[0])
        for k, t in enumerate(result.time)
    )
    assert worst < limit


# -- N four-bar -----------------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("integrator", ["adams", "radau"])
def test_n_four_bar_matches_reference(integrator):
    """1e-6 after 10 s and ten passages through the singular position, energy to 1e-6 J (IFToMM A02)."""
    system = load("lib:n_four_bar", n=2).compile()
    result = system.simulate(stop_time=10, output_step=0.5, integrator=integrator, tolerance=TIGHT)
    for t, _, x, y, *_ in (row for row in reference("n_four_bar")["rows"] if row[0] <= 10):
        k = round(t / 0.5)
        assert [result["tip[1]"][k], result["tip[2]"][k]] == pytest.approx([x, y], abs=1e-6)
    assert np.ptp(result["energy"]) < 1e-6
    check_drift(system, result)


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 40])
def test_many_loops_complete_a_revolution(n):
    """After one revolution the mechanism is back, to 1e-6 of a period's worth of speed."""
    period = reference("n_four_bar")["revolution"][str(n)]
    result = (
        load("lib:n_four_bar", n=n)
        .compile()
        .simulate(stop_time=period, output_step=period, integrator="adams", tolerance=TIGHT)
    )
    assert [result["tip[1]"][-1], result["tip[2]"][-1]] == pytest.approx([0.0, 1.0], abs=1e-6)


# -- Andrews ---------------------------------------------------------------------------------------------------------------------------------
def test_andrews_start_matches_published_accelerations():
    """The published accelerations at the start, 1e-10."""
    system = load("lib:andrews").compile()
    assert system.freedoms == 1 and len(system.cut_joints) == 3
    udot = dict(zip(system.coordinates, system.accelerations(0.0, *system.start()), strict=True))
    for name, value in reference("andrews")["start_accelerations"].items():
        assert udot[name] == pytest.approx(value, rel=1e-10)


@pytest.mark.parametrize("integrator", ["adams", "radau"])
def test_andrews_matches_published_angles(integrator):
    """1e-7 of the angles after 0.03 s; the crank has turned two and a half times and is at 10 900 rpm."""
    data = reference("andrews")
    system = load("lib:andrews").compile()
    result = system.simulate(
        stop_time=0.03, output_step=0.01, integrator=integrator, tolerance=TIGHT
    )
    for name, value in data["angles"].items():
        assert result[name][-1] == pytest.approx(value, rel=1e-7)
    for name, value in data["rates"].items():
        assert result[f"der({name})"][-1] == pytest.approx(value, rel=1e-6)
    assert [result["beta"][1], result["beta"][2]] == pytest.approx(
        list(data["beta_at"].values()), rel=1e-7
    )
    assert [result["F[1]"][-1], result["F[2]"][-1]] == pytest.approx(data["F"], abs=1e-10)
    check_drift(system, result, 1e-10)


# -- Bricard ---------------------------------------------------------------------------------------------------------------------------------
def test_bricard_stays_closed():
    """Points to 1e-6 m over 10 s with a row that is redundant all the time; energy to 1e-6 J."""
    data = reference("bricard")
    system = load("lib:bricard").compile()
    assert system.freedoms == 1 and len(system.redundant) == 1
    result = system.simulate(stop_time=10, output_step=0.5, integrator="adams", tolerance=TIGHT)
    for row in data["rows"]:
        k = round(row[0] / 0.5)
        for name, value in zip(data["columns"][1:], row[1:], strict=True):
            assert result[name][k] == pytest.approx(value, abs=1e-6), (row[0], name)
    assert np.abs(result["energy"] - data["energy"]).max() < 1e-6
    check_drift(system, result)


# -- plane and spatial four-bars -------------------------------------------------------------------------------------------------------------
def test_closed_three_link_matches_reference():
    """1e-7 over 10 s: angles, speeds, accelerations, energy; residual of the loop below 1e-9 m."""
    data = columns("closed_three_link")
    system = load("lib:closed_three_link").compile()
    assert system.freedoms == 1
    result = system.simulate(stop_time=10, output_step=0.1, integrator="adams", tolerance=1e-12)
    for mine, theirs in (
        ("theta1", "theta1"),
        ("theta2", "theta2"),
        ("theta3", "theta3"),
        ("der(theta1)", "omega1"),
        ("der(theta3)", "omega3"),
    ):
        assert np.abs(result[mine] - data[theirs]).max() < 1e-7, mine
    assert np.abs(result["tip[1]"] - data["rod4tip_x"]).max() < 1e-7
    assert np.abs(result["energy"] - data["T"] - data["V"]).max() < 1e-7
    for k in (0, 37, 100):
        udot = dict(
            zip(
                system.coordinates,
                system.accelerations(0.0, *state_at(system, result, k)),
                strict=True,
            )
        )
        assert udot["theta1"] == pytest.approx(
            data["alpha1"][k], abs=1e-5
        )  # 1e-7 of the state times the stiffness of weight, 1e2
    check_drift(system, result)


@pytest.mark.parametrize("integrator", ["adams", "radau"])
def test_spatial_slider_crank_matches_reference(integrator):
    """1e-6 over 5 s (IFToMM: Haug's spatial slider-crank)."""
    data = columns("slider_crank_spatial")
    system = load("lib:slider_crank_spatial").compile()
    assert system.freedoms == 1 and not system.redundant
    result = system.simulate(stop_time=5, output_step=0.1, integrator=integrator, tolerance=TIGHT)
    for mine, theirs in (
        ("theta", "theta"),
        ("der(theta)", "thetad"),
        ("x", "x_slider"),
        ("der(x)", "v_slider"),
    ):
        assert np.abs(result[mine] - data[theirs]).max() < 1e-6, mine
    check_drift(system, result)


def cylinder(mass: float, vector: tuple[float, float, float]) -> dict[str, Any]:
    """A cylinder of diameter 0.05 from the origin along a vector."""
    v = np.array(vector)
    length, r = np.linalg.norm(v), 0.025
    e = v / length
    J = mass * (length**2 + 3 * r**2) / 12 * (
        np.eye(3) - np.outer(e, e)
    ) + mass * r**2 / 2 * np.outer(e, e)
    return {
        "mass": mass,
        "com": (v / 2).tolist(),
        "inertia": [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]],
    }


def msl_four_bar(rod_mass: float) -> dict[str, Any]:
    """Modelica.Mechanics.MultiBody.Examples.Loops.Fourbar1; rod_mass = 0: Fourbar2."""
    return {
        "format": "kinetree/1",
        "name": "Four-bar in space",
        "gravity": [0, -9.80665, 0],
        "bodies": {
            "b1": cylinder(7.70916408012428, (0, 0.5, 0.1)),
            "b2": cylinder(3.02378292908018, (0, 0.2, 0)),
            "b3": cylinder(rod_mass, (-1, 0.3, 0.1)) if rod_mass else {"mass": 0},
        },
        "joints": {
            "j1": {
                "child": "b1",
                "transforms": [
                    {"rotate": "x", "coordinate": "phi", "start": 0.0, "speed": 5.235987755982989}
                ],
            },
            "j2": {
                "child": "b2",
                "at": [1.2, 0, 0],
                "transforms": [{"shift": "x", "coordinate": "s", "start": -0.2}],
            },
            "cross": {
                "parent": "b2",
                "child": "b3",
                "at": [0, 0.2, 0],
                "type": "universal",
                "axis": ["y", "z"],
            },
            "ball": {
                "parent": "b3",
                "child": "b1",
                "transforms": [
                    {"shift": [-1, 0.3, 0.1]},
                    *({"rotate": axis, "coordinate": f"r{axis}"} for axis in "xyz"),
                    {"shift": [0, -0.5, -0.1]},
                ],
            },
        },
    }


@pytest.mark.parametrize(("number", "rod_mass"), [(1, 15.8568514548257), (2, 0.0)])
def test_four_bars_match_modelica(number, rod_mass):
    """1e-6 over 5 s against the recomputed tables; the second has a rod without mass."""
    data = columns(f"msl_four_bar{number}")
    system = load(msl_four_bar(rod_mass)).compile()
    assert system.freedoms == 1
    result = system.simulate(stop_time=5, output_step=0.1, integrator="adams", tolerance=TIGHT)
    for mine, theirs in (
        ("phi", "phi_j1"),
        ("der(phi)", "w_j1"),
        ("s", "s_j2"),
        ("der(s)", "v_j2"),
    ):
        assert np.abs(result[mine] - data[theirs]).max() < 1e-6, mine
