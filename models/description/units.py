"""Units as texts such as N.m.s/rad or kg.m2/s, resolved into SI base units for the FMU. Nothing is ever converted."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

BASE = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
NONE = dict.fromkeys(BASE, 0)


@dataclass(frozen=True)
class Unit:
    """value in SI base units = factor * value + offset; exponents in the order of BASE."""

    text: str
    exponents: tuple[int, ...]
    factor: float = 1.0
    offset: float = 0.0

    @property
    def base(self) -> dict[str, int]:
        """Base units with their exponents, those with exponent 0 left out."""
        return {name: exponent for name, exponent in zip(BASE, self.exponents, strict=True) if exponent}


def derived(factor: float = 1.0, offset: float = 0.0, **exponents: int) -> Unit:
    return Unit("", tuple((NONE | exponents).values()), factor, offset)


UNITS: dict[str, Unit] = {name: derived(**{name: 1}) for name in BASE}
UNITS |= {
    "1": derived(),
    "%": derived(0.01),
    "g": derived(1e-3, kg=1),
    "t": derived(1e3, kg=1),
    "min": derived(60.0, s=1),
    "h": derived(3600.0, s=1),
    "deg": derived(math.pi / 180, rad=1),
    "rev": derived(2 * math.pi, rad=1),
    "sr": derived(rad=2),
    "Hz": derived(s=-1),
    "rpm": derived(math.pi / 30, rad=1, s=-1),
    "N": derived(kg=1, m=1, s=-2),
    "J": derived(kg=1, m=2, s=-2),
    "W": derived(kg=1, m=2, s=-3),
    "Pa": derived(kg=1, m=-1, s=-2),
    "bar": derived(1e5, kg=1, m=-1, s=-2),
    "l": derived(1e-3, m=3),
    "L": derived(1e-3, m=3),
    "C": derived(A=1, s=1),
    "V": derived(kg=1, m=2, s=-3, A=-1),
    "Ohm": derived(kg=1, m=2, s=-3, A=-2),
    "F": derived(kg=-1, m=-2, s=4, A=2),
    "H": derived(kg=1, m=2, s=-2, A=-2),
    "T": derived(kg=1, s=-2, A=-1),
    "Wb": derived(kg=1, m=2, s=-2, A=-1),
    "degC": derived(1.0, 273.15, K=1),
}
PREFIXES = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "c": 1e-2, "d": 1e-1, "h": 1e2, "k": 1e3, "M": 1e6, "G": 1e9}
PREFIXED = ("m", "s", "g", "N", "J", "W", "Pa", "bar", "Hz", "V", "A", "F", "H", "Ohm", "C", "l", "L", "rad", "K", "T")
FACTOR = re.compile(r"([A-Za-z%]+|1)(?:\^?(-?\d{1,2}))?$")


class UnitError(ValueError):
    """A text that is no unit."""


@lru_cache(maxsize=1024)
def parse_unit(text: str) -> Unit:
    """Resolve a unit: factors joined by `.` or `*`, one `/` before the divisor, which may be in parentheses, whole exponents."""
    compact = text.strip().replace(" ", "").replace("*", ".").replace("·", ".")
    if not compact:
        return Unit(text, tuple(NONE.values()))
    if len(compact) > 100:
        raise UnitError("a unit has at most 100 characters")
    exponents, factor, offset = dict(NONE), 1.0, 0.0
    above, *below = compact.split("/")
    for part, sign in [(above, 1), *((part, -1) for part in below)]:
        inside = part[1:-1] if part.startswith("(") and part.endswith(")") else part
        for word in inside.split("."):
            unit, power = factor_of(word)
            power *= sign
            if unit.offset:
                if compact != word:
                    raise UnitError(f"'{word}' cannot be part of a product")
                offset = unit.offset
            factor *= unit.factor**power
            for name, exponent in zip(BASE, unit.exponents, strict=True):
                exponents[name] += exponent * power
    return Unit(text, tuple(exponents.values()), factor, offset)


def factor_of(word: str) -> tuple[Unit, int]:
    """One factor and its exponent."""
    match = FACTOR.match(word)
    if match is None:
        raise UnitError(f"'{word}' is not a unit" if word else "a unit is missing beside . or /")
    name, power = match[1], int(match[2] or 1)
    if name in UNITS:
        return UNITS[name], power
    prefix, rest = name[0], name[1:]
    if prefix in PREFIXES and rest in PREFIXED:
        unit = UNITS[rest]
        return Unit(name, unit.exponents, unit.factor * PREFIXES[prefix]), power
    raise UnitError(f"'{name}' is not a known unit")
