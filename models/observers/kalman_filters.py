"""Extended and square-root unscented Kalman filters for the state transition of a mechanism.

Both use deviations from the current estimate (models/observers/mechanism_flow.py), so that
rotations remain rotations and closed loops remain closed. The extended filter differentiates the
transition by central differences; the unscented one propagates a set of sigma points with the
covariance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from kinetree.models.observers.mechanism_flow import FlowState, MechanismFlow


@dataclass(frozen=True)
class Measured:
    """Measurements of one instant: columns of the mechanism, values, standard deviations, and which
    estimated quantity is their bias (-1: none).
    """

    names: tuple[str, ...]
    values: np.ndarray
    noise: np.ndarray
    biases: tuple[int, ...]


@dataclass
class Innovation:
    """The innovation of a measurement with its expected covariance and log-likelihood."""

    time: float
    names: tuple[str, ...]
    residual: np.ndarray
    covariance: np.ndarray

    @property
    def squared(self) -> float:
        """Return the normalised innovation squared; its expectation is the number of measurements."""
        return float(self.residual @ np.linalg.solve(self.covariance, self.residual))

    @property
    def log_likelihood(self) -> float:
        """Return the log-likelihood of the measurement."""
        size = math.log(max(np.linalg.det(2.0 * math.pi * self.covariance), 1e-300))
        return -0.5 * (self.squared + size)


Noise = Callable[[FlowState, float], np.ndarray]  # covariance of a step of so many seconds


class Filter:
    """Base of filters: a state with the covariance of its deviation."""

    def __init__(self, flow: MechanismFlow, state: FlowState, covariance: np.ndarray, noise: Noise):
        self.flow, self.state, self.noise = flow, state, noise
        self.covariance = covariance
        self.innovations: list[Innovation] = []
        self.stage_notes: list[tuple[float, int, float]] = []  # time, stage, change of information

    @property
    def deviations(self) -> np.ndarray:
        """Return the standard deviations of the entries of the estimated deviation."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    def copied(self) -> Filter:
        """Return an independent copy of the filter at the current estimate."""
        found = copy(self)
        found.innovations, found.stage_notes = [*self.innovations], [*self.stage_notes]
        return found

    def predict(self, until: float, inputs: Mapping[str, float]) -> None:
        """Predict the estimate up to an instant with constant inputs."""
        raise NotImplementedError

    def correct(self, measured: Measured) -> None:
        """Correct the estimate by measurements of the current instant."""
        raise NotImplementedError

    def set_inputs(self, inputs: Mapping[str, float]) -> None:
        """Set the inputs of the mechanism from the current instant on."""
        self.state = self.flow.with_inputs(self.state, inputs)

    def _note_stage(self, before: FlowState, old: np.ndarray) -> None:
        """Store a change of stage with the change of the estimate's differential entropy."""
        if self.state.stage == before.stage:
            return
        entropy = [
            np.linalg.slogdet(P + 1e-300 * np.eye(len(P)))[1] for P in (old, self.covariance)
        ]
        self.stage_notes.append(
            (self.state.time, self.state.stage, 0.5 * (entropy[1] - entropy[0]))
        )


class ExtendedKalmanFilter(Filter):
    """Extended Kalman filter: Jacobians of state transition and measurements by central
    differences.
    """

    def predict(self, until: float, inputs: Mapping[str, float]) -> None:
        """Predict the estimate up to an instant with constant inputs."""
        self.set_inputs(inputs)
        before, old = self.state, self.covariance
        self.state, slopes = transition(self.flow, before, until, self.deviations)
        self.covariance = symmetric(
            slopes @ old @ slopes.T + self.noise(self.state, until - before.time)
        )
        self._note_stage(before, old)

    def correct(self, measured: Measured) -> None:
        """Correct the estimate by measurements of the current instant."""
        expected, slopes = reading(self.flow, self.state, measured, self.deviations)
        residual = measured.values - expected
        P, R = self.covariance, np.diag(measured.noise**2)
        S = symmetric(slopes @ P @ slopes.T + R)
        gain = np.linalg.solve(S, slopes @ P).T
        left = np.eye(len(P)) - gain @ slopes
        self.covariance = symmetric(left @ P @ left.T + gain @ R @ gain.T)
        self.innovations.append(Innovation(self.state.time, measured.names, residual, S))
        self.state = self.flow.moved(self.state, gain @ residual)


