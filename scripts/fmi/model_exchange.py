"""Integrates the model exchange FMU of a mechanism together with a hydraulic drive, as a Modelica
tool does after an import.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np

from kinetree.scripts.cosim.hydraulic_drive import Drive
from kinetree.scripts.cosim.time_profile import value_at
from kinetree.scripts.fmi.fmpy_host import Archive, Host

TOLERANCE = 1e-9


class Exchanged:
    """Right-hand side of FMU and drive; the state vector is that of the FMU, then both pressures
    and the spool.
    """

    def __init__(self, archive: Archive, drive: Drive, actuator: str):
        self.drive, self.actuator = drive, actuator
        self.host = Host(archive, kind="ModelExchange").start({f"{actuator}.force": drive.force})
        self.host.fmu.enterContinuousTimeMode()
        count = archive.description.numberOfContinuousStates
        self.states, self.rates = np.zeros(count), np.zeros(count)
        self.host.fmu.getContinuousStates(pointer(self.states), count)

    @property
    def start(self) -> np.ndarray:
        return np.concatenate(
            (self.states, (self.drive.pressure_a, self.drive.pressure_b, self.drive.spool))
        )

    def __call__(self, t: float, y: np.ndarray) -> np.ndarray:
        """Return the rates of FMU and drive, exchanging length, speed and force."""
        fmu, drive, count = self.host.fmu, self.drive, self.states.size
        a, b, spool = y[count:]
        self.states[:] = y[:count]
        fmu.setTime(t)
        fmu.setContinuousStates(pointer(self.states), count)
        length, speed = self.host.get((f"{self.actuator}.length", f"{self.actuator}.speed"))
        self.host.set({f"{self.actuator}.force": drive.cylinder.force(a, b)})
        fmu.getDerivatives(pointer(self.rates), count)
        opening = (value_at(drive.profile, t) - spool) / drive.valve.time_constant
        return np.concatenate((self.rates, drive.rates(spool, length, speed, a, b), (opening,)))


def pointer(values: np.ndarray):
    return values.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def exchange(path: Path, drive: Drive, actuator: str, times: np.ndarray) -> np.ndarray:
    """Return the states at given times (rows) of a model exchange FMU coupled with a drive: FMU
    states, pressures, spool.
    """
    from scipy.integrate import solve_ivp

    with Archive(path) as archive:
        whole = Exchanged(archive, drive, actuator)
        try:
            found = solve_ivp(
                whole,
                (times[0], times[-1]),
                whole.start,
                "LSODA",
                times,
                rtol=TOLERANCE,
                atol=TOLERANCE,
                max_step=0.01,
            )
        finally:
            whole.host.close()
    return found.y.T
