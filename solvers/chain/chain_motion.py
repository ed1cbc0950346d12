"""Simulation of a linear chain with equal steps: x and v after every step, exact for piecewise
polynomial excitation.
"""

import numpy as np

from kinetree.solvers.chain import energy_doubling, excitation, modal_stepping, time_stepping
from kinetree.solvers.chain import excitation_rows as rows
from kinetree.solvers.chain.band_matrices import diagonals, rows_product
from kinetree.solvers.chain.coefficients import (
    ChainError,
    Coefficients,
    check_accuracy,
    from_scaled,
    scale,
    to_scaled,
)
from kinetree.solvers.chain.doubling import Generated, choose, generate, ladder

WAYS = ("auto", "modes", "matrices")


def simulate(
    mass,
    damping,
    stiffness,
    x0,
    v0,
    dt: float,
    steps: int,
    force=None,
    channels=None,
    shape: str | None = None,
    supports=None,
    support_motion=None,
    start_time: float = 0.0,
    accuracy: float = 1e-10,
    way: str = "auto",
) -> tuple[np.ndarray, np.ndarray]:
    """Return x and v (steps + 1 rows each) of M x.. + F x. + (C + Z) x = f + Z x_cm.

    force: function of time, node values (rows) or a constant row, one column per channel (default:
    all coordinates); shape: constant, linear, parabolic or spline. supports: diagonal of Z;
    support_motion: x_cm of the coordinates with Z != 0, given like force. way: auto, modes (for
    damping that does not couple them) or matrices (bands that follow the wave front); auto takes
    the faster one.
    """
    if way not in WAYS:
        raise ChainError(f"way: expected one of {', '.join(WAYS)}, got {way!r}")
    check_accuracy(accuracy)
    if not dt > 0.0 or steps < 0:
        raise ChainError(f"dt, steps: expected dt > 0 and steps >= 0, got {dt}, {steps}")
    chain = scale(mass, damping, stiffness, supports)
    inputs = (
        [sampled(force, channels, chain.n, dt, steps, shape, start_time)]
        if force is not None
        else []
    )
    if support_motion is not None:
        Z = np.asarray(supports, dtype=float)
        held = np.flatnonzero(Z)
        inputs.append(
            (*sampled(support_motion, held, chain.n, dt, steps, shape, start_time)[:3], Z[held])
        )
    used, beta = merge(inputs, steps)
    x0, v0 = np.asarray(x0, dtype=float), np.asarray(v0, dtype=float)
    if x0.shape != (chain.n,) or v0.shape != (chain.n,):
        raise ChainError(
            f"x0, v0: expected {chain.n} numbers each, got shapes {x0.shape}, {v0.shape}"
        )
    ready = prepare(chain, dt, used, beta.shape[1], accuracy, steps, way)
    if isinstance(ready, modal_stepping.Modes):
        return modal_stepping.run(chain, ready, dt, used, x0, v0, beta, steps, accuracy)
    return run(chain, ready, x0, v0, beta, steps)


def prepare(
    chain: Coefficients, dt: float, used: np.ndarray, p: int, accuracy: float, steps: int, way: str
) -> modal_stepping.Modes | Generated:
    """Return what a run needs for steps of dt: the modes or the transition matrices of a chain.
    Matrices whose bands fill up are replaced by modes.
    """
    if way == "modes" or (way == "auto" and modal_stepping.at_once(chain, steps)):
        found = modal_stepping.find(chain, accuracy)
        if way == "modes" and not found:
            raise ChainError(
                "way: modes need symmetric matrices, a stiffness that is not indefinite and damping that commutes with it"
            )
        return found or generate(chain, dt, used, p, accuracy)
    possible = way == "auto" and modal_stepping.possible(chain)
    made = ladder(
        chain,
        dt,
        used,
        p,
        accuracy,
        choose(chain, dt, accuracy),
        0,
        modal_stepping.widest(chain) if possible else None,
    )
    if made and not (possible and modal_stepping.pays(chain, steps, made[-1].step.u.width)):
        return made[-1]
    return modal_stepping.find(chain, accuracy) or generate(chain, dt, used, p, accuracy)


def sampled(
    force, channels, n: int, dt: float, steps: int, shape: str | None, start_time: float
) -> tuple:
    """Return channels, node values, interpolation shape and gain of an excitation."""
    every = np.arange(n) if channels is None else np.asarray(channels, dtype=int)
    return every, *excitation.samples(force, len(every), dt, start_time, steps, shape), 1.0


