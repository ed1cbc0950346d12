"""Inputs as functions of time, approximated by quintic polynomials within the tolerance; jumps are
detected or declared.

Between two outputs a function is fitted at six points and tested at five others. If the polynomial
is not accurate enough the interval is halved. A difference that remains over an interval of zero
length is a jump, where the integration stops and continues.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from kinetree.solvers.layout import CURVE

POWERS = CURVE + 2  # coefficients of a polynomial
NODES = 0.5 - 0.5 * np.cos(np.pi * np.arange(POWERS) / (POWERS - 1))
TESTS = np.array(
    [0.031, 0.21, 0.437, 0.683, 0.912]
)  # between the nodes, unevenly, so that no period fits all
FIT = np.linalg.inv(np.vander(NODES, increasing=True))
CHECK = np.vander(TESTS, POWERS, increasing=True) @ FIT
NO_LENGTH = 1e-12  # relative to time: a shorter interval on which a function changes holds a jump
ROUNDINGS = 4.0  # of the time, in a function's argument and in the instants of its samples
MOST_PIECES = 2000  # between two outputs
SHARE = 0.1  # of the tolerance of the integrator: what an input may be off


@dataclass(frozen=True)
class Signal:
    """A function of time, with the times of its jumps and of pulses too short to be detected."""

    function: Callable[[float], float]
    jumps: Iterable[float] = ()

    def __call__(self, t: float) -> float:
        return self.function(t)


@dataclass(frozen=True)
class Piece:
    """A polynomial in the time since `begin`: value, derivative, and CURVE higher coefficients."""

    begin: float
    end: float
    coefficients: np.ndarray


class Sampled:
    """A function of time approximated piecewise, interval by interval."""

    def __init__(self, name: str, function: Callable[[float], float], tolerance: float):
        self.name, self.function = name, function
        self.tolerance = SHARE * tolerance
        self.jumps = np.array(sorted(float(t) for t in getattr(function, "jumps", ())))
        self.size = 0.0  # largest value seen

    def at(self, t: float) -> float:
        value = float(self.function(t))
        if not math.isfinite(value):
            raise ValueError(
                f"input '{self.name}' is {value} at t = {t:.9g}, expected a finite number"
            )
        self.size = max(self.size, abs(value))
        return value

    def allowed(self, values: np.ndarray, a: float, b: float) -> float:
        """Return the admissible error of the polynomial through `values` between a and b: the
        tolerance plus the effect of time resolution at the largest slope.
        """
        slope = np.abs(np.diff(values) / np.diff(NODES)).max() / (b - a)
        rounding = ROUNDINGS * np.finfo(float).eps * max(abs(a), abs(b))
        return self.tolerance * max(self.size, 1e-300) + rounding * slope

    def near(self, a: float, b: float) -> bool:
        """Return whether two values agree within the tolerance of the approximation."""
        return abs(a - b) <= 2.0 * self.tolerance * max(self.size, 1e-300)

    def pieces(self, begin: float, end: float) -> list[Piece]:
        """Return the polynomial pieces of the function on an interval."""
        inside = self.jumps[(self.jumps > begin) & (self.jumps < end)]
        found: list[Piece] = []
        for a, b in zip([begin, *inside], [*inside, end], strict=True):
            length = NO_LENGTH * max(abs(a), abs(b), b - a)
            # at a jump that is told the function is read from the side the piece lies on
            left, right = a + length if a in inside else a, b - length if b in inside else b
            for piece in self.halved(left, right):
                found.append(piece)
                if len(found) > MOST_PIECES:
                    raise ValueError(
                        f"input '{self.name}' is too rough between t = {begin:.9g} and {end:.9g}: no {MOST_PIECES} pieces follow it within "
                        f"{self.tolerance:.1e} of its size; give a table, or a wider tolerance"
                    )
        return found

    def halved(self, begin: float, end: float) -> Iterator[Piece]:
        """Yield the polynomial pieces of an interval that contains no declared jumps."""
        pending = [(begin, end)]
        while pending:
            a, b = pending.pop()
            values = np.array([self.at(a + s * (b - a)) for s in NODES])
            tests = np.array([self.at(a + s * (b - a)) for s in TESTS])
            if b - a <= NO_LENGTH * max(abs(a), abs(b), end - begin):
                yield Piece(
                    a, b, np.array([values[0], *[0.0] * (POWERS - 1)])
                )  # the next piece begins after the jump
            elif np.abs(CHECK @ values - tests).max() <= self.allowed(values, a, b):
                yield Piece(a, b, FIT @ values / (b - a) ** np.arange(POWERS))
            else:
                middle = 0.5 * (a + b)
                pending += [(middle, b), (a, middle)]


def input_pieces(
    inputs: dict[str, Sampled], begin: float, end: float
) -> Iterator[tuple[float, dict[str, np.ndarray]]]:
    """Yield instants with the input polynomials (value, derivative, higher coefficients) of the
    interval before each.
    """
    pieces = {name: sampled.pieces(begin, end) for name, sampled in inputs.items()}
    ends = sorted({piece.end for found in pieces.values() for piece in found} | {end})
    t = begin
    for until in ends:
        if until - t <= NO_LENGTH * max(abs(until), end - begin) and until != end:
            continue
        yield (
            until,
            {name: shifted_piece(found, 0.5 * (t + until), t) for name, found in pieces.items()},
        )
        t = until


def shifted_piece(pieces: list[Piece], inside: float, origin: float) -> np.ndarray:
    """Return the coefficients, about `origin`, of the piece that contains an instant."""
    piece = next((p for p in pieces if inside <= p.end), pieces[-1])
    a, shift = piece.coefficients.tolist(), origin - piece.begin
    for low in range(POWERS - 1):  # Horner's scheme, once for every power
        for k in reversed(range(low, POWERS - 1)):
            a[k] += shift * a[k + 1]
    return np.array(a)


def polynomial_value(coefficients: np.ndarray, since: float) -> float:
    """Return the value of a polynomial at a time since its origin."""
    total = 0.0
    for each in reversed(coefficients.tolist()):
        total = each + since * total
    return total
