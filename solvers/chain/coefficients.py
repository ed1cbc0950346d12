"""Scaled coefficients of a chain in energy coordinates.

M x.. + F x. + (C + Z) x = f + Z x_cm becomes, with row vectors e = x B (C + Z = B BT: strains in
units of energy^1/2) and v = x. M^1/2, e. = v Bh, v. = -e BhT - v Fh + (f + x_cm Z) M^-1/2, Bh =
M^-1/2 B, Fh = M^-1/2 F M^-1/2. This is the matrix S of [GG11] with the banded B instead of Ch^1/2:
a rotation for F = 0, so that rounding errors grow no faster than 2^m. Matrices without such a
factor (indefinite or unsymmetric) keep the coordinates x M^1/2, x. M^1/2 of [GG11] (3). For a full
mass matrix its Cholesky factor L (M = L LT) replaces M^1/2.
"""

import math
from typing import NamedTuple

import numpy as np

from kinetree.solvers.chain import band_kernels
from kinetree.solvers.chain.band_factor import factor
from kinetree.solvers.chain.band_matrices import (
    Band,
    dense,
    diagonals,
    from_dense,
    identity,
    pitch,
    transposed,
    zeros,
)

SMALL = 40  # chains up to this size are dense from the start: calls cost more than operations
DENSE_ABOVE = 0.25  # wider bands (as part of n) are stored as dense matrices


class ChainError(ValueError):
    """Raised for matrices that do not describe a chain; the message names the matrix and what was
    expected.
    """


class Coefficients(NamedTuple):
    n: int
    mass: np.ndarray  # square roots of the masses (n), or L (n x n) of a full mass matrix
    B: (
        Band | None
    )  # factor of the stiffness, unscaled; None when there is none: the general form, e = x M^1/2
    Bh: Band  # scaled factor; E in the general form
    BhT: Band  # its transpose; Ch^T in the general form
    Fh: Band  # scaled damping
    damped: bool
    Ch: Band  # scaled stiffness
    free: np.ndarray  # coordinates without pivot: integrated besides the strains
    pitch: int  # half-width that every further factor of a product adds; less than the widths where the elements stand in blocks
    omega: float  # bound of all |eigenvalues|
    omega_trace: float  # square root of the trace of Ch: the bound of [GG11]


def check_accuracy(accuracy: float) -> None:
    """Raise ChainError for an accuracy outside (0, 1)."""
    if not 0.0 < accuracy < 1.0:
        raise ChainError(f"accuracy: expected a number between 0 and 1, got {accuracy}")


class Springs(NamedTuple):
    """A stiffness matrix given by its springs: adding a stiff spring to a soft one in a diagonal
    element would lose digits of the soft one.
    """

    between: np.ndarray  # n - 1 of neighbours
    ground: np.ndarray  # n to the ground


def listed(springs: Springs) -> tuple[Band, int]:
    """Return the stiffness matrix of the springs as a band."""
    n = len(springs.ground)
    if len(springs.between) != n - 1 or not all(
        np.isfinite(part).all() and (part >= 0.0).all() for part in springs
    ):
        raise ChainError(
            f"stiffness: expected {n - 1} springs between {n} coordinates, numbers not below 0"
        )
    band = zeros(n, 1 if n > 1 else 0)
    elements = diagonals(band, n)
    elements[:, band.width] = springs.ground
    elements[1:, 0] -= springs.between
    elements[: n - 1, 2 * band.width] -= springs.between
    elements[1:, band.width] += springs.between
    elements[: n - 1, band.width] += springs.between
    return band, n


def as_band(value, n: int | None, name: str) -> tuple[Band, int]:
    """Return a band from a vector (diagonal), a matrix, a sparse matrix, a band (copied) or None
    (zero).
    """
    if value is None:
        return zeros(n, 0), n
    if isinstance(value, Springs):
        return listed(value)
    if isinstance(value, Band):
        return value._replace(data=value.data.copy()), value.data.size // (value.stride + 1)
    sparse = value.tocoo() if hasattr(value, "tocoo") else None
    full = np.asarray(value if sparse is None else sparse.data, dtype=float)
    shape = (
        tuple(sparse.shape)
        if sparse is not None
        else full.shape * 2
        if full.ndim == 1
        else full.shape
    )
    if (
        len(shape) != 2
        or shape[0] != shape[1]
        or shape[0] == 0
        or (n is not None and shape[0] != n)
    ):
        raise ChainError(
            f"{name}: expected a vector or a square matrix"
            + (f" for {n} coordinates" if n else "")
            + f", got shape {shape}"
        )
    if not np.isfinite(full).all():
        raise ChainError(f"{name}: contains NaN or infinity")
    n = shape[0]
    if sparse is not None:
        band = zeros(n, int(np.abs(sparse.row - sparse.col).max(initial=0)))
        np.add.at(band.data, band.base + sparse.row * band.stride + sparse.col, full)
    elif full.ndim == 1:
        band = zeros(n, 0)
        diagonals(band, n)[:, 0] = full
    else:
        flat = np.ascontiguousarray(full).reshape(-1)
        band = zeros(n, band_kernels.reach(flat, n))
        band_kernels.add(band.data, band.base, band.stride, band.width, 1.0, flat, 0, n, n)
    return band, n