class UnscentedKalmanFilter(Filter):
    """Unscented Kalman filter with 2 n + 1 sigma points in square-root form."""

    CENTRE = 1.0  # weight of the middle state: CENTRE/(n + CENTRE)

    def __init__(self, flow: MechanismFlow, state: FlowState, covariance: np.ndarray, noise: Noise):
        super().__init__(flow, state, covariance, noise)
        self.root = square_root(covariance)

    def _spread(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the deviations of the sigma points, row by row, and their weights."""
        n = len(self.root)
        reach = math.sqrt(n + self.CENTRE)
        rows = np.vstack((np.zeros(n), reach * self.root.T, -reach * self.root.T))
        weights = np.full(2 * n + 1, 0.5 / (n + self.CENTRE))
        weights[0] = self.CENTRE / (n + self.CENTRE)
        return rows, weights

    def predict(self, until: float, inputs: Mapping[str, float]) -> None:
        """Predict the estimate up to an instant with constant inputs."""
        self.set_inputs(inputs)
        before, old = self.state, self.covariance
        rows, weights = self._spread()
        ends = [self.flow.advance(before, until, row) for row in rows]
        middle = ends[0]
        kept = [k for k, end in enumerate(ends) if end.stage == middle.stage]
        weights = weights[kept] / weights[kept].sum()
        found = np.array([self.flow.difference(middle, ends[k]) for k in kept])
        mean = weights @ found
        self.state = self.flow.moved(middle, mean)
        noise = square_root(self.noise(self.state, until - before.time))
        self._set_root(np.vstack((np.sqrt(weights)[:, None] * (found - mean), noise.T)))
        self._note_stage(before, old)

    def correct(self, measured: Measured) -> None:
        """Correct the estimate by measurements of the current instant."""
        rows, weights = self._spread()
        found = np.array([expected_reading(self.flow, self.state, measured, row) for row in rows])
        mean = weights @ found
        scaled = np.sqrt(weights)[:, None]
        Z, X = scaled * (found - mean), scaled * rows
        S = symmetric(Z.T @ Z + np.diag(measured.noise**2))
        gain = np.linalg.solve(S, Z.T @ X).T
        residual = measured.values - mean
        self.innovations.append(Innovation(self.state.time, measured.names, residual, S))
        self._set_root(np.vstack((X - Z @ gain.T, measured.noise[:, None] * gain.T)))
        self.state = self.flow.moved(self.state, gain @ residual)

    def _set_root(self, rows: np.ndarray) -> None:
        """Set the covariance to rowsᵀ rows, stored as its triangular root."""
        upper = np.asarray(np.linalg.qr(rows, mode="r"))
        self.root = upper.T * np.sign(np.where(np.diag(upper) == 0.0, 1.0, np.diag(upper)))
        self.covariance = symmetric(self.root @ self.root.T)


def transition(
    flow: MechanismFlow, state: FlowState, until: float, deviations: np.ndarray
) -> tuple[FlowState, np.ndarray]:
    """Return the state at an instant, and the Jacobian of its deviation by that of the state
    before.
    """
    end = flow.advance(state, until)
    steps = flow.difference_steps(state, deviations)
    slopes = np.zeros((flow.size(end), steps.size))
    for k, step in enumerate(steps):
        sides, total = [], 0.0
        for sign in (1.0, -1.0):
            deviation = np.zeros(steps.size)
            deviation[k] = sign * step
            side = flow.advance(state, until, deviation)
            if side.stage == end.stage:  # one that is in another stage yet tells nothing
                given = flow_difference_of_start(flow, state, deviation, k)
                sides.append((sign, flow.difference(end, side)))
                total += abs(given)
        if sides:
            slopes[:, k] = sum(sign * found for sign, found in sides) / (total or 1.0)
    return end, slopes


def flow_difference_of_start(
    flow: MechanismFlow, state: FlowState, deviation: np.ndarray, k: int
) -> float:
    """Return the actual change of entry k after a deviation, which limits may have reduced."""
    first = deviation.size - state.values.size
    if k < first:
        return float(deviation[k])
    quantity = flow.quantities[k - first]
    before = float(state.values[k - first])
    return min(max(before + float(deviation[k]), quantity.least), quantity.most) - before


def expected_reading(
    flow: MechanismFlow, state: FlowState, measured: Measured, deviation: np.ndarray | None = None
) -> np.ndarray:
    """Return the noise-free measurements at a state changed by a deviation."""
    values = flow.read(state, measured.names, deviation)
    first = flow.size(state) - state.values.size
    for k, bias in enumerate(measured.biases):
        if bias >= 0:
            values[k] += state.values[bias]
            values[k] += 0.0 if deviation is None else deviation[first + bias]
    return values


def reading(
    flow: MechanismFlow, state: FlowState, measured: Measured, deviations: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the expected measurements and their Jacobian by the deviation."""
    expected = expected_reading(flow, state, measured)
    steps = flow.difference_steps(state, deviations)
    slopes = np.zeros((expected.size, steps.size))
    for k, step in enumerate(steps):
        deviation = np.zeros(steps.size)
        deviation[k] = step
        above = expected_reading(flow, state, measured, deviation)
        moved = flow_difference_of_start(flow, state, deviation, k)
        below = expected_reading(flow, state, measured, -deviation)
        moved -= flow_difference_of_start(flow, state, -deviation, k)
        slopes[:, k] = (above - below) / moved if moved else 0.0
    return expected, slopes


def symmetric(matrix: np.ndarray) -> np.ndarray:
    """Return the symmetric part of a matrix."""
    return 0.5 * (matrix + matrix.T)


def square_root(covariance: np.ndarray) -> np.ndarray:
    """Return a matrix S with S Sᵀ = P; P may be singular."""
    values, vectors = np.linalg.eigh(symmetric(covariance))
    upper = np.asarray(np.linalg.qr((vectors * np.sqrt(np.maximum(values, 0.0))).T, mode="r"))
    return upper.T


def whitened(innovation: Innovation) -> np.ndarray:
    """Return the residuals divided by their expected root covariance: white with unit variance if
    the filter is consistent.
    """
    return solve_triangular(
        np.linalg.cholesky(innovation.covariance), innovation.residual, lower=True
    )


FILTERS: dict[str, type[Filter]] = {"ekf": ExtendedKalmanFilter, "ukf": UnscentedKalmanFilter}
