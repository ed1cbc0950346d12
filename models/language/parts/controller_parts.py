"""The controllers of the format: laws from measured values to a command, continuous or sampled.

The command of a controller is a value with the controller's name, which any law may use and which
`drives` adds to the force of an actuator. With a `period` a controller samples: measurements are
read (with noise and quantisation by `resolution`) at multiples of the period from the start. The
command is held until the next one takes effect, `delay` plus up to `jitter` later. A missing `kind`
is derived from the keys present.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from kinetree.models.language.numbers_and_expressions import Law, Number
from kinetree.models.language.parts.controlled_part import Controlled as Controlled
from kinetree.models.language.parts.predictive_parts import PredictiveController
from kinetree.models.language.tagged_union import OneOf


class Tracking(Controlled):
    """Keys of controllers that follow a measured value."""

    measure: Law = Field(description="Measured value: a name or an expression")
    setpoint: Law = Field(default=0.0, description="What it should be")
    speed_forward: Number = Field(
        default=0.0,
        description="Feed-forward gain of the rate of the setpoint, which must be an expression of time",
    )
    acceleration_forward: Number = Field(
        default=0.0,
        description="Feed-forward gain of the second derivative of the setpoint, which must be an expression of time",
    )


class PidController(Tracking):
    """kp e + ki ∫e dt + kd de/dt with e = setpoint - measure; the integral stops while the command
    is at a limit.
    """

    kind: Literal["pid"] = "pid"
    kp: Number = Field(default=0.0, description="Proportional gain")
    ki: Number = Field(default=0.0, description="Integral gain, per second")
    kd: Number = Field(default=0.0, description="Derivative gain, seconds")
    filter: Number = Field(
        default=0.0,
        description="Time constant of the derivative [s]; a continuous controller needs one",
    )
    setpoint_weight: Number = Field(
        default=1.0, description="Weight of the setpoint in the proportional term"
    )
    derivative_weight: Number = Field(
        default=1.0,
        description="Weight of the setpoint in the derivative term; 0: derivative of the measured value alone",
    )
    tracking: Number | None = Field(
        default=None,
        description="Time constant with which the integral follows a limited command (default: the integral stops) [s]",
    )


class LeadLagController(Tracking):
    """gain (lead s + 1)/(lag_time s + 1) of setpoint - measure."""

    kind: Literal["lead-lag"] = "lead-lag"
    gain: Number = Field(default=1.0, description="Gain at rest")
    lead: Number = Field(description="Time constant of the zero [s]")
    lag_time: Number = Field(description="Time constant of the pole [s]")


class NotchController(Tracking):
    """gain (s² + 2 depth w s + w²)/(s² + 2 width w s + w²) of setpoint - measure, w = 2 pi frequency."""

    kind: Literal["notch"] = "notch"
    gain: Number = Field(default=1.0, description="Gain at rest")
    frequency: Number = Field(description="Of the notch [Hz]")
    depth: Number = Field(
        default=0.0,
        description="Damping ratio of the zeros; depth/width is the remaining gain at the frequency",
    )
    width: Number = Field(default=1.0, description="Damping ratio of the poles")


class StateFeedback(Controlled):
    """-Σ gain (value - rest): gains by the names, or expressions, of the values fed back."""

    kind: Literal["state-feedback"] = "state-feedback"
    gains: dict[str, Number] = Field(description="Gain of every value")
    rests: dict[str, Law] = Field(
        default_factory=dict, description="Equilibrium values of the fed-back values (default: 0)"
    )


Rows = tuple[tuple[float, ...], ...]


class ObserverController(Controlled):
    """A linear observer and the feedback of its state z: y the measures, v the commands without `offset`.

    Continuous: dz/dt = A z + B v + L (y - C z), v = -K z. Sampled, with the matrices of the period: z = z⁻ + L (y - C z⁻), v = -K z,
    next z⁻ = A z + B v. It sees the commands as they are limited.
    """

    kind: Literal["observer"] = "observer"
    measures: tuple[Law, ...] = Field(
        description="Measured values, relative to their equilibrium values"
    )
    A: Rows = Field(description="States by states")
    B: Rows = Field(description="States by commands")
    C: Rows = Field(description="Measures by states")
    L: Rows = Field(description="States by measures")
    K: Rows = Field(
        description="Feedback gains: commands by states; several commands are NAME.u1, NAME.u2, ..."
    )
    commands: tuple[str, ...] = Field(
        default=(), description="Actuators that the commands drive, instead of `drives`"
    )


class Saturation(Controlled):
    """The input within `low` and `high`."""

    kind: Literal["saturation"] = "saturation"
    input: Law = Field(description="What is limited")


class RateLimit(Controlled):
    """The input, changing no faster than `rate`."""

    kind: Literal["rate-limit"] = "rate-limit"
    input: Law = Field(description="What is limited")


class Sensor(Controlled):
    """The input as a sensor gives it: sampled, delayed, quantised and noisy."""

    kind: Literal["sensor"] = "sensor"
    input: Law = Field(description="Input: a name or an expression")


CONTROLLERS = {
    "pid": PidController, "lead-lag": LeadLagController, "notch": NotchController, "state-feedback": StateFeedback,
    "observer": ObserverController, "saturation": Saturation, "rate-limit": RateLimit, "sensor": Sensor,
    "predictive": PredictiveController,
}  # fmt: skip
TELLING = {
    "kp": "pid", "ki": "pid", "kd": "pid", "lead": "lead-lag", "lag_time": "lead-lag", "frequency": "notch", "gains": "state-feedback",
    "measures": "observer", "horizon": "predictive", "track": "predictive",
}  # fmt: skip


def controller_kind(value: Any) -> str | None:
    """Return the kind of a controller's table, given or derived from its keys."""
    if not isinstance(value, dict):
        return getattr(value, "kind", None)
    if "kind" in value:
        return value["kind"] if isinstance(value["kind"], str) else None
    return next((kind for key, kind in TELLING.items() if key in value), None)


Controller = Annotated[Any, OneOf(CONTROLLERS, controller_kind)]
