"""A hydraulic servo drive: proportional valve and cylinder, integrated inside with steps of its own.

States: pressures of both sides and the position of the spool. The command is a profile in time,
linear between its points, plus the command of a controller. The drive's FMU is built from a
description (`drive_description.py`); this module integrates the same drive in Python and computes
its pressures at equilibrium.
"""

import math

from kinetree.scripts.cosim.time_profile import Profile, value_at
from kinetree.scripts.cosim.valve_cylinder import Cylinder, DriveError, Valve

LARGEST_STEP = 2.5e-4  # of the internal integration [s]
DAMPED = (
    0.5  # largest product of internal step and pressure eigenvalue; Runge-Kutta is stable up to 2.7
)


class Drive:
    """Valve and cylinder; with `inside`, the oil volumes belong to the mechanism, so pressures are
    inputs and flows are outputs.
    """

    INPUTS = {False: ("speed", "control"), True: ("pressure_a", "pressure_b", "control")}

    def __init__(
        self, cylinder: Cylinder, valve: Valve, profile: Profile = (), inside: bool = False
    ):
        self.cylinder, self.valve, self.profile, self.inside = (
            cylinder,
            valve,
            tuple(profile),
            inside,
        )
        self.time = self.control = 0.0
        self.length, self.speed, self.acceleration = (
            0.5 * (cylinder.shortest + cylinder.longest),
            0.0,
            0.0,
        )
        self.pressure_a = self.pressure_b = valve.tank
        self.spool = self.mean_spool = self.last_step = 0.0

    def settle(self, length: float, load: float) -> None:
        """Set the pressures to equilibrium under a load, about the mean that the supply allows."""
        c, v = self.cylinder, self.valve
        self.length = length
        self.pressure_b = max(0.25 * (v.supply - v.tank) + v.tank, v.tank - load / c.area_b)
        self.pressure_a = (load + self.pressure_b * c.area_b) / c.area_a
        if not v.tank <= self.pressure_a <= v.relief:
            needed, low, high = self.pressure_a / 1e5, v.tank / 1e5, v.relief / 1e5
            raise DriveError(
                f"the load of {load:.6g} N needs {needed:.4g} bar in the cylinder, outside of {low:g} to {high:g} bar"
            )

    # -- what it reports ------------------------------------------------------------------------------------------------------------------
    @property
    def force(self) -> float:
        return self.cylinder.force(self.pressure_a, self.pressure_b)

    @property
    def stiffness(self) -> float:
        return self.cylinder.stiffness(self.length, self.pressure_a, self.pressure_b)

    @property
    def flows(self) -> tuple[float, float]:
        """Return the flows into both sides; with `inside` at the mean spool position of the step."""
        return self.valve.flows(
            self.mean_spool if self.inside else self.spool, self.pressure_a, self.pressure_b
        )

    damping = (
        0.0  # told to the partner beside the stiffness: oil between closed edges damps nothing
    )

    @property
    def flow_a(self) -> float:
        return self.flows[0]

    @property
    def flow_b(self) -> float:
        return self.flows[1]

    @property
    def command(self) -> float:
        return self.command_at(self.time)

    @property
    def force_rate(self) -> float:
        """Return time derivative of the force at the present speed of the piston."""
        rate_a, rate_b = self.rates(
            self.spool, self.length, self.speed, self.pressure_a, self.pressure_b
        )
        return self.cylinder.force(rate_a, rate_b)

    @property
    def resting_rate(self) -> float:
        """Return the force rate [N/s] caused by the flows alone, at the spool position in mid-step."""
        half = 0.5 * self.last_step
        aim = self.command_at(self.time + 0.5 * half)
        spool = aim + (self.spool - aim) * math.exp(-half / self.valve.time_constant)
        rate_a, rate_b = self.rates(spool, self.length, 0.0, self.pressure_a, self.pressure_b)
        return self.cylinder.force(rate_a, rate_b)

    # -- motion in time -------------------------------------------------------------------------------------------------------------------
    def command_at(self, t: float) -> float:
        """Return the valve command at a time: profile plus controller, limited to the spool's
        stroke.
        """
        return min(max(value_at(self.profile, t) + self.control, -1.0), 1.0)

    def rates(
        self, spool: float, length: float, speed: float, pressure_a: float, pressure_b: float
    ) -> tuple[float, float]:
        """Return the rates of both pressures [Pa/s] for a spool position, length, speed and
        pressures.
        """
        c = self.cylinder
        flow_a, flow_b = self.valve.flows(spool, pressure_a, pressure_b)
        volume_a, volume_b = c.volumes(length)
        leak = c.leakage * (pressure_a - pressure_b)
        rate_a = c.modulus(pressure_a) / volume_a * (flow_a - c.area_a * speed - leak)
        rate_b = c.modulus(pressure_b) / volume_b * (flow_b + c.area_b * speed + leak)
        return rate_a, rate_b

    def step(self, h: float) -> None:
        """Advance the drive by h; the speed changes linearly from `speed` by `acceleration` during
        the step.
        """
        c = self.cylinder
        opening = max(abs(self.command_at(self.time + k * h / 8.0)) for k in range(9))
        quickest = max(c.bulk_modulus / v for v in c.volumes(self.length)) * self.valve.fastest(
            max(abs(self.spool), opening)
        )
        count = max(1, math.ceil(h / min(LARGEST_STEP, DAMPED / quickest) - 1e-9))
        micro, begin = h / count, self.time
        length, speed, given, self.mean_spool = self.length, self.speed, self.acceleration, 0.0
        for k in range(count):
            at = k * micro
            self.advance(
                begin + at,
                micro,
                count,
                length + (speed + 0.5 * given * at) * at,
                speed + given * at,
            )
        self.time, self.last_step = begin + h, h
        self.length = length + (speed + 0.5 * given * h) * h
        self.speed = speed + given * h

    def advance(self, t: float, h: float, count: int, length: float, speed: float) -> None:
        """Make one internal step: the spool exactly for a constant command, the pressures by
        Runge-Kutta.
        """
        aim = self.command_at(t + 0.5 * h)
        half = math.exp(-0.5 * h / self.valve.time_constant)
        spools = (
            self.spool,
            aim + (self.spool - aim) * half,
            aim + (self.spool - aim) * half * half,
        )
        self.spool = spools[2]
        self.mean_spool += (spools[0] + 4.0 * spools[1] + spools[2]) / (6.0 * count)
        if self.inside:
            return
        a, b, gain = self.pressure_a, self.pressure_b, self.acceleration
        middle, end = (
            length + 0.5 * h * (speed + 0.25 * gain * h),
            length + h * (speed + 0.5 * gain * h),
        )
        a1, b1 = self.rates(spools[0], length, speed, a, b)
        a2, b2 = self.rates(
            spools[1], middle, speed + 0.5 * gain * h, a + 0.5 * h * a1, b + 0.5 * h * b1
        )
        a3, b3 = self.rates(
            spools[1], middle, speed + 0.5 * gain * h, a + 0.5 * h * a2, b + 0.5 * h * b2
        )
        a4, b4 = self.rates(spools[2], end, speed + gain * h, a + h * a3, b + h * b3)
        self.pressure_a = a + h / 6.0 * (a1 + 2.0 * (a2 + a3) + a4)
        self.pressure_b = b + h / 6.0 * (b1 + 2.0 * (b2 + b3) + b4)

    # -- whole state ----------------------------------------------------------------------------------------------------------------------
    STATE = (
        "time",
        "length",
        "speed",
        "acceleration",
        "pressure_a",
        "pressure_b",
        "spool",
        "mean_spool",
        "last_step",
        "control",
    )

    def save(self) -> tuple[float, ...]:
        return tuple(getattr(self, name) for name in self.STATE)

    def restore(self, state: tuple[float, ...]) -> None:
        for name, value in zip(self.STATE, state, strict=True):
            setattr(self, name, value)
