"""Modal stepping of chains whose damping does not couple the modes: x M^1/2 = x' Phi^T with Ch =
Phi diag(omega^2) Phi^T and Phi^T Fh Phi diagonal (Rayleigh damping).

Every mode has its own 2 x 2 matrices D_0..D_p, by the series (9) and the doublings (12), and a step
costs 8n. All steps are transformed back to coordinates by two products of (steps x n) by (n x n),
which run at the speed of BLAS; fast modes with amplitudes below the accuracy are left out there.
The eigenvectors of Ch determine a mode only to epsilon*(omega_max/omega)^2; modes for which this is
not enough are recomputed from their strains Phi^T Bh, group by group.
"""

from typing import NamedTuple

import numpy as np

from kinetree.solvers.chain.band_factor import EPSILON
from kinetree.solvers.chain.band_matrices import (
    Band,
    dense,
    diagonals,
    from_dense,
    product,
    resized,
    rows_product,
)
from kinetree.solvers.chain.coefficients import Coefficients, from_scaled, to_scaled
from kinetree.solvers.kernel import entry, kernel

KNOWN = 1e-14  # error of a mode by eigenvectors of Ch, times (omega_max/omega)^2
SLOW = (
    1e-4,
    0.1,
)  # least and largest frequency, as part of the largest one, below which modes are found again from their strains
SHARE = 0.1  # of the accuracy, for what is left out
APART = 1e-12  # damping between modes, as part of the largest damping, that counts as none
ORDER = 16  # of the series at |A|h <= 1/2: error 1e-19
BLOCK = 250  # steps that stay in the cache between march and product
SINGLE = float(
    np.finfo(np.float32).eps
)  # modes whose share of this is below the accuracy go back in single precision
SMALL = 400  # masses up to which modes of a tridiagonal stiffness are the faster way whatever the steps; wider: half; for n steps: twice
EIGEN, FLAT = (
    0.2,
    (30.0, 0.02),
)  # ns per n^3 of the modes; of a tridiagonal stiffness per n^2 and per n^3 (measured)
BACK, MARCH, SQUARE = (
    0.1,
    0.6,
    0.65,
)  # ns per n^2 and step of the way back; per n(2w + 2) and step, per n(2w)^2 and doubling in a band


class Modes(NamedTuple):
    shapes: np.ndarray  # Phi (n x n), columns
    omega: np.ndarray
    damping: np.ndarray


def at_once(chain: Coefficients, steps: int) -> bool:
    """Return whether modes are faster than transition matrices, whatever their bandwidth."""
    small = SMALL if tridiagonal(chain.Ch) else SMALL // 2
    return chain.n <= small or (chain.n <= 2 * small and steps >= chain.n)


def cost(chain: Coefficients) -> float:
    """Return the estimated time to compute the modes [ns]."""
    n, (square, cube) = chain.n, FLAT if tridiagonal(chain.Ch) else (0.0, EIGEN)
    return n**2 * (square + cube * n)


def pays(chain: Coefficients, steps: int, width: int) -> bool:
    """Return whether modes are faster even though transition matrices of this half-width exist
    already.
    """
    n = chain.n
    return cost(chain) + BACK * n**2 * steps < MARCH * n * min(n, 2 * width + 2) * steps


def widest(chain: Coefficients) -> float:
    """Return the half-width above which one more doubling takes longer than computing the modes."""
    return 0.5 * (cost(chain) / (SQUARE * chain.n)) ** 0.5


def find(chain: Coefficients, accuracy: float) -> Modes | None:
    """Return the modes of a chain; None if damping couples them or the stiffness has no factor."""
    if chain.B is None:
        return None
    rayleigh = proportional(chain)
    if rayleigh is None and not commute(chain):
        return None
    shapes = eigenvectors(chain.Ch, chain.n)
    strains = rows_product(shapes, chain.Bh)
    first, last, slow = 0, chain.n, float(np.clip((KNOWN / (SHARE * accuracy)) ** 0.5, *SLOW))
    while True:
        squares = np.einsum("ij,ij->i", strains[first:last], strains[first:last])
        last = first + int(np.count_nonzero(squares < slow**2 * squares.max(initial=0.0)))
        if last - first < 2:
            break
        group = slice(first, last)
        turn = np.linalg.eigh(strains[group] @ strains[group].T)[1].T
        shapes[group], strains[group] = turn @ shapes[group], turn @ strains[group]
    omega = np.sqrt(np.einsum("ij,ij->i", strains, strains))
    if rayleigh is not None:
        return Modes(shapes.T, omega, rayleigh[0] + rayleigh[1] * omega**2)
    friction = rows_product(shapes, chain.Fh)
    damping = np.einsum("ij,ij->i", friction, shapes)
    coupled = np.abs(friction - damping[:, None] * shapes).max()
    return Modes(shapes.T, omega, damping) if coupled <= APART * np.abs(damping).max() else None


