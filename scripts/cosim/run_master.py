"""Runs a master over time, records outputs and the energy of the coupling, and stops when the coupling has become unstable."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from kinetree.scripts.cosim.energy_monitor import Watch
from kinetree.scripts.cosim.masters import Master
from kinetree.scripts.cosim.power_bonds import Bond
from kinetree.scripts.cosim.sign_check import crossed
from kinetree.scripts.cosim.slave import CosimError, Slave
from kinetree.scripts.cosim.step_size_control import StepControl


@dataclass
class Trace:
    """Recorded values of a co-simulation, energy errors of the bonds, and how it ended."""

    time: np.ndarray
    columns: dict[str, np.ndarray]
    stable: bool = True
    message: str = ""
    energies: dict[str, np.ndarray] = field(default_factory=dict)
    residual_power: float = 0.0  # largest of all bonds [W]
    warnings: list[str] = field(default_factory=list)
    units: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    @property
    def energy_residual(self) -> np.ndarray:
        """Return the sum over the bonds."""
        return (
            np.sum(list(self.energies.values()), axis=0)
            if self.energies
            else np.zeros(self.time.size)
        )


def cosimulate(
    master: Master,
    stop_time: float,
    step_size: float,
    recorded: Sequence[tuple[Slave, str]],
    bonds: Sequence[Bond] = (),
    progress: Callable[[float], None] | None = None,
    control: StepControl | None = None,
) -> Trace:
    """Step a master from zero to the stop time and return the recorded trace; steps are equal, or
    chosen by `control` if given.
    """
    if not (math.isfinite(step_size) and step_size > 0.0):
        raise ValueError(f"the step size is {step_size:g} s, expected a positive number")
    watches = [Watch(bond) for bond in bonds]
    times, rows, energies = (
        [0.0],
        [[slave.get(name) for slave, name in recorded]],
        [[0.0] * len(watches)],
    )
    t, h, count, power, message, warnings = 0.0, step_size, 0, 0.0, "", []
    try:
        for bond, text in crossed(master, bonds, t, h):
            if bond.meant:
                message = message or f"stopped: {text}"
            else:
                warnings.append(text)
        while t < stop_time * (1.0 - 1e-12) and not message:
            count += 1
            target = min(t + h if control else count * step_size, stop_time)
            if stop_time - target < 1e-9 * step_size:
                target = stop_time
            master.step(t, target - t)
            taken, t = target - t, target
            row = [slave.get(name) for slave, name in recorded]
            times.append(t)
            rows.append(row)
            if not np.isfinite(row).all():
                message = f"unstable: values are no longer finite at t = {t:.6g} s"
            elif watches:
                now = master.read().tolist()
                for watch in watches:
                    text = watch.look(master, now, t - taken, taken)
                    if text and watch.bond.meant:
                        message = text
                    elif text and not any(said.startswith("unstable") for said in warnings):
                        warnings.append(text)
                power = max(power, *(abs(watch.error) for watch in watches))
            energies.append([watch.residual for watch in watches])
            if control is not None:
                h = control.following(watches, taken)
            if progress is not None:
                progress(t)
    except (CosimError, FloatingPointError, OverflowError, np.linalg.LinAlgError) as error:
        message = f"stopped: {error}"
    names = [f"{slave.name}.{name}" for slave, name in recorded]
    table, made = np.array(rows), np.array(energies + [energies[-1]] * (len(times) - len(energies)))
    columns = {name: table[:, k] for k, name in enumerate(names)}
    message = message or next((text for text in warnings if text.startswith("unstable")), "")
    residuals = {watch.bond.name: made[:, k] for k, watch in enumerate(watches)}
    units = {f"{slave.name}.{name}": slave.units.get(name, "") for slave, name in recorded}
    return Trace(np.array(times), columns, not message, message, residuals, power, warnings, units)
