"""Runs a master over time, records outputs, and stops when the coupling has become unstable."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from kinetree.scripts.cosim.masters import Master
from kinetree.scripts.cosim.slave import CosimError, Slave
from kinetree.scripts.cosim.watch import Watch


@dataclass
class Trace:
    """What was recorded, and how it ended."""

    time: np.ndarray
    columns: dict[str, np.ndarray]
    stable: bool = True
    message: str = ""
    energy_residual: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]


def cosimulate(
    master: Master,
    stop_time: float,
    step_size: float,
    recorded: Sequence[tuple[Slave, str]],
    watch: Watch | None = None,
    progress: Callable[[float], None] | None = None,
) -> Trace:
    """Steps of equal size from zero; times come from the count of steps."""
    if not (math.isfinite(step_size) and step_size > 0.0):
        raise ValueError(f"the step size is {step_size:g} s, expected a positive number")
    steps = max(1, math.ceil(stop_time / step_size - 1e-9))
    rows = np.full((steps + 1, len(recorded)), np.nan)
    residual = np.zeros(steps + 1)
    reached, message = 0, ""
    rows[0] = [slave.get(name) for slave, name in recorded]
    try:
        for k in range(steps):
            t = k * step_size
            master.step(t, min((k + 1) * step_size, stop_time) - t)
            reached = k + 1
            rows[reached] = [slave.get(name) for slave, name in recorded]
            if not np.isfinite(rows[reached]).all():
                message = f"unstable: values are no longer finite at t = {t + step_size:.6g} s"
            elif watch is not None:
                message = watch.look(master, t, step_size)
                residual[reached] = watch.residual
            if message:
                break
            if progress is not None:
                progress(t + step_size)
    except (CosimError, FloatingPointError, OverflowError, np.linalg.LinAlgError) as error:
        message = f"stopped: {error}"
    time = np.minimum(step_size * np.arange(reached + 1), stop_time)
    names = [f"{slave.name}.{name}" for slave, name in recorded]
    columns = {name: rows[: reached + 1, k] for k, name in enumerate(names)}
    return Trace(time, columns, not message, message, residual[: reached + 1])