def tridiagonal(C: Band) -> bool:
    """Return whether a band is stored as three diagonals."""
    return C.width == 1 and not C.is_dense


def eigenvectors(C: Band, n: int) -> np.ndarray:
    """Return the eigenvectors of a symmetric matrix as rows, slow modes first; LAPACK's tridiagonal
    solver is used where possible.
    """
    if tridiagonal(C):
        from scipy.linalg import (
            lapack,
        )  # costs a tenth of a second, chains with dense matrices do without

        if hasattr(lapack, "dstevd"):  # scipy 1.17
            elements = diagonals(C, n)
            _, columns, info = lapack.dstevd(elements[:, 1], elements[1:, 0])
            if info == 0:
                return columns.T
    return np.linalg.eigh(dense(C, n))[1].T


def possible(chain: Coefficients) -> bool:
    """Return whether modes can be used: the stiffness has a factor B and the damping is
    proportional.
    """
    return chain.B is not None and (proportional(chain) is not None or commute(chain))


def proportional(chain: Coefficients) -> tuple[float, float] | None:
    """Return a and b of Rayleigh damping Fh = a + b Ch; None if the damping is different by more
    than rounding.
    """
    n = chain.n
    if not chain.damped:
        return 0.0, 0.0
    if chain.Fh.width > chain.Ch.width:
        return None
    C, F = (
        dense(a, n) if chain.Ch.is_dense else diagonals(a, n)
        for a in (chain.Ch, wide(chain.Fh, chain.Ch, n))
    )
    middle = np.arange(n) if chain.Ch.is_dense else chain.Ch.width
    beside = C.copy()
    beside[np.arange(n), middle] = 0.0
    square = np.vdot(beside, beside)
    b = float(np.vdot(F, beside) / square) if square > 0.0 else 0.0
    rest = F - b * C
    a = float(rest[np.arange(n), middle].mean())
    rest[np.arange(n), middle] -= a
    return (a, b) if np.abs(rest).max() <= 4.0 * EPSILON * np.abs(F).max() else None


def wide(a: Band, like: Band, n: int) -> Band:
    """Return a copy of a band in the layout of the wider band `like`."""
    return (
        a
        if a.is_dense == like.is_dense and a.width == like.width
        else from_dense(dense(a, n))
        if like.is_dense
        else resized(a, n, like.width)
    )


def commute(chain: Coefficients) -> bool:
    """Return whether Ch Fh = Fh Ch up to rounding."""
    n, C, F = chain.n, chain.Ch, chain.Fh
    CF, FC = (product(1.0, *pair, n, C.width + F.width) for pair in ((C, F), (F, C)))
    size = np.abs(C.data).max() * np.abs(F.data).max()
    return bool(np.abs(CF.data - FC.data).max() <= APART * size)


