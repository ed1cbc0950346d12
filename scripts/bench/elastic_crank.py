"""The slider-crank with an elastic rod of the Test Set for IVP Solvers, as a reduced body in a closed loop, and its published end.

Simeon, Modelling a flexible slider crank mechanism by a mixed system of DAEs and PDEs, Math. Modelling of Systems 2 (1996) 1; Mazzia, Magherini,
Test Set for Initial Value Problem Solvers, release 2.4 (2008), problem "slider crank".

A crank turns with a given speed, a rod of length l in plane motion joins its pin with a block on a straight guide through the crank's axis. The rod
bends by two halves of sines and stretches by a quadratic element (middle, end); x goes along the chord from the crank's pin. With q = (sines; middle,
end) and the rod's angle p, its sums are

    Σ m φ, Σ m x φ, Σ m φ φ,  kinetic energy ½ q̇ᵀMq̇ + (c + Bᵀq)ᵀq̇ ṗ + ½ (J + 2 dᵀq + qᵀMq) ṗ² + terms of the pin's motion

which are invariants of a floating frame. The published data are taken as they stand: the axial entries of M are 15 times those of the shapes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg as sl

from kinetree.models import load
from kinetree.models.beams.reduction import save_reduced
from kinetree.models.system.start_values import Beginning

CRANK, ROD = 0.15, 0.30  # lengths [m]
ROD_MASS, BLOCK_MASS, ROD_INERTIA = 0.151104, 0.075552, 0.0045339259  # kg, kg, kg.m2 about the pin
YOUNG, DENSITY, SIDE = 2e11, 7870.0, 0.008  # Pa, kg/m3, of the square section [m]
SPEED, STOP = 150.0, 0.1  # rad/s, s
PI = 3.1415927  # of the published data
ANGLE, PLACE = -0.3311734988256260, 0.1697373328427860  # of the rod and of the block at STOP
SHAPES = (1.893192899613509e-4, 2.375751249879174e-5, -5.323896770569702e-6, -8.363313279112129e-6)
START_PLACE = (
    0.450016933  # of the block as printed: rounded, and kept so by forms that only solve for speeds
)
START = (0.0, 0.0, 1.03339863e-5, 1.69327969e-5)  # sines, middle and end at t = 0 [m]
START_RATES = (0.444896112581599, 4.63433931923867e-3, -1.78591076e-6, -2.68938671997904e-6)
START_TURNING = -74.99576703969453  # of the rod [rad/s]


def rod_sums() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return mass matrix and stiffness matrix of the four shapes, Σ m φ (5, 3) and Σ m φ ψᵀ (5, 5,
    3, 3), with the rigid straight rod as shape 0.
    """
    volume, stiff = SIDE**2 * ROD, YOUNG * SIDE**2 / ROD
    M: np.ndarray = DENSITY * volume * np.asarray(sl.block_diag(0.5, 0.5, [[8.0, 1.0], [1.0, 2.0]]))  # fmt: skip
    bent = PI**4 * (SIDE / ROD) ** 2
    stretched = np.array([[16.0, -8.0], [-8.0, 7.0]]) / 3.0
    K: np.ndarray = stiff * np.asarray(sl.block_diag(bent / 24.0, bent * 2.0 / 3.0, stretched))
    mass = DENSITY * volume
    S = np.zeros((5, 3))
    S[0, 0] = ROD_MASS * ROD / 2.0
    S[1:, 0] = mass * np.array([0.0, 0.0, 2.0 / 3.0, 1.0 / 6.0])
    S[1:, 1] = mass * np.array([2.0 / PI, 0.0, 0.0, 0.0])
    P = np.zeros((5, 5, 3, 3))
    P[0, 0, 0, 0] = ROD_INERTIA
    along = mass * ROD * np.array([0.0, 0.0, 1.0 / 3.0, 1.0 / 6.0])  # Σ m x φ_x
    across = mass * ROD * np.array([1.0 / PI, -0.5 / PI, 0.0, 0.0])  # Σ m x φ_y
    P[0, 1:, 0, 0], P[1:, 0, 0, 0] = along, along
    P[0, 1:, 0, 1], P[1:, 0, 1, 0] = across, across
    P[1:3, 1:3, 1, 1], P[3:, 3:, 0, 0] = M[:2, :2], M[2:, 2:]
    both = mass * np.array([[16.0 / PI**3, 0.0], [1.0 / PI - 8.0 / PI**3, -0.5 / PI]])
    P[3:, 1:3, 0, 1] = both  # Σ m φ_x ψ_y of (middle, end) and the sines
    P[1:3, 3:, 1, 0] = both.T
    return M, K, S, P


