"""States of rest against hand calculations: positions, reactions, frequencies, what is stable, what nothing holds."""

import math

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.status import EvaluationError

g = 9.81
ROD = {"mass": 2.0, "com": [0, 0, -0.5], "inertia": [1 / 6, 1 / 6, 0.001, 0, 0, 0]}


def pendulum(start: float, forces: dict | None = None, inputs: dict | None = None):
    return load(
        {
            "format": "kinetree/1",
            "name": "rod",
            "bodies": {"rod": ROD},
            "joints": {"pivot": {"child": "rod", "transforms": [{"rotate": "y", "coordinate": "phi", "start": start}]}},
            "forces": forces or {},
            "inputs": inputs or {},
        }
    ).compile()


@pytest.mark.parametrize("start", [0.3, math.pi / 2, 3.0, -2.5])
def test_a_rod_comes_to_hang(start: float):
    """From any side, even from close to the unstable top; 2 pi f = sqrt(m g l/2 / (m l^2/3))."""
    found = pendulum(start).equilibrium()
    assert found.stable and found.undetermined == ()
    assert math.remainder(found.coordinates["phi"], 2 * math.pi) == pytest.approx(0.0, abs=1e-9)
    assert found.modes[0].frequency == pytest.approx(math.sqrt(1.5 * g) / (2 * math.pi), rel=1e-8)  # differences: step^2 = 4e-11
    assert found.reactions["pivot"] == pytest.approx((0, 0, 2 * g, 0, 0, 0), abs=1e-7)


def test_exact_top_is_called_unstable():
    assert not pendulum(math.pi).equilibrium().stable


def test_moment_balance_and_damping():
    """m g l/2 sin(phi) = torque; damping ratio d / (2 sqrt(k I)) with k = m g l/2 cos(phi), I = m l^2/3."""
    system = pendulum(0.0, {"motor": {"coordinate": "phi", "value": "torque - 0.4*der(phi)"}}, {"torque": 0.0})
    found = system.equilibrium(inputs={"torque": 4.0})
    angle = math.asin(4.0 / g)
    assert found.coordinates["phi"] == pytest.approx(angle, abs=1e-10)
    assert found.modes[0].damping == pytest.approx(0.4 / (2 * math.sqrt(g * math.cos(angle) * 2 / 3)), rel=1e-7)


def test_a_force_nothing_balances_is_named():
    system = pendulum(0.0, {"motor": {"coordinate": "phi", "value": "20"}})
    with pytest.raises(EvaluationError, match=r"der\(phi\)"):
        system.equilibrium()


def test_quaternion_joint_hangs_and_spins_freely():
    """A top on a ball joint falls over and hangs; nothing holds it about its own axis."""
    found = load("lib:heavy-top").compile().equilibrium()
    assert found.stable
    assert found.outputs["com[3]"] == pytest.approx(-1.0, abs=1e-9)
    assert len(found.undetermined) == 1


def test_ball_joint_used_from_child_to_parent():
    """Its coordinates took no part in the search: whatever the position, they stayed."""
    top = {"mass": 2.0, "com": [0.3, 0.0, 0.0], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
    joint = {"parent": "top", "child": "ground", "type": "spherical"}
    height = {"quantity": "position", "body": "top", "point": [0.3, 0.0, 0.0], "axis": "z"}
    found = load({"bodies": {"top": top}, "joints": {"ball": joint}, "outputs": {"height": height}}).compile().equilibrium()
    assert found.stable and found.outputs["height"] == pytest.approx(-0.3, abs=1e-9)


def test_closed_loop_rests_at_least_potential():
    """Along the one freedom of a four-bar the potential energy has its minimum at the rest position."""
    system = load("lib:four-bar").compile()
    found = system.equilibrium()
    assert found.stable and len(found.eigenvalues) == 2
    zero = np.zeros(system.n)
    direction = system.project(0.0, found.q, np.ones(system.n))[1]

    def potential(step: float) -> float:
        q, _ = system.project(0.0, found.q + step * direction, zero)
        return system.energy(0.0, q, zero)[1]

    here = potential(0.0)
    assert potential(1e-3) > here and potential(-1e-3) > here
    assert abs(potential(1e-4) - potential(-1e-4)) < 1e-2 * (potential(1e-4) + potential(-1e-4) - 2 * here)


def test_free_body_rests_anywhere():
    found = load("lib:free-body").compile().equilibrium()
    assert found.iterations == 0 and len(found.undetermined) == 6
