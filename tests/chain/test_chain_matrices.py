"""D_0..D_p against references of 90 digits, and the identities they obey. Blocks are compared with their own largest element."""

import json
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetree.models.library import chains
from kinetree.scripts.bench import published
from kinetree.solvers import chain
from kinetree.solvers.chain import extended_precision, published_doubling, series_order
from kinetree.solvers.chain.band_matrices import pitch
from kinetree.solvers.chain.coefficients import as_band

CASES = json.loads((Path(__file__).parents[1] / "data" / "chain_matrices.json").read_text())[
    "cases"
]
EPSILON = np.finfo(float).eps


def reference(case: dict) -> list[np.ndarray]:
    return [np.vstack((upper, lower)) for upper, lower in zip(case["upper"], case["lower"])]


def matrices(case: dict, **options) -> tuple[np.ndarray, ...]:
    return chain.matrices(
        np.array(case["mass"]),
        np.array(case["damping"]),
        np.array(case["stiffness"]),
        case["dt"],
        **options,
    )


def deviation(found, wanted) -> float:
    """Largest deviation of a block, as part of its largest element, over all D_k; upper right blocks of k >= 1 against the whole D_k."""
    n, worst = len(wanted[0]) // 2, 0.0
    for a, b in zip(found, wanted):
        for rows in (slice(0, n), slice(n, None)):
            for columns in (slice(0, n), slice(n, None)):
                worst = max(
                    worst,
                    np.abs(a[rows, columns] - b[rows, columns]).max()
                    / np.abs(b[rows, columns]).max(),
                )
    return worst


@pytest.mark.parametrize(
    "case", [c for c in CASES if c["omega_dt"] <= 1e4], ids=lambda c: c["name"]
)
def test_chain_matrices_match_references_to_1e_13(case):
    assert extended_precision.pays(len(case["mass"]), case["omega_dt"], 1e-13)
    assert deviation(matrices(case), reference(case)) < 1e-13


@pytest.mark.parametrize("n, omega_dt", [(24, 1e4), (60, 1e3)])
def test_uniform_chain_matrices_match_analytic_modes(n, omega_dt):
    """U_0 = sum of cos(w dt), W_0 = sum of sin(w dt)/w, U_1 = sum of sin(w dt)/(w dt) times the modes of the fixed-free chain, in 40 digits."""
    C = chains.springs(np.append(np.ones(n), 0.0), n)
    dt = omega_dt / 2.0
    D = chain.matrices(np.ones(n), None, C, dt, p=1)
    with mpmath.workdps(40):
        angles = [(2 * r - 1) * mpmath.pi / (2 * n + 1) for r in range(1, n + 1)]
        turned = [2 * mpmath.sin(a / 2) * mpmath.mpf(dt) for a in angles]
        shapes = np.array(
            [
                [float(2 * mpmath.sin(j * a) / mpmath.sqrt(2 * n + 1)) for j in range(1, n + 1)]
                for a in angles
            ]
        )
        cosines, sines = (
            np.array([float(part(w)) for w in turned])
            for part in (mpmath.cos, lambda w: mpmath.sin(w) / w)
        )
    U_0, U_1 = (shapes.T @ (c[:, None] * shapes) for c in (cosines, sines))
    for found, wanted in (
        (D[0][n:, n:], U_0),
        (D[0][:n, :n], U_0),
        (D[0][n:, :n], dt * U_1),
        (D[1][n:, n:], U_1),
    ):
        assert np.abs(found - wanted).max() < 1e-13 * np.abs(wanted).max()


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["name"])
def test_double_precision_error_grows_with_angle_of_fastest_mode(case, monkeypatch):
    """Every spring is known to epsilon, so a mode's angle to omega*dt*epsilon/2; the doublings multiply by 2^m what the first ones round."""
    monkeypatch.setattr(extended_precision, "LARGEST", 0)
    n = len(case["mass"])
    for found, wanted in zip(matrices(case), reference(case)):
        error = np.abs(found - wanted)[n:, n:].max()  # U_k: at most 1
        assert error < 1e-13 + 20 * EPSILON * case["omega_dt"]


def test_chain_matrices_meet_requested_accuracy():
    C = np.array([[2.0, -1, 0], [-1, 2, -1], [0, -1, 1]])
    D = chain.matrices(np.ones(3), 0.1 * C, C, 0.5, p=2)
    assert len(D) == 3 and all(d.shape == (6, 6) for d in D)
    lower = chain.matrices(np.ones(3), 0.1 * C, C, 0.5, p=2, full=False)
    assert all(np.array_equal(a[3:], b) for a, b in zip(D, lower))


