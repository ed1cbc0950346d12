"""Animation clips of equilibria and of vibration modes about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.result.number_format import written
from kinetree.models.scene.body_poses import Motion, of_columns
from kinetree.models.scene.scene import Clip
from kinetree.models.system.local_coordinates import Chart

if TYPE_CHECKING:
    from kinetree.models.analysis.equilibrium import Equilibrium
    from kinetree.models.analysis.linearization import Mode
    from kinetree.models.system.system import System

MODES = 12  # of a state, at most
FRAMES, PLAYED = 49, 2.0  # of a swing, and the seconds it takes on the page
PART = 0.06  # of the mechanism's size: how far the fastest point of a mode moves
LARGEST_TURN = 0.35  # rad


def rest_clip(system: System, rest: Equilibrium, name: str) -> Clip:
    """Return a clip that shows an equilibrium without motion."""
    return Clip(
        name,
        of_columns(
            system, np.array([rest.t]), {**columns(system, rest.q[np.newaxis]), **states(rest, 1)}
        ),
    )


def columns(system: System, q: np.ndarray) -> dict[str, np.ndarray]:
    """Return columns of coordinates for one position, with zero speeds."""
    return dict(zip(system.coordinates, q.T, strict=True)) | {
        name: np.zeros(len(q)) for name in system.speeds
    }


def states(rest: Equilibrium, count: int) -> dict[str, np.ndarray]:
    return {name: np.full(count, value) for name, value in rest.states.items()}


def mode_clips(system: System, rest: Equilibrium, size: float) -> list[Clip]:
    """Return clips of the slowest modes about an equilibrium."""
    chart = Chart(system, rest.t, rest.q)
    found = []
    for k, mode in enumerate(rest.modes[:MODES], 1):
        damped = f", damping ratio {written(mode.damping, 3)}" if abs(mode.damping) > 1e-4 else ""
        motion = swing(system, rest, chart, mode, size)
        found.append(
            Clip(
                f"mode {k}: {written(mode.frequency, 4)} Hz{damped}",
                motion,
                None,
                motion.time[-1] / PLAYED,
            )
        )
    return found


def swing(system: System, rest: Equilibrium, chart: Chart, mode: Mode, size: float) -> Motion:
    """Return one period of a mode with a visible amplitude."""
    names = [chart.names[j] for j in chart.independent]
    shape = np.array([mode.shape.get(name, 0.0) for name in names])
    period = 1.0 / mode.frequency if mode.frequency > 0.0 else 1.0
    time = np.linspace(0.0, period, FRAMES)

    def moved(amplitude: float, count: int = FRAMES) -> Motion:
        phases = np.exp(2j * np.pi * np.linspace(0.0, 1.0, count))
        q = np.array([chart.position(amplitude * (shape * phase).real) for phase in phases])
        return of_columns(
            system, np.linspace(0.0, period, count), {**columns(system, q), **states(rest, count)}
        )

    trial = 1e-4
    seen = moved(trial, 5)
    travel = (
        max((float(np.ptp(pose[:, :3], axis=0).max()) for pose in seen.poses.values()), default=0.0)
        / trial
    )
    turns = (
        max(
            (float(np.linalg.norm(np.ptp(pose[:, 4:], axis=0))) for pose in seen.poses.values()),
            default=0.0,
        )
        / trial
    )
    amplitude = min(
        2.0 * PART * size / travel if travel > 0.0 else np.inf,
        LARGEST_TURN / turns if turns > 0.0 else np.inf,
    )
    motion = moved(amplitude if np.isfinite(amplitude) else trial)
    return Motion(time, motion.rows, motion.stages, motion.poses, {}, {}, motion.bending)
