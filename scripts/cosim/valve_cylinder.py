"""Hydraulics of a valve-controlled cylinder: orifices with a laminar transition, relief and make-up valves, oil with free air.

Pressures are absolute.
"""

import math
from dataclasses import dataclass

ATMOSPHERE = 1e5  # [Pa]
POLYTROPIC = 1.4  # of the free air
LEAST_PRESSURE = 1e3  # below which the air does not expand further [Pa]


class DriveError(ValueError):
    """An invalid drive parameter; the message names it and what was expected."""


@dataclass(frozen=True)
class Cylinder:
    """A double-acting cylinder with its hoses."""

    area_a: float = 5.0e-3  # piston, extending side [m2]
    area_b: float = 3.5e-3  # ring, retracting side [m2]
    volume_a: float = 1.0e-3  # hose and dead volume [m3]
    volume_b: float = 1.0e-3
    shortest: float = 0.8  # length between the points [m]
    longest: float = 1.6
    bulk_modulus: float = 1.4e9  # of the oil without air [Pa]
    air: float = 0.0  # volume fraction of free air at atmospheric pressure
    leakage: float = 0.0  # past the piston [m3/(s.Pa)]

    def __post_init__(self) -> None:
        for name in ("area_a", "area_b", "volume_a", "volume_b", "bulk_modulus"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0.0):
                raise DriveError(
                    f"the drive's {name} is {value:g}, expected a positive number: without it the oil's pressure is not determined"
                )
        if not self.longest > self.shortest:
            raise DriveError(
                f"the drive's longest length {self.longest:g} m is not above its shortest {self.shortest:g} m"
            )

    def volumes(self, length: float) -> tuple[float, float]:
        """Return the oil volumes of both sides [m3] at a length."""
        volume_a = self.volume_a + self.area_a * (length - self.shortest)
        volume_b = self.volume_b + self.area_b * (self.longest - length)
        if volume_a <= 0.0 or volume_b <= 0.0:
            raise DriveError(
                f"the cylinder's length is {length:.6g} m, outside of its stroke from {self.shortest:g} m to {self.longest:g} m"
            )
        return volume_a, volume_b

    def modulus(self, pressure: float) -> float:
        """Return the bulk modulus of the oil with its free air, -V dp/dV [Pa]."""
        if self.air == 0.0:
            return self.bulk_modulus
        squeezed = max(pressure, LEAST_PRESSURE)
        bubbles = self.air * (ATMOSPHERE / squeezed) ** (1.0 / POLYTROPIC)
        return (1.0 + bubbles) / (1.0 / self.bulk_modulus + bubbles / (POLYTROPIC * squeezed))

    def force(self, pressure_a: float, pressure_b: float) -> float:
        """Return the extending force [N]; atmospheric pressure acts on the rod."""
        return pressure_a * self.area_a - pressure_b * self.area_b

    def stiffness(self, length: float, pressure_a: float, pressure_b: float) -> float:
        """Return the force gradient dF/ds with closed valves [N/m], which is negative."""
        volume_a, volume_b = self.volumes(length)
        return -(
            self.area_a**2 * self.modulus(pressure_a) / volume_a
            + self.area_b**2 * self.modulus(pressure_b) / volume_b
        )


@dataclass(frozen=True)
class Valve:
    """A four-way proportional valve between supply and tank, with relief and make-up valves at both
    ports.
    """

    supply: float = 210e5  # [Pa]
    tank: float = 5e5
    rated_flow: float = 6.0e-4  # at full stroke [m3/s] ...
    rated_drop: float = 35e5  # ... and this pressure difference over one edge [Pa]
    overlap: float = 0.0  # of the spool, part of its stroke
    time_constant: float = 0.01  # of the spool [s]
    laminar: float = 1e5  # pressure difference below which flow is proportional to it [Pa]
    relief: float = 280e5  # [Pa]
    relief_gain: float = 1.0e-9  # flow per pressure above relief [m3/(s.Pa)]
    make_up_gain: float = 1.0e-9  # flow from the tank per pressure below it [m3/(s.Pa)]

    def __post_init__(self) -> None:
        for name in ("rated_flow", "rated_drop", "laminar", "time_constant"):
            if not getattr(self, name) > 0.0:
                raise DriveError(
                    f"the drive's {name} is {getattr(self, name):g}, expected a positive number"
                )
        if not self.supply > self.tank:
            raise DriveError(
                f"the drive's supply pressure {self.supply:g} Pa is not above its tank pressure {self.tank:g} Pa"
            )

    def orifice(self, drop: float) -> float:
        """Return the flow [m3/s] through a fully open edge: proportional to the root of the
        pressure drop, linear around zero.
        """
        gain = self.rated_flow / math.sqrt(self.rated_drop)
        return gain * drop / (drop * drop + self.laminar * self.laminar) ** 0.25

    def opening(self, spool: float) -> float:
        """Return the signed opening of the edges at a spool position."""
        return math.copysign(max(abs(spool) - self.overlap, 0.0), spool)

    def flows(self, spool: float, pressure_a: float, pressure_b: float) -> tuple[float, float]:
        """Return the flows into both sides of the cylinder [m3/s]."""
        x = self.opening(spool)
        if x >= 0.0:
            flow_a, flow_b = (
                x * self.orifice(self.supply - pressure_a),
                x * self.orifice(self.tank - pressure_b),
            )
        else:
            flow_a, flow_b = (
                -x * self.orifice(self.tank - pressure_a),
                -x * self.orifice(self.supply - pressure_b),
            )
        return flow_a + self.protection(pressure_a), flow_b + self.protection(pressure_b)

    def protection(self, pressure: float) -> float:
        """Return the net flow of make-up valve (in) and relief valve (out) at one port."""
        return self.make_up_gain * max(self.tank - pressure, 0.0) - self.relief_gain * max(
            pressure - self.relief, 0.0
        )

    def fastest(self, spool: float) -> float:
        """Return an upper bound of the derivative of a flow by its pressure [m3/(s.Pa)]."""
        edge = self.rated_flow / math.sqrt(self.rated_drop * self.laminar)
        return abs(self.opening(spool)) * edge + max(self.relief_gain, self.make_up_gain)
