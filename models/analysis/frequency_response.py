"""Frequency responses of a linearised mechanism, and stability margins of a feedback loop around
it.

G(s) = C (s - A)⁻¹ B + D. The loop is u = -y: L = G, sensitivity S = 1/(1 + L), T = L S. Margins of L:
gain    1/|L| where the phase crosses 180° (which factor on the gain, above or below 1, destabilises)
phase   180° + arg L where |L| crosses 1; delay: the smallest positive phase margin over its frequency
modulus the least distance of L from -1; disk: α = 1/max|(S - T)/2| (balanced): any gain factor between (2 - α)/(2 + α) and its
        inverse, or any phase of 2 atan(α/2), at any frequency and also together within the disk, keeps the loop stable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize_scalar

POINTS = 60  # frequencies per decade
SLOPE_STEP = 1e-6  # of a frequency, over which |L| grows or falls
DECADES = 8  # below the slowest motion, in which a crossover is looked for
AROUND = np.array(
    [-3.0, -1.0, -0.3, 0.0, 0.3, 1.0, 3.0]
)  # further ones about every swing, in units of its damping


@dataclass(frozen=True)
class StateSpace:
    """A linear state-space system ż = A z + B w, y = C z + D w."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray

    def response(self, omega: np.ndarray | float) -> np.ndarray:
        """Return the frequency response G(jω), shape (frequencies, outputs, inputs)."""
        s = 1j * np.atleast_1d(np.asarray(omega, dtype=float))
        if not self.A.size:
            return np.broadcast_to(self.D.astype(complex), (s.size, *self.D.shape)).copy()
        return (
            self.C
            @ np.linalg.solve(
                s[:, None, None] * np.eye(len(self.A)) - self.A, self.B[None].astype(complex)
            )
            + self.D
        )

    def single(self, output: int, given: int) -> StateSpace:
        """Return the subsystem from one input to one output."""
        return StateSpace(
            self.A,
            self.B[:, given : given + 1],
            self.C[output : output + 1],
            self.D[output : output + 1, given : given + 1],
        )

    def then(self, other: StateSpace) -> StateSpace:
        """Return the series connection of this system with `other` behind it."""
        n, m = len(self.A), len(other.A)
        A = np.block([[self.A, np.zeros((n, m))], [other.B @ self.C, other.A]])
        return StateSpace(
            A,
            np.vstack((self.B, other.B @ self.D)),
            np.hstack((other.D @ self.C, other.C)),
            other.D @ self.D,
        )

    def moving(self) -> StateSpace:
        """Return the system without constant states, which nothing changes."""
        kept = self.A.any(axis=1) | self.B.any(axis=1)
        return (
            self
            if kept.all()
            else StateSpace(
                self.A[np.ix_(kept, kept)], self.B[kept], self.C[:, kept], self.D
            ).moving()
        )

    def seen(self) -> StateSpace:
        """Return the system without states that nothing depends on."""
        kept = self.A.any(axis=0) | self.C.any(axis=0)
        return (
            self
            if kept.all()
            else StateSpace(
                self.A[np.ix_(kept, kept)], self.B[kept], self.C[:, kept], self.D
            ).seen()
        )

    def leading_to_outputs(self) -> StateSpace:
        """Return the system without states that no output depends on, directly or through other
        states, such as free bodies that are not measured.
        """
        kept, before = self.C.any(axis=0), -1
        while kept.sum() != before:
            before = kept.sum()
            kept = kept | self.A[kept].any(axis=0)
        return StateSpace(self.A[np.ix_(kept, kept)], self.B[kept], self.C[:, kept], self.D)

    def closed(self) -> np.ndarray:
        """Return the matrix A of the closed loop u = -y."""
        return self.A - self.B @ np.linalg.solve(np.eye(len(self.D)) + self.D, self.C)

    def stands(self, crossovers: Sequence[float], delay: float) -> bool:
        """Return whether the loop u = -y with dead time is stable; |L| = 1 at the crossovers."""
        return stable_with_delay(self, crossovers, delay)

    def symmetric_frequencies(self, delay: float) -> list[float]:
        """Return the ends of the frequency axis at which a loop with dead time has a real response:
        zero, and infinity where there is a direct feedthrough and no dead time [rad/s].
        """
        at_rest = [] if count_integrators(np.linalg.eigvals(self.A)) else [0.0]
        return at_rest + ([np.inf] if delay == 0.0 and self.D.any() else [])

    def frequencies(self, low: float | None = None, high: float | None = None) -> np.ndarray:
        """Return ω [rad/s] from a decade below the slowest eigenvalue to a decade above the fastest
        one, denser near lightly damped resonances.
        """
        values = np.linalg.eigvals(self.A) if self.A.size else np.array([1.0])
        sizes = np.abs(values)
        sizes = sizes[sizes > 1e-6 * sizes.max(initial=1e-300)]
        first = low or 0.1 * float(sizes.min(initial=1.0))
        last = high or 10.0 * float(sizes.max(initial=1.0))
        even = np.geomspace(first, last, max(2, int(POINTS * np.log10(last / first))))
        swings = values[np.imag(values) > 0.0]
        close = around_resonances(swings)
        return np.unique(np.concatenate((even, close[(close > first) & (close < last)])))


