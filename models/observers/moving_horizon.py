"""Moving-horizon estimation: the trajectory over the last measurements that fits them best, by
Gauss-Newton iterations.

The unknowns are the state at the beginning of the window and the process noise of every step. The
linearised problem is a smoothing problem, which a forward Kalman filter and a backward
Rauch-Tung-Striebel sweep solve exactly. Repeating this about the smoothed trajectory is the
Gauss-Newton method (B. M. Bell, SIAM J. Optim. 4, 1994). Measurements before the window enter
through a prior, the filtered estimate of its first instant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from kinetree.models.observers.kalman_filters import (
    Filter,
    Innovation,
    Measured,
    Noise,
    expected_reading,
    reading,
    symmetric,
    transition,
)
from kinetree.models.observers.mechanism_flow import FlowState, MechanismFlow

CONVERGED = 1e-3  # largest change of the last state in standard deviations


@dataclass
class Point:
    """An instant of the window: its state, the measurement, and the inputs from then on."""

    state: FlowState
    measured: Measured | None
    inputs: Mapping[str, float]


class MovingHorizonEstimator(Filter):
    """Estimator that fits the trajectory over the last `horizon` measurements."""

    def __init__(
        self,
        flow: MechanismFlow,
        state: FlowState,
        covariance: np.ndarray,
        noise: Noise,
        horizon: int = 20,
        iterations: int = 2,
    ):
        super().__init__(flow, state, covariance, noise)
        self.horizon, self.iterations = horizon, iterations
        self.points = [Point(state, None, {})]
        self.prior, self.prior_covariance = state, covariance

    def copied(self) -> MovingHorizonEstimator:
        """Return an independent copy of the estimator with the current window."""
        found = super().copied()
        assert isinstance(found, MovingHorizonEstimator)
        found.points = [replace(point) for point in self.points]
        return found

    def predict(self, until: float, inputs: Mapping[str, float]) -> None:
        """Predict the estimate up to an instant with constant inputs."""
        last = self.points[-1]
        last.inputs = dict(inputs)
        before, old = self.state, self.covariance
        self.set_inputs(inputs)
        self.state, slopes = transition(self.flow, self.state, until, self.deviations)
        self.covariance = symmetric(
            slopes @ old @ slopes.T + self.noise(self.state, until - before.time)
        )
        self.points.append(Point(self.state, None, inputs))
        self._note_stage(before, old)
        if self.state.stage != before.stage:  # a window does not reach over a change of structure
            self.prior, self.prior_covariance = self.state, self.covariance
            self.points = [Point(self.state, None, inputs)]

    def correct(self, measured: Measured) -> None:
        """Add measurements of the current instant and fit the window again."""
        self.points[-1].measured = measured
        expected, slopes = reading(self.flow, self.state, measured, self.deviations)
        S = symmetric(slopes @ self.covariance @ slopes.T + np.diag(measured.noise**2))
        self.innovations.append(
            Innovation(self.state.time, measured.names, measured.values - expected, S)
        )
        for _ in range(self.iterations):
            if self._fit() < CONVERGED:
                break
        self.state = self.points[-1].state
        if sum(point.measured is not None for point in self.points) > self.horizon:
            self._shift()

    def _sweep(self) -> tuple[list[np.ndarray], list[np.ndarray], list[tuple[np.ndarray, ...]]]:
        """Run the linearised filter forward and return what the backward sweep needs."""
        flow, points = self.flow, self.points
        mean = flow.difference(points[0].state, self.prior)
        P = self.prior_covariance
        means, covariances, steps = [], [], []
        for k, point in enumerate(points):
            deviations = np.sqrt(np.maximum(np.diag(P), 0.0))
            if point.measured is not None:
                expected, H = reading(flow, point.state, point.measured, deviations)
                S = symmetric(H @ P @ H.T + np.diag(point.measured.noise**2))
                gain = np.linalg.solve(S, H @ P).T
                mean = mean + gain @ (point.measured.values - expected - H @ mean)
                left = np.eye(len(P)) - gain @ H
                R = np.diag(point.measured.noise**2)
                P = symmetric(left @ P @ left.T + gain @ R @ gain.T)
            means.append(mean)
            covariances.append(P)
            if k + 1 == len(points):
                break
            start = flow.with_inputs(point.state, point.inputs)
            until = points[k + 1].state.time
            end, slopes = transition(flow, start, until, np.sqrt(np.maximum(np.diag(P), 0.0)))
            gap = flow.difference(points[k + 1].state, end)
            predicted = slopes @ mean + gap
            covariance = symmetric(slopes @ P @ slopes.T + self.noise(end, until - start.time))
            steps.append((slopes, predicted, covariance))
            mean, P = predicted, covariance
        return means, covariances, steps

    def _fit(self) -> float:
        """Make one Gauss-Newton step; return the change of the last state in standard deviations."""
        means, covariances, steps = self._sweep()
        smoothed = [means[-1]]
        for k in range(len(steps) - 1, -1, -1):
            slopes, predicted, covariance = steps[k]
            back = np.linalg.lstsq(covariance, slopes @ covariances[k], rcond=None)[0].T
            smoothed.append(means[k] + back @ (smoothed[-1] - predicted))
        for point, change in zip(self.points, reversed(smoothed), strict=True):
            point.state = self.flow.moved(point.state, change)
        self.covariance = covariances[-1]
        return float(np.max(np.abs(smoothed[0]) / np.maximum(self.deviations, 1e-300), initial=0.0))

    def _shift(self) -> None:
        """Drop the first instant, keeping its information as the prior of the next one."""
        first, second = self.points[0], self.points[1]
        mean = self.flow.difference(first.state, self.prior)
        P = self.prior_covariance
        deviations = np.sqrt(np.maximum(np.diag(P), 0.0))
        if first.measured is not None:
            _, H = reading(self.flow, first.state, first.measured, deviations)
            expected = expected_reading(self.flow, first.state, first.measured)
            S = symmetric(H @ P @ H.T + np.diag(first.measured.noise**2))
            gain = np.linalg.solve(S, H @ P).T
            mean = mean + gain @ (first.measured.values - expected - H @ mean)
            P = symmetric(P - gain @ S @ gain.T)
        start = self.flow.with_inputs(self.flow.moved(first.state, mean), first.inputs)
        self.prior, slopes = transition(
            self.flow, start, second.state.time, np.sqrt(np.maximum(np.diag(P), 0.0))
        )
        self.prior_covariance = symmetric(
            slopes @ P @ slopes.T + self.noise(self.prior, second.state.time - start.time)
        )
        self.points = self.points[1:]
