"""An estimator that gets its readings one by one, beside the machine: in an FMU or in a loop of one's own."""

from __future__ import annotations

import math
from collections.abc import Mapping

from kinetree.models.observers.estimation import EstimationProblem


class OnlineObserver:
    """Corrects by readings of the present instant, then predicts the next one."""

    def __init__(self, problem: EstimationProblem, time: float = 0.0, step: float = 1e-3):
        self.problem, self._step = problem, step
        self.estimator = problem.begin(time, step)
        self.names = problem.reported(self.estimator.state)

    @property
    def time(self) -> float:
        """Return the present time [s]."""
        return self.estimator.state.time

    def advance(
        self, until: float, readings: Mapping[str, float], inputs: Mapping[str, float]
    ) -> None:
        """Take in readings of the present instant (those that are not numbers were lost), then go on with inputs held."""
        known = {name: value for name, value in readings.items() if math.isfinite(value)}
        measured = self.problem.reading_of(known)
        if measured.names:
            self.estimator.correct(measured)
        count = max(1, math.ceil((until - self.time) / self._step - 1e-9))
        begin = self.time
        for k in range(1, count + 1):
            self.estimator.predict(begin + (until - begin) * k / count, inputs)

    def values(self) -> dict[str, float]:
        """Return the present estimates by name."""
        return self.problem.present(self.estimator.state)

    def deviations(self) -> dict[str, float]:
        """Return the present standard deviations by name."""
        return dict(zip(self.names, map(float, self.estimator.deviations), strict=False))