def around_resonances(swings: np.ndarray) -> np.ndarray:
    """Return additional frequencies near lightly damped resonances."""
    damping, speed = np.abs(np.real(swings)), np.imag(swings)
    width = np.maximum(damping, 1e-6 * speed)
    places = speed[:, None] + width[:, None] * AROUND
    return places[(damping > 1e-9 * speed)[:, None] | (AROUND != 0.0)]


@dataclass(frozen=True)
class Margins:
    """Stability margins of one loop; infinite if there is no crossover. ω in rad/s, phases in
    degrees.
    """

    stable: bool
    gain: float
    gain_at: float
    gain_below: float  # factor below 1 that destabilises, 0 where none does
    phase: float
    phase_at: float
    delay: float
    modulus: float
    modulus_at: float
    disk: float

    @property
    def disk_gain(self) -> float:
        """Return the factor by which the gain may change, simultaneously with the phase, within the
        disk margin.
        """
        return (2.0 + self.disk) / (2.0 - self.disk) if self.disk < 2.0 else np.inf

    @property
    def disk_phase(self) -> float:
        """Return the phase margin of the disk margin [deg]."""
        return float(np.degrees(2.0 * np.arctan(self.disk / 2.0)))

    def to_dict(self) -> dict[str, float | bool]:
        """Return the finite margins as plain numbers for JSON."""
        every = {**self.__dict__, "disk_gain": self.disk_gain, "disk_phase": self.disk_phase}
        return {
            key: value
            for key, value in every.items()
            if isinstance(value, bool) or np.isfinite(value)
        }


def margins(loop: StateSpace, omega: np.ndarray | None = None, delay: float = 0.0) -> Margins:
    """Return the margins of a loop u = -y with dead time, with stability by eigenvalues and
    crossovers.
    """
    omega = beyond_crossovers(loop, loop.frequencies()) if omega is None else omega

    def at(w: float) -> complex:
        if np.isinf(w):
            return complex(loop.D[0, 0])
        return complex(loop.response(w)[0, 0, 0] * np.exp(-1j * w * delay))

    values = loop.response(omega)[:, 0, 0] * np.exp(-1j * omega * delay)
    axis = refined_zeros(np.imag(values), omega, lambda w: at(w).imag)
    turned = [(w, at(w).real) for w in (*axis, *loop.symmetric_frequencies(delay))]
    factors = [(-1.0 / real, w) for w, real in turned if real < -1e-12]
    above = min(((f, w) for f, w in factors if f > 1.0), default=(np.inf, np.nan))
    below = max(((f, w) for f, w in factors if f < 1.0), default=(0.0, np.nan))
    ones = gain_crossovers(loop, omega, values)
    phases = [(float(np.degrees(np.angle(-at(w)))), w) for w in ones]
    least = min(phases, key=lambda pair: abs(pair[0]), default=(np.inf, np.nan))
    waits = [np.radians(angle % 360.0) / w for angle, w in phases]
    near, where = refined_minimum(lambda w: abs(1.0 + at(w)), omega, np.abs(1.0 + values))
    ratio = np.abs((1.0 - values) / (1.0 + values)) / 2.0  # |(S - T)/2|
    apart, _ = refined_minimum(lambda w: -abs((1.0 - at(w)) / (1.0 + at(w))) / 2.0, omega, -ratio)
    return Margins(
        loop.stands(ones, delay), above[0], above[1], below[0], least[0], least[1],
        float(min(waits, default=np.inf)), near, where, 1.0 / max(-apart, 1e-300),
    )  # fmt: skip


