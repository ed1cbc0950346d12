"""Right-hand sides of the test problems in plain Python: what they conserve, and the equations that their authors give."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from kinetree.scripts.bench import integrator_problems
from kinetree.scripts.bench.integrator_problems import MOON


@pytest.fixture
def right(monkeypatch: pytest.MonkeyPatch) -> Callable[..., np.ndarray]:
    """Rates by kind, without compiling anything."""
    for name in ("orbit", "arenstorf", "robertson", "hires", "springs", "chain", "problem"):
        function = getattr(integrator_problems, name)
        monkeypatch.setattr(integrator_problems, name, getattr(function, "py_func", function))

    def rates(
        kind: int, y: np.ndarray, a: float = 0.0, b: float = 0.0, t: float = 0.0
    ) -> np.ndarray:
        out = np.full(len(y), np.nan)
        assert integrator_problems.problem(out, (float(kind), a, b), t, y) == 0
        return out

    return rates


def slope(function: Callable[[np.ndarray], float], y: np.ndarray, rates: np.ndarray) -> float:
    """Rate of a function of the state along a motion, by a complex step: exact to rounding."""
    return (function(y + 1e-30j * rates) / 1e-30).imag


@pytest.mark.parametrize("seed", range(5))
def test_orbit_test_problems_conserve_invariants(right: Callable[..., np.ndarray], seed: int):
    """Kepler: energy and angular momentum; three bodies: Jacobi's integral, in turning axes."""
    y = np.random.default_rng(seed).normal(size=4)
    f = right(integrator_problems.ORBIT, y)
    assert slope(
        lambda y: (y[2] ** 2 + y[3] ** 2) / 2 - (y[0] ** 2 + y[1] ** 2) ** -0.5, y, f
    ) == pytest.approx(0.0, abs=1e-12 * abs(f).max())
    assert slope(lambda y: y[0] * y[3] - y[1] * y[2], y, f) == pytest.approx(
        0.0, abs=1e-12 * abs(f).max()
    )

    def jacobi(y: np.ndarray) -> float:
        earth, moon = (
            ((y[0] + MOON) ** 2 + y[1] ** 2) ** -0.5,
            ((y[0] - 1 + MOON) ** 2 + y[1] ** 2) ** -0.5,
        )
        return (
            (y[0] ** 2 + y[1] ** 2) / 2
            + (1 - MOON) * earth
            + MOON * moon
            - (y[2] ** 2 + y[3] ** 2) / 2
        )

    f = right(integrator_problems.ARENSTORF, y)
    assert f[:2] == pytest.approx(y[2:]) and slope(jacobi, y, f) == pytest.approx(
        0.0, abs=1e-12 * abs(f).max()
    )


def test_chemical_problems_conserve_mass(right: Callable[..., np.ndarray]):
    """Robertson: all three substances together. HIRES: the seventh and the eighth together; light makes the first."""
    y = np.random.default_rng(3).random(8)
    f = right(integrator_problems.ROBERTSON, y[:3])
    assert (
        f.sum() == pytest.approx(0.0, abs=1e-8)
        and f[2] == pytest.approx(3e7 * y[1] ** 2)
        and right(integrator_problems.ROBERTSON, np.eye(3)[0])[1] == 0.04
    )
    f = right(integrator_problems.HIRES, y)
    assert f[6] + f[7] == pytest.approx(0.0, abs=1e-12 * abs(f).max()) and right(
        integrator_problems.HIRES, 0 * y
    ) == pytest.approx([0.0007] + [0] * 7)
    # whatever leaves one of the first six arrives at another: only light, the complex that parts, and the one that forms change their sum
    assert f.sum() == pytest.approx(0.0007 + (0.43 + 0.69) * y[6] - 280.0 * y[5] * y[7])


def test_test_problems_match_closed_forms(right: Callable[..., np.ndarray]):
    t = 0.7
    assert right(integrator_problems.DECAY, np.array([math.cos(t)]), 50.0, t=t) == pytest.approx(
        [-math.sin(t)]
    )
    assert right(integrator_problems.FALL, np.array([3.0, 2.0]), 9.8) == pytest.approx([2.0, -9.8])
    assert right(integrator_problems.VAN_DER_POL, np.array([1.0, 2.0]), 1e-3) == pytest.approx(
        [2.0, -1000.0]
    )
    # both masses of the springs on one motion of frequency 1 pull at nothing but the first
    together = right(integrator_problems.SPRINGS, np.array([0.3, 0.3, 0.4, 0.4, 0.6]), 100.0, 0.5)
    assert (
        together == pytest.approx([0.4, 0.4, -0.3, 0.0, 0.0])
        and right(integrator_problems.SPRINGS, np.array([0.3, 0.3, 0.4, 0.4]), 9.0).size == 4
    )
    f = right(integrator_problems.SPRINGS, np.array([0.0, 1.0, 0.0, 0.0]), 10.0, 0.5)
    assert f[3] == pytest.approx(-100.0) and right(
        integrator_problems.SPRINGS, np.array([0.0, 0.0, 0.0, 1.0]), 10.0, 0.5
    )[3] == pytest.approx(-10.0)


def test_shaken_chain_conserves_momentum(right: Callable[..., np.ndarray]):
    """Inner forces cancel: what all masses gain comes from the hand at the first; a chain that moves as its hand does is not pulled."""
    y, t = np.random.default_rng(0).normal(size=8), 0.4
    f = right(integrator_problems.CHAIN, y, 5.0, 0.3, t)
    d, v = y[0] - math.sin(t), y[4] - math.cos(t)
    assert f[:4] == pytest.approx(y[4:]) and f[4:].sum() == pytest.approx(
        -(5.0 * d * (1 + d * d) + 0.3 * v)
    )
    as_one = right(integrator_problems.CHAIN, np.repeat([math.sin(t), math.cos(t)], 4), 5.0, 0.3, t)
    assert as_one[4:] == pytest.approx(np.zeros(4), abs=1e-15)
    case = integrator_problems.shaken_chain(4, 1e6, 0.0, 1.0)
    assert (
        integrator_problems.rates(case)(0.0, np.zeros(8))
        == pytest.approx([0.0] * 4 + [0.0] * 4, abs=1e-12)
        and case.stiff
    )


def test_diverging_problem_is_refused(right: Callable[..., np.ndarray]):
    out = np.zeros(1)
    assert right(integrator_problems.BLOW_UP, np.zeros(1), 1.0, t=1.0) == 1.0
    assert integrator_problems.problem(
        out, (integrator_problems.BLOW_UP, 1.0, 0.0), 1.5, np.zeros(1)
    ) == 2 and np.isnan(out[0])
    assert integrator_problems.problem(
        out, (integrator_problems.BLOW_UP, 0.0, 0.0), 1.5, np.zeros(1)
    ) == 0 and np.isnan(out[0])
