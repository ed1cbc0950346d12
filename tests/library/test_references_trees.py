"""Runs of tree mechanisms against published and exact references; sources and digits stand in tests/data."""

from typing import Any

import numpy as np
import pytest
from references import columns, reference

from kinetree.models import load

TIGHT = 1e-11


def at(result, times: np.ndarray) -> np.ndarray:
    """Rows of a result that stand at given times."""
    rows = np.rint((np.asarray(times) - result.time[0]) / (result.time[1] - result.time[0])).astype(
        int
    )
    assert np.abs(result.time[rows] - times).max() < 1e-12
    return rows


# -- pendulum -------------------------------------------------------------------------------------------------------------------------------
def pendulum_errors(stop_time: float, output_step: float, tolerance: float) -> np.ndarray:
    rows = np.array(
        [
            row
            for row in reference("pendulum")["rows"]
            if row[0] <= stop_time and abs(row[0] / output_step % 1.0 - 0.5) > 0.49
        ]
    )
    result = (
        load("lib:pendulum")
        .compile()
        .simulate(
            stop_time=stop_time, output_step=output_step, integrator="adams", tolerance=tolerance
        )
    )
    k = at(result, rows[:, 0])
    return np.array(
        [
            np.abs(result[name][k] - rows[:, j]).max()
            for j, name in enumerate(("x", "y", "vx", "vy"), 1)
        ]
    )


def test_pendulum_matches_reference_after_10_s():
    """1e-8 (IFToMM A01 asks for 1e-3)."""
    assert pendulum_errors(10.0, 0.01, TIGHT).max() < 1e-8


@pytest.mark.slow
def test_pendulum_matches_reference_after_2000_s():
    """1e-5: an error of the period grows over 845 swings."""
    assert pendulum_errors(2000.0, 0.1, TIGHT).max() < 1e-5


def test_pendulum_period_matches_elliptic_integral():
    """The period by elliptic integrals to 1e-10: the time of the tenth passage through the start, interpolated where the speed is small."""
    period = reference("pendulum")["period"]
    system = load("lib:pendulum").compile()
    result = system.simulate(
        stop_time=10 * period, output_step=period / 4, integrator="adams", tolerance=1e-13
    )
    # after n + 1/4 periods φ passes 0 with the speed -√(2 g/L); its lag there is the error of time
    passing = 4 * np.arange(10) + 1
    lag = result["phi"][passing] / np.sqrt(2 * 9.81)
    assert np.abs(np.diff(lag)).max() < 1e-10


# -- bodies on single joints ----------------------------------------------------------------------------------------------------------------
def tilted(axis: str, angle: float) -> list[dict[str, Any]]:
    return [{"rotate": axis, "by": angle}]


SINGLE = {  # joint, place, orientation at the start (as the joint's frame), centre of mass, inertia
    "Rev01": ("revolute", [0, 0, 0], tilted("x", -np.pi / 2), [2, 0, 0], [0.04, 0.1, 0.1]),
    "Rev02": ("revolute", [1, 2, 3], tilted("x", -np.pi / 4), [2, 0, 0], [0.04, 0.1, 0.1]),
    "Sph02": ("spherical", [1, 2, 3], tilted("x", -np.pi / 4), [2, 0, 0], [0.04, 0.1, 0.1]),
    "Cyl03": ("cylindrical", [1, 2, 3], tilted("x", -np.pi / 4), [2, 0, 0], [0.04, 0.1, 0.1]),
    "Uni02": ("universal", [0, 0, 0], tilted("y", np.pi / 2), [0, 0, -2], [0.1, 0.1, 0.04]),
}


def single_body(case: str):
    kind, place, frame, com, inertia = SINGLE[case]
    measured = {
        "r": {"quantity": "position", "body": "body", "point": com},
        "v": {"quantity": "velocity", "body": "body", "point": com},
        "w": {"quantity": "angular_velocity", "body": "body"},
    }
    body = {"mass": 1.0, "com": com, "inertia": [*inertia, 0, 0, 0]}
    joint = {"child": "body", "type": kind, "at": place, "frame": frame}
    return load(
        {
            "gravity": [0, 0, -9.80665],
            "bodies": {"body": body},
            "joints": {"joint": joint},
            "outputs": measured,
        }
    ).compile()


