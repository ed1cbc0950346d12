"""Matrices of linear multi-mass chains ([GG11], figures 2, 3, 5): mass (vector), damping and
stiffness for `kinetree.solvers.chain`.

train: n cars on couplings, one coordinate each (tridiagonal). chain_drive: n links of six
coordinates (block tridiagonal, diagonal blocks). helical_spring: one rigid ring per turn, joined by
the compliance of the wire (block tridiagonal, full blocks). Damping is light and proportional to
the stiffness unless given.
"""

import math

import numpy as np

Matrices = tuple[np.ndarray, np.ndarray, np.ndarray]


def springs(stiffness: np.ndarray, n: int) -> np.ndarray:
    """Return the tridiagonal stiffness matrix of n coordinates: n - 1 springs join neighbours, n +
    1 springs include walls at both ends.
    """
    k = np.asarray(stiffness, dtype=float)
    between = k if len(k) == n - 1 else k[1:-1]
    C = np.diag(-between, 1) + np.diag(-between, -1)
    diagonal = -C.sum(axis=1)
    if len(k) == n + 1:
        diagonal[0] += k[0]
        diagonal[-1] += k[-1]
    return C + np.diag(diagonal)


def extremes(C: np.ndarray, masses: np.ndarray) -> tuple[float, float]:
    """Return the lowest and highest natural frequency of a tridiagonal chain."""
    root = np.sqrt(masses)
    diagonal, beside = np.diagonal(C) / masses, np.diagonal(C, 1) / (root[1:] * root[:-1])
    from scipy.linalg import eigvalsh_tridiagonal

    ends = [
        eigvalsh_tridiagonal(diagonal, beside, select="i", select_range=(i, i))[0]
        for i in (0, len(masses) - 1)
    ]
    return math.sqrt(max(ends[0], 0.0)), math.sqrt(ends[1])


def train(
    cars: int = 20,
    mass: float = 20e3,
    coupling: float = 2e6,
    damping: float = 0.0,
    locomotive: float | None = None,
) -> Matrices:
    """Return the matrices of a free train: cars joined by equal couplings; damping in N.s/m per
    coupling.
    """
    masses = np.full(cars, float(mass))
    masses[0] = mass if locomotive is None else locomotive
    C = springs(np.full(cars - 1, coupling), cars)
    return masses, C * (damping / coupling), C


def stretched_train(
    cars: int = 200, ratio: float = 1e4, damping: float = 1e-3, seed: int = 0
) -> Matrices:
    """Return the matrices of unit masses between a wall and a free end on random springs with a
    given omega_max/omega_min.

    damping: fraction of critical damping of the fastest mode; the slowest mode gets 0.5 %.
    """
    spread = np.random.default_rng(seed).uniform(-1.0, 1.0, cars)

    low, high = 0.0, 8.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        slow, fast = extremes(
            springs(np.append(10.0 ** (middle * spread), 0.0), cars), np.ones(cars)
        )
        low, high = (middle, high) if fast < ratio * slow else (low, middle)
    C = springs(np.append(10.0 ** (high * spread), 0.0), cars)
    slow, fast = extremes(C, np.ones(cars))
    return np.ones(cars), C * (2.0 * damping / fast) + np.eye(cars) * (0.01 * slow), C


def two_mass_train(cars: int = 100, ratio: float = 1e4, damping: float = 1e-3) -> Matrices:
    """Return the matrices of a train of two-mass cars: unit masses on stiff frames with unit
    couplings and a given omega_max/omega_min.
    """
    n = 2 * cars
    k = np.ones(n + 1)
    k[-1] = 0.0
    slow = extremes(springs(np.append(np.ones(cars), 0.0), cars), np.full(cars, 2.0))[0]
    for _ in range(4):  # the slow mode depends little on the frames
        k[1:-1:2] = 0.5 * (ratio * slow) ** 2
        C = springs(k, n)
        slow, fast = extremes(C, np.ones(n))
    return np.ones(n), C * (2.0 * damping / fast) + np.eye(n) * (0.01 * slow), C


