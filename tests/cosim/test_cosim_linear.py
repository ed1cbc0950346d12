"""The published linear oscillator, cut at its middle spring: masters converge to its exact solution with the order of their inputs."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import expm

from kinetree.scripts.cosim.coupling_plan import Plan
from kinetree.scripts.cosim.power_bonds import bonds_of
from kinetree.scripts.cosim.run_master import Trace, cosimulate
from kinetree.scripts.cosim.step_size_control import ControlSpec, StepControl
from kinetree.scripts.cosim.two_masses import (
    ENERGY,
    K1,
    K2,
    KC,
    SPEED,
    coupled_by_displacement,
    coupled_by_force,
    energy,
)

DATA = json.loads((Path(__file__).parents[1] / "data" / "linear_oscillator.json").read_text())
PLACES = {coupled_by_displacement: ("x", "x", "v", "v"), coupled_by_force: ("x1", "x2", "v1", "v2")}
A = np.array([[0, 0, 1, 0], [0, 0, 0, 1], [-K1 - KC, KC, 0, 0], [KC, -K2 - KC, 0, 0]])


def run(
    make: Callable[[str], Plan],
    master: str,
    order: int,
    h: float,
    stop: float,
    control: StepControl | None = None,
) -> Trace:
    plan = make(master)
    units = {slave.name: slave for slave in plan.slaves}
    recorded = [
        (units[name], place) for name, place in zip(("one", "two", "one", "two"), PLACES[make])
    ]
    bonds = bonds_of(plan.wires) if control else ()
    return cosimulate(plan.make(order), stop, h, recorded, bonds, control=control)


def states(trace: Trace) -> np.ndarray:
    return np.array(list(trace.columns.values()))


def exact(t: float) -> np.ndarray:
    return np.array(next(row[1:] for row in DATA["rows"] if row[0] == t))


def error(make: Callable[[str], Plan], master: str, order: int, h: float) -> float:
    return float(np.abs(states(run(make, master, order, h, 1.0))[:, -1] - exact(1.0)).max())


def test_published_values_match_exact_solution():
    """The condition of the exponential is that of an oscillation: rounding of 1e-15 times 100 m/s times 333 rad."""
    start = np.array([0.0, 0.0, SPEED, -SPEED])
    for row in DATA["rows"]:
        assert expm(A * row[0]) @ start == pytest.approx(row[1:], abs=1e-10)


@pytest.mark.parametrize("order", [0, 1])
def test_extrapolation_has_the_order_of_its_inputs(order: int):
    """Held and straight inputs: errors of order 1 and 2; the next term of the error is a step's radian, 0.08, smaller."""
    coarse, fine = (error(coupled_by_displacement, "held", order, h) for h in (0.005, 0.0025))
    assert np.log2(coarse / fine) == pytest.approx(order + 1, abs=0.08)


def test_parabolic_extrapolation_keeps_error_of_first_steps():
    """The first step knows no past and is held: one local error of second order remains, where straight inputs make one in every step."""
    straight, parabolic = (
        error(coupled_by_displacement, "held", order, 0.0025) for order in (1, 2)
    )
    assert parabolic < straight / 3.0


def test_held_inputs_generate_first_order_energy_error():
    """The figure of merit of the benchmark: energy grows, and half the step makes half the growth, up to the growth itself."""
    made = [
        energy(*states(run(coupled_by_force, "held", 0, h, 0.5))[:, -1]) / ENERGY - 1.0
        for h in (0.001, 0.0005)
    ]
    assert made[0] > made[1] > 0.0 and made[0] / made[1] == pytest.approx(2.0, rel=2.0 * made[0])


@pytest.mark.parametrize(
    "make", [coupled_by_displacement, coupled_by_force], ids=["displacement", "force"]
)
def test_interface_jacobian_solves_direct_feedthrough(make: Callable[[str], Plan]):
    """Linear inputs that agree at both ends of the step: second order, also where the force follows the displacement at once."""
    coarse, fine = (error(make, "jacobian", 0, h) for h in (0.01, 0.005))
    assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.16)


def test_step_control_keeps_the_residual_power():
    """A quarter of the tolerance leaves less than half of the residual power; steps adapt by more than tenfold, and the energy is kept better."""
    counts, powers, gains = [], [], []
    for tolerance in (0.01, 0.0025):
        trace = run(
            coupled_by_force,
            "held",
            1,
            0.001,
            2.0,
            StepControl(ControlSpec(tolerance, 1e-6, 0.05), 0.001),
        )
        assert trace.stable, trace.message
        steps = np.diff(trace.time)
        counts.append(steps.size)
        powers.append(float(np.sqrt(np.mean((np.diff(trace.energies["spring"]) / steps) ** 2))))
        gains.append(energy(*states(trace)[:, -1]) / ENERGY - 1.0)
        assert trace.time[-1] == 2.0 and steps.max() > 10.0 * steps.min()
    assert counts[1] > counts[0] and powers[1] < 0.5 * powers[0] and abs(gains[1]) < abs(gains[0])


def test_energy_of_the_two_masses_is_conserved_by_their_motion():
    """Its slopes along places are the forces: what it gains by speed it loses by place, at any state."""
    assert energy(0.0, 0.0, SPEED, -SPEED) == ENERGY
    rng = np.random.default_rng(3)
    for _ in range(20):
        x1, x2, v1, v2 = rng.normal(size=4)
        a1, a2 = -K1 * x1 - KC * (x1 - x2), -K2 * x2 - KC * (x2 - x1)
        h = 1e-3  # quadratic: the central difference is exact
        ends = [energy(x1 + s * v1, x2 + s * v2, v1 + s * a1, v2 + s * a2) for s in (h, -h)]
        assert (ends[0] - ends[1]) / (2 * h) == pytest.approx(
            0.0, abs=1e-9 * energy(x1, x2, v1, v2) / h
        )
        assert energy(2 * x1, 2 * x2, 2 * v1, 2 * v2) == pytest.approx(
            4 * energy(x1, x2, v1, v2), rel=1e-14
        )