@pytest.mark.parametrize("case", SINGLE)
def test_single_joints_match_adams(case: str):
    """Every joint of Project Chrono's comparison with ADAMS, 1e-6 of the recomputed table."""
    rows = np.array([row[1:] for row in reference("joint_pendulums")["rows"] if row[0] == case])
    result = single_body(case).simulate(
        stop_time=5.0, output_step=0.5, integrator="adams", tolerance=TIGHT
    )
    found = np.array(
        [result[f"{name}[{k}]"][at(result, rows[:, 0])] for name in "rvw" for k in (1, 2, 3)]
    ).T
    assert np.abs(found - rows[:, 1:]).max() < 1e-6


def test_pendulum_pin_reactions_match_formula():
    """The vertical force on the released bar, m g J/(J + m c²): 0.239187 N in ADAMS (six digits)."""
    for case in ("Sph02", "Uni02"):
        system = single_body(case)
        q, u = system.start()
        force = system.reactions(0.0, q, u)[0, :3]
        assert np.linalg.norm(force) == pytest.approx(0.239187, abs=5e-7)
    system = single_body("Rev02")
    force = system.reactions(0.0, *system.start())[0, :3]
    c = np.sqrt(
        0.5
    )  # the pin's axes are turned by -45 degrees about x; ADAMS gives what the ground carries, in ground axes
    turned = np.array([force[0], c * (force[1] + force[2]), c * (force[2] - force[1])])
    assert -turned == pytest.approx([0.0, -4.78373, -5.02292], abs=5e-6)


# -- stiff governor -------------------------------------------------------------------------------------------------------------------------
def test_flyball_governor_matches_reference():
    """The slider's height to 1e-6; dampers make eigenvalues of thousands of 1/s, so the integrator is implicit. The shaft's momentum is conserved."""
    data = reference("flyball")
    rows = np.array(data["rows"])
    system = load("lib:flyball").compile()
    result = system.simulate(stop_time=10.0, output_step=0.5, integrator="radau", tolerance=1e-9)
    k = at(result, rows[:, 0])
    for name, column, bound in zip(
        ("shaft", "s", "beta1", "der(shaft)", "der(s)", "der(beta1)"),
        rows[:, 1:].T,
        (1e-5, *[1e-6] * 5),
        strict=True,
    ):
        assert np.abs(result[name][k] - column).max() < bound, name
    assert np.abs(result["beta1"] - result["beta2"]).max() < 1e-8
    about_z = [
        system.momenta(
            t,
            [result[name][i] for name in system.coordinates],
            [result[name][i] for name in system.speeds],
        )[0]
        for i, t in enumerate(result.time)
    ]
    assert np.abs(np.array(about_z) / about_z[0] - 1.0).max() < 1e-7
    # by hand: two dampers on an arm pair of 2 x 5.1 kg.m2 and a slider of 3 kg, levers cos 30 / 2 and 1/2, less K/C
    stiff = 2 * 4e4 * (0.1875 / 10.2 + 0.25 / 3.0) - 20.0
    assert np.linalg.eigvals(system.linearize().A).real.min() == pytest.approx(-stiff, rel=2e-3)


# -- chains ---------------------------------------------------------------------------------------------------------------------------------
def test_five_link_matches_published_sum():
    """Published sum of the coordinates to 1e-9."""
    expected = reference("five_link")
    result = (
        load("lib:five-link")
        .compile()
        .simulate(stop_time=1.0, output_step=0.1, integrator="adams", tolerance=1e-12)
    )
    assert result["sum"][-1] == pytest.approx(expected["sum"], abs=1e-9)
    assert [result[f"q{i}"][-1] for i in range(1, 6)] == pytest.approx(expected["q"], abs=1e-9)
    assert [result[f"der(q{i})"][-1] for i in range(1, 6)] == pytest.approx(expected["u"], abs=1e-8)


def three_rods(file: str, stop_time: float, **start: float) -> float:
    """Largest deviation of the angles, up to a time."""
    expected = columns(file)
    result = (
        load("lib:three-link-rods")
        .compile(**start)
        .simulate(stop_time=stop_time, output_step=0.1, integrator="adams", tolerance=TIGHT)
    )
    k = at(result, expected["t"][expected["t"] <= stop_time + 1e-9])
    own = {f"q{i}": result[f"q{i}"] for i in (1, 2, 3)} | {
        name: result[name] for name in ("theta1", "theta2", "theta3", "tip_x", "tip_y")
    }
    own |= {f"qd{i}": result[f"der(q{i})"] for i in (1, 2, 3)} | {
        f"omega{i}": sum(result[f"der(q{j})"] for j in range(1, i + 1)) for i in (1, 2, 3)
    }
    assert set(own) == set(expected) - {"t"}
    # rates are larger than angles by about the highest frequency, 10 rad/s
    return max(
        np.abs(column[k] - expected[name][: len(k)]).max()
        / (10.0 if name.startswith(("qd", "omega")) else 1.0)
        for name, column in own.items()
    )


