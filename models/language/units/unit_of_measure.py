"""Units of measure given as text, such as N.m.s/rad or kg.m2/s, resolved to SI base units.

Internally everything is in SI: numbers with other units are converted when they are read, and
converted back for display.
"""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass
from functools import lru_cache

BASE = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
NONE = dict.fromkeys(BASE, 0)


@dataclass(frozen=True)
class Unit:
    """A unit: value in SI base units = factor * value + offset; exponents in the order of BASE."""

    text: str
    exponents: tuple[int, ...]
    factor: float = 1.0
    offset: float = 0.0

    @property
    def base(self) -> dict[str, int]:
        """Return the base units with nonzero exponents."""
        return {
            name: exponent for name, exponent in zip(BASE, self.exponents, strict=True) if exponent
        }

    @property
    def coherent(self) -> bool:
        """Return whether values in this unit equal those in SI."""
        return self.factor == 1.0 and self.offset == 0.0

    def to_si(self, value):
        """Return a value or array in this unit, converted to SI."""
        return self.factor * value + self.offset

    def from_si(self, value):
        """Return an SI value or array, converted to this unit."""
        return (value - self.offset) / self.factor


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
PREFIXES = {
    "n": 1e-9,
    "u": 1e-6,
    "m": 1e-3,
    "c": 1e-2,
    "d": 1e-1,
    "h": 1e2,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
}
PREFIXED = (
    "m",
    "s",
    "g",
    "N",
    "J",
    "W",
    "Pa",
    "bar",
    "Hz",
    "V",
    "A",
    "F",
    "H",
    "Ohm",
    "C",
    "l",
    "L",
    "rad",
    "K",
    "T",
)
FACTOR = re.compile(r"([A-Za-z%]+|1)(?:\^?(-?\d{1,2}))?$")


class UnitError(ValueError):
    """Raised for a text that is not a valid unit."""


# what a unit that is not coherent with SI becomes: units with exponents
COHERENT: dict[str, dict[str, int]] = {
    "%": {}, "g": {"kg": 1}, "t": {"kg": 1}, "min": {"s": 1}, "h": {"s": 1}, "deg": {"rad": 1}, "rev": {"rad": 1}, "rpm": {"rad": 1, "s": -1},
    "bar": {"Pa": 1}, "l": {"m": 3}, "L": {"m": 3}, "degC": {"K": 1},
}  # fmt: skip


@lru_cache(maxsize=1024)
def parse_unit(text: str) -> Unit:
    """Return a unit from text: factors joined by `.` or `*`, one `/` before the divisor, which may
    be in parentheses, integer exponents.
    """
    exponents, factor, offset = dict(NONE), 1.0, 0.0
    words = factors(text)
    for word, sign in words:
        unit, power = factor_of(word)
        power *= sign
        if unit.offset:
            if len(words) > 1 or power != 1:
                raise UnitError(f"'{word}' cannot be part of a product")
            offset = unit.offset
        factor *= unit.factor**power
        for name, exponent in zip(BASE, unit.exponents, strict=True):
            exponents[name] += exponent * power
    return Unit(text, tuple(exponents.values()), factor, offset)


def factors(text: str) -> list[tuple[str, int]]:
    """Return the factors of a unit with their exponents, negative for divisors."""
    compact = text.strip().replace(" ", "").replace("*", ".").replace("·", ".")
    if len(compact) > 100:
        raise UnitError("a unit has at most 100 characters")
    above, *below = compact.split("/")
    found = []
    for part, sign in [(above, 1), *((part, -1) for part in below)] if compact else ():
        inside = part[1:-1] if part.startswith("(") and part.endswith(")") else part
        found += [(word, sign) for word in inside.split(".")]
    return found


def factor_of(word: str) -> tuple[Unit, int]:
    """Return one factor of a unit with its exponent."""
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
    raise UnitError(f"'{name}' is not a known unit{nearest(name)}")


def nearest(name: str) -> str:
    """Return a clause that names the known unit most similar to a text, or an empty text."""
    known = {*UNITS, *(prefix + rest for prefix in PREFIXES for rest in PREFIXED)}
    words = SPELLED.get(name.lower()) or next(
        iter(each for each in sorted(known) if each.lower() == name.lower()), None
    )
    near = [words] if words else difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else ""


SPELLED = {
    "meter": "m", "metre": "m", "meters": "m", "metres": "m", "second": "s", "seconds": "s", "sec": "s", "newton": "N", "newtons": "N", "joule": "J",
    "watt": "W", "pascal": "Pa", "degree": "deg", "degrees": "deg", "radian": "rad", "radians": "rad", "hertz": "Hz", "kilogram": "kg", "kgs": "kg",
    "gram": "g", "ton": "t", "tonne": "t", "hour": "h", "hr": "h", "minute": "min", "nm": "N.m", "celsius": "degC", "liter": "l", "litre": "l",
}  # fmt: skip


@lru_cache(maxsize=1024)
def coherent(text: str) -> str:
    """Return the corresponding SI unit, such as m for mm, N/m for kN/mm, m3/s for l/min."""
    if parse_unit(text).coherent:
        return text
    powers: dict[str, int] = {}
    for word, sign in factors(text):
        match = FACTOR.match(word)
        assert match is not None
        name, power = match[1], int(match[2] or 1) * sign
        plain = (
            {}
            if name == "1"
            else COHERENT.get(
                name, {name: 1} if name in UNITS else COHERENT.get(name[1:], {name[1:]: 1})
            )
        )
        for each, exponent in plain.items():
            powers[each] = powers.get(each, 0) + exponent * power
    above, below = (
        [f"{n}{abs(p) if abs(p) > 1 else ''}" for n, p in powers.items() if p * sign > 0]
        for sign in (1, -1)
    )
    divisor = "" if not below else "/" + (below[0] if len(below) == 1 else f"({'.'.join(below)})")
    return (".".join(above) or "1") + divisor


def fits(text: str, expected: str) -> bool:
    """Return whether a unit has the same dimension as the SI unit `expected`; angles and pure
    numbers are distinguished.

    Exceptions: units that contain a mass may omit the angle, such as N.m for N.m/rad, and 1 stands
    for rad.
    """
    unit, right = parse_unit(text), parse_unit(expected)
    angle = BASE.index("rad")
    if unit.exponents == right.exponents:
        return True
    if unit.exponents[:angle] != right.exponents[:angle]:
        return False
    massive, bare = right.exponents[0] != 0, not any(right.exponents[:angle])
    return (
        (massive or bare)
        and unit.exponents[angle] * right.exponents[angle] == 0
        and unit.coherent | massive
    )
