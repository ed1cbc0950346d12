"""Corners of given motions: finite impulses act in the driven joint alone, so that the momenta of the free coordinates are continuous there."""

import math

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.run.simulation_unit import Run, make_unit
from kinetree.solvers.integrate.kinds import NAMES

MASS, ARM, INERTIA = 1.0, 0.5, 0.1
TABLE = {"x": [0, 1, 2], "y": [0, 0.5, 0.2], "method": "linear"}
CHANGE = -0.8  # of the given speed at t = 1


def pendulum(by: str = "table('w', t)", **parts) -> dict:
    """A pendulum without gravity on a carriage that is moved."""
    body = {"mass": MASS, "com": [0, 0, -ARM], "inertia": [0.1, INERTIA, 0.1, 0, 0, 0]}
    transforms = [{"shift": "x", "by": by}, {"rotate": "y", "coordinate": "a", "start": 0.3}]
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"m": body},
        "tables": {"w": TABLE},
        "joints": {"j": {"child": "m", "transforms": transforms}},
        **parts,
    }


def jump_of_pendulum(a: float) -> float:
    """p = (J + m l²) ȧ - m l cos(a) ẋ is continuous (the mass hangs at x - l sin a)."""
    return MASS * ARM * math.cos(a) * CHANGE / (INERTIA + MASS * ARM**2)


@pytest.mark.parametrize("integrator", NAMES)
def test_speed_jump_of_prescribed_motion_matches_impulse(integrator: str):
    """Before the corner the pendulum rests in its carriage's frame: the jump is exact for every integrator, off its grid of fixed steps too."""
    result = (
        load(pendulum())
        .compile()
        .simulate(1.5, output_step=0.25, integrator=integrator, step=0.03, tolerance=1e-8)
    )
    speed, k = result["der(a)"], 4
    assert np.abs(speed[:k]).max() < 1e-12 and result["a"][k] == pytest.approx(0.3, abs=1e-12)
    assert speed[k] == pytest.approx(
        jump_of_pendulum(0.3), rel=1e-9
    )  # the row at the corner shows what follows
    assert np.abs(result["energy_residual"]).max() < 1e-4  # the work of the impulse is booked


@pytest.mark.parametrize("method", ["DEC", "CBM", "LGR", "ABM", "DEC-H"])
def test_every_form_applies_the_velocity_jump(method: str):
    result = (
        load(pendulum()).compile().simulate(1.5, output_step=0.25, method=method, tolerance=1e-10)
    )
    assert result["der(a)"][4] == pytest.approx(jump_of_pendulum(0.3), rel=1e-8)
    reference = load(pendulum()).compile().simulate(1.5, output_step=0.25, tolerance=1e-11)
    assert np.abs(result["a"] - reference["a"]).max() < 1e-7


def driven_tree() -> dict:
    """Three bodies, spherical and prismatic joints around two given motions with corners at the same instant."""
    body = {"mass": 1.2, "com": [0.1, -0.2, 0.3], "inertia": [0.3, 0.2, 0.25, 0.01, 0.02, 0.0]}
    return {
        "format": "kinetree/1",
        "bodies": {"a": body, "b": body, "c": body},
        "tables": {"w": TABLE, "v": {"x": [0, 1, 2], "y": [0.1, -0.3, 0.6], "method": "linear"}},
        "joints": {
            "A": {"child": "a", "type": "spherical", "speed": [0.3, -0.2, 0.5]},
            "B": {
                "parent": "a",
                "child": "b",
                "transforms": [
                    {"rotate": "x", "by": "table('w', t)"},
                    {"shift": "y", "coordinate": "s", "speed": 0.2},
                ],
            },
            "C": {
                "parent": "b",
                "child": "c",
                "transforms": [
                    {"shift": "z", "by": "table('v', t)"},
                    {"rotate": [1, 2, 3], "coordinate": "r"},
                ],
            },
        },
    }