def test_three_rods_match_reference():
    """1e-7 over 10 s: errors grow by about 80."""
    assert three_rods("three_link_rods", 10.0) < 1e-7


def test_chaotic_three_rods_match_reference():
    """Judged to 5 s only: errors grow by 1e4 there."""
    start = {"theta1_0": 1.0, "theta2_0": 0.5, "theta3_0": -0.5}
    assert three_rods("three_link_rods_chaotic", 5.0, **start) < 1e-6
    system = load("lib:three-link-rods").compile(**start)
    assert sum(system.energy(0.0, *system.start())) == pytest.approx(-40.208906663623685, rel=1e-14)


def test_chain_of_six_boxes_matches_reference():
    """Positions, rates and attitudes over 10 s to 1e-7."""
    expected = columns("chain6")
    system = load("lib:chain6").compile()
    result = system.simulate(stop_time=10.0, output_step=0.1, integrator="adams", tolerance=TIGHT)
    k = at(result, expected["t"])
    for i in range(1, 7):
        for j, axis in enumerate("xyz", 1):
            assert np.abs(result[f"end{i}[{j}]"][k] - expected[f"end{i}_{axis}"]).max() < 1e-7
            assert np.abs(result[f"w{i}[{j}]"][k] - expected[f"b{i}_w{axis}"]).max() < 1e-6
        q = np.array([result[f"q{i}[{j}]"][k] for j in (1, 2, 3, 4)])
        same = np.abs(
            (q * np.array([expected[f"b{i}_q{j}"] for j in range(4)])).sum(axis=0)
        )  # attitudes up to the sign of the quaternion
        assert np.abs(same - 1.0).max() < 1e-12
    kinetic, potential = (part for part in system.energy(0.0, *system.start()))
    assert (kinetic, potential) == (
        pytest.approx(2.0716209680639551, rel=1e-14),
        pytest.approx(-77.481764389301007, rel=1e-14),
    )


# -- tops -----------------------------------------------------------------------------------------------------------------------------------
def test_heavy_top_matches_reference():
    """1e-7 up to 2 s at 24 turns per second; the spin stays exact, energy and angular momentum about the vertical to 1e-10 of theirs."""
    rows = np.array(reference("heavy_top")["rows"])
    system = load("lib:heavy-top").compile()
    result = system.simulate(stop_time=2.0, output_step=0.1, integrator="adams", tolerance=1e-13)
    k = at(result, rows[:, 0])
    quaternion = result.array([f"tip.q{axis}" for axis in "wxyz"])
    assert np.abs(np.abs((quaternion[k] * rows[:, 1:5]).sum(axis=1)) - 1.0).max() < 1e-13
    assert (
        np.abs(
            quaternion[k]
            - np.sign((quaternion[k] * rows[:, 1:5]).sum(axis=1))[:, None] * rows[:, 1:5]
        ).max()
        < 1e-7
    )
    assert np.ptp(result["energy"]) < 1e-10 * abs(result["energy"][0])
    w, *v = quaternion.T
    p = result.array(["tip.wx", "tip.wy", "tip.wz"]) * [15.234375, 0.46875, 15.234375]
    about_z = (
        p[:, 2]
        + 2.0 * w * np.cross(np.transpose(v), p)[:, 2]
        + 2.0 * np.cross(np.transpose(v), np.cross(np.transpose(v), p))[:, 2]
    )
    assert np.ptp(about_z) < 1e-10 * 0.46875 * 150.0
    com = np.array([result[f"com[{j}]"][k] for j in (1, 2, 3)]).T
    assert np.abs(com - rows[:, 7:]).max() < 1e-7
    assert (
        np.abs(np.array([result["tip.wx"][k], result["tip.wz"][k]]).T - rows[:, 5:7]).max() < 1e-6
    )
    assert np.abs(result["tip.wy"] - 150.0).max() < 1e-9


