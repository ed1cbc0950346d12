"""Counts and lists of names in messages: `2 bodies`, `x, y and 3 more`."""

from __future__ import annotations

from collections.abc import Sequence


def listed(names: Sequence[str], most: int = 4) -> str:
    """Return a few names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun in singular or plural, such as `2 bodies`."""
    return f"{number} {one if number == 1 else many or one + 's'}"
