"""A position controller: PID with feed-forward, limits, anti-windup and a filtered derivative, sampled once per step.

    e = setpoint - measured                   setpoint = profile(t) + target
    v = bias + feed_forward d(setpoint)/dt + gain (e + I + D),    u = v within lower..upper
    I' = e/integral_time + (u - v)/(gain tracking_time),    D = -derivative_time s/(1 + filter_time s) measured

With samples k of distance h: D_k = (filter_time D_(k-1) - derivative_time (y_k - y_(k-1)))/(filter_time + h) and
I_(k+1) = I_k + h e_k/integral_time + h (u_k - v_k)/(gain tracking_time) (Astrom and Wittenmark, Computer-Controlled Systems, chapter 8).
"""

import math
from dataclasses import dataclass

from kinetree.scripts.cosim.time_profile import Profile, slope_at, value_at


class ControllerError(ValueError):
    """An invalid controller parameter; the message names it and what was expected."""


@dataclass(frozen=True)
class Pid:
    """Parameters of the controller; the measurement may have any unit, the command is -1 to 1."""

    gain: float = 10.0  # command per unit of the error
    integral_time: float = 0.0  # [s]; zero: no integral part
    derivative_time: float = 0.0  # [s]
    filter_time: float = 0.01  # of the derivative [s]
    feed_forward: float = 0.0  # command per speed of the setpoint [s/unit]
    tracking_time: float = 0.0  # of the anti-windup [s]; zero: that of the integral part
    bias: float = 0.0  # command without any error
    lower: float = -1.0
    upper: float = 1.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not math.isfinite(value):
                raise ControllerError(
                    f"the controller's {name} is {value:g}, expected a finite number"
                )
        if self.gain == 0.0:
            raise ControllerError("the controller's gain is 0: it would not act")
        for name in ("integral_time", "derivative_time", "filter_time", "tracking_time"):
            if getattr(self, name) < 0.0:
                raise ControllerError(
                    f"the controller's {name} is {getattr(self, name):g}, expected no negative number"
                )
        if not self.upper > self.lower:
            raise ControllerError(
                f"the controller's upper limit {self.upper:g} is not above its lower {self.lower:g}"
            )

    def limited(self, command: float) -> float:
        return min(max(command, self.lower), self.upper)

    @property
    def tracking(self) -> float:
        """Return time constant of the anti-windup."""
        return self.tracking_time or self.integral_time


class Controller:
    """A controller with its memory: integral, derivative, and the previous sample."""

    STATE = (
        "time",
        "measured",
        "target",
        "target_speed",
        "integral",
        "derivative",
        "before",
        "command",
        "last_step",
    )

    def __init__(self, pid: Pid, profile: Profile = ()):
        self.pid, self.profile = pid, tuple(profile)
        self.time = self.measured = self.target = self.target_speed = 0.0
        self.integral = self.derivative = self.before = self.command = self.last_step = 0.0

    def settle(self, measured: float) -> None:
        """Start in steady state at a measured value, with zero derivative and integral."""
        self.measured = self.before = measured
        self.integral = self.derivative = 0.0
        self.command = self.pid.limited(self.wanted())

    @property
    def setpoint(self) -> float:
        return value_at(self.profile, self.time) + self.target

    @property
    def error(self) -> float:
        return self.setpoint - self.measured

    def wanted(self) -> float:
        """Return the command before its limits."""
        p, ahead = self.pid, self.last_step
        speed = slope_at(self.profile, self.time)
        if ahead > 0.0:  # the mean over the step for which the command will be held
            speed = (
                value_at(self.profile, self.time + ahead) - value_at(self.profile, self.time)
            ) / ahead
        speed += self.target_speed
        return (
            p.bias
            + p.feed_forward * speed
            + p.gain * (self.error + self.integral + self.derivative)
        )

    def step(self, h: float) -> None:
        """Take the sample at the end of a step of size h."""
        p, self.last_step = self.pid, h
        self.time += h
        width = p.filter_time + h
        self.derivative = (
            p.filter_time * self.derivative - p.derivative_time * (self.measured - self.before)
        ) / width
        self.before = self.measured
        wanted = self.wanted()
        self.command = p.limited(wanted)
        if p.integral_time > 0.0:
            back = min(h / p.tracking, 1.0) * (self.command - wanted) / p.gain
            self.integral += h / p.integral_time * self.error + back

    def save(self) -> tuple[float, ...]:
        return tuple(getattr(self, name) for name in self.STATE)

    def restore(self, state: tuple[float, ...]) -> None:
        for name, value in zip(self.STATE, state, strict=True):
            setattr(self, name, value)
