"""The boom of the tutorial and its sampled controller written down by hand: margins, small motions and runs that owe nothing to the engine.

J φ'' = F ds/dφ(φ) - (boom/2 + load) reach g cos φ - c φ', s(φ)² = (eye cos φ - x)² + (eye sin φ - z)². The PID by backward differences; its command
comes three periods and a jitter late, by the minimal standard generator.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import expm
from scipy.optimize import brentq, minimize_scalar

REACH, BOOM, EYE, X, Z, FRICTION, G = 3.2, 150.0, 1.5, 0.6, -1.0, 100.0, 9.81
START, T, LATE, JITTER = 0.5, 0.002, 3, 0.001
MODULUS, FACTOR = 2147483647, 16807
Response = Callable[[float], complex]


def length(phi: float) -> float:
    return math.hypot(EYE * math.cos(phi) - X, EYE * math.sin(phi) - Z)


def lever(phi: float) -> float:
    return EYE * (X * math.sin(phi) - Z * math.cos(phi)) / length(phi)


def lever_rate(phi: float) -> float:
    return (EYE * (X * math.cos(phi) + Z * math.sin(phi)) - lever(phi) ** 2) / length(phi)


@dataclass(frozen=True)
class Held:
    """The boom with a load and the controller's numbers."""

    load: float
    kp: float
    ki: float
    kd: float
    filter: float
    speed: float = 0.0
    acceleration: float = 0.0
    offset: float = 4256.45

    @property
    def inertia(self) -> float:
        return BOOM * REACH**2 * (0.25 + 1.005 / 12) + self.load * REACH**2

    @property
    def weight(self) -> float:
        return (BOOM / 2 + self.load) * REACH * G

    def plant(self) -> tuple[np.ndarray, np.ndarray]:
        """A and B of (φ, φ') at rest at the start."""
        force = self.weight * math.cos(START) / lever(START)
        stiffness = force * lever_rate(START) + self.weight * math.sin(START)
        return np.array([[0.0, 1.0], [stiffness, -FRICTION]]) / [[1.0], [self.inertia]], np.array(
            [0.0, lever(START) / self.inertia]
        )

    def continuous(self, dead: float) -> Response:
        """L(jω) of the PID and the plant with a dead time."""
        A, B = self.plant()

        def loop(w: float) -> complex:
            s = 1j * w
            plant = B[1] / (s * s - A[1, 1] * s - A[1, 0])
            return (
                (self.kp + self.ki / s + self.kd * s / (self.filter * s + 1))
                * plant
                * np.exp(-dead * s)
            )

        return loop

    def sampled(self) -> Response:
        """L(exp(jωT)) with commands held and 3.5 periods late: the delay and the largest jitter."""
        A, B = self.plant()
        whole = expm(np.block([[A, B[:, None]], [np.zeros((1, 3))]]) * T)
        half = expm(np.block([[A, B[:, None]], [np.zeros((1, 3))]]) * (T - JITTER))
        phi, new = whole[:2, :2], half[:2, 2]
        old = whole[:2, 2] - new

        def loop(w: float) -> complex:
            z = np.exp(1j * w * T)
            difference = (1 - 1 / z) / T
            pid = (
                self.kp
                + self.ki * T / (1 - 1 / z)
                + self.kd
                * difference
                * T
                / (self.filter + T)
                / (1 - self.filter / (self.filter + T) / z)
            )
            return pid * (np.linalg.solve(z * np.eye(2) - phi, new + old / z)[0]) / z**LATE

        return loop

    def closed(self) -> np.ndarray:
        """Eigenvalues of the sampled loop from sample to sample: φ, φ', commands under way, integral, error before, slope."""
        A, B = self.plant()
        whole = expm(np.block([[A, B[:, None]], [np.zeros((1, 3))]]) * T)
        half = expm(np.block([[A, B[:, None]], [np.zeros((1, 3))]]) * (T - JITTER))

        def after(state: np.ndarray) -> np.ndarray:
            x, due, (integral, before, slope) = state[:2], state[2:6], state[6:]
            e = -x[0]
            slope = slope + ((e - before) / T - slope) * T / (self.filter + T)
            integral = integral + self.ki * e * T
            command = self.kp * e + self.kd * slope + integral
            moved = whole[:2, :2] @ x + (whole[:2, 2] - half[:2, 2]) * due[0] + half[:2, 2] * due[1]
            return np.array([*moved, *due[1:], command, integral, e, slope])

        return np.linalg.eigvals(np.array([after(row) for row in np.eye(9)]).T)

    def small_motions(self) -> np.ndarray:
        """Eigenvalues with the controller taken as continuous: d(entry)/dt = (next - entry)/T."""
        A, B = self.plant()

        def rates(state: np.ndarray) -> np.ndarray:
            x, (integral, before, slope) = state[:2], state[2:]
            e = -x[0]
            new = slope + ((e - before) / T - slope) * T / (self.filter + T)
            command = self.kp * e + self.kd * new + integral + self.ki * e * T
            return np.array(
                [*(A @ x + B * command), self.ki * e, (e - before) / T, (new - slope) / T]
            )

        return np.linalg.eigvals(np.array([rates(row) for row in np.eye(5)]).T)

    def errors(
        self,
        end: float,
        rows: float,
        setpoint: Callable[[float], tuple[float, float, float]],
        seed: int,
    ) -> np.ndarray:
        """Setpoint less angle as the controller has read them, at every row of a run; commands held, 4256.45 N before the first."""
        phi, speed, under_way, applied, integral, before, slope = (
            START,
            0.0,
            [self.offset] * LATE,
            self.offset,
            0.0,
            0.0,
            0.0,
        )
        error, found, state = 0.0, [0.0], seed
        for k in range(round(end / T)):
            wanted, rate, bend = setpoint(k * T)
            error = wanted - phi
            slope = (
                0.0 if k == 0 else slope + ((error - before) / T - slope) * T / (self.filter + T)
            )
            integral += self.ki * error * T if k else 0.0
            before = error
            under_way.append(
                self.kp * error
                + self.kd * slope
                + integral
                + self.offset
                + self.speed * rate
                + self.acceleration * bend
            )
            state = FACTOR * state % MODULUS
            wait = JITTER * state / MODULUS
            phi, speed = self.moved(phi, speed, applied, wait)
            applied = under_way.pop(0)
            phi, speed = self.moved(phi, speed, applied, T - wait)
            if round((k + 1) * T / rows * 1e6) % 1_000_000 == 0:
                found.append(error)
        return np.array(found)

    def moved(self, phi: float, speed: float, force: float, h: float) -> tuple[float, float]:
        """Classical Runge-Kutta over a stretch of constant force."""

        def bend(p: float, v: float) -> float:
            return (force * lever(p) - self.weight * math.cos(p) - FRICTION * v) / self.inertia

        a1 = bend(phi, speed)
        a2 = bend(phi + h / 2 * speed, speed + h / 2 * a1)
        a3 = bend(phi + h / 2 * (speed + h / 2 * a1), speed + h / 2 * a2)
        a4 = bend(phi + h * (speed + h / 2 * a2), speed + h * a3)
        return phi + h * speed + h * h / 6 * (a1 + a2 + a3), speed + h / 6 * (
            a1 + 2 * a2 + 2 * a3 + a4
        )

    def with_(self, **numbers: float) -> Held:
        return replace(self, **numbers)


