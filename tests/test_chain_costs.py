"""The cost rule against measured times, processor time of one process."""

import time

import numpy as np
import pytest

from kinetree.models.library import chains
from kinetree.scripts.bench import chain_peers as peers
from kinetree.solvers import chain
from kinetree.solvers.chain import choice
from kinetree.solvers.chain.doubling import choose, generate

ACCURACY = 1e-8


def case(n: int, angle: float, steps: int) -> peers.Case:
    """Uniform chain with omega_max*dt = angle; `ratio` is set so that 0.1*ratio = angle."""
    C = chains.springs(np.append(np.ones(n), 0.0), n)
    return peers.Case(np.ones(n), 1e-3 * C, C, (0, n // 2), np.random.default_rng(0).normal(size=(steps + 1, 2)), angle / 2.0, 10.0 * angle)


def seconds(function, repeats: int = 3) -> float:
    least = np.inf
    for _ in range(repeats):
        begin = time.process_time()
        function()
        least = min(least, time.process_time() - begin)
    return least


def test_printed_rule():
    """2n < 2^m/m."""
    assert chain.cheaper_than_runge_kutta(20, 9) and not chain.cheaper_than_runge_kutta(200, 9) and not chain.cheaper_than_runge_kutta(1, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "n, angle, steps, pays", [(100, 0.2, 3, False), (300, 0.3, 3, False), (100, 50.0, 400, True), (300, 200.0, 300, True), (20, 500.0, 300, True)]
)
def test_rule_agrees_with_measured_times(n, angle, steps, pays):
    c = case(n, angle, steps)
    assert chain.operations(chain.scale(c.mass, c.damping, c.stiffness), c.dt, ACCURACY).pays(steps) == pays
    zero, knots = np.zeros(n), 1 if angle > 1.0 else steps
    runs = [
        lambda: chain.simulate(c.mass, c.damping, c.stiffness, zero, zero, c.dt, steps, c.force, c.channels, accuracy=ACCURACY),
        lambda: peers.by_rk4(c, ACCURACY / angle, knots),
    ]
    for run in runs:
        run()
    matrix, runge_kutta = (seconds(run) for run in runs)
    assert (matrix < runge_kutta * steps / knots) == pays


@pytest.mark.slow
@pytest.mark.parametrize("make", [chains.two_mass_train, chains.stretched_train])
def test_chosen_order_is_near_the_fastest(make):
    """Within 20 % of every fixed choice, and a fifth for the noise of the clock."""
    scaled = chain.scale(*make())
    dt = 1e3 / scaled.omega
    channels = np.array([0, scaled.n // 2])

    def measured(pick) -> float:
        return seconds(lambda: generate(scaled, dt, channels, 2, ACCURACY, pick), 9)

    best = choose(scaled, dt, ACCURACY)
    fixed = []
    for m in range(max(9, best.m - 4), best.m + 4):
        r = next(r for r in choice.ORDERS if choice.error(m, r, 1e3 / 2**m) <= 0.1 * ACCURACY)
        fixed.append(measured(choice.Choice(r, m, 0.0, 0.0)))
    assert measured(best) <= 1.2 * 1.2 * min(fixed)
