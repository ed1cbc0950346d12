"""What the matrix method is measured against is right itself, and what is measured: Runge-Kutta in plain Python beside the exponential."""

import numpy as np
import pytest

from kinetree.scripts.bench import chain
from kinetree.scripts.bench import chain_peers as peers


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(peers, "njit", lambda function: function)
    peers.compiled.cache_clear()
    yield
    peers.compiled.cache_clear()


def test_runge_kutta_converges_to_exponential_with_order_four(plain: None):
    case = chain.case("two-mass cars", 6, 30.0, 4)
    exact = peers.by_expm(case)
    assert (
        chain.error(peers.by_blocks(case, 2), exact) < 1e-12
        and chain.error(peers.by_lsim(case), exact) < 1e-9
    )
    # five steps of 0.2/omega_max to a knot, then ten: h is the fourth root of 120 times the tolerance, the error h^4
    rough, fine = (
        chain.error(peers.by_rk4(case, tolerance, 3), exact[:4])
        for tolerance in ((0.1 * case.ratio / n) ** 4 / 120 * 1.0001 for n in (20, 40))
    )
    assert fine < 1e-6 and 12.0 < rough / fine < 20.0


def test_banded_rate_matches_jacobian(plain: None):
    """Linear between knots: the rate at a state is the Jacobian's row sums times it, and the force in between."""
    case = chain.case("random springs", 5, 10.0, 3)
    side, y = peers.right_side(case, 1), np.random.default_rng(1).normal(size=10)
    out, at_rest, t = np.empty(10), np.empty(10), 1.25 * case.dt
    side(t, y, out)
    side(t, np.zeros(10), at_rest)
    np.testing.assert_allclose(
        out - at_rest, peers.jacobian(case) @ y, rtol=1e-12, atol=1e-12 * np.abs(out).max()
    )
    force = 0.75 * case.force[1] + 0.25 * case.force[2]
    assert (
        at_rest[[2 * c + 1 for c in case.channels]]
        == pytest.approx(force / case.mass[list(case.channels)])
        and np.count_nonzero(at_rest) == 2
    )


def test_chain_benchmark_cases_and_units_are_complete(monkeypatch: pytest.MonkeyPatch):
    """Names and sizes of the table by the command's two lengths; the headline is the least lead at its size and ratio."""
    asked = []

    def compare(name: str, case: peers.Case, repeats: int, **beside: bool) -> list[dict]:
        asked.append((name, len(case.mass), round(case.ratio), repeats, beside))
        return [
            {
                "n": len(case.mass),
                "ratio": case.ratio,
                "best_equal_peer_over_chain": float(len(asked)),
            }
        ]

    real = chain.case
    monkeypatch.setattr(
        chain,
        "case",
        lambda kind, n, ratio, steps: real(kind, 4, 10.0, 2)._replace(mass=np.ones(n), ratio=ratio),
    )
    monkeypatch.setattr(chain, "by_chain", lambda *given: None)
    monkeypatch.setattr(chain, "compare", compare)
    for name in ("bands", "forms", "choices", "rule"):
        monkeypatch.setattr(chain.chain_components, name, lambda *size, name=name: (name, *size))
    monkeypatch.setattr(chain.chain_components, "fill_in", lambda bands, what: what)
    short = chain.measure(True)
    assert (
        [row[1] for row in asked] == [200, 200, 200, 10, 50, 200]
        and short["headline"] == 1.0
        and short["bands"] == ("bands", 150)
    )
    assert (
        "rule" not in short
        and not any(row[4]["slow_peers"] for row in asked)
        and {row[3] for row in asked} == {5}
    )
    asked.clear()
    long = chain.measure(False)
    assert [row[1] for row in asked[3:11]] == [10, 20, 50, 100, 300, 400, 1000, 3000] and [
        row[3] for row in asked[3:11]
    ] == [15] * 6 + [1] * 2
    assert [row[4]["slow_peers"] for row in asked[:7]] == [
        True,
        False,
        False,
        True,
        True,
        True,
        True,
    ]
    assert (
        [row[2] for row in asked[11:]] == [1000, 100000, 1000000]
        and long["rule"] == ("rule",)
        and long["fill_in"]["steps"] == "steps"
    )
    asked.clear()
    monkeypatch.setattr(
        chain, "case_of", lambda source: (source, real("two-mass cars", 4, 10.0, 2))
    )
    assert (
        chain.measure(False, "train.toml")["headline"] == 1.0
        and asked[0][0] == "train.toml"
        and asked[0][4] == {"slow_peers": True}
    )


def test_adaptive_peer_uses_loosest_sufficient_tolerance(
    monkeypatch: pytest.MonkeyPatch,
):
    case = chain.case("two-mass cars", 4, 10.0, 3)
    exact = np.hstack(chain.by_chain(case, 1e-13, "matrices"))
    tried = []

    def method(case: peers.Case, tolerance: float, knots: int) -> np.ndarray:
        tried.append(tolerance)
        return exact[: knots + 1] * (1.0 + tolerance)

    row = chain.adaptive(case, exact, "a peer", method, (1e-6, 1e-8, 1e-10))
    assert (
        tried == [1e-3, 1e-6, 1e-8]
        and row["tolerance"] == 1e-8
        and row["error"] == pytest.approx(1e-8, rel=1e-6)
    )
    row = chain.adaptive(case, exact, "a peer", method, (1e-4, 1e-6))
    assert row["tolerance"] == 1e-6 and row["extrapolated_from"] >= 2, "the best one tried"
