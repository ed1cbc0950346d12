"""Registry of sensors: each file of this folder declares some kinds.

Codes, when a sensor can be read, what it depends on, the dispatch of kernels and `layout.Sensor`
come from the registry. A new sensor is an entry here and its kernel in `solvers/sensors`; the
quantities that outputs may name are in `models/quantities`. Nothing here imports numba.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import NamedTuple


class Kind(NamedTuple):
    """The declaration of a kind of sensor: a scalar, or component 0, 1, 2 or the length (3) of a
    vector.
    """

    name: str
    code: int  # stands in payloads: never given twice, never changed; says nothing else
    kernel: str  # in solvers/sensors, as module.function of (model, ws, s): a number, or a vector in ground axes
    vector: bool = False
    late: bool = True  # needs the accelerations
    speeds: bool = True  # depends on the speeds, not on the coordinates alone
    reactions: bool = False  # needs the reactions of joints


def found() -> tuple[Kind, ...]:
    """Return all kinds of sensors in the order of their codes."""
    kinds: list[Kind] = [
        kind
        for module in iter_modules(__path__)
        for kind in import_module(f"{__name__}.{module.name}").SENSORS
    ]
    codes = [kind.code for kind in kinds]
    if (
        len(set(codes)) < len(codes) or min(codes) < 0 or max(codes) > 62
    ):  # sets of codes are bits of a word
        raise ValueError(
            f"two sensors have one code, or a code is none of 0 to 62: {sorted(codes)}"
        )
    return tuple(sorted(kinds, key=lambda kind: kind.code))


KINDS = found()
BY_CODE = {kind.code: kind for kind in KINDS}
