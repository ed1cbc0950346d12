"""Inputs that are functions in pieces: which polynomials on which intervals, told and untold jumps, and the instants that a run goes to."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from kinetree.models.run import input_functions as module
from kinetree.models.run.input_functions import (
    POWERS,
    Piece,
    Sampled,
    Signal,
    input_pieces,
    shifted_piece,
)
from kinetree.solvers.layout import CURVE

SMALL = 1e-12


def polynomial(*coefficients: float, begin: float = 0.0) -> Callable[[float], float]:
    return lambda t: sum(c * (t - begin) ** k for k, c in enumerate(coefficients))


def sampled(function: Callable[[float], float], tolerance: float = 1e-8) -> Sampled:
    return Sampled("f", function, tolerance)


def test_quintic_input_is_one_piece():
    """With its coefficients about the beginning of the piece: value, slope and the higher powers of the layout."""
    coefficients = [1.0, -2.0, 3.0, -4.0, 5.0, -6.0]
    assert POWERS == CURVE + 2 == 6
    (piece,) = sampled(polynomial(*coefficients, begin=2.0)).pieces(2.0, 2.5)
    assert (piece.begin, piece.end) == (2.0, 2.5) and piece.coefficients == pytest.approx(
        coefficients, rel=1e-8
    )


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-9])
def test_input_pieces_approximate_within_a_tenth_of_tolerance(tolerance):
    """A fifth degree misses by h⁶/6!/2⁵ of a sine's amplitude at most, between its nodes; halves meet end to end, none in vain."""
    for amplitude in (1.0, 1e4):
        pieces = sampled(lambda t, a=amplitude: a * math.sin(3.0 * t), tolerance).pieces(0.0, 4.0)
        assert (
            pieces[0].begin == 0.0
            and pieces[-1].end == 4.0
            and all(a.end == b.begin for a, b in zip(pieces, pieces[1:], strict=False))
        )
        worst = 0.0
        for piece in pieces:
            s = np.linspace(0.0, piece.end - piece.begin, 41)
            error = np.abs(
                np.polynomial.polynomial.polyval(s, piece.coefficients)
                - amplitude * np.sin(3.0 * (piece.begin + s))
            ).max()
            worst = max(worst, error / amplitude)
        longest = max(piece.end - piece.begin for piece in pieces)
        assert (
            worst < 1.5 * 0.1 * tolerance and (3.0 * 2 * longest) ** 6 / 720 / 32 > 0.02 * tolerance
        )


def test_input_values_agree_within_twice_the_tolerance_share():
    function = sampled(polynomial(0.0, 1.0), 1e-2)
    assert function.at(-4.0) == -4.0 and function.at(2.0) == 2.0 and function.size == 4.0
    border = 2.0 * 0.1 * 1e-2 * 4.0
    assert (
        function.near(1.0, 1.0 + 0.999 * border)
        and not function.near(1.0, 1.0 + 1.001 * border)
        and not function.near(1.0, 1.0 - 1.001 * border)
    )
    assert sampled(polynomial(0.0)).near(0.0, 0.0)
    for value in (math.nan, math.inf):
        with pytest.raises(ValueError, match=r"input 'f' is (nan|inf) at t = 0.25"):
            sampled(lambda t, value=value: value).at(0.25)


def step_at(jump: float) -> Callable[[float], float]:
    return lambda t: 5.0 if t >= jump else -1.0


@pytest.mark.parametrize(
    "begin, end, jump",
    [(0.0, 1.0, 0.3), (100.0, 101.0, 100.7123), (0.0, 1.0, 0.5), (1e-3, 2e-3, 1.1e-3)],
)
def test_undeclared_jump_is_bracketed(begin, end, jump):
    """In a piece as short as the resolution of time; on both sides the function is what it is there."""
    pieces = sampled(step_at(jump)).pieces(begin, end)
    length = SMALL * max(jump, end - begin)
    short = [piece for piece in pieces if piece.end - piece.begin <= length]
    assert any(piece.begin <= jump <= piece.end for piece in short) or jump in {
        piece.begin for piece in pieces
    }
    for piece in pieces:
        expected = -1.0 if piece.begin < jump else 5.0
        inside = np.polynomial.polynomial.polyval(
            np.linspace(0.0, piece.end - piece.begin, 5), piece.coefficients
        )
        assert inside == pytest.approx([expected] * 5, abs=1e-9) and (
            all(piece is not each for each in short) or not piece.coefficients[1:].any()
        )
    assert min(piece.end - piece.begin for piece in pieces) > 0.2 * SMALL * min(
        abs(end), end - begin
    )


