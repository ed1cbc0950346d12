"""Colours of shapes, by name or as #rrggbb."""

from __future__ import annotations

import re

COLOURS = {
    "black": "#1f2328",
    "white": "#f4f5f7",
    "grey": "#8b949e",
    "silver": "#c3c9d0",
    "steel": "#6f8296",
    "red": "#c8453b",
    "brick": "#b5523f",
    "orange": "#e0802b",
    "yellow": "#e3b52f",
    "green": "#4c9a55",
    "teal": "#2f8f8b",
    "blue": "#2f6fb3",
    "navy": "#2c3f66",
    "purple": "#7d5aa6",
    "pink": "#d1709d",
    "brown": "#8a6543",
    "wood": "#c39b6b",
}


def rgb(colour: str) -> str | None:
    """Return the #rrggbb form of a colour, or None if it is unknown."""
    named = COLOURS.get(colour.lower())
    if named:
        return named
    short = re.fullmatch(r"#([0-9a-fA-F]{3})", colour)
    if short:
        return "#" + "".join(2 * digit for digit in short[1]).lower()
    return colour.lower() if re.fullmatch(r"#[0-9a-fA-F]{6}", colour) else None
