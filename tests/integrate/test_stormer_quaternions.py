"""Störmer's method where coordinates are quaternions: order, dense output, events, closed loops, forms and source code of FMUs."""

import tomllib

import numpy as np
import pytest
from plain_kernels import plain

from kinetree.models import load
from kinetree.models.description.reading.read_source import LIBRARY
from kinetree.scripts.bench import dynamics_trees
from kinetree.solvers.integrate import controller as CT

stormer, stormer_dense = plain("integrate.stormer"), plain("integrate.stormer_dense")
CHAIN = dynamics_trees.system(dynamics_trees.chain("spherical", 2))
KICKED = {
    "format": "kinetree/1",
    "bodies": {"b": {"mass": 1.0, "inertia": [0.1, 0.2, 0.25, 0, 0, 0]}},
    "joints": {"j": {"type": "free", "child": "b", "speed": [0.5, 0, 3, 2, 0.1, 0.3]}},
    "events": {"kick": {"when": "j.qw < 0.8", "set": {"j.wz": "-3", "j.vx": "1"}}},
}
INERTIA = (1.0, 2.0, 3.0)
START = (1.0, 0.0, 0.0, 0.0, 0.3, 0.5, 1.0, 0.2, 0.0)  # quaternion, a; angular velocity, a'


def top(rates, _context, _t, y):
    """A free top, and an oscillator a'' = -a + qw/10 beside it."""
    w, x, y_, z, a, p, q, r, v = y
    rates[:4] = 0.5 * np.array(
        [-x * p - y_ * q - z * r, w * p + y_ * r - z * q, w * q + z * p - x * r, w * r + x * q - y_ * p]
    )  # fmt: skip
    A, B, C = INERTIA
    rates[4:] = v, (B - C) * q * r / A, (C - A) * r * p / B, (A - B) * p * q / C, 0.1 * w - a
    return 0


def motion(h: float, correct: float) -> tuple[np.ndarray, np.ndarray]:
    """The state of the top at 4 s and inside its last step."""
    mem, out = np.zeros(stormer.stormer_size(9)), np.empty(9)
    CT.set_options(mem, 9, 1e-8, 1e-8, h, 0.0)
    mem[CT.NQ], mem[CT.NU], mem[CT.CORRECT] = 5, 4, correct
    CT.block(mem, stormer.SPEEDS)[4] = 8
    assert stormer.stormer_start(mem, top, None, 0.0, np.array(START)) == 0
    while mem[CT.T_NEW] < 4.0 - 1e-9:
        assert stormer.stormer_step(mem, top, None, 9.0) == 0
    stormer_dense.stormer_interpolate(out, mem, 4.0 - 0.01)
    return CT.block(mem, CT.Y_NEW).copy(), out


@pytest.mark.parametrize("correct", [0.0, 1.0])
def test_stormer_with_quaternions_has_order_six(correct: float):
    """The error at 4 s and inside the step falls by about 2^6 with half the step."""
    finest = motion(0.005, correct)
    for which in (0, 1):
        coarse, fine = (
            float(np.abs(motion(h, correct)[which] - finest[which]).max()) for h in (0.08, 0.04)
        )
        assert 5.5 < np.log2(coarse / fine) < 7.5 and fine < 2e-9


def end(system, step: float, **how) -> np.ndarray:
    result = system.simulate(0.5, integrator="stormer", step=step, output_step=0.25, **how)
    return np.array([result[name][-1] for name in (*system.coordinates, *system.speeds)])


def test_stormer_chain_of_ball_joints_agrees_with_other_integrator_and_form():
    reference = CHAIN.simulate(0.5, tolerance=1e-12, output_step=0.25)
    names = (*CHAIN.coordinates, *CHAIN.speeds)
    exact = np.array([reference[name][-1] for name in names])
    coarse, fine = (np.abs(end(CHAIN, h) - exact).max() for h in (5e-3, 2.5e-3))
    assert fine < 1e-5 and coarse / fine > 30.0
    assert end(CHAIN, 2.5e-3, method="ITR-G") == pytest.approx(end(CHAIN, 2.5e-3), abs=1e-9)


def test_stormer_continues_after_event_changes_free_body_speeds():
    """The guard is on the quaternion: its instant lies inside a step, and both formulas start anew."""
    system = load(KICKED).compile()
    result = system.simulate(1.0, integrator="stormer", step=0.01)
    reference = system.simulate(1.0, tolerance=1e-12)
    times = [[event.time for event in run.events] for run in (result, reference)]
    assert len(times[0]) == 1 and times[0] == pytest.approx(times[1], abs=1e-9)
    for name in (*system.coordinates, *system.speeds):
        assert result[name] == pytest.approx(reference[name], abs=1e-7), name


def test_loop_with_a_ball_stays_closed():
    described = tomllib.loads((LIBRARY / "slider_crank_spatial.toml").read_text())
    described.setdefault("outputs", {})["turned"] = {"value": "ball.qw"}  # keeps its coordinates
    system = load(described).compile()
    result = system.simulate(0.2, integrator="stormer", step=2e-3)
    reference = system.simulate(0.2, tolerance=1e-10)
    assert "ball.qw" in system.coordinates
    assert np.abs(result["constraint_residual"]).max() < 1e-12
    for name in system.coordinates:
        assert result[name][-1] == pytest.approx(reference[name][-1], abs=1e-7), name