def run(
    chain: Coefficients,
    modes: Modes,
    dt: float,
    channels: np.ndarray,
    x0: np.ndarray,
    v0: np.ndarray,
    beta: np.ndarray,
    steps: int,
    accuracy: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return x and v (steps + 1 rows each) by modes; beta (steps, p, channels) is the excitation."""
    n, p, count = chain.n, *beta.shape[1:]
    own, Y, U = np.zeros((4, n)), np.zeros((p, n)), np.zeros((p, n))
    matrices(
        own.reshape(-1),
        Y.reshape(-1),
        U.reshape(-1),
        modes.omega,
        modes.damping,
        dt,
        p,
        n,
        np.zeros(2 * p),
    )
    back = np.ascontiguousarray(
        (
            modes.shapes / chain.mass[:, None]
            if chain.mass.ndim == 1
            else from_scaled(chain, modes.shapes.T).T
        ).T
    )
    part = back[:, channels].T  # Phi^T M^-1/2 of the channels
    rows_x, rows_v = ((dt * a[:, None, :] * part).reshape(-1) for a in (Y, U))
    x, v = ((to_scaled(chain, a[None, :]) @ modes.shapes)[0] for a in (x0, v0))
    X, V = np.empty((2, steps + 1, n))
    X[0], V[0] = x0, v0
    size = max(1, min(BLOCK, steps))
    e, s = np.empty((2, size, n))
    weight, single, size_of = beta.reshape(-1), back.astype(np.float32), np.abs(back).max(axis=1)
    for k in range(0, steps, size):
        top = np.zeros((2, n))
        many = min(size, steps - k)
        march(
            e.reshape(-1),
            s.reshape(-1),
            weight[k * p * count :],
            rows_x,
            rows_v,
            own.reshape(-1),
            x,
            v,
            *top,
            n,
            many,
            p * count,
        )
        for rows, out, largest in ((e[:many], X, top[0]), (s[:many], V, top[1])):
            add_back(out[k + 1 : k + 1 + many], rows, back, single, largest * size_of, accuracy)
    return X, V


def add_back(
    out: np.ndarray,
    rows: np.ndarray,
    back: np.ndarray,
    single: np.ndarray,
    largest: np.ndarray,
    accuracy: float,
) -> None:
    """Add rows @ back to `out`; fast modes below the accuracy are multiplied in single precision or
    omitted.
    """
    tail = np.cumsum(largest[::-1])[::-1]
    exact, kept = (
        int(np.count_nonzero(part * tail > SHARE * accuracy * largest.max()))
        for part in (SINGLE, 1.0)
    )
    np.matmul(rows[:, :exact], back[:exact], out=out)
    if kept > exact:
        out += rows[:, exact:kept].astype(np.float32) @ single[exact:kept]


@entry
def matrices(own, Y, U, omega, damping, h, p, n, row):
    """Fill the 2 x 2 transition matrices of all modes (rows of `own`) and the rows (Y_k, U_k) of
    D_1..D_p of each.
    """
    for i in range(n):
        w, d = omega[i], damping[i]
        scale = max(w, abs(d), 1.0 / h)  # x' scale and v' are of one size
        m = 0
        while scale * h > 0.25 * 2.0**m:
            m += 1
        g = h / 2.0**m
        a, b, c, e = series(row, -w * w / scale * g, scale * g, -d * g, p)
        for _ in range(m):
            double(row, a, b, c, e, p)
            a, b, c, e = (
                2.0 * a + a * a + b * c,
                2.0 * b + a * b + b * e,
                2.0 * c + c * a + e * c,
                2.0 * e + c * b + e * e,
            )
        own[i], own[n + i], own[2 * n + i], own[3 * n + i] = 1.0 + a, c / scale, b * scale, 1.0 + e
        for k in range(p):
            Y[k * n + i], U[k * n + i] = row[k] / scale, row[p + k] + 1.0 / (k + 1)


@kernel
def series(row, up, down, friction, p):
    """Write to `row` D_0 - E = [[a, b], [c, e]] for A dt = [[0, up], [down, friction]], and the
    lower rows of D_k - E/k.
    """
    for k in range(2 * p):
        row[k] = 0.0
    a, b, c, e = 0.0, 0.0, 0.0, 0.0
    a1, b1, c1, e1 = 1.0, 0.0, 0.0, 1.0
    for j in range(1, ORDER + 1):
        a1, b1, c1, e1 = (
            b1 * down / j,
            (a1 * up + b1 * friction) / j,
            e1 * down / j,
            (c1 * up + e1 * friction) / j,
        )
        a, b, c, e = a + a1, b + b1, c + c1, e + e1
        for k in range(p):
            row[k] += c1 / (j + k + 1)
            row[p + k] += e1 / (j + k + 1)
    return a, b, c, e


@kernel
def double(row, a, b, c, e, p):
    """Compute the rows of D_p..D_1 of a mode for twice the step by formula (12) of [GG11]."""
    for k in range(p, 0, -1):
        S, R, binomial = 0.0, 0.0, 1.0
        for i in range(k):
            S += binomial * row[i]
            R += binomial * row[p + i]
            binomial = binomial * (k - 1 - i) / (i + 1)
        full = R + (2.0**k - 1.0) / k
        scale = 0.5**k
        row[k - 1] = scale * (row[k - 1] + S + S * a + full * c)
        row[p + k - 1] = scale * (row[p + k - 1] + R + S * b + full * e)


@entry
def march(X, V, weight, rows_x, rows_v, own, x, v, top_x, top_v, n, steps, forces):
    """Compute x' and v' of many steps (rows of X, V). x and v hold the start and are overwritten by
    the last step; top_x and top_v receive the largest magnitudes.
    """
    for k in range(steps):
        o = np.uintp(k * n)
        for i in range(n):
            X[o + i] = own[i] * x[i] + own[n + i] * v[i]
            V[o + i] = own[2 * n + i] * x[i] + own[3 * n + i] * v[i]
        for j in range(forces):
            f, r = weight[k * forces + j], np.uintp(j * n)
            if f != 0.0:
                for i in range(n):
                    X[o + i] += f * rows_x[r + i]
                    V[o + i] += f * rows_v[r + i]
        for i in range(n):
            x[i], v[i] = X[o + i], V[o + i]
            top_x[i], top_v[i] = max(top_x[i], abs(x[i])), max(top_v[i], abs(v[i]))
