"""Bodies of point masses on a chain of hinges, by dense matrices: an independent computation of accelerations and contact forces.

Positions of all points are one function of the coordinates; everything else is differentiated from it, by complex steps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

STEP, WIDE = 1e-30, 1e-4
Places = Callable[[np.ndarray], np.ndarray]


def turn(vector: np.ndarray) -> np.ndarray:
    """Rotation matrix of a rotation vector, complex ones too."""
    square = vector @ vector
    x, y, z = vector
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    if abs(square) < 1e-8:
        return np.eye(3) + (1 - square / 6) * skew + (0.5 - square / 24) * skew @ skew
    angle = np.sqrt(square)
    return np.eye(3) + np.sin(angle) / angle * skew + (1 - np.cos(angle)) / square * skew @ skew


def slopes(f: Places, y: np.ndarray) -> np.ndarray:
    """df/dy, the result flattened."""
    return np.array([f(y + 1j * STEP * e).imag.ravel() / STEP for e in np.eye(y.size)]).T


def along(f: Places, y: np.ndarray, u: np.ndarray) -> np.ndarray:
    """df/dt for dy/dt = u."""
    return f(y + 1j * STEP * u).imag.ravel() / STEP


def bend(f: Places, y: np.ndarray, u: np.ndarray) -> np.ndarray:
    """d²f/dt² for dy/dt = u and d²y/dt² = 0, by central differences of fourth order."""
    h = WIDE / max(1.0, np.abs(u).max())
    at = [along(f, y + k * h * u, u) for k in (-2, -1, 1, 2)]
    return (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h)


class DenseBodies:
    """Points with a mass matrix between them, elastic forces along coordinates, and constraints."""

    def __init__(self, places: Places, mass: np.ndarray, loads: Callable, gravity: np.ndarray):
        self.places, self.mass, self.loads, self.gravity = places, mass, loads, gravity

    def matrices(self, y: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mass matrix and right-hand side of the free coordinates."""
        J = slopes(self.places, y).reshape(len(self.mass), 3, y.size)
        b = bend(self.places, y, u).reshape(-1, 3) - self.gravity
        carried = np.einsum("st,tik->sik", self.mass, J)
        M = np.einsum("sik,sil->kl", J, carried)
        return M, self.loads(y, u) - np.einsum("sik,si->k", carried, b)

    def accelerations(self, y: np.ndarray, u: np.ndarray, held: Places) -> np.ndarray:
        """Accelerations that keep `held` constant."""
        M, f = self.matrices(y, u)
        J = slopes(held, y)
        n, r = y.size, len(J)
        whole = np.block([[M, J.T], [J, np.zeros((r, r))]])
        return np.linalg.lstsq(whole, np.concatenate((f, -bend(held, y, u))), rcond=1e-13)[0][:n]

    def closed(self, y: np.ndarray, u: np.ndarray, held: Places) -> tuple[np.ndarray, np.ndarray]:
        """State that meets held = 0, near the given one."""
        for _ in range(20):
            y = y - np.linalg.pinv(slopes(held, y)) @ held(y)
        J = slopes(held, y)
        return y, u - np.linalg.pinv(J) @ (J @ u)