def test_unconstrained_momenta_are_continuous_at_velocity_jumps():
    """p(t, q, u) before and after, with the laws of time read on their sides: BᵀMv of the bodies includes the given part."""
    system = load(driven_tree()).compile()
    run = Run(make_unit(system))
    assert run.call("unit_start", 0, 0.0) == 0
    at, nq = int(run.unit.header.at_states), len(system.coordinates)
    short = 1e-9
    assert run.call("unit_advance", 0, 1.0 - short) == 0
    q, before = run.work[at : at + nq].copy(), run.work[at + nq : at + nq + system.n].copy()
    assert run.call("unit_advance", 0, 1.0) == 0
    after = run.work[at + nq : at + nq + system.n].copy()
    assert np.abs(after - before).max() > 0.1
    change = system.momenta(1.0 + short, q, after) - system.momenta(1.0 - short, q, before)
    assert np.abs(change).max() < 1e-7  # what forces do in 2e-9 s


def crank(by: str) -> dict:
    """Crank and slider on a ground that is shaken: the pivot of the crank moves along x, the slider's rail does not."""

    def rod(length: float, mass: float) -> dict:
        return {
            "mass": mass,
            "com": [length / 2, 0, 0],
            "inertia": [0.001, mass * length**2 / 12, mass * length**2 / 12, 0, 0, 0],
        }

    def turn(name: str, start: float = 0.0) -> dict:
        return {"rotate": "z", "coordinate": name, "start": start}

    return {
        "format": "kinetree/1",
        "gravity": [0, -9.81, 0],
        "bodies": {
            "crank": rod(0.15, 1.0),
            "rod": rod(0.4, 0.8),
            "piston": {"mass": 0.6, "inertia": [0.001, 0.001, 0.001, 0, 0, 0]},
        },
        "tables": {"w": {"x": [0, 0.1, 0.3], "y": [0, 0.03, -0.01], "method": "linear"}},
        "joints": {
            "A": {"child": "crank", "transforms": [{"shift": "x", "by": by}, turn("phi", 0.8)]},
            "B": {
                "parent": "crank",
                "child": "rod",
                "at": [0.15, 0, 0],
                "transforms": [turn("psi", -1.0)],
            },
            "C": {
                "child": "piston",
                "transforms": [{"shift": "x", "coordinate": "x", "start": 0.48}],
            },
            "D": {
                "parent": "rod",
                "child": "piston",
                "transforms": [{"shift": [0.4, 0, 0]}, turn("mu", 0.2)],
            },
        },
    }


# the table of `crank`, its corner rounded by a parabola of 2e s: speeds 0.3 and -0.2, acceleration -0.25/e
ROUNDED = "if(t < 0.1 - {e}, 0.3*t, if(t > 0.1 + {e}, 0.03 - 0.2*(t - 0.1), 0.03 + 0.05*(t - 0.1) - 0.125*{e} - 0.125/{e}*(t - 0.1)^2))"


@pytest.mark.parametrize("integrator", ["adams", "radau", "rk4"])
def test_velocity_jump_of_loops_is_limit_of_smoothed_motion(integrator: str):
    """A corner rounded within 1e-5 s differs by 1e-5 s times speeds of some rad/s: impulses of the loop's joints are those of constraint forces."""
    options = {"output_step": 0.05, "integrator": integrator, "step": 1e-4, "tolerance": 1e-9}
    sharp = load(crank("table('w', t)")).compile().simulate(0.2, **options)
    rounded = (
        load(crank(ROUNDED.replace("{e}", "1e-5").replace("^", "**")))
        .compile()
        .simulate(0.2, **{**options, "integrator": "adams"})
    )
    for name in ("phi", "x", "der(phi)", "der(x)"):
        assert np.abs(sharp[name] - rounded[name])[[0, 1, 3, 4]].max() < 2e-4, name
    assert np.abs(sharp["constraint_residual"]).max() < 1e-9


