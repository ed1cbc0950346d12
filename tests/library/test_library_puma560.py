"""Puma 560 against the numbers of P. Corke's Robotics Toolbox, recomputed to 12 digits: algebra, so 1e-10 of the largest torque."""

import json
from pathlib import Path

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.engine.status import EvaluationError

DATA = json.loads((Path(__file__).parents[1] / "data" / "puma560.json").read_text(encoding="utf-8"))
ZERO, ONE = np.zeros(6), np.ones(6)
DIGITS = 1e-10


@pytest.fixture(scope="module")
def arm():
    return load("lib:puma560").compile()


@pytest.fixture(scope="module")
def rubbing():
    return load("lib:puma560").compile(friction=1)


def pose(name: str) -> np.ndarray:
    return np.pi * np.array(DATA["poses_over_pi"][name])


def motors(system) -> np.ndarray:
    """G²Jm of the six motors."""
    value = {name: parameter.value for name, parameter in system.description.parameters.items()}
    return np.array([value[f"G{i}"] ** 2 * value[f"Jm{i}"] for i in range(1, 7)])


def test_puma_starts_in_nominal_pose(arm):
    q, u = arm.start()
    assert np.array_equal(q, pose("n")) and not u.any()


@pytest.mark.parametrize("name", ["n", "z", "r", "s"])
def test_puma_gravity_torques_match_published_values(arm, name: str):
    assert arm.inverse_dynamics(0.0, pose(name), ZERO, ZERO) == pytest.approx(
        DATA["gravity"][name], abs=DIGITS
    )


def test_puma_mass_matrix_matches_published_values(arm):
    """Entries to the last of the twelve digits given, in kg.m²."""
    M = arm.mass_matrix(0.0, pose("n"))
    for place, value in DATA["mass_matrix"].items():
        i, j = (int(digit) - 1 for digit in place)
        assert M[i, j] == pytest.approx(value, abs=1e-11) and M[j, i] == M[i, j]


def test_puma_torques_with_friction_and_motors_match_reference(rubbing):
    q, inertia = pose("n"), motors(rubbing)
    assert rubbing.inverse_dynamics(0.0, q, ZERO, ONE) + inertia == pytest.approx(
        DATA["torque_0_1"], abs=DIGITS
    )
    assert rubbing.inverse_dynamics(0.0, q, ONE, ONE) + inertia == pytest.approx(
        DATA["torque_1_1"], abs=DIGITS
    )
    assert rubbing.inverse_dynamics(0.0, q, ONE, ZERO) == pytest.approx(
        DATA["torque_1_0_published"], rel=1e-5
    )


@pytest.mark.parametrize("friction", ["without_friction", "with_friction"])
def test_puma_forward_dynamics_with_motors_match_reference(arm, rubbing, friction: str):
    """(M + G²Jm) u̇ = M u̇0 with u̇0 the accelerations without motor inertia."""
    system = rubbing if friction == "with_friction" else arm
    case, q = DATA["forward"], pose("n")
    inputs = {f"torque{i}": torque for i, torque in enumerate(case["torque"], 1)}
    M = system.mass_matrix(0.0, q)
    udot = np.linalg.solve(
        M + np.diag(motors(system)), M @ system.accelerations(0.0, q, case["u"], inputs)
    )
    assert udot == pytest.approx(case[friction], abs=DIGITS)


def test_puma_motors_equal_geared_rotors():
    """motors=1 adds rotors tied to the joints by couplings: the same accelerations, the same start."""
    system = load("lib:puma560", friction=1, motors=1).compile()
    case = DATA["forward"]
    q, _ = system.start()
    assert q == pytest.approx([*pose("n"), *pose("n")])  # the rotors follow the joints
    inputs = {f"torque{i}": torque for i, torque in enumerate(case["torque"], 1)}
    udot = system.accelerations(0.0, q, [*case["u"], *case["u"]], inputs)
    assert udot == pytest.approx([*case["with_friction"]] * 2, abs=DIGITS)


def test_published_inertia_and_coriolis_torques(arm):
    q, still = pose("n"), arm.inverse_dynamics(0.0, pose("n"), ZERO, ZERO)
    inertia = DATA["inertia_published"]
    udot = np.array(inertia["udot"], float)
    assert arm.mass_matrix(0.0, q) @ udot + motors(arm) * udot == pytest.approx(
        inertia["torque"], abs=6e-5
    )
    coriolis = DATA["coriolis_published"]
    # the published vector is a product of a matrix printed with 4 decimals and rates that add up to 12
    assert (arm.inverse_dynamics(0.0, q, coriolis["u"], ZERO) - still)[:3] == pytest.approx(
        coriolis["torque"], abs=12 * 5e-5
    )


@pytest.mark.parametrize("method", ["DEC", "DRT", "CBM", "ABM"])
def test_puma_accelerations_in_a_general_state_match_reference(arm, method: str):
    case = DATA["general"]
    q, u, udot = (np.array(case[key], float) for key in ("q", "u", "udot"))
    assert arm.inverse_dynamics(0.0, q, ZERO, ZERO) == pytest.approx(case["gravity"], abs=DIGITS)
    assert arm.inverse_dynamics(0.0, q, u, udot) == pytest.approx(case["torque"], abs=DIGITS)
    inputs = {f"torque{i}": torque for i, torque in enumerate(case["torque"], 1)}
    # torques of 12 digits over the smallest inertia, 4e-5 kg.m2
    assert arm.accelerations(0.0, q, u, inputs, method=method) == pytest.approx(
        case["udot"], abs=1e-8
    )
    flange = arm.outputs(0.0, q, u)
    assert [flange[f"flange[{k}]"] for k in (1, 2, 3)] == pytest.approx(case["flange"], abs=1e-12)


def test_multiplier_form_requires_masses(arm):
    """LGR inverts the mass matrix of every body, and the first link has none."""
    with pytest.raises(EvaluationError, match="link1"):
        arm.accelerations(0.0, pose("n"), ZERO, method="LGR")
