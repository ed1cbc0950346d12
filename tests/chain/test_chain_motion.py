"""Motion of linear chains: analytic modes, the wave of a lattice, excitation of every shape, balances."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import jv

from kinetree.models.library import chains
from kinetree.solvers import chain
from kinetree.solvers.chain import band_matrices, energy_doubling

M, K = 20e3, 2e6  # sqrt(K/M) = 10 rad/s


def modes(ends: str, n: int) -> np.ndarray:
    """Frequencies of n equal masses and springs."""
    r = np.arange(1, n + 1)
    angle = {
        "fixed-free": (2 * r - 1) / (2 * (2 * n + 1)),
        "free-free": (r - 1) / (2 * n),
        "fixed-fixed": r / (2 * (n + 1)),
    }[ends] * np.pi
    return 20.0 * np.sin(angle)


def uniform(ends: str, n: int) -> np.ndarray:
    """Stiffness of the same chain."""
    if ends == "free-free":
        return chains.springs(np.full(n - 1, K), n)
    return chains.springs(np.append(np.full(n, K), K if ends == "fixed-fixed" else 0.0), n)


@pytest.mark.parametrize(
    "ends, n", [("fixed-free", 5), ("free-free", 20), ("fixed-fixed", 6), ("fixed-free", 200)]
)
def test_uniform_chain_stays_in_its_mode(ends, n):
    """Started in a mode the chain swings as cos(omega t); angle error 20 epsilon omega t."""
    C, frequencies = uniform(ends, n), modes(ends, n)
    shapes = np.linalg.eigh(C / M)[1]
    for r in (1, n // 2, n - 1):
        dt, steps = 1.7, 50
        x, v = chain.simulate(
            np.full(n, M), None, C, shapes[:, r], np.zeros(n), dt, steps, accuracy=1e-13
        )
        t = dt * np.arange(steps + 1)
        size = np.abs(shapes[:, r]).max()
        assert np.abs(x - np.cos(frequencies[r] * t)[:, None] * shapes[:, r]).max() < 1e-10 * size
        assert (
            np.abs(v + frequencies[r] * np.sin(frequencies[r] * t)[:, None] * shapes[:, r]).max()
            < 1e-10 * size * 20
        )


def test_chain_frequencies_match_published_values():
    """Published digits of 5 cars against the wall, from the factor of the chain."""
    scaled = chain.scale(np.full(5, M), None, uniform("fixed-free", 5))
    found = np.sort(np.linalg.svd(band_matrices.dense(scaled.Bh, 5), compute_uv=False))
    assert np.allclose(
        found,
        [2.8462967654657, 8.30830026003773, 13.0972146789057, 16.8250706566236, 19.1898594722899],
        rtol=1e-13,
    )


def test_impulse_at_a_free_end_matches_bessel_functions():
    """A blow on the free end: v_j = V (J_2j(2 w t) + J_2j+2(2 w t)) until the fixed end answers."""
    n, dt, steps = 300, 2.5, 50
    C = chains.springs(np.concatenate(([0.0], np.ones(n))), n)
    v0 = np.zeros(n)
    v0[0] = 1.0
    x, v = chain.simulate(np.ones(n), None, C, np.zeros(n), v0, dt, steps, accuracy=1e-12)
    t, j = dt * np.arange(steps + 1)[:, None], np.arange(n)
    exact = jv(2 * j, 2 * t) + jv(2 * j + 2, 2 * t)
    assert np.abs(v - exact).max() < 1e-10  # 50 steps of the accuracy asked for
    reached = np.abs(v[-1]) > 1e-3
    assert (
        abs(np.flatnonzero(reached)[-1] - dt * steps) < 12
    )  # one mass per 1/w, and the width of the front


def forced(shape: str, steps: int) -> np.ndarray:
    m, F, C = np.array([1.0, 2, 1.5]), 0.02 * np.eye(3), chains.springs(np.array([4.0, 9, 2, 0]), 3)
    x, v = chain.simulate(
        m,
        F,
        C,
        np.zeros(3),
        np.zeros(3),
        3.0 / steps,
        steps,
        lambda t: np.array([np.sin(2 * t), np.exp(-t)]),
        [0, 2],
        shape,
    )
    return np.concatenate((x[-1], v[-1]))


@pytest.mark.parametrize(
    "shape, order", [("constant", 2), ("linear", 2), ("parabolic", 4), ("spline", 4)]
)
def test_excitation_error_has_expected_order(shape, order):
    exact = forced("spline", 1600)
    errors = [np.abs(forced(shape, steps) - exact).max() for steps in (20, 40)]
    assert np.log2(errors[0] / errors[1]) > order - 0.35


def test_polynomial_excitation_is_exact():
    """Cubic forces at large steps, against a small-step integrator."""
    m, F, C = chains.train(6, 1.0, 25.0, 0.3)
    force = lambda t: np.array([1 - t + 0.3 * t**2 - 0.02 * t**3])  # noqa: E731
    x, v = chain.simulate(m, F, C, np.linspace(0, 1, 6), np.zeros(6), 1.25, 8, force, [3], "spline")
    rhs = (  # noqa: E731
        lambda t, y: np.concatenate(
            (y[6:], (-C @ y[:6] - F @ y[6:] + force(t)[0] * np.eye(6)[3]) / m)
        )
    )
    y = solve_ivp(
        rhs,
        (0, 10),
        np.concatenate((np.linspace(0, 1, 6), np.zeros(6))),
        rtol=1e-12,
        atol=1e-12,
        method="DOP853",
    ).y[:, -1]
    assert np.abs(x[-1] - y[:6]).max() < 1e-8 and np.abs(v[-1] - y[6:]).max() < 1e-8


@pytest.mark.parametrize("given", ["array", "function"])
def test_moving_support_equals_equivalent_force(given):
    """Z x_cm(t) on one coordinate is the force Z x_cm on a chain held by Z."""
    C, Z = chains.springs(np.array([2.0, 3]), 3), np.array([0.0, 0, 5.0])
    t = 0.1 * np.arange(41)
    motion = 0.2 * np.sin(t)[:, None] if given == "array" else lambda s: 0.2 * np.sin(s)
    zero = np.zeros(3)
    x, _ = chain.simulate(
        np.ones(3), None, C, zero, zero, 0.1, 40, supports=Z, support_motion=motion, shape="linear"
    )
    y, _ = chain.simulate(
        np.ones(3), None, C + np.diag(Z), zero, zero, 0.1, 40, np.sin(t)[:, None], [2], "linear"
    )
    assert np.allclose(x, y, atol=1e-12)


@pytest.mark.parametrize("way", ["modes", "matrices"])
@pytest.mark.parametrize("shape", ["constant", "linear", "parabolic", "spline"])
def test_supports_follow_every_excitation_shape(shape, way):
    """Forces and two supports at once, as the force f + Z x_cm on a chain held by Z."""
    m, F, C = np.ones(5), np.zeros((5, 5)), chains.springs(np.array([2.0, 3, 1, 4]), 5)
    Z = np.array([6.0, 0, 0, 5.0, 0])
    force, motion = (
        (lambda t: np.array([np.exp(-t)])),
        (lambda t: np.array([0.2 * np.sin(t), 0.1 * t**2])),
    )
    both = lambda t: np.array([force(t)[0], *(Z[[0, 3]] * motion(t))])  # noqa: E731
    options = {"shape": shape, "way": way, "start_time": 0.3, "accuracy": 1e-13}
    start = np.linspace(-1, 1, 5), np.ones(5)
    x, v = chain.simulate(
        m, F, C, *start, 0.4, 30, force, [2], supports=Z, support_motion=motion, **options
    )
    y, w = chain.simulate(m, F, C + np.diag(Z), *start, 0.4, 30, both, [2, 0, 3], **options)
    assert np.allclose(x, y, atol=1e-12) and np.allclose(v, w, atol=1e-12)


def test_free_train_keeps_momentum_and_energy():
    m, F, C = chains.train(30, locomotive=80e3)
    rng = np.random.default_rng(0)
    v0 = rng.normal(size=30)
    x, v = chain.simulate(m, F, C, np.zeros(30), v0, 0.5, 400, np.array([1e4]), [0])
    t = 0.5 * np.arange(401)
    assert np.allclose(x @ m, t * (v0 @ m) + 1e4 * t**2 / 2, rtol=1e-9, atol=1e-6 * np.abs(v0 @ m))
    total = 0.5 * (v * v) @ m + 0.5 * np.einsum("ti,ij,tj->t", x, C, x) - 1e4 * x[:, 0]
    assert np.abs(total - total[0]).max() < 1e-7 * (0.5 * (v * v) @ m).max()


@pytest.mark.parametrize(
    "make",
    [
        chains.two_mass_train,
        chains.stretched_train,
        lambda: chains.chain_drive(20),
        chains.helical_spring,
    ],
)
def test_band_and_dense_matrices_give_equal_motion(make, monkeypatch):
    m, F, C = make()
    n = len(m)
    dt = 0.2 / np.sqrt(np.linalg.eigvalsh(C / np.sqrt(m) / np.sqrt(m)[:, None])[0])
    force = np.random.default_rng(2).normal(size=(31, 2))
    run = lambda: chain.simulate(  # noqa: E731
        m, F, C, np.zeros(n), np.zeros(n), dt, 30, force, [1, n - 1], way="matrices"
    )
    narrow = run()
    monkeypatch.setattr(energy_doubling, "FILL", 0.0)
    for a, b in zip(narrow, run()):
        assert np.abs(a - b).max() < 1e-9 * np.abs(b).max()


def test_half_widths_grow_as_published():
    """A_k has k diagonals on either side; every doubling adds the band to itself; what is dropped follows the wave."""
    scaled = chain.scale(np.ones(80), None, chains.springs(np.append(np.ones(80), 0.0), 80))
    step = energy_doubling.start(scaled, 0.5, 5, 0.0)
    widths = [step.u.width]
    for _ in range(2):
        step = energy_doubling.double(step, 80, 0.0)
        widths.append(step.u.width)
    assert (
        widths[0] <= 5
        and widths[1] <= 2 * widths[0]
        and widths[2] <= 4 * widths[0]
        and widths[2] > widths[0]
    )
    front = energy_doubling.start(scaled, 0.5, 20, 1e-12)
    for _ in range(4):
        front = energy_doubling.double(front, 80, 1e-12)
    assert 8 < front.u.width < 25  # 8 masses travelled, and the tail


def test_invalid_excitation_is_named():
    with pytest.raises(chain.ChainError, match="force"):
        chain.simulate(
            np.ones(2), None, np.eye(2), np.zeros(2), np.zeros(2), 0.1, 10, np.ones((7, 1)), [0]
        )
    with pytest.raises(chain.ChainError, match="columns"):
        chain.simulate(
            np.ones(2), None, np.eye(2), np.zeros(2), np.zeros(2), 0.1, 10, np.ones((11, 3)), [0]
        )
    with pytest.raises(chain.ChainError, match="x0"):
        chain.simulate(np.ones(2), None, np.eye(2), np.zeros(3), np.zeros(2), 0.1, 10)


def test_largest_step_follows_the_force():
    dt = chain.largest_step(lambda t: np.sin(t), 0.0, 10.0, 1e-6, "spline")
    assert 0.01 < dt < 0.2
    with pytest.raises(chain.ChainError):
        chain.largest_step(lambda t: float(t > 0.3), 0.0, 1.0, 1e-6, finest=64)


def test_stepping_with_constant_steps_equals_simulate():
    m, F, C = chains.train(5, 1.0, 20.0, 0.1)
    force = np.random.default_rng(4).normal(size=(11, 1))
    x, v = chain.simulate(m, F, C, np.ones(5), np.zeros(5), 0.3, 10, force, [2])
    unit = chain.linear_chain(m, F, C, 0.3, [2])
    state = np.ones(5), np.zeros(5)
    for j in range(10):
        state = chain.advance(unit, *state, force[j], force[j + 1])
    assert np.allclose(state[0], x[-1], atol=1e-9) and np.allclose(state[1], v[-1], atol=1e-9)


def test_chain_package_import_is_fast():
    code = (
        "import sys, kinetree.solvers.chain; print('numba' in sys.modules, 'numpy' in sys.modules)"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert out.split() == ["False", "False"]
