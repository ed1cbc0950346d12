"""Pieces of the matrix method on cases worked out by hand: what is counted as work, shapes of excitation and their parts, small bands."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from kinetree.solvers.chain import costs, doubling, excitation, series_order
from kinetree.solvers.chain.band_matrices import Band
from kinetree.solvers.chain.coefficients import ChainError


def band(width: int) -> Band:
    return Band(np.zeros(0), 7, 9, width)


def some(n: int = 100, omega: float = 2.0, damped: bool = True, **widths: int) -> SimpleNamespace:
    """Coefficients of a chain, as far as its work depends on them."""
    w = {"Bh": 1, "Fh": 2, "Ch": 3} | widths
    return SimpleNamespace(
        n=n, omega=omega, damped=damped, pitch=2, **{name: band(width) for name, width in w.items()}
    )


def test_diagonals_fill_with_the_wave_front():
    """Twice the half-width of a term, pitch by pitch for half the angle and a tail; no more than there are coordinates."""
    chain = some()
    assert (
        doubling.half_width(chain) == 2
        and doubling.half_width(some(Bh=5)) == 5
        and doubling.half_width(some(n=1)) == 1
    )
    assert (
        doubling.filled(chain, 6.0) == 2 * (2 + 2 * (3.0 + 4.0)) + 1
        and doubling.filled(chain, 1e3) == 100
    )


def test_predicted_operations_match_counts():
    """8 n (2w + 2) per step; classical Runge-Kutta by substeps that its stability or its error demands, four evaluations each and eight sums."""
    chain, dt = some(), 3.0
    found = costs.operations(chain, dt, 1e-8)
    generation = costs.START + costs.READ * 1e4 + doubling.choose(chain, dt, 1e-8).work
    evaluation = 2.0 * 100 * 7 + 2.0 * 100 * 5
    substeps = math.ceil(6.0 / (120e-8 / 6.0) ** 0.25)
    assert found.generation == pytest.approx(generation) and found.step == pytest.approx(
        3.0 * 8 * 100 * (2 * (2 + 2 * 7.0) + 2)
    )
    assert found.start == 1.5e6 + 46e4 and found.runge_kutta == pytest.approx(
        4.3 * substeps * 4 * (evaluation + 800.0)
    )
    assert costs.operations(some(damped=False), dt, 1e-8).runge_kutta == pytest.approx(
        4.3 * substeps * 4 * (1400.0 + 800.0)
    )
    assert costs.operations(chain, dt, 1e3).runge_kutta == pytest.approx(
        4.3 * math.ceil(6.0 / 2.8) * 4 * (evaluation + 800.0)
    )
    assert costs.operations(some(omega=0.0), dt).runge_kutta == pytest.approx(
        4.3 * 4 * (evaluation + 800.0)
    )
    assert costs.operations(some(n=10), 100.0).step == pytest.approx(3.0 * 8 * 10 * 10)
    way = costs.Operations(100.0, 2.0, 10.0, 5.0)
    assert way.matrix(7) == 114.0 and way.matrix(7, 3) == 314.0 and way.explicit(7) == 45.0
    assert not way.pays(30) and way.pays(31) and not way.pays(31, 2)
    assert [costs.cheaper_than_runge_kutta(n, 4) for n in (1, 2)] == [
        True,
        False,
    ] and not costs.cheaper_than_runge_kutta(1, 0)


def test_operation_counts_of_series_terms_and_doublings(monkeypatch: pytest.MonkeyPatch):
    """A term grows by the pitch, a doubling with the wave; calls and fetched elements count too. A tenth of the accuracy is the series'."""
    seen: list = []
    monkeypatch.setattr(series_order, "choose", lambda *arguments: seen.append(arguments))
    doubling.choose(some(), 3.0, 1e-6)
    ((total, accuracy, term, double),) = seen
    assert (total, accuracy) == (6.0, pytest.approx(1e-7))
    assert term(1) == pytest.approx(4 * (3e5 + 2.0 * 500 * (5 + 60))) and term(4) == pytest.approx(
        4 * (3e5 + 2.0 * 1700 * (5 + 60))
    )
    assert term(1000) == pytest.approx(4 * (3e5 + 2.0 * 100 * 100 * 65))
    elements = doubling.filled(some(), 0.5)
    assert double(0.5) == pytest.approx(4 * (6e5 + 200.0 * elements * (elements + 30.0)))