def unscaled(value, n: int) -> np.ndarray:
    """Return an input (vector, matrix or band) as a dense matrix."""
    return dense(as_band(value, n, "matrix")[0], n)


def is_symmetric(a: Band, n: int) -> bool:
    """Return whether a matrix is symmetric up to rounding."""
    return bool(
        np.abs(diagonals(a, n) - diagonals(transposed(a, n), n)).max()
        <= 1e-13 * np.abs(a.data).max()
    )


def scale(mass, damping, stiffness, supports=None) -> Coefficients:
    """Check the matrices of a chain and return its scaled coefficients. `supports`, the diagonal of
    Z, is added to the stiffness, which may be given as `Springs`.
    """
    C, n = as_band(stiffness, None, "stiffness")
    ground = stiffness.ground if isinstance(stiffness, Springs) and supports is None else None
    if supports is not None:
        diagonals(C, n)[:, C.width] += diagonals(as_band(supports, n, "supports")[0], n)[:, 0]
    F, M = as_band(damping, n, "damping")[0], as_band(mass, n, "mass")[0]
    found = factor(C, n, ground) if is_symmetric(C, n) and is_symmetric(F, n) else None
    B, free = found or (None, np.empty(0, dtype=int))
    if M.width == 0:
        root = diagonals(M, n)[:, 0]
        if not (root > 0).all():
            raise ChainError(f"mass: expected {n} positive numbers")
        root = np.sqrt(root)
        Ch, Fh, Bh = (
            scaled(C, root, True),
            scaled(F, root, True),
            scaled(B, root, False) if B else None,
        )
    else:
        if not is_symmetric(M, n):
            raise ChainError("mass: expected a symmetric matrix")
        try:
            root = np.linalg.cholesky(dense(M, n))
        except np.linalg.LinAlgError:
            raise ChainError("mass: expected a positive definite matrix") from None
        Ch, Fh = reduced(root, dense(C, n)), reduced(root, dense(F, n))
        Bh = from_dense(np.linalg.solve(root, dense(B, n))) if B else None
    stretch, friction = norm_bound(Ch, n), norm_bound(Fh, n)
    trace = float(np.trace(dense(Ch, n)) if Ch.is_dense else diagonals(Ch, n)[:, Ch.width].sum())
    omega = 0.5 * (friction + math.sqrt(friction * friction + 4.0 * stretch))
    Bh, Fh, Ch = (
        from_dense(dense(a, n))
        if not a.is_dense and (n <= SMALL or a.width > max(8, DENSE_ABOVE * n))
        else a
        for a in (Bh or identity(n), Fh, Ch)
    )
    BhT = transposed(Bh if B else Ch, n)
    step = pitch([Ch, Fh], n)
    return Coefficients(
        n,
        root,
        B,
        Bh,
        BhT,
        Fh if B else transposed(Fh, n),
        friction > 0,
        Ch,
        free,
        step,
        omega,
        math.sqrt(max(0.0, trace)),
    )


def scaled(a: Band, root: np.ndarray, both: bool) -> Band:
    """Return a band matrix with its rows (and columns if `both`) divided by `root`."""
    n = len(root)
    out = zeros(n, a.width)
    target = diagonals(out, n)
    target[:] = diagonals(a, n) / root[:, None]
    for d in range(-a.width, a.width + 1) if both else ():
        i = np.arange(max(0, -d), min(n, n - d))
        target[i, a.width + d] /= root[i + d]
    return out


def reduced(root: np.ndarray, full: np.ndarray) -> Band:
    """Return L⁻¹ A L⁻ᵀ for a full matrix A and the Cholesky factor L of the mass matrix."""
    return from_dense(np.linalg.solve(root, np.linalg.solve(root, full).T).T)


def norm_bound(a: Band, n: int) -> float:
    """Return an upper bound of the largest |eigenvalue|: the smaller of the Gershgorin bound and
    the Frobenius norm (the trace of [GG11] is never below the latter).
    """
    elements = dense(a, n) if a.is_dense else diagonals(a, n)
    return float(min(np.abs(elements).sum(axis=1).max(), np.linalg.norm(elements)))


def to_scaled(chain: Coefficients, rows: np.ndarray) -> np.ndarray:
    """Return x M^1/2 (scaled rows) from rows x."""
    return rows * chain.mass if chain.mass.ndim == 1 else rows @ chain.mass


def from_scaled(chain: Coefficients, rows: np.ndarray) -> np.ndarray:
    """Return the rows x from x M^1/2 (scaled rows)."""
    return rows / chain.mass if chain.mass.ndim == 1 else np.linalg.solve(chain.mass.T, rows.T).T


def force_rows(chain: Coefficients, channels: np.ndarray) -> np.ndarray:
    """Return unit forces at the channels in scaled coordinates: rows of M^-1/2 (L^-T for a full
    mass matrix).
    """
    unit = np.zeros((len(channels), chain.n))
    unit[np.arange(len(channels)), channels] = 1.0
    return unit / chain.mass if chain.mass.ndim == 1 else np.linalg.solve(chain.mass, unit.T).T
