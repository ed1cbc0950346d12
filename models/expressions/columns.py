"""Columns: the variables that a compiled mechanism reports."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Column:
    """A reported variable: name, register, SI unit, display unit (empty: the SI unit)."""

    name: str
    register: int
    unit: str = ""
    text: str = ""
    display_unit: str = ""
