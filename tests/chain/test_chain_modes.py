"""Chains stepped mode by mode: against the matrices in bands, single masses, slow modes, what is left out."""

import numpy as np
import pytest
from scipy.linalg import lapack

from kinetree.models.library import chains
from kinetree.solvers import chain
from kinetree.solvers.chain import band_matrices, chain_motion, modal_stepping

LIBRARY = {
    "two-mass cars": lambda: chains.two_mass_train(30, 1e3),
    "random springs": lambda: chains.stretched_train(50, 1e3),
    "free train": lambda: chains.train(25, damping=3e4),
    "chain drive": lambda: chains.chain_drive(8),
    "helical spring": lambda: chains.helical_spring(5),
}


@pytest.mark.parametrize(
    "shape, nodes", [("constant", 60), ("linear", 61), ("parabolic", 121), ("spline", 61)]
)
@pytest.mark.parametrize("kind", LIBRARY)
def test_modal_and_matrix_methods_agree(kind, shape, nodes):
    """Two independent ways to the same motion, from a start that is not at rest; 60 steps at an accuracy of 1e-12 each."""
    m, F, C = LIBRARY[kind]()
    n, rng = len(m), np.random.default_rng(7)
    scaled = chain.scale(m, F, C)
    dt = 200.0 / scaled.omega
    start = rng.normal(size=n) / scaled.omega, rng.normal(size=n)
    force = rng.normal(size=(nodes, 2))
    ways = (
        chain.simulate(m, F, C, *start, dt, 60, force, [0, n // 2], shape, accuracy=1e-12, way=way)
        for way in ("modes", "matrices")
    )
    for a, b in zip(*ways, strict=True):
        assert np.abs(a - b).max() < 1e-9 * np.abs(b).max()


@pytest.mark.parametrize("damping", [0.0, 0.3, 4.0, 9.0])
@pytest.mark.parametrize("stiffness", [4.0, 0.0])
def test_one_mass_under_constant_force_matches_closed_form(stiffness, damping):
    """m x.. + d x. + k x = f with m = 1, from the roots of the characteristic polynomial; light to strong damping, with and without spring."""
    dt, steps, f = 0.7, 12, 1.5
    x, v = chain.simulate(
        [1.0], [damping], [[stiffness]], [0.2], [-1.0], dt, steps, np.array([f]), [0], way="modes"
    )
    t = dt * np.arange(steps + 1)
    if stiffness:
        a, w = -damping / 2, np.emath.sqrt(stiffness - damping**2 / 4)
        y = 0.2 - f / stiffness
        s = t if w == 0 else np.sin(w * t) / w
        exact = f / stiffness + np.exp(a * t) * (y * np.cos(w * t) + (-1.0 - a * y) * s)
    else:
        exact = (
            0.2 - t + f * t**2 / 2
            if damping == 0
            else 0.2 + f / damping * t + (-1 - f / damping) * (1 - np.exp(-damping * t)) / damping
        )
    assert np.allclose(x[:, 0], np.real(exact), rtol=1e-12, atol=1e-12)


def test_modal_method_with_full_mass_matrix_matches_reference():
    root = np.random.default_rng(1).normal(size=(4, 4))
    M, C = (
        np.eye(4) + root @ root.T,
        np.diag([3.0, 5, 4, 2]) - np.diag([1.0, 2, 1], 1) - np.diag([1.0, 2, 1], -1),
    )
    ways = (
        chain.simulate(
            M, 0.02 * C + 0.1 * M, C, np.ones(4), np.zeros(4), 2.0, 9, np.array([1.0]), [2], way=way
        )
        for way in ("modes", "matrices")
    )
    for a, b in zip(*ways, strict=True):
        assert np.allclose(a, b, atol=1e-9)


@pytest.mark.parametrize("ratio", [1e4, 1e6])
def test_slow_modes_keep_their_digits(ratio):
    """Eigenvalues of C know omega_min to epsilon*ratio^2 (2e-4 at 1e6); from the strains the error is 4 epsilon*ratio at most."""
    m, F, C = chains.two_mass_train(40, ratio)
    slow = modal_stepping.find(chain.scale(m, F, C), 1e-12).omega.min()
    below, above = (
        wall(-C[0, 1], 80, slow * (1 + side * 4 * np.finfo(float).eps * ratio)) for side in (-1, 1)
    )
    assert (below < 0) != (above < 0)


def wall(frame: float, n: int, omega: float) -> float:
    """Motion of the wall when the free end swings with amplitude 1: zero at a natural frequency. No spring is ever subtracted from another."""
    x, force = 1.0, 0.0
    for i in range(n):
        force += (
            omega**2 * x
        )  # of the spring towards the wall: frames and couplings of stiffness 1 in turn
        x -= force / (frame if i % 2 == 0 else 1.0)
    return x


def test_modal_coupling_by_damping_selects_matrix_method():
    m, F, C = chains.train(12)
    F[3, 3] += 1e3
    assert modal_stepping.find(chain.scale(m, F, C), 1e-10) is None
    with pytest.raises(chain.ChainError, match="commutes"):
        chain.simulate(m, F, C, np.zeros(12), np.ones(12), 0.1, 10, way="modes")
    x, _ = chain.simulate(m, F, C, np.zeros(12), np.ones(12), 0.1, 10)
    y, _ = chain.simulate(m, F, C, np.zeros(12), np.ones(12), 0.1, 10, way="matrices")
    assert np.array_equal(x, y)


def test_truncation_stays_below_accuracy():
    m, F, C = chains.stretched_train(80, 1e5)
    slow = 2 * np.pi / 1e3
    force = np.sin(slow * np.arange(401))[:, None]
    exact, coarse = (
        chain.simulate(
            m, F, C, np.zeros(80), np.zeros(80), 1.0, 400, force, [40], accuracy=a, way="modes"
        )
        for a in (1e-14, 1e-4)
    )
    for a, b in zip(exact, coarse, strict=True):
        assert 0 < np.abs(a - b).max() < 1e-4 * np.abs(a).max()


def test_unknown_chain_method_is_named():
    with pytest.raises(chain.ChainError, match="way"):
        chain.simulate([1.0], None, [[1.0]], [0.0], [1.0], 0.1, 3, way="fast")


def test_faster_of_modes_and_matrices_is_chosen(monkeypatch):
    """Beyond SMALL narrow bands stay bands, bands that fill are given up for modes, and for very many steps modes pay although the band is narrow."""
    monkeypatch.setattr(modal_stepping, "SMALL", 25)
    m, F, C = chains.train(60, damping=2e4)
    scaled = chain.scale(m, F, C)
    taken = lambda dt, steps: isinstance(  # noqa: E731
        chain_motion.prepare(scaled, dt, np.array([0]), 2, 1e-8, steps, "auto"),
        modal_stepping.Modes,
    )
    assert not taken(0.1, 100) and taken(20.0, 100) and taken(0.1, 10**6)
    monkeypatch.setattr(modal_stepping, "SMALL", 30)
    assert not taken(0.1, 50) and taken(0.1, 60)
    uneven = chain.scale(m, F + np.diag(np.arange(60.0)), C)
    for dt in (0.1, 20.0):
        assert not isinstance(
            chain_motion.prepare(uneven, dt, np.array([0]), 2, 1e-8, 10**6, "auto"),
            modal_stepping.Modes,
        )


@pytest.mark.parametrize("lapack_has_it", [True, False])
def test_modes_of_tridiagonal_chains_are_orthogonal_and_diagonal(monkeypatch, lapack_has_it):
    """A tridiagonal stiffness goes to LAPACK as such where scipy offers it; three separate trains with equal frequencies among them."""
    if not lapack_has_it:
        monkeypatch.delattr(lapack, "dstevd", raising=False)
    couplings = np.tile(np.append(np.full(29, 3.0), 0.0), 3)[:-1]
    scaled = chain.scale(np.ones(90), None, chains.springs(couplings, 90))
    assert modal_stepping.tridiagonal(scaled.Ch)
    shapes, C = modal_stepping.eigenvectors(scaled.Ch, 90), band_matrices.dense(scaled.Ch, 90)
    assert np.abs(shapes @ shapes.T - np.eye(90)).max() < 1e-13
    turned = shapes @ C @ shapes.T
    assert np.abs(turned - np.diag(turned.diagonal())).max() < 1e-13 * np.abs(C).max() * 10
    exact = np.sort(np.tile(12.0 * np.sin(np.arange(30) * np.pi / 60) ** 2, 3))
    assert np.allclose(turned.diagonal(), exact, atol=1e-13)
