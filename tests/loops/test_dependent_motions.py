"""Joints of any motion rho(q, t), G(q, t): transforms whose amounts are expressions over coordinates."""

from copy import deepcopy

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kinetree.models import ModelError, load

MASS, ABOUT_Z, G = 2.0, 0.2, 9.81
CAM = {
    "format": "kinetree/1",
    "name": "Body on a cam path",
    "gravity": [0, 0, -G],
    "parameters": {"lift": {"value": 0.1, "unit": "m", "tunable": True}},
    "bodies": {"a": {"mass": MASS, "inertia": [0.1, 0.1, ABOUT_Z, 0, 0, 0]}},
    "joints": {
        "j": {
            "child": "a",
            "transforms": [
                {"rotate": "z", "coordinate": "turn", "start": 0.3, "speed": 1.0},
                {"shift": "z", "by": "lift*sin(2*turn) + 0.02*sin(3*t)"},
            ],
        }
    },
    "outputs": {"height": {"quantity": "position", "body": "a", "axis": "z"}},
    "run": {"stop_time": 1.5, "tolerances": {"relative": 1e-10}},
}


def cam(**more) -> dict:
    return deepcopy(CAM) | more


def closed_form(times, lift=0.1, turn=0.3, speed=1.0):
    """Turn of the body by Lagrange's equation: z = lift sin(2 turn) + 0.02 sin(3 t)."""

    def rates(t, y):
        slope, bend = 2 * lift * np.cos(2 * y[0]), -4 * lift * np.sin(2 * y[0])
        given = -0.18 * np.sin(3 * t)  # d2z/dt2 at constant turn
        force = -MASS * slope * (bend * y[1] ** 2 + given + G)
        return [y[1], force / (ABOUT_Z + MASS * slope**2)]

    return solve_ivp(
        rates, (0, times[-1]), [turn, speed], t_eval=times, rtol=1e-11, atol=1e-12, method="DOP853"
    ).y[0]


def test_dependent_motion_matches_lagrange_equation():
    system = load(cam()).compile()
    assert system.freedoms == 1
    for integrator in ("auto", "radau", "verner65"):
        result = system.simulate(stop_time=1.5, output_step=0.05, integrator=integrator)
        turn = closed_form(result.time)
        assert result["turn"] == pytest.approx(turn, abs=2e-7)
        assert result["height"] == pytest.approx(
            0.1 * np.sin(2 * turn) + 0.02 * np.sin(3 * result.time), abs=2e-7
        )


def test_body_guided_along_a_curve_conserves_energy():
    """A bead that moves along a helix and turns with its tangent: down a turn for 1.26 m."""
    d = cam(
        joints={
            "path": {
                "child": "a",
                "transforms": [
                    {"shift": "z", "coordinate": "down", "speed": -0.1},
                    {"shift": "x", "by": "0.5*cos(down/0.2)"},
                    {"shift": "y", "by": "0.5*sin(down/0.2)"},
                    {"rotate": "z", "by": "down/0.2"},
                ],
            }
        },
        outputs={"E": {"quantity": "energy"}},
    )
    result = load(d).compile().simulate(stop_time=1.0, output_step=0.02)
    s = -result["down"] / 0.2  # turned about z
    spin = MASS * 0.2 * G / (ABOUT_Z + MASS * (0.25 + 0.04))  # constant acceleration along it
    assert s == pytest.approx(0.5 * result.time + spin * result.time**2 / 2, abs=1e-6)
    assert np.ptp(result["E"]) < 1e-6


def test_dependent_motion_without_coordinate_is_refused():
    for by, said in (
        ("0.1*der(turn)", "der(turn)"),
        ("0.1*turn + der(turn)", "der(turn)"),
        ("0.1*turn + wrong", "wrong"),
        ("0.1*turn + force0", "force0"),
    ):
        d = cam(inputs={"force0": {"unit": "N"}})
        d["joints"]["j"]["transforms"][1]["by"] = by
        with pytest.raises(ModelError) as failure:
            load(d)
        told = [line for line in str(failure.value).splitlines() if said in line]
        assert any("joints.j.transforms[1].by" in line for line in told)


def test_rotors_belong_to_independent_coordinates():
    d = cam()
    plain = load(d).compile()
    d["joints"]["j"]["rotor_inertia"] = [0.5]
    driven = load(d).compile()
    q = plain.start()[0]
    difference = driven.mass_matrix(0.0, q) - plain.mass_matrix(0.0, q)
    assert difference == pytest.approx(np.diag([0.5, 0.0]), abs=1e-14)


def test_stages_release_and_lock_dependent_joint():
    for change in ("free", "lock"):
        stages = [{"name": "on", "ends": {"at": 0.4}, change: ["j"]}, {"name": "off"}]
        result = load(cam(stages=stages)).compile().simulate(stop_time=0.8, output_step=0.01)
        later = result["height"][result.time > 0.401]
        bend = np.diff(later, 2) / 0.01**2
        assert bend[1:-1] == pytest.approx(0.0 if change == "lock" else -G, abs=1e-4)


def test_derivatives_include_dependent_motion_law():
    d = cam()
    system = load(d).compile()
    result = system.simulate(stop_time=0.5, integrator="rk4", step=1e-3, output_step=0.05)
    slope = result.gradient("turn", parameters=["lift"])
    h = 1e-5
    above, below = (closed_form(np.array([0.0, 0.5]), 0.1 + each)[-1] for each in (h, -h))
    found = np.atleast_1d(np.asarray(slope["lift"] if isinstance(slope, dict) else slope)).ravel()
    assert found[-1] == pytest.approx((above - below) / (2 * h), rel=1e-3)


@pytest.mark.slow
def test_dependent_motion_fmu_matches_run(tmp_path):
    from kinetree.fmu.archive.build import build_fmu
    from kinetree.scripts.fmi.verify import verify

    for backend in ("native", "source"):
        path = tmp_path / f"{backend}.fmu"
        build_fmu(load(cam()), path, backend)
        report = verify(path)
        assert report.good, [each for each in report.checks if not each.good]