def merge(inputs: list, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the excited channels and the coefficients beta (steps, p, channels) of forces and
    support motions together.
    """
    betas = [
        (channels, excitation.coefficients(values, shape) * gain)
        for channels, values, shape, gain in inputs
    ]
    for channels, beta in betas:
        if beta.shape[2] != len(channels):
            raise ChainError(
                f"force: expected {len(channels)} columns, one per channel, got {beta.shape[2]}"
            )
    betas = [
        (channels[live], beta[:, :, live])
        for channels, beta in betas
        for live in [np.abs(beta).max(axis=(0, 1), initial=0.0) > 0.0]
    ]
    degree = max((beta.shape[1] for _, beta in betas), default=1)
    padded = [np.pad(beta, ((0, 0), (0, degree - beta.shape[1]), (0, 0))) for _, beta in betas]
    if not padded:
        return np.empty(0, dtype=int), np.zeros((steps, 1, 0))
    return np.concatenate([channels for channels, _ in betas]), np.concatenate(padded, axis=2)


def run(
    chain: Coefficients,
    made: Generated,
    x0: np.ndarray,
    v0: np.ndarray,
    beta: np.ndarray,
    steps: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute x and v after every step from x0, v0 with prepared matrices; beta (steps, p,
    channels) is the excitation.
    """
    n, free, R = chain.n, len(chain.free), made.rows
    E, V, Z = np.zeros((steps + 1, n)), np.zeros((steps + 1, n)), np.zeros((steps + 1, free))
    E[0] = rows_product(x0[None, :], chain.B)[0] if chain.B else to_scaled(chain, x0[None, :])[0]
    V[0], Z[0] = to_scaled(chain, v0[None, :])[0], x0[chain.free]
    degree, count = beta.shape[1:]
    if count:
        weight = (made.dt * beta).reshape(steps, degree * count)
        unit = R.unit[:count] / np.arange(1, degree + 1)[:, None, None]
        for out, part in ((E, R.Y[:, :count]), (V, R.T[:, :count] + unit), (Z, R.Z[:, :count])):
            np.matmul(weight, part.reshape(degree * count, -1), out=out[1:])
    u, p, Y, YT = made.step
    packed, start, length = time_stepping.pack(p, u, Y, YT, n)
    c_e, c_v = (np.ascontiguousarray(c).reshape(-1) for c in rows.columns(R, made.dt))
    scratch = np.zeros(n + time_stepping.VECTOR), np.zeros(n + time_stepping.VECTOR)
    time_stepping.march(
        E.reshape(-1),
        V.reshape(-1),
        Z.reshape(-1),
        packed,
        start,
        length,
        c_e,
        c_v,
        *scratch,
        n,
        free,
        steps,
    )
    X = positions(chain, E, Z) if chain.B else from_scaled(chain, E)
    X[0] = x0
    return X, from_scaled(chain, V)


def positions(chain: Coefficients, E: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Return the positions x (rows) from the strains e = x B and the free coordinates."""
    n, w = chain.n, chain.B.width
    elements = diagonals(chain.B, n)
    number = np.full(n, -1)
    number[chain.free] = np.arange(len(chain.free))
    inverse = np.where(number < 0, 1.0 / np.where(number < 0, elements[:, w], 1.0), 0.0)
    below = np.zeros((n, max(1, w)))
    for d in range(1, w + 1):
        below[: n - d, d - 1] = elements[d:, w - d]
    rows, padded = len(E), -(-len(E) // 4) * 4
    if padded > rows:
        E, Z = (
            np.concatenate((E, np.zeros((padded - rows, n)))),
            np.concatenate((Z, np.zeros((padded - rows, Z.shape[1])))),
        )
    X = np.empty_like(E)
    columns = (below * inverse[:, None]).reshape(-1)
    time_stepping.positions(
        X.reshape(-1),
        E.reshape(-1),
        Z.reshape(-1),
        columns,
        inverse,
        max(1, w),
        number,
        n,
        len(chain.free),
        padded,
    )
    return X[:rows]


def single(
    chain: Coefficients, made: Generated, x: np.ndarray, v: np.ndarray, beta: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return x and v after one step, computed without preparing for many; beta (p, channels)
    excites the first rows of `made`.
    """
    e = rows_product(x[None, :], chain.B) if chain.B else to_scaled(chain, x[None, :])
    w, R, count = to_scaled(chain, v[None, :]), made.rows, beta.shape[1]
    de, dw = energy_doubling.advance(made.step, e, w)
    c_e, c_v = rows.columns(R, made.dt)
    z = x[None, chain.free] + e @ c_e + w @ c_v
    e, w = e + de, w + dw
    for k, row in enumerate(made.dt * beta[:, None, :]):
        e += row @ R.Y[k, :count]
        w += row @ (R.T[k, :count] + R.unit[:count] / (k + 1))
        z += row @ R.Z[k, :count]
    return (positions(chain, e, z) if chain.B else from_scaled(chain, e))[0], from_scaled(chain, w)[
        0
    ]
