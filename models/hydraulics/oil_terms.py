"""Pressures, flows and oil properties in the form that the laws of circuits use."""

from __future__ import annotations

from kinetree.models.expressions.node_arithmetic import E, const, larger, name, smaller

POLYTROPIC = 1.4
ATMOSPHERE = 1e5  # [Pa]
LEAST_PRESSURE = 1e3  # pressure below which the air does not expand further [Pa]
CAVITATION = 2e4  # [Pa]
LEAST_VOLUME = 0.1  # part of the dead volume that is always left


def pressure(place: str) -> E:
    return name(f"{place}.pressure")


def total(parts: list[E]) -> E:
    result = const(0.0)
    for part in parts:
        result = result + part
    return result


def between(x: E, low: E | float, high: E | float) -> E:
    return larger(smaller(x, high), low)


def bulk_modulus(oil: E, air: E, pressure: E) -> E:
    """Return the bulk modulus of oil with free air at a pressure [Pa]."""
    p = larger(pressure, LEAST_PRESSURE)
    share = air * (ATMOSPHERE / p) ** (1.0 / POLYTROPIC)
    return oil * (1.0 + share) / (1.0 + share * oil / (POLYTROPIC * p))
