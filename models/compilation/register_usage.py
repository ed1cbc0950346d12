"""Register usage: which registers are read during a run; sensors of other registers are evaluated
only for results.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from kinetree.solvers import layout as L
from kinetree.solvers.model_records import SENSOR
from kinetree.solvers.sensors.kinds import BY_CODE

# fields that name registers, of numbers or of the first of up to three; what in them is no register does no harm
FIELDS = (
    "forces", "guards", "actions", "latches", "probes", "knots", "potentials", "x_rate", "l_slope", "l_arm", "l_input", "c_number", "c_guard",
    "c_value", "e_axis", "e_amount", "e_factor", "u_rotor", "b_mass", "b_com", "b_inertia",
)  # fmt: skip


def registers_read(ints: Mapping[str, np.ndarray], sensors: Iterable[Sequence[int]]) -> set[int]:
    """Return the registers that instructions, records of the model or sensors may read."""
    firsts = [int(each) for name in FIELDS for each in ints[name]]
    firsts += [-1 - each for each in firsts if each < 0]  # guards name conditions so
    firsts += [int(each) for each in ints["l_a"][ints["l_kind"] == L.Loop.COUPLING]]
    firsts += [record[k] for record in sensors for k in (3, 5)]
    operands = ints["code"].reshape(-1, L.INSTRUCTION)[:, 2:]
    return {int(each) for each in operands.ravel()} | {
        first + k for first in firsts for k in range(3)
    }


REGISTER, AXIS = (SENSOR.places[name][0] for name in ("register", "axis"))


def whole(records: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return the sensors with three consecutive components of one vector combined into one sensor."""
    found: list[tuple[int, ...]] = []
    for record in records:
        found.append(record)
        if (
            record[AXIS] == 2
            and BY_CODE[record[0]].vector
            and found[-3:] == [moved(record, back) for back in (2, 1, 0)]
        ):
            first = list(found[-3])
            first[AXIS] = L.WHOLE
            found[-3:] = [tuple(first)]
    return found


def moved(record: tuple[int, ...], back: int) -> tuple[int, ...]:
    """Return the sensor record of the component `back` places before in the same vector."""
    return tuple(value - back if k in (REGISTER, AXIS) else value for k, value in enumerate(record))
