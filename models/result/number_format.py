"""Number formatting for engineers: units that suit the magnitude, significant digits only, no
rounding residue.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"))
SCALED = {
    "m": ("", "m", "µ"),
    "rad": ("", "m", "µ"),
    "m/s": ("", "m"),
    "rad/s": ("", "m"),
    "N": ("M", "k", ""),
    "N.m": ("M", "k", ""),
    "J": ("M", "k", ""),
    "W": ("M", "k", ""),
    "s": ("", "m"),
    "N/m": ("M", "k", ""),
    "N/s": ("M", "k", ""),
    "N.s/m": ("M", "k", ""),
    "N.m/rad": ("M", "k", ""),
}
BAR = 1e5
LITRE_PER_MINUTE = 1e-3 / 60.0  # m3/s
DUST = {
    "m": 1e-9, "rad": 1e-9, "m/s": 1e-9, "rad/s": 1e-9, "m/s2": 1e-8, "rad/s2": 1e-8, "N": 1e-6, "N.m": 1e-6, "Pa": 1e-3,
    "J": 1e-9, "W": 1e-9, "m3/s": 1e-15, "1": 1e-12,
}  # rounding of runs  # fmt: skip


def fitting(unit: str, values: ArrayLike) -> tuple[float, str]:
    """Return factor and unit in which the largest value has one to three digits before the decimal
    point.
    """
    known = np.abs(np.asarray(values, dtype=float))
    known = known[np.isfinite(known)]
    largest = float(known.max(initial=0.0))
    if unit == "Pa":
        return (1.0 / BAR, "bar") if largest >= 0.01 * BAR else (1.0, unit)
    if unit == "m3/s":
        return 1.0 / LITRE_PER_MINUTE, "l/min"
    if unit not in SCALED or largest == 0.0:
        return 1.0, unit
    allowed = SCALED[unit]
    for size, prefix in PREFIXES:
        if prefix in allowed and (
            largest
            >= size
            * (0.1 if prefix in ("", "m") and unit in ("m", "rad", "m/s", "rad/s", "s") else 1.0)
            or prefix == allowed[-1]
        ):
            return 1.0 / size, prefix + unit
    return 1.0, unit


def as_read(
    result: Any, name: str, values: np.ndarray, difference: bool = False
) -> tuple[np.ndarray, str]:
    """Return the values of a column, or differences of them, in the unit that its description asks
    for, or else in a suitable one; and that unit.
    """
    asked = result.display_unit(name) if hasattr(result, "display_unit") else ""
    if asked:
        from kinetree.models.language.units.unit_of_measure import parse_unit

        unit = parse_unit(asked)
        return unit.from_si(values) - (unit.from_si(0.0) if difference else 0.0), asked
    factor, unit = fitting(result.unit(name), values)
    return values * factor, unit


def written(value: float, digits: int = 5) -> str:
    """Return a number as text with the given number of significant digits."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else f"{value:g}"
    if value == 0.0:
        return "0"
    text = f"{value:.{digits}g}"
    if "e" in text and 1e-4 <= abs(value) < 1e7:
        text = f"{value:.0f}"
    return text.replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def written_column(values: np.ndarray, digits: int = 5) -> list[str]:
    """Return the values of one column as texts, rounded relative to its largest value."""
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    places = digits + 1 - math.floor(math.log10(largest)) if 0.0 < largest < math.inf else 0
    return [written(round(float(value), places) + 0.0, digits) for value in values]