def test_free_body_matches_closed_solution():
    """Closed solution to 1e-9."""
    rows = np.array(reference("free_body")["rows"])
    result = (
        load("lib:free-body")
        .compile()
        .simulate(stop_time=10.0, output_step=0.5, integrator="adams", tolerance=1e-13)
    )
    k = at(result, rows[:, 0])
    quaternion = np.array([result[f"space.q{axis}"][k] for axis in "wxyz"]).T
    sign = np.sign((quaternion * rows[:, 3:]).sum(axis=1))[:, None]
    assert np.abs(sign * quaternion - rows[:, 3:]).max() < 1e-9
    assert (
        np.abs(np.array([result["space.wx"][k], result["space.wy"][k]]).T - rows[:, 1:3]).max()
        < 1e-9
    )


# -- regulator ------------------------------------------------------------------------------------------------------------------------------
def test_regulator_settles_at_equilibrium():
    """With damping, any start ends at the analytic equilibrium (`test_library_trees.regulator_equilibrium`)."""
    from test_library_trees import regulator_equilibrium

    system = load("lib:regulator").compile(dy=20.0, da=0.1, alpha_0=0.1, beta_0=0.05)
    value = {name: parameter.value for name, parameter in system.description.parameters.items()}
    y, al = regulator_equilibrium(value, 5.0)
    result = system.simulate(stop_time=15.0, output_step=0.1, tolerance=1e-10)
    assert result["y2"][-1] == pytest.approx(y, abs=1e-8)
    assert result["alpha"][-1] == pytest.approx(al, abs=1e-8)
    assert result["der(gamma)"][-1] == pytest.approx(5.0, abs=1e-8)
    assert result["power"][-1] == pytest.approx(0.0, abs=1e-6)


# -- compliant stops ------------------------------------------------------------------------------------------------------------------------
def test_elasto_gap_matches_modelica():
    """Modelica's example to 1e-6; its force has corners, so the steps there are the integrator's business."""
    expected = reference("elasto_gap")
    result = (
        load("lib:elasto-gap")
        .compile()
        .simulate(stop_time=5.0, output_step=0.01, integrator="adams", tolerance=1e-10)
    )
    assert result["x"][-1] == pytest.approx(expected["x5"], abs=1e-6)
    assert result["der(x)"][-1] == pytest.approx(expected["v5"], abs=1e-6)
    for t, x, v in expected["rows"]:
        assert between(result, "x", t) == pytest.approx(x, abs=2e-6 * max(1.0, abs(v)))
    system = load("lib:elasto-gap").compile()
    for t, x, v in expected["rows"]:
        there = system.simulate(stop_time=t, output_step=5.0, integrator="adams", tolerance=1e-10)
        assert (there["x"][-1], there["der(x)"][-1]) == pytest.approx((x, v), abs=1e-6)


def test_mass_between_springs_matches_closed_form():
    """The companion of the example, held on both sides without gaps: exact."""
    held = {"coordinate": "x", "stiffness": 20.0, "damping": 3.0}
    slide = {"child": "m", "type": "prismatic", "axis": "x", "coordinates": ["x"], "start": 2.0}
    system = load(
        {
            "format": "kinetree/1",
            "gravity": [0, 0, 0],
            "bodies": {"m": {"mass": 1.0}},
            "joints": {"j": slide},
            "forces": {"f": held},
        }
    ).compile()
    result = system.simulate(stop_time=5.0, output_step=0.1, integrator="adams", tolerance=1e-12)
    assert result["x"][-1] == pytest.approx(reference("elasto_gap")["companion_x5"], abs=1e-10)


def between(result, name: str, t: float) -> float:
    """A coordinate between two outputs 0.01 s apart, by Hermite's cubic: error h³/100 times a jump of the third derivative of about 100."""
    k = int(t / 0.01)
    h, s = (
        result.time[k + 1] - result.time[k],
        (t - result.time[k]) / (result.time[k + 1] - result.time[k]),
    )
    x, v = result[name][k : k + 2], h * result[f"der({name})"][k : k + 2]
    weights = ((1 + 2 * s) * (1 - s) ** 2, s * s * (3 - 2 * s), s * (1 - s) ** 2, -s * s * (1 - s))
    return float(weights[0] * x[0] + weights[1] * x[1] + weights[2] * v[0] + weights[3] * v[1])