def test_declared_jumps_end_pieces():
    """Each side is read beside the jump, by the resolution of time; those at or beyond the ends are none of this interval."""
    asked: list[float] = []

    def function(t: float) -> float:
        asked.append(t)
        return step_at(2.5)(t)

    signal = Signal(function, (2.5, 2.0, 3.0, 9.0, 1.0))
    (before, after) = sampled(signal).pieces(2.0, 3.0)
    length = SMALL * 2.5
    assert (before.begin, before.end) == (2.0, 2.5 - length) and (after.begin, after.end) == (
        2.5 + SMALL * 3.0,
        3.0,
    )
    assert before.coefficients == pytest.approx(
        [-1.0, *[0.0] * 5], abs=1e-9
    ) and after.coefficients == pytest.approx([5.0, *[0.0] * 5], abs=1e-9)
    assert len(asked) == 2 * 11 and 2.5 not in asked
    assert (
        sampled(signal).jumps.tolist() == [1.0, 2.0, 2.5, 3.0, 9.0]
        and not sampled(function).jumps.size
    )


def test_complicated_input_function_is_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_PIECES", 20)
    for count, refused in ((19, False), (20, True)):
        signal = Signal(lambda t: 1.0, np.linspace(0.0, 1.0, count + 2)[1:-1])
        if refused:
            with pytest.raises(
                ValueError, match="input 'f' is too rough between t = 0 and 1: no 20 pieces"
            ):
                sampled(signal).pieces(0.0, 1.0)
        else:
            assert len(sampled(signal).pieces(0.0, 1.0)) == 20


def test_polynomial_shift_in_time_is_exact():
    """Of the piece around the instant inside: the first one that reaches it, the last one beyond all."""
    rng = np.random.default_rng(1)
    first, second = (Piece(begin, begin + 1.0, rng.standard_normal(POWERS)) for begin in (2.0, 3.0))
    for inside, piece in ((2.5, first), (3.0, first), (3.1, second), (9.0, second)):
        found = shifted_piece([first, second], inside, 2.25)
        assert found.size == POWERS
        for t in (2.0, 2.6, 3.9):
            assert np.polynomial.polynomial.polyval(t - 2.25, found) == pytest.approx(
                np.polynomial.polynomial.polyval(t - piece.begin, piece.coefficients)
            )
    constant = shifted_piece([Piece(0.0, 1.0, np.array([3.0, *[0.0] * 5]))], 0.5, 0.25)
    assert constant.tolist() == [3.0, *[0.0] * 5]


def test_run_stops_at_every_input_piece():
    """Polynomials about the instant before; pieces without length are no steps."""
    inputs = {
        "a": sampled(Signal(step_at(1.5), (1.5,))),
        "b": sampled(Signal(polynomial(1.0, 2.0), (1.25,))),
    }
    told = list(input_pieces(inputs, 1.0, 2.0))
    assert [until for until, _ in told] == pytest.approx([1.25, 1.5, 2.0], abs=1e-11) and told[-1][
        0
    ] == 2.0
    for (_, given), origin, value in zip(told, (1.0, 1.25, 1.5), (-1.0, -1.0, 5.0), strict=True):
        assert given["a"] == pytest.approx([value, *[0.0] * 5], abs=1e-6) and given[
            "b"
        ] == pytest.approx([1.0 + 2.0 * origin, 2.0, 0, 0, 0, 0], abs=1e-6)
    assert [until for until, _ in input_pieces({}, 1.0, 2.0)] == [2.0]
    tiny = list(input_pieces({"a": sampled(polynomial(1.0))}, 1.0, 1.0 + 1e-13))
    assert [until for until, _ in tiny] == [1.0 + 1e-13]
