"""Settings of an estimator: sensors, estimated quantities, method, and a record."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from kinetree.models.observers.kalman_filters import FILTERS

METHODS = (*FILTERS, "moving-horizon")
SPEED_NOISE = 1e-2  # density of noise on speeds, per root of a second, where none is given


@dataclass(frozen=True)
class Sensor:
    """A measured column: standard deviation of its noise, delay and period [s], standard deviation and drift of an unknown bias."""

    name: str
    noise: float
    delay: float = 0.0
    period: float = 0.0
    bias: float = 0.0
    bias_walk: float = 0.0


@dataclass(frozen=True)
class Unknown:
    """A parameter or an input that is estimated: value and standard deviation at the start, density of its random walk [unit/s^0.5], limits."""

    name: str
    start: float
    deviation: float
    walk: float = 0.0
    least: float = -math.inf
    most: float = math.inf


@dataclass(frozen=True)
class Setup:
    """All settings that an estimator needs besides the mechanism and the record."""

    sensors: tuple[Sensor, ...]
    parameters: tuple[Unknown, ...] = ()
    forces: tuple[Unknown, ...] = ()  # inputs of the mechanism
    method: str = "ekf"
    step: float = 0.0  # longest step of prediction; 0: from reading to reading
    integrator: str | None = None
    horizon: int = 20
    iterations: int = 2
    start: Mapping[str, float] = field(default_factory=dict)
    start_deviations: Mapping[str, float] = field(default_factory=dict)
    process: Mapping[str, float] = field(default_factory=dict)  # densities by speed or state


@dataclass(frozen=True)
class Recorded:
    """A record: columns over time; NaN in a measured column means that there was no measurement."""

    time: np.ndarray
    columns: Mapping[str, np.ndarray]
