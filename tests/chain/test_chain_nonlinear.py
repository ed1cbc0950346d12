"""Slack couplings, stops and varying coefficients."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kinetree.models.library import chains
from kinetree.solvers import chain
from kinetree.solvers.chain.piecewise_linear import intercept


def test_mass_between_force_and_stop_matches_closed_form():
    """Flight v = g t to the stop at s, half a period in it (mean beyond s by g/w^2), and back to rest at the start."""
    g, k, s = 2.0, 400.0, 1.0
    fly, w = np.sqrt(2 * s / g), np.sqrt(k)
    contact = 2 * (
        np.pi - np.arctan2(g * fly * w, g)
    )  # from s with speed g*fly until it is left again
    period = 2 * fly + contact / w
    r = chain.simulate_piecewise(
        np.ones(1),
        None,
        np.zeros((1, 1)),
        [chain.stop(0, s, k)],
        [0.0],
        [0.0],
        period / 16,
        64,
        np.array([g]),
        [0],
    )
    assert np.abs(r.x[::16]).max() < 1e-4 and r.regions == 2 and len(r.events) == 8
    assert (
        abs(r.events[0].time - fly) < 2e-6 * period
        and abs(r.events[1].time - fly - contact / w) < 4e-6 * period
    )
    energy = 0.5 * r.v[:, 0] ** 2 - g * r.x[:, 0] + 0.5 * k * np.maximum(r.x[:, 0] - s, 0) ** 2
    assert np.abs(energy).max() < 1e-5 * g * s


def test_train_with_slack_couplings_matches_reference():
    """Against a small-step integrator; momentum is kept."""
    n, m = 4, np.array([4.0, 1, 1, 1])
    couplings = [chain.slack(i, i + 1, 0.05, 300.0, 1.0) for i in range(n - 1)]
    v0 = np.array([1.0, 0, 0, 0])

    def rhs(t, y):
        f = np.zeros(n)
        for c in couplings:
            s, rate = y[c.a] - y[c.b], y[n + c.a] - y[n + c.b]
            i = int(np.searchsorted(c.breaks, s))
            push = c.stiffness[i] * s + intercept(c, i) + c.damping[i] * rate
            f[c.a] -= push
            f[c.b] += push
        return np.concatenate((y[n:], f / m))

    r = chain.simulate_piecewise(m, None, np.zeros((n, n)), couplings, np.zeros(n), v0, 0.05, 40)
    y = solve_ivp(
        rhs, (0, 2), np.concatenate((np.zeros(n), v0)), rtol=1e-9, atol=1e-11, max_step=1e-3
    ).y[:, -1]
    assert np.abs(r.x[-1] - y[:n]).max() < 1e-5 and np.abs(r.v[-1] - y[n:]).max() < 1e-4
    assert np.allclose(r.v @ m, 4.0, rtol=1e-11) and len(r.events) > 5


def test_linear_element_equals_a_spring():
    m, F, C = chains.train(4, 1.0, 10.0)
    element = chain.Element(0, 3, (0.0,), (5.0, 5.0), (0.1, 0.1))
    ends = np.array([1.0, 0, 0, -1.0])
    x0 = np.array([0.3, 0, -0.1, 0])
    r = chain.simulate_piecewise(m, F, C, [element], x0, np.zeros(4), 0.1, 50)
    x, _ = chain.simulate(
        m, F + 0.1 * np.outer(ends, ends), C + 5 * np.outer(ends, ends), x0, np.zeros(4), 0.1, 50
    )
    assert np.allclose(r.x, x, atol=1e-8)


def stiffening(t, x, v):
    return np.ones(1), np.zeros((1, 1)), np.array([[4.0 + np.cos(0.3 * t)]])


def test_varying_stiffness_converges_with_the_square_of_the_step():
    y = solve_ivp(
        lambda t, y: [y[1], -(4 + np.cos(0.3 * t)) * y[0]], (0, 20), [1, 0], rtol=1e-11, atol=1e-12
    ).y[:, -1]
    errors = [
        abs(
            chain.simulate_varying(stiffening, [1.0], [0.0], 20 / steps, steps, 0.0).x[-1, 0] - y[0]
        )
        for steps in (200, 400)
    ]
    assert 3.5 < errors[0] / errors[1] < 4.5 and errors[0] < 1e-4


def test_matrix_updates_follow_the_tolerance():
    loose, tight = (
        chain.simulate_varying(stiffening, [1.0], [0.0], 0.05, 400, tolerance)
        for tolerance in (1e-1, 1e-2)
    )
    assert loose.renewals < tight.renewals < 400
    constant = chain.simulate_varying(
        lambda t, x, v: (np.ones(2), None, np.eye(2)), [1.0, 0], [0.0, 1], 0.3, 30, 0.0
    )
    x, v = chain.simulate(
        np.ones(2), None, np.eye(2), np.array([1.0, 0]), np.array([0.0, 1]), 0.3, 30
    )
    assert (
        constant.renewals == 1
        and np.allclose(constant.x, x, atol=1e-12)
        and np.allclose(constant.v, v, atol=1e-12)
    )


def test_state_dependent_stiffness_is_a_duffing_oscillator():
    """x.. = -(1 + x^2) x as secant stiffness, energy from the integral of the force."""
    r = chain.simulate_varying(
        lambda t, x, v: (np.ones(1), None, np.array([[1 + x[0] ** 2]])),
        [1.0],
        [0.0],
        0.02,
        500,
        0.0,
    )
    energy = 0.5 * r.v[:, 0] ** 2 + 0.5 * r.x[:, 0] ** 2 + 0.25 * r.x[:, 0] ** 4
    assert np.abs(energy - 0.75).max() < 1e-3


def test_invalid_nonlinear_element_is_named():
    with pytest.raises(chain.ChainError, match="element 0"):
        chain.simulate_piecewise(
            np.ones(1), None, np.eye(1), [chain.stop(3, 0.1, 1.0)], [0.0], [0.0], 0.1, 2
        )
