"""Cuts the flat blocks into named tuples of one-dimensional slices.

The ints block starts with HEADER numbers, then three directories of offsets (one per table of `layout.py`, each with a closing end), then its fields.
The order of `part(...)` follows the tables; a test compares the counts.
"""
from collections import namedtuple

from kinetree.solvers import layout as L
from kinetree.solvers.kernel import kernel

Model = namedtuple("Model", ["header", *(f.name for f in L.MODEL_INTS), *(f.name for f in L.MODEL_FLOATS)])
Workspace = namedtuple("Workspace", [f.name for f in L.WORK])

AT_INTS = L.HEADER
AT_FLOATS = AT_INTS + len(L.MODEL_INTS) + 1
AT_WORK = AT_FLOATS + len(L.MODEL_FLOATS) + 1
AT_FIELDS = AT_WORK + len(L.WORK) + 1


@kernel
def part(block, ints, k):
    """Field whose offset stands at position k of the directories."""
    return block[ints[k] : ints[k + 1]]


@kernel
def model_view(ints, floats):
    """The compiled model in its two blocks."""
    a = AT_INTS
    f = AT_FLOATS
    return Model(
        ints[: L.HEADER],
        part(ints, ints, a + 0),
        part(ints, ints, a + 1),
        part(ints, ints, a + 2),
        part(ints, ints, a + 3),
        part(ints, ints, a + 4),
        part(ints, ints, a + 5),
        part(ints, ints, a + 6),
        part(ints, ints, a + 7),
        part(ints, ints, a + 8),
        part(ints, ints, a + 9),
        part(ints, ints, a + 10),
        part(ints, ints, a + 11),
        part(ints, ints, a + 12),
        part(ints, ints, a + 13),
        part(ints, ints, a + 14),
        part(ints, ints, a + 15),
        part(ints, ints, a + 16),
        part(ints, ints, a + 17),
        part(ints, ints, a + 18),
        part(ints, ints, a + 19),
        part(ints, ints, a + 20),
        part(ints, ints, a + 21),
        part(ints, ints, a + 22),
        part(ints, ints, a + 23),
        part(ints, ints, a + 24),
        part(ints, ints, a + 25),
        part(ints, ints, a + 26),
        part(ints, ints, a + 27),
        part(ints, ints, a + 28),
        part(ints, ints, a + 29),
        part(ints, ints, a + 30),
        part(ints, ints, a + 31),
        part(floats, ints, f + 0),
        part(floats, ints, f + 1),
    )


@kernel
def work_view(ints, work):
    """The workspace in its block."""
    w = AT_WORK
    return Workspace(
        part(work, ints, w + 0),
        part(work, ints, w + 1),
        part(work, ints, w + 2),
        part(work, ints, w + 3),
        part(work, ints, w + 4),
        part(work, ints, w + 5),
        part(work, ints, w + 6),
        part(work, ints, w + 7),
        part(work, ints, w + 8),
        part(work, ints, w + 9),
        part(work, ints, w + 10),
        part(work, ints, w + 11),
        part(work, ints, w + 12),
        part(work, ints, w + 13),
        part(work, ints, w + 14),
        part(work, ints, w + 15),
        part(work, ints, w + 16),
        part(work, ints, w + 17),
        part(work, ints, w + 18),
        part(work, ints, w + 19),
        part(work, ints, w + 20),
        part(work, ints, w + 21),
        part(work, ints, w + 22),
        part(work, ints, w + 23),
        part(work, ints, w + 24),
        part(work, ints, w + 25),
        part(work, ints, w + 26),
        part(work, ints, w + 27),
        part(work, ints, w + 28),
        part(work, ints, w + 29),
        part(work, ints, w + 30),
        part(work, ints, w + 31),
        part(work, ints, w + 32),
        part(work, ints, w + 33),
        part(work, ints, w + 34),
        part(work, ints, w + 35),
        part(work, ints, w + 36),
        part(work, ints, w + 37),
        part(work, ints, w + 38),
        part(work, ints, w + 39),
        part(work, ints, w + 40),
        part(work, ints, w + 41),
        part(work, ints, w + 42),
        part(work, ints, w + 43),
        part(work, ints, w + 44),
        part(work, ints, w + 45),
        part(work, ints, w + 46),
        part(work, ints, w + 47),
        part(work, ints, w + 48),
        part(work, ints, w + 49),
        part(work, ints, w + 50),
        part(work, ints, w + 51),
        part(work, ints, w + 52),
    )
