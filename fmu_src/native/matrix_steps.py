"""Large steps of a linear chain inside an FMU: the matrices of dt, dt/2, .., appended to the unit's
blocks (read by native/matrix_steps.c).

A communication step is divided into pieces dt/2^i; on each piece D_0 and the rows of D_1..D_3
advance the chain under forces that are parabolas through three evaluations of the unit ([GG11] (7);
`kinetree.solvers.chain`). The remainder, shorter than the finest piece, is one Runge-Kutta step.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.solvers.records import Entry, Record

if TYPE_CHECKING:
    from kinetree.models.chain.system import ChainSystem

# offsets count from the start of the unit's ints, floats or work
RECORD = Record(
    "matrices",
    "ints: the matrices of a linear chain; lists of places follow",
    Entry("n", "coordinates"),
    Entry("free", "free coordinates"),
    Entry("channels", "coordinates on which forces act"),
    Entry("levels", "pieces"),
    Entry("general", "1 for the general form"),
    Entry("varies", "1 where forces depend on time"),
    Entry("at_steps", "in floats: length of every piece, coarsest first"),
    Entry("at_roots", "in floats: square roots of the masses"),
    Entry("width", "half-width of B"),
    Entry("at_factor", "in floats: B by columns, width + 1 numbers from the diagonal down"),
    Entry("at_places", "in ints: states of the union that are x (n), then v (n)"),
    Entry("at_free", "in ints: free coordinates"),
    Entry("at_channels", "in ints: coordinates on which forces act"),
    Entry("at_levels", "in ints: records LEVEL, one per piece"),
    Entry("at_work", "in work: WORK*n + 3*channels + free + 2*inputs numbers"),
)
LEVEL = Record(
    "level",
    "ints: one piece of a step; places in floats",
    Entry("width", "half-width of its matrices"),
    Entry("length", "length of a row"),
    Entry("p", "p by rows"),
    Entry("u", "u by rows"),
    Entry("y", "Y by rows"),
    Entry("k", "K by rows (general form), else -1"),
    Entry("rows", "rows of D_1..D_3"),
    Entry("columns", "columns of the free coordinates"),
)
WORK = 14  # numbers of work per coordinate
ORDERS = 3  # forces are parabolas
FINEST = 1e-2  # omega times the finest piece: below it Runge-Kutta of fourth order errs by 1e-12 of the amplitude
MOST_LEVELS = 24
ACCURACY = 1e-11
MAX_MATRIX_BYTES = 64e6  # bytes of matrices


def attach(unit: Any, system: ChainSystem, dt: float) -> None:
    """Append the record and the matrices to the blocks of a compiled unit (`fmu.unit.FmuUnit`)."""
    from kinetree.fmu.variables import FmuError
    from kinetree.solvers import chain as C
    from kinetree.solvers.chain.doubling import ladder
    from kinetree.solvers.chain.series_order import choose

    chain = C.scale(system.mass, system.damping, system.elastic)
    channels = np.array(system.excitation(system.inputs())[0], dtype=int)
    levels = int(
        np.clip(math.ceil(math.log2(max(chain.omega * dt, 1e-30) / FINEST)), 1, MOST_LEVELS)
    )
    pick = choose(chain.omega * dt, 0.1 * ACCURACY, lowest=levels)
    pieces = ladder(chain, dt, channels, ORDERS, ACCURACY, pick, levels)[::-1]
    record = Grown(unit)
    head = record.head
    head.n, head.free, head.channels, head.levels = (
        chain.n,
        len(chain.free),
        len(channels),
        len(pieces),
    )
    head.general, head.varies = chain.B is None, depends_on_time(system)
    head.at_steps = record.numbers(np.array([piece.dt for piece in pieces]))
    head.at_roots = record.numbers(chain.mass)
    if chain.B is not None:
        head.width, columns = columns_below(chain.B, chain.n)
        head.at_factor = record.numbers(columns)
    names = [state.name for state in unit.states]
    head.at_places = record.places(
        [names.index(name) for name in (*system.coordinates, *system.speeds)]
    )
    head.at_free, head.at_channels = record.places(chain.free), record.places(channels)
    table = np.concatenate([level(record, piece, chain, len(channels)) for piece in pieces])
    head.at_levels = record.places(table)
    if 8 * record.floats_size > MAX_MATRIX_BYTES:
        size = 8e-6 * record.floats_size
        raise FmuError(
            f"the matrices of this chain take {size:.0f} MB, more than {MAX_MATRIX_BYTES / 1e6:.0f}: take a smaller --step-size"
        )
    head.at_work = unit.work_size
    unit.work_size += (
        WORK * chain.n + 3 * len(channels) + len(chain.free) + 2 * len(unit.inputs) + 8
    )
    record.write()


class Grown:
    """The blocks of a unit with appended data."""

    def __init__(self, unit: Any):
        self.unit, self.head = unit, RECORD.of(np.zeros(RECORD.size, dtype=np.int64))
        self.ints: list[np.ndarray] = []
        self.floats: list[np.ndarray] = []
        self.ints_size, self.floats_size = unit.ints.size + RECORD.size, unit.floats.size

    def places(self, values: Any) -> int:
        """Append integers and return the index where they begin."""
        self.ints.append(np.asarray(values, dtype=np.int64).reshape(-1))
        self.ints_size += self.ints[-1].size
        return self.ints_size - self.ints[-1].size

    def numbers(self, values: np.ndarray) -> int:
        """Append floats and return the index where they begin."""
        self.floats.append(np.asarray(values, dtype=float).reshape(-1))
        self.floats_size += self.floats[-1].size
        return self.floats_size - self.floats[-1].size

    def write(self) -> None:
        """Write the appended data into the blocks of the unit."""
        at = self.unit.ints.size
        self.unit.ints = np.concatenate((self.unit.ints, self.head.block, *self.ints))
        self.unit.header.matrix_steps = at
        self.unit.floats = np.concatenate((self.unit.floats, *self.floats))


def level(record: Grown, piece: Any, chain: Any, channels: int) -> np.ndarray:
    """Append the matrices of one piece and return the record of their places."""
    from kinetree.solvers.chain import excitation_rows

    n = chain.n
    u, p, Y, K = piece.step
    width = max(a.width for a in (u, p, Y))
    length = min(n, 2 * width + 1)
    R = piece.rows
    unit = R.unit[:channels] / np.arange(1, ORDERS + 1)[:, None, None]
    parts = (R.Y[:ORDERS, :channels], R.T[:ORDERS, :channels] + unit, R.Z[:ORDERS, :channels])
    c_e, c_v = excitation_rows.columns(R, piece.dt)
    return np.array(
        LEVEL.filled(
            width=width,
            length=length,
            p=record.numbers(row_bands(p, n, width, length)),
            u=record.numbers(row_bands(u, n, width, length)),
            y=record.numbers(row_bands(Y, n, width, length)),
            k=record.numbers(row_bands(K, n, width, length)) if chain.B is None else -1,
            rows=record.numbers(
                piece.dt * np.concatenate(parts, axis=2)
            ),  # per order and channel: e (n), v (n), z (free)
            columns=record.numbers(
                np.concatenate((c_e.T, c_v.T), axis=1)
            ),  # per free coordinate: e (n), v (n)
        )
    )


def row_bands(a: Any, n: int, width: int, length: int) -> np.ndarray:
    """Return the rows of a band matrix; each starts at column clip(k - width, 0, n - length)."""
    from kinetree.solvers.chain.band_matrices import dense

    full = dense(a, n)
    first = np.clip(np.arange(n) - width, 0, n - length)
    return full[np.arange(n)[:, None], first[:, None] + np.arange(length)]


def columns_below(B: Any, n: int) -> tuple[int, np.ndarray]:
    """Return the width and the columns of a lower band matrix, from the diagonal down."""
    from kinetree.solvers.chain.band_matrices import diagonals

    below, elements = np.zeros((n, B.width + 1)), diagonals(B, n)
    for d in range(B.width + 1):
        below[: n - d, d] = elements[d:, B.width - d]
    return B.width, below


def depends_on_time(system: ChainSystem) -> bool:
    """Return whether forces or supports depend on time explicitly."""
    from kinetree.models.expressions.parse import names, parse

    laws = (
        *system.chain.forces.values(),
        *(support.motion for support in system.chain.supports.values()),
    )
    return any("t" in names(parse(law)) for law in laws)


def layout() -> dict[str, int]:
    """Return the offsets of the records in this module, for the C code."""
    return (
        RECORD.constants("M")
        | LEVEL.constants("M_LEVEL")
        | {"M_LEVEL": LEVEL.size, "M_ORDERS": ORDERS}
    )


__all__ = ["attach", "layout"]