def test_cheapest_sufficiently_accurate_order_is_chosen():
    """Among all orders and some doublings, by any work; none where nothing moves; no start beyond the angle where the series loses digits."""
    term, double = (lambda k: 3.0 + 0.1 * k), (lambda x: 2.0 + x)
    for total, accuracy, lowest in ((0.7, 1e-8, 0), (30.0, 1e-12, 0), (3.0, 1e-6, 4)):
        pick = series_order.choose(total, accuracy, term, double, lowest)
        best = min(
            (
                sum(term(k) for k in range(1, r + 1))
                + sum(double(total / 2**i) for i in range(1, m + 1)),
                m,
                r,
            )
            for r in range(2, 41)
            for m in range(max(lowest, math.ceil(math.log2(total / 2.0)), 0), lowest + 30)
            if 2.0**m * (total / 2**m) ** (r + 1) / math.factorial(r + 1) <= accuracy
        )
        assert (pick.work, pick.m, pick.r) == (pytest.approx(best[0]), *best[1:])
        assert (
            pick.error == pytest.approx(series_order.error(pick.m, pick.r, total / 2**pick.m))
            and pick.error <= accuracy
        )
    assert (
        series_order.choose(0.0, 1e-8, lowest=3) == (2, 3, 0.0, 0.0)
        and series_order.error(3, 4, 0.0) == 0.0
    )
    assert series_order.error(2, 3, 0.5) == pytest.approx(4 * 0.5**4 / 24) and series_order.optimum(
        4
    ) == pytest.approx((6 / 32, (6 / 32) ** 4 / 120))


@pytest.mark.parametrize(
    "shape, degree", [("constant", 0), ("linear", 1), ("parabolic", 2), ("spline", 3)]
)
def test_piecewise_shapes_reproduce_polynomials(shape: str, degree: int):
    """Over the part of a step that is left, theta from its end; and every part of a step is the same polynomial."""
    law, dt, start, steps = Polynomial(np.arange(1.0, degree + 2.0)), 0.5, 2.0, 6
    values, name = excitation.samples(law, 1, dt, start, steps, shape)
    beta = excitation.coefficients(values, shape)
    assert name == shape and beta.shape == (steps, excitation.SHAPES[shape], 1)
    for j in (0, 3, 5):
        for theta in (0.0, 0.3, 1.0):
            assert beta[j, :, 0] @ theta ** np.arange(degree + 1) == pytest.approx(
                law(start + dt * (j + 1 - theta)), rel=1e-12
            )
        for begin, size in ((0.0, 0.25), (0.5, 0.25), (0.75, 0.25)):
            some_of = excitation.part(beta[j], begin, size)[:, 0]
            for theta in (0.0, 0.4, 1.0):
                assert some_of @ theta ** np.arange(degree + 1) == pytest.approx(
                    law(start + dt * (j + begin + size * (1 - theta))), rel=1e-12
                )


def test_chain_nodes_are_numbered():
    def shape(rows: int, given: str | None = None) -> str:
        return excitation.samples(np.ones((rows, 2)), 2, 0.1, 0.0, 6, given)[1]

    assert [shape(rows) for rows in (6, 7, 13)] == ["constant", "linear", "parabolic"] and shape(
        7, "spline"
    ) == "spline"
    values, name = excitation.samples([3.0, 4.0], 2, 0.1, 0.0, 6, None)
    assert name == "constant" and values.tolist() == [[3.0, 4.0]] * 6
    assert excitation.samples(np.ones(7), 1, 0.1, 0.0, 6, None)[0].shape == (7, 1)
    assert excitation.samples(math.sin, 1, 0.1, 0.0, 6, None)[1] == "parabolic"
    middle = excitation.samples(lambda t: t, 1, 0.5, 1.0, 2, "constant")[0]
    assert middle.tolist() == [[1.25], [1.75]]  # held at what it is in the middle of the step
    for rows, given in ((8, None), (6, "linear"), (13, "spline"), (7, "cubic")):
        with pytest.raises(
            ChainError, match="6 .constant., 7 .linear, spline. or 13 .parabolic. rows"
        ):
            shape(rows, given)
    with pytest.raises(ChainError, match="NaN"):
        excitation.samples([[math.nan]] * 6, 1, 0.1, 0.0, 6, None)


def test_spline_through_few_nodes_is_linear():
    values = np.array([[0.0], [1.0], [0.0], [4.0]])
    assert (
        excitation.coefficients(values, "spline").tolist()
        == excitation.coefficients(values, "linear").tolist()
    )
    natural = np.random.default_rng(1).normal(size=(7, 2))
    s = excitation.slopes(natural)
    assert s[:-2] + 4 * s[1:-1] + s[2:] == pytest.approx(3 * (natural[2:] - natural[:-2]))


def test_largest_step_resolves_the_force():
    """A parabola is met in four steps; the quarters of steps of a sine by a parabola are off by less than 1/128 (h omega)³ sin."""
    assert excitation.largest_step(lambda t: t * t, 1.0, 3.0, 1e-12) == 0.5
    dt = excitation.largest_step(math.sin, 0.0, 8.0, 1e-4)
    worst = [max(abs(error(t, h)) for t in np.arange(0.0, 8.0, h)) for h in (dt, 2 * dt)]
    assert worst[0] <= 1e-4 < worst[1]
    with pytest.raises(ChainError, match="16 linear pieces"):
        excitation.largest_step(math.sin, 0.0, 8.0, 1e-9, "linear", 16)


def error(t: float, h: float) -> float:
    """Of the parabola through both ends and the middle, at the worse of both quarters."""
    through = Polynomial.fit([t, t + h / 2, t + h], np.sin([t, t + h / 2, t + h]), 2)
    return max(abs(through(t + part * h) - math.sin(t + part * h)) for part in (0.25, 0.75))
