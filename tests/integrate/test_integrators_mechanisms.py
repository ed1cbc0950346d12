"""Integrators on mechanisms: stiffness at fixed steps, change of method, one call per output, the time of a published run."""

import math

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.run.simulation import Options, write_integrator_options
from kinetree.models.run.simulation_unit import Run, make_unit
from kinetree.solvers.integrate import controller

OMEGA = 1e4  # rad/s of the stiff spring; times the step of 0.01 s: 100


def pair(zeta: float) -> dict:
    """A slow mass on a soft spring (1 rad/s for both) that carries a light one on a stiff, damped spring, pulled 1 mm out."""
    slide = {"type": "prismatic", "axis": "x"}
    stiff = {"coordinate": "y", "stiffness": 0.1 * OMEGA**2, "damping": 0.2 * zeta * OMEGA}
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"a": {"mass": 9.9}, "b": {"mass": 0.1}},
        "joints": {
            "ja": {"child": "a", "coordinates": ["x"], "start": 1.0, **slide},
            "jb": {"parent": "a", "child": "b", "coordinates": ["y"], "start": 1e-3, **slide},
        },
        "forces": {"soft": {"coordinate": "x", "stiffness": 10.0}, "stiff": stiff},
    }


@pytest.mark.parametrize("zeta", [0.0, 0.01, 0.7, 20.0])
def test_semi_implicit_is_stable_at_any_stiffness_and_damping(zeta: float):
    """h omega = 100: the stiff part only decays, within the first steps, the slow one is cos t to the order-2 error of its own frequency."""
    result = (
        load(pair(zeta))
        .compile()
        .simulate(10.0, output_step=0.1, integrator="semi-implicit", step=0.01)
    )
    assert result["solver_steps"][-1] == pytest.approx(1000)
    assert np.abs(result["x"] - np.cos(result.time)).max() < 10.0 * 0.01**2
    fast = np.abs(result["y"])
    assert fast.max() == 1e-3 and fast[result.time > 1.0].max() < (1e-7 if zeta < 10.0 else 1e-3)
    assert np.diff(result["energy"][1:]).max() < 1e-4 * result["energy"][0]


def test_auto_switches_to_implicit_method_and_agrees_with_it():
    """Stiff governor: adams alone would need steps below 1e-4 s, 20 000 and more for 2 s."""
    system = load("lib:flyball").compile()
    auto = system.simulate(2.0, output_step=0.1, integrator="auto", tolerance=1e-8)
    radau = system.simulate(2.0, output_step=0.1, integrator="radau", tolerance=1e-10)
    assert np.abs(auto["s"] - radau["s"]).max() < 1e-6
    assert auto["solver_steps"][-1] < 2000


def test_python_is_called_once_per_output_interval(monkeypatch: pytest.MonkeyPatch):
    """Hundreds of steps between two rows, one call."""
    calls: list[str] = []
    call = Run.call

    def counted(run: Run, name: str, *rest):
        calls.append(name)
        return call(run, name, *rest)

    monkeypatch.setattr(Run, "call", counted)
    result = load("lib:double-pendulum").compile().simulate(10.0, output_step=1.0, tolerance=1e-10)
    assert calls.count("unit_advance") == 10 and result["solver_steps"][-1] > 300
    assert len(calls) < 15


@pytest.mark.parametrize("integrator", ["adams", "auto"])
def test_published_three_link_pendulum_takes_few_steps(integrator: str):
    """[SC24] example 1: 100 s at 0.01 s. Fewer steps than rows, of two evaluations each: less than a second where one takes 50 µs."""
    result = load("lib:three-link").compile().simulate(integrator=integrator, tolerance=1e-8)
    assert result.time.size == 10001 and result.statistics["steps"] < 8000


@pytest.mark.parametrize(("name", "each"), [("rk4", 4), ("adams-fixed", 2), ("adams", 2)])
def test_loop_rates_are_evaluated_only_after_projection(name: str, each: int):
    """A step on closed loops costs as many evaluations as one of a tree: those at its end were made twice, before and after the projection."""
    for model, stop in (("lib:andrews", 0.01), ("lib:chain6", 0.5)):
        system = load(model).compile()
        unit = make_unit(system, name)
        run = Run(unit)
        write_integrator_options(
            run, Options.of(system, stop, 0.0, stop, name, "auto", 1e-8, stop / 500, None), False
        )
        run.call("unit_start", 0, 0.0)
        run.call("unit_advance", 0, stop)
        steps, evaluations = run.work[
            unit.header.at_memory + np.array([controller.STEPS, controller.EVALUATIONS])
        ]
        assert evaluations / steps == pytest.approx(each, rel=0.15), model


@pytest.mark.parametrize(
    ("name", "most"),
    [("adams", 3e-8), ("rk45", 3e-8), ("tsit5", 3e-8), ("verner65", 3e-8), ("radau", 1e-7)],
)
def test_force_corner_cost_matches_documentation(name, most):
    """A mass falls on a damped spring, whose force begins with a jump: a damped oscillation from the instant of touch; tolerance 1e-10."""
    m, k, d, g, height, speed = 1.0, 200.0, 4.0, 9.81, 0.25, -0.5
    falling = {
        "format": "kinetree/1",
        "gravity": [0, 0, -g],
        "bodies": {"b": {"mass": m}},
        "joints": {
            "j": {
                "child": "b",
                "type": "prismatic",
                "axis": "z",
                "coordinates": ["z"],
                "start": height,
                "speed": speed,
            }
        },
        "forces": {
            "pad": {
                "body": "b",
                "radius": 0.0,
                "height": 0.0,
                "normal": [0, 0, 1],
                "stiffness": k,
                "damping": d,
            }
        },
    }
    touch = (speed + math.sqrt(speed**2 + 2.0 * g * height)) / g
    v, w, below, t = speed - g * touch, math.sqrt(k / m - (d / 2 / m) ** 2), -m * g / k, 0.3 - touch
    sine = (v - d / 2 / m * below) / w
    z = below + math.exp(-d / 2 / m * t) * (-below * math.cos(w * t) + sine * math.sin(w * t))
    result = (
        load(falling).compile().simulate(0.3, output_step=0.3, integrator=name, tolerance=1e-10)
    )
    assert abs(result["z"][-1] - z) < most
    assert result["z"][-1] < 0.0