def chain_drive(
    links: int = 40,
    link_mass: float = 0.02,
    pitch: float = 0.0127,
    axial: float = 8e6,
    tension: float = 300.0,
    damping: float = 1e-6,
) -> Matrices:
    """Return the matrices of the span of a chain drive between two sprockets: per link x (along),
    y, z, and rotations about x, y, z.

    Transverse stiffness is that of a string (tension/pitch); rotations are held by the pins.
    damping: F = damping*C.
    """
    across = tension / pitch
    joint = np.array([axial, across, across, 0.5, across * pitch**2 / 4, 40.0])
    inertia = link_mass * pitch**2 / 12
    masses = np.tile([link_mass] * 3 + [inertia / 4, inertia, inertia], links)
    C = np.kron(springs(np.ones(links + 1), links), np.diag(joint))
    return masses, damping * C, C


def helical_spring(
    turns: int = 8,
    radius: float = 0.03,
    wire: float = 0.005,
    pitch: float = 0.012,
    young: float = 206e9,
    poisson: float = 0.3,
    density: float = 7850.0,
    damping: float = 1e-7,
) -> Matrices:
    """Return the matrices of a helical spring as rings, one end clamped: per ring displacements x,
    y, z (axis) and rotations.
    """
    K = turn_stiffness(radius, wire, pitch, young, poisson)
    lift = np.eye(6)  # wrench on the far ring, moved to the near one
    lift[3:, :3] = cross_matrix(np.array([0.0, 0.0, pitch]))
    n = 6 * turns
    C = np.zeros((n + 6, n + 6))
    for i in range(turns):
        near, far = slice(6 * i, 6 * i + 6), slice(6 * i + 6, 6 * i + 12)
        C[far, far] += K
        C[near, near] += lift @ K @ lift.T
        C[near, far] -= lift @ K
        C[far, near] -= K @ lift.T
    C = 0.5 * (C + C.T)[6:, 6:]
    mass = density * math.pi * wire**2 / 4 * math.hypot(2 * math.pi * radius, pitch)
    masses = np.tile([mass] * 3 + [mass * radius**2 / 2] * 2 + [mass * radius**2], turns)
    return masses, damping * C, C


def turn_stiffness(
    radius: float, wire: float, pitch: float, young: float, poisson: float, sections: int = 360
) -> np.ndarray:
    """Return the 6 x 6 stiffness of one turn with one end clamped, at the centre of the other end."""
    shear, area, second = young / (2 * (1 + poisson)), math.pi * wire**2 / 4, math.pi * wire**4 / 64
    far, compliance = np.array([0.0, 0.0, pitch]), np.zeros((6, 6))
    length = math.hypot(2 * math.pi * radius, pitch) / sections
    for s in range(sections):
        angle = 2 * math.pi * (s + 0.5) / sections
        point = np.array(
            [radius * math.cos(angle), radius * math.sin(angle), pitch * angle / (2 * math.pi)]
        )
        tangent = np.array(
            [-radius * math.sin(angle), radius * math.cos(angle), pitch / (2 * math.pi)]
        )
        along = np.outer(tangent, tangent) / (tangent @ tangent)
        moment = np.hstack((cross_matrix(far - point), np.eye(3)))
        force = np.eye(3, 6)
        compliance += (
            length
            * force.T
            @ (along / (young * area) + (np.eye(3) - along) / (0.9 * shear * area))
            @ force
        )
        compliance += (
            length
            * moment.T
            @ (along / (2 * shear * second) + (np.eye(3) - along) / (young * second))
            @ moment
        )
    return np.linalg.inv(compliance)


def cross_matrix(a: np.ndarray) -> np.ndarray:
    """Return the matrix of the cross product: a × x."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