def test_time_dependent_couplings_transmit_impulses():
    """x2 = 2 x1 + w(t), w' changes by d: least change in the metric of the masses, Δ = M⁻¹Jᵀ (J M⁻¹ Jᵀ)⁻¹ d."""
    body = {"mass": 1.0}
    joints = {
        f"j{k}": {"child": f"b{k}", "transforms": [{"shift": "x", "coordinate": f"x{k}"}]}
        for k in (1, 2)
    }
    couplings = {"g": "x2 - 2*x1 - table('w', t)"}
    model = {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"b1": body, "b2": {"mass": 3.0}},
        "joints": joints,
        "couplings": couplings,
    }
    result = (
        load({**model, "tables": {"w": TABLE}})
        .compile()
        .simulate(1.5, output_step=0.5, tolerance=1e-10)
    )
    rise = np.array([-2.0, 1.0 / 3.0]) / (4.0 + 1.0 / 3.0)  # per change of w'
    assert np.array([result["der(x1)"][2], result["der(x2)"][2]]) - np.array(
        [result["der(x1)"][1], result["der(x2)"][1]]
    ) == pytest.approx(rise * CHANGE, abs=1e-9)


def test_rows_at_velocity_jumps_do_not_depend_on_output_step():
    system = load(pendulum()).compile()
    fine, coarse = (system.simulate(2.0, output_step=step, tolerance=1e-10) for step in (0.01, 0.5))
    assert (
        np.abs(fine["a"][::50] - coarse["a"]).max() < 1e-8
        and np.abs(fine["der(a)"][::50] - coarse["der(a)"]).max() < 1e-8
    )


def test_host_time_rounding_applies_jump_once():
    """0.1 added ten times misses 1 by 1e-16."""
    run = Run(make_unit(load(pendulum()).compile()))
    assert run.call("unit_start", 0, 0.0) == 0
    t, seen = 0.0, []
    names = [column.name for column in run.unit.columns]
    for _ in range(15):
        t += 0.1
        assert run.call("unit_advance", 0, t) == 0
        seen.append(run.columns[names.index("der(a)")])
    assert np.abs(seen[:9]).max() < 1e-12 and seen[9] == pytest.approx(
        jump_of_pendulum(0.3), rel=1e-9
    )


def test_stage_ending_at_discontinuity_starts_after_it():
    """The corner comes first: the next stage starts from the speeds that follow it."""
    stages = [{"name": "one", "ends": {"when": "t >= 1"}, "set": {"k": 2.0}}, {"name": "two"}]
    model = pendulum(parameters={"k": 1.0}, stages=stages)
    result = load(model).compile().simulate(1.5, output_step=0.25, tolerance=1e-10)
    plain = load(pendulum()).compile().simulate(1.5, output_step=0.25, tolerance=1e-10)
    assert result.events[0].time == pytest.approx(1.0, abs=1e-9)
    assert result["a"][-1] == pytest.approx(plain["a"][-1], abs=1e-8)


def test_smooth_given_motions_have_no_jump():
    """A cubic table has corners of its second derivative only; fixed steps keep their grid."""
    cubic = {"x": [0, 1, 2], "y": [0, 0.5, 0.2], "method": "cubic"}
    system = load(pendulum(tables={"w": cubic})).compile()
    result = system.simulate(1.5, output_step=1.5, integrator="rk4", step=0.004)
    assert result.statistics["steps"] == math.ceil(1.5 / 0.004)
    fine = system.simulate(1.5, output_step=0.01, tolerance=1e-10)
    assert np.abs(np.diff(fine["der(a)"])).max() < 0.05


def test_auto_switch_keeps_rows_and_events():
    """Rows and events lie inside the last step of the method that leaves: the change waits until they are read.

    A stiff drag follows a moving law; x has left its tolerance long before auto goes to radau.
    """
    body = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
    model = {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"a": body},
        "joints": {"j": {"child": "a", "transforms": [{"shift": "x", "coordinate": "x"}]}},
        "forces": {"drag": {"coordinate": "x", "value": "-1000*(der(x) - 1 - 0.1*cos(3*t))"}},
        "states": {"n": {"rate": "0"}},
        "events": {
            f"E{k}": {"when": f"x > {0.05 * k!r}", "set": {"n": "n + 1"}} for k in range(1, 12)
        },
    }
    system = load(model).compile()
    auto = system.simulate(1.0, output_step=0.01)
    radau = system.simulate(1.0, output_step=0.01, integrator="radau", tolerance=1e-11)
    assert np.abs(auto["x"] - radau["x"]).max() < 1e-6
    assert [event.time for event in auto.events] == pytest.approx(
        [event.time for event in radau.events], abs=1e-6
    )