def rod_file(path: Path) -> np.ndarray:
    """Write the rod as a reduced body with modal shapes; return the matrix (4, modes) from modes to
    amplitudes of sines, middle and end.
    """
    M, K, S, P = rod_sums()
    values, T = sl.eigh(K, M)
    whole: np.ndarray = np.asarray(sl.block_diag(1.0, T))
    end = np.zeros((1, 4, 3))
    end[0, :, 0] = T[3]
    arrays: dict[str, Any] = {
        "mass": ROD_MASS,
        "S": whole.T @ S,
        "P": np.einsum("ak,abij,bl->klij", whole, P, whole),
        "stiffness": values,
        "modal_mass": np.ones(4),
        "interfaces": np.array(["end"]),
        "points": np.array([[ROD, 0.0, 0.0]]),
        "shifts": end,
        "turns": np.zeros((1, 4, 3)),
    }
    save_reduced(path, arrays)
    return T


def described(path: Path) -> dict[str, Any]:
    """Return crank, elastic rod and block as a description."""
    return {
        "format": "kinetree/1",
        "name": "elastic slider-crank",
        "gravity": [0, 0, 0],
        "bodies": {
            "crank": {"mass": 0.36, "inertia": [1e-3, 1e-3, 1e-3, 0, 0, 0]},
            "rod": {"flexible": {"file": str(path), "damping": 0.0}},
            "block": {"mass": BLOCK_MASS, "inertia": [1e-4, 1e-4, 1e-4, 0, 0, 0]},
        },
        "joints": {
            "axis": {"child": "crank", "transforms": [{"rotate": "z", "by": f"{SPEED!r}*t"}]},
            "pin": {
                "parent": "crank",
                "child": "rod",
                "at": [CRANK, 0, 0],
                "type": "revolute",
                "coordinates": ["turn"],
            },
            "guide": {"child": "block", "type": "prismatic", "axis": "x", "coordinates": ["x"]},
            "bolt": {"parent": "rod.end", "child": "block", "type": "revolute", "cut": True},
        },
        "outputs": {"angle": {"value": f"turn + {SPEED!r}*t", "unit": "rad"}},
    }


def published_end() -> dict[str, Any]:
    """Return the published end state; the block's position is shifted from the published origin to
    ours.
    """
    start = CRANK + ROD + START[3]
    return {"angle": ANGLE, "x": PLACE + start - START_PLACE, "shapes": np.array(SHAPES)}


def end_of_crank(folder: Path, tolerance: float = 1e-12) -> dict[str, Any]:
    """Run the published motion; return the rod's angle, the block's position and the four
    amplitudes at the end.
    """
    T = rod_file(folder / "rod.npz")
    to_modes = np.linalg.inv(T)
    start = {"x": CRANK + ROD + START[3], "turn": 0.0, "der(turn)": START_TURNING - SPEED}
    for k, (z, speed) in enumerate(zip(to_modes @ START, to_modes @ START_RATES, strict=True), 1):
        start |= {f"rod.mode{k}": float(z), f"der(rod.mode{k})": float(speed)}
    system = load(described(folder / "rod.npz")).beginning(Beginning(start)).compile()
    result = system.simulate(stop_time=STOP, output_step=STOP, tolerance=tolerance)
    modes = np.array([result[f"rod.mode{k}"][-1] for k in range(1, 5)])
    return {"angle": float(result["angle"][-1]), "x": float(result["x"][-1]), "shapes": T @ modes}
