"""Arguments of library generators: their meaning and checks of their values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Argument:
    """What decides the structure of a generated mechanism: its meaning and its range."""

    text: str
    least: float | None = None
    most: float | None = None
    words: tuple[str, ...] = ()  # what the whole numbers from `least` on mean
    unit: str = ""
    default: float | None = None  # as the generator has it


def switch(text: str) -> Argument:
    """Return an argument that is 0 or 1."""
    return Argument(text, 0, 1, ("off", "on"))


def whole(name: str, value: object, least: int, most: int) -> int:
    """Return an integer argument; raises ValueError outside the range."""
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or value != int(value)
        or not least <= value <= most
    ):
        raise ValueError(f"{name} is {value!r}, expected a whole number from {least} to {most}")
    return int(value)


def several(number: int, what: str) -> str:
    """Return a number with its noun, in plural if it is not 1."""
    return f"{number} {what}" + "s" * (number != 1)