def gain_crossovers(loop: StateSpace, omega: np.ndarray, values: np.ndarray) -> list[float]:
    """Return the frequencies between those given at which |L| = 1 [rad/s]; `values` is L(jω) there,
    with or without dead time.
    """

    def logarithm(response: np.ndarray) -> np.ndarray:
        return np.log(np.maximum(np.abs(response), 1e-300))

    return refined_zeros(
        logarithm(values), omega, lambda w: float(logarithm(loop.response(w)[:, 0, 0])[0])
    )


def stable_with_delay(loop: StateSpace, crossovers: Sequence[float], delay: float) -> bool:
    """Return whether the closed loop is stable, for |L| = 1 at the crossovers [rad/s].

    Without dead time the eigenvalues tell it. As the dead time grows, a pair of roots reaches the
    imaginary axis at a crossover whenever the phase of L has turned to 180° there: it becomes
    unstable where |L| falls with frequency, and stable where |L| rises (K. Walton, J. E. Marshall,
    Direct method for TDS stability analysis, IEE Proc. D 134 (1987) 101).
    """
    open_poles, values = np.linalg.eigvals(loop.A), np.linalg.eigvals(loop.closed())
    still = np.abs(values) <= 1e-9 * np.abs(values).max(initial=1e-300)
    # what is at zero with and without the loop is no matter of it, such as oil that is shut in
    mine = values if count_integrators(values) > count_integrators(open_poles) else values[~still]
    unstable = int((np.real(mine) >= 0.0).sum())
    if delay == 0.0:
        return unstable == 0
    if np.abs(loop.D).max() >= 1.0:  # roots without end, at the right of the axis
        return False
    for w in crossovers:
        before, here, behind = loop.response(
            w * np.array([1.0 - SLOPE_STEP, 1.0, 1.0 + SLOPE_STEP])
        )[:, 0, 0]
        waits = float(np.angle(-here) % (2.0 * np.pi))
        reached = int(np.floor((w * delay - waits) / (2.0 * np.pi))) + 1
        unstable += 2 * reached * (1 if abs(behind) < abs(before) else -1)
    return unstable <= 0


def count_integrators(poles: np.ndarray) -> int:
    """Return the number of poles at zero (integrators)."""
    return int((np.abs(poles) <= 1e-9 * np.abs(poles).max(initial=1e-300)).sum())


def beyond_crossovers(loop: StateSpace, omega: np.ndarray) -> np.ndarray:
    """Return frequencies with those below on which |L| still grows to 1, as that of a slow
    integrator does.
    """

    def size(w: float) -> float:
        return float(np.abs(loop.response(w)[0, 0, 0]))

    low = float(omega[0])
    for _ in range(DECADES):
        now = size(low)
        if now > 1.0 or size(0.1 * low) < 2.0 * now:
            break
        low *= 0.1
    if low == omega[0] or size(low) < 1.0:
        return omega
    decades = round(np.log10(omega[0] / low))
    return np.concatenate((np.geomspace(low, omega[0], decades * POINTS + 1)[:-1], omega))


def refined_zeros(values: np.ndarray, omega: np.ndarray, exact) -> list[float]:
    """Return the refined zeros of a sampled function of ω."""
    places = np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0)
    found = []
    for k in places:
        a, b = float(omega[k]), float(omega[k + 1])
        if exact(a) * exact(b) < 0:
            found.append(float(brentq(exact, a, b, xtol=1e-12 * b, rtol=1e-13)))  # type: ignore[arg-type]
    return found


def refined_minimum(function, omega: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Return the minimum of a sampled function of ω, refined by the function itself, and its ω."""
    k = int(values.argmin())
    a, b = float(omega[max(k - 1, 0)]), float(omega[min(k + 1, omega.size - 1)])
    found = minimize_scalar(function, bounds=(a, b), method="bounded", options={"xatol": 1e-10 * b})
    if found.fun < values[k]:
        return float(found.fun), float(found.x)
    return float(values[k]), float(omega[k])
