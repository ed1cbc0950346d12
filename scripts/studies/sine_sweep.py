"""Frequency responses measured on the nonlinear mechanism: sinusoidal inputs of its native FMU, one
frequency after another, from equilibrium.

The input is constant over each of PER communication steps per period: the actual input is a
staircase, whose first harmonic is a sinc(ωh/2) exp(-jωh/2). After the transient (the slowest mode
has decayed to QUIET) the outputs are correlated with exp(-jωt) over whole periods; the quotient of
the first harmonics of output and input is the response. Distortion is the magnitude of harmonics 2
to 5 relative to the first.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.scripts.terminal.error_messages import BadInput

if TYPE_CHECKING:
    from kinetree.models.system.system import System

PER, OVER = 200, 4  # communication steps a period, periods that are correlated
QUIET = 1e-5  # part of the transient that may be left
COUNT = 13  # frequencies
MOST = 2_000_000  # communication steps of a sweep


@dataclass(frozen=True)
class Sweep:
    """Measured and linear responses (frequencies, outputs) to one input, and the distortion of
    each.
    """

    frequencies: np.ndarray  # Hz
    outputs: tuple[str, ...]
    measured: np.ndarray
    linear: np.ndarray
    distortion: np.ndarray

    @property
    def apart(self) -> np.ndarray:
        """Return the relative difference |measured - linear|/|linear|."""
        return np.abs(self.measured - self.linear) / np.maximum(np.abs(self.linear), 1e-300)


def swept(
    mechanism: Any,
    system: System,
    given: str,
    outputs: Sequence[str],
    low: float,
    high: float,
    amplitude: float,
    held: Mapping[str, float] | None = None,
    told: Callable[[float], None] = lambda done: None,
) -> Sweep:
    """Measure frequency responses between `low` and `high` [Hz] on the FMU with sinusoidal inputs."""
    from kinetree.fmu.archive.build import build_fmu
    from kinetree.models.analysis.linearization import linearize
    from kinetree.models.system.controller_variants import resting
    from kinetree.scripts.fmi.fmpy_host import Archive, Host

    rest = resting(system).equilibrium(inputs=held)
    linear = linearize(
        resting(system), rest.t, rest.q, None, held, list(outputs), rest.states
    ).part([given], list(outputs))
    slowest = -float(np.linalg.eigvals(linear.A).real.max(initial=-np.inf))
    if not slowest > 0.0:
        raise BadInput(
            "--sweep: the equilibrium is not stable; close its control loops first (kinetree tune --into)"
        )
    frequencies = np.geomspace(low, high, COUNT) if high > low else np.array([low])
    waits = [math.ceil(math.log(1.0 / QUIET) / slowest * f) + 1 for f in frequencies]
    if PER * (sum(waits) + OVER * len(waits)) > MOST:
        raise BadInput(
            f"--sweep: motions that take {1.0 / slowest:.3g} s to fall need too many periods up to {high:g} Hz: take lower frequencies"
        )
    places = {**rest.coordinates, **rest.states} if not system.description.run.prepare else {}
    middle = {**(held or {})}.get(
        given, float(system._fast.input_starts()[system.compiled.inputs.index(given)])
    )
    found, bent = (
        np.zeros((len(frequencies), len(outputs)), dtype=complex),
        np.zeros((len(frequencies), len(outputs))),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plant.fmu"
        build_fmu(mechanism, path, "native", "2")
        with Archive(path) as archive:
            for k, (frequency, wait) in enumerate(zip(frequencies, waits, strict=True)):
                begin = {
                    name: value for name, value in places.items() if name in archive.references
                }
                host = Host(archive).start({**begin, **(held or {}), given: middle})
                try:
                    rows = answers(host, given, outputs, middle, amplitude, frequency, wait)
                finally:
                    host.fmu.terminate()
                    host.fmu.freeInstance()
                found[k], bent[k] = harmonics(rows, amplitude)
                told(k + 1.0)
    return Sweep(
        frequencies,
        tuple(outputs),
        found,
        linear.response(2.0 * np.pi * frequencies)[:, :, 0],
        bent,
    )


def answers(
    host: Any,
    given: str,
    outputs: Sequence[str],
    middle: float,
    amplitude: float,
    frequency: float,
    wait: int,
) -> np.ndarray:
    """Run one frequency; return the outputs at the beginnings of the communication steps of the
    last periods, (steps, outputs).
    """
    begin, step, rows = host.time, 1.0 / (PER * frequency), []
    for k in range(PER * (wait + OVER)):
        if k >= PER * wait:
            rows.append(host.get(outputs))
        host.set({given: middle + amplitude * math.sin(2.0 * math.pi * k / PER)})
        host.step(begin + (k + 1) * step)
    return np.array(rows)


def harmonics(rows: np.ndarray, amplitude: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the response and the distortion of every output; `amplitude` is that of the sine from
    which the staircase input was made.
    """
    whole = np.fft.rfft(rows, axis=0)[::OVER][: PER // 2 + 1]  # harmonic by harmonic
    half = math.pi / PER
    staircase = -0.5j * amplitude * len(rows) * math.sin(half) / half * np.exp(-1j * half)
    size = np.maximum(np.abs(whole[1]), 1e-300)
    return whole[1] / staircase, np.sqrt((np.abs(whole[2:6]) ** 2).sum(axis=0)) / size
