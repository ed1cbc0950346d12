"""An estimator that receives its measurements one by one during operation: in an FMU or in a
program's own loop.

A late measurement (of a sensor with `delay`) is applied at the instant when it was valid: the
estimator returns to its state then and processes everything since once more.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping

from kinetree.models.observers.estimation import SAME_TIME, EstimationProblem
from kinetree.models.observers.kalman_filters import Filter, Measured


class OnlineObserver:
    """Corrects the estimate by current and late measurements, then predicts up to the next instant."""

    def __init__(self, problem: EstimationProblem, time: float = 0.0, step: float = 1e-3):
        self.problem, self._step = problem, step
        self.estimator = problem.begin(time, step)
        self.names = problem.reported(self.estimator.state)
        self._longest_delay = max(sensor.delay for sensor in problem.setup.sensors)
        self._known: list[Filter] = []  # the estimator at earlier instants, before their readings
        self._readings: list[tuple[float, Measured]] = []  # since the first of them
        self._inputs: list[tuple[float, dict[str, float]]] = []  # from when on they hold

    @property
    def time(self) -> float:
        """Return the current time [s]."""
        return self.estimator.state.time

    def advance(
        self, until: float, readings: Mapping[str, float], inputs: Mapping[str, float]
    ) -> None:
        """Process measurements that arrive now (NaN: lost), then predict up to an instant with
        constant inputs.
        """
        now = self.time
        known = {name: value for name, value in readings.items() if math.isfinite(value)}
        arrived = self._by_instant(known)
        if self._longest_delay > 0.0:
            self._known.append(self.estimator.copied())
            self._inputs.append((now, dict(inputs)))
            self._rewind(arrived, now)
        elif arrived:
            self.estimator.correct(arrived[0][1])
        self._predict(until, inputs)

    def _by_instant(self, known: Mapping[str, float]) -> list[tuple[float, Measured]]:
        """Return measurements with the instants at which they were valid, earliest first."""
        instants: dict[float, dict[str, float]] = {}
        for sensor in self.problem.setup.sensors:
            if sensor.name in known:
                instants.setdefault(self.time - sensor.delay, {})[sensor.name] = known[sensor.name]
        return [(time, self.problem.reading_of(those)) for time, those in sorted(instants.items())]

    def _rewind(self, arrived: list[tuple[float, Measured]], now: float) -> None:
        """Return to the earliest of the measurements and process all since then in the order of
        their instants.
        """
        first = self._known[0].state.time
        arrived = [each for each in arrived if each[0] > first - SAME_TIME]
        if arrived:
            times = [each.state.time for each in self._known]
            place = bisect_right(times, arrived[0][0] + SAME_TIME) - 1
            self._readings = sorted([*self._readings, *arrived], key=lambda each: each[0])
            self.estimator = self._known[place].copied()
            begin = times[place] - SAME_TIME
            due = [each for each in self._readings if each[0] > begin]
            for k in range(place, len(times)):
                if k > place:
                    self._known[k] = self.estimator.copied()
                last = k + 1 == len(times)
                until = now if last else times[k + 1]
                while due and (last or due[0][0] < until - SAME_TIME):
                    time, measured = due.pop(0)
                    self._predict(time, self._inputs[k][1])
                    self.estimator.correct(measured)
                self._predict(until, self._inputs[k][1])
        while len(self._known) > 1 and self._known[1].state.time < now - self._longest_delay:
            del self._known[0], self._inputs[0]
        first = self._known[0].state.time - SAME_TIME
        self._readings = [each for each in self._readings if each[0] > first]

    def _predict(self, until: float, inputs: Mapping[str, float]) -> None:
        """Predict up to an instant with constant inputs, in steps of at most the given length."""
        begin = self.time
        if until <= begin + SAME_TIME:
            return
        count = max(1, math.ceil((until - begin) / self._step - 1e-9))
        for k in range(1, count + 1):
            self.estimator.predict(begin + (until - begin) * k / count, inputs)

    def values(self) -> dict[str, float]:
        """Return the current estimates by name."""
        return self.problem.present(self.estimator.state)

    def deviations(self) -> dict[str, float]:
        """Return the current standard deviations by name."""
        return dict(zip(self.names, map(float, self.estimator.deviations), strict=False))