@pytest.mark.parametrize("kind", ["free", "full mass", "indefinite", "gyroscopic"])
def test_two_half_steps_equal_one_step(kind):
    """D_0(2h) = D_0(h)^2, D_1(2h) = (D_1 + D_1 D_0)/2, A D_1 h = D_0 - E: whatever form was used."""
    rng = np.random.default_rng(3)
    n, h = 5, 0.4
    root = rng.normal(size=(n, n))
    C, F, M = root @ root.T, 0.05 * np.eye(n), np.diag(rng.uniform(0.5, 2, n))
    if kind == "free":
        C = np.diag([1.0, 3, 5, 4, 1]) - np.diag([1.0, 2, 3, 1], 1) - np.diag([1.0, 2, 3, 1], -1)
    if kind == "full mass":
        M = M + 0.2
    if kind == "indefinite":
        C = C - 4 * np.eye(n)
    if kind == "gyroscopic":
        F = F + np.triu(root, 1) - np.triu(root, 1).T
    D, E = chain.matrices(M, F, C, h), chain.matrices(M, F, C, 2 * h)
    back = np.linalg.inv(np.linalg.cholesky(M))
    A = np.block([[np.zeros((n, n)), -(back @ C @ back.T).T], [np.eye(n), -(back @ F @ back.T).T]])
    size = np.abs(E[0]).max()
    assert np.allclose(E[0], D[0] @ D[0], atol=2e-12 * size)
    assert np.allclose(E[1], 0.5 * (D[1] + D[1] @ D[0]), atol=2e-12 * size)
    assert np.allclose(
        h * A @ D[1], D[0] - np.eye(2 * n), atol=2e-12 * size * max(1, np.abs(A).max())
    )


def printed(case: dict, omega_dt: float, only_u: bool) -> tuple:
    """(13)-(15) and the exact matrices at the same step."""
    arguments = [np.array(case[key]) for key in ("mass", "damping", "stiffness")]
    scaled = chain.scale(*arguments)
    dt = omega_dt / scaled.omega
    found = published_doubling.matrices(
        scaled, dt, 3, 12, max(0, int(np.ceil(np.log2(omega_dt / 0.2)))), only_u
    )
    return found, chain.matrices(*arguments, dt)


@pytest.mark.parametrize("only_u", [False, True])
@pytest.mark.parametrize("case", CASES[:2], ids=lambda c: c["name"])
def test_published_doubling_gives_equal_matrices(case, only_u):
    for found, wanted in zip(*printed(case, 30.0, only_u)):
        assert np.abs(found - wanted).max() < 1e-12 * np.abs(wanted).max()


def test_published_doubling_loses_accuracy_for_slow_modes():
    """Errors that couple a fast and a slow mode grow by sqrt(omega ratio) per doubling in (15); the energy form keeps to epsilon*omega*dt."""
    case = next(c for c in CASES if c["omega_dt"] == 1e6)
    n = len(case["mass"])
    found, wanted = printed(case, 1e6, False)
    assert np.abs(found[0] - wanted[0])[n:, n:].max() > 100 * EPSILON * 1e6


def test_optimal_substeps_match_publication():
    """The table of [GG11]: order, omega*Delta, error, to their last printed digit."""
    for row in published.series():
        assert row.agrees, row


@pytest.mark.parametrize("total", [0.01, 1.0, 1e2, 1e4, 1e6])
@pytest.mark.parametrize("accuracy", [1e-4, 1e-8, 1e-13])
def test_series_order_meets_error_formula_with_least_work(total, accuracy):
    best = series_order.choose(total, accuracy)
    assert series_order.error(best.m, best.r, total / 2**best.m) <= accuracy
    for m in range(max(0, best.m - 6), best.m + 6):
        for r in range(2, 30):
            if (
                series_order.error(m, r, total / 2**m) <= accuracy
                and total / 2**m <= series_order.LARGEST_START
            ):
                assert best.work <= m + r


@given(st.integers(2, 40), st.integers(0, 6), st.floats(0.0, 1.0), st.integers(0, 2**32 - 1))
def test_product_band_width_grows_by_the_pitch(n, width, part, seed):
    """Half-widths of the powers of a random symmetric pattern."""
    pattern = np.triu(np.random.default_rng(seed).random((n, n)) < part)
    pattern = np.triu(np.tril(pattern, width))
    pattern = pattern | pattern.T | np.eye(n, dtype=bool)
    a = as_band(pattern.astype(float), n, "pattern")[0]
    power, growth = pattern, pitch([a], n)
    assert growth <= a.width
    for k in range(1, 8):
        i, j = np.nonzero(power)
        assert np.abs(i - j).max() <= a.width + (k - 1) * growth
        power = power @ pattern


def test_product_block_width_grows_by_block_size():
    spring, drive = (
        chain.scale(*make())
        for make in (lambda: chains.helical_spring(turns=40), chains.chain_drive)
    )
    assert (spring.Ch.width, spring.pitch, drive.pitch) == (11, 6, 6)


def test_invalid_chain_matrices_are_named():
    C = np.eye(2)
    for arguments, word in (
        ((-np.ones(2), C, C), "mass"),
        ((np.ones(3), C, C), "damping|mass"),
        ((np.ones(2), C, np.full((2, 2), np.nan)), "stiffness"),
    ):
        with pytest.raises(chain.ChainError, match=word):
            chain.matrices(*arguments, 0.1)
    with pytest.raises(chain.ChainError, match="dt"):
        chain.matrices(np.ones(2), C, C, -0.1)