@dataclass(frozen=True)
class Margins:
    """Factor up to the turn of sign, its frequency [Hz], factor down; angle [°] at its frequency [Hz], time [s], distance, half disk."""

    gain: float
    turn: float
    below: float
    phase: float
    crossing: float
    delay: float
    modulus: float
    disk: float


def margins_of(loop: Response, high: float) -> Margins:
    """By root finding on the frequency response alone."""
    grid = np.geomspace(1e-2, high, 3000)
    values = np.array([loop(w) for w in grid])
    turns = [
        brentq(lambda w: loop(w).imag, a, b)
        for a, b, u, v in zip(grid, grid[1:], values, values[1:], strict=False)
        if u.imag * v.imag < 0.0
    ]
    factors = [(-1.0 / loop(w).real, w) for w in turns if loop(w).real < 0.0]
    sizes = np.abs(values) - 1.0
    ones = [
        brentq(lambda w: abs(loop(w)) - 1.0, a, b)
        for a, b, u, v in zip(grid, grid[1:], sizes, sizes[1:], strict=False)
        if u * v < 0.0
    ]
    angles = [(math.degrees(np.angle(-loop(w))), w) for w in ones]
    phase, crossing = min(angles, key=lambda pair: abs(pair[0]))
    delay = min(math.radians(angle % 360.0) / w for angle, w in angles)
    gain, turn = min((pair for pair in factors if pair[0] > 1.0), default=(math.inf, math.nan))
    below = max((pair[0] for pair in factors if pair[0] < 1.0), default=0.0)
    modulus = least(lambda w: abs(1.0 + loop(w)), grid)
    disk = least(lambda w: abs(1.0 + loop(w)) / abs(1.0 - loop(w)), grid)  # 2/α: |S - T|/2 ≤ 1/α
    return Margins(
        gain,
        turn / (2 * math.pi),
        below,
        phase,
        crossing / (2 * math.pi),
        delay,
        modulus,
        2.0 * disk,
    )


def least(size: Callable[[float], float], grid: np.ndarray) -> float:
    """The smallest value over frequencies."""
    k = int(np.argmin([size(w) for w in grid]))
    ends = grid[max(k - 1, 0)], grid[min(k + 1, grid.size - 1)]
    return float(
        min(
            size(grid[k]),
            minimize_scalar(size, bounds=ends, method="bounded", options={"xatol": 1e-9}).fun,
        )
    )
