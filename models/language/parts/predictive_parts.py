"""Tables of predictive controllers: commands with bounds, tracked values, and limits."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kinetree.models.language.numbers_and_expressions import Law, Number
from kinetree.models.language.parts.base_table import Part
from kinetree.models.language.parts.controlled_part import Controlled

Matrix = tuple[tuple[float, ...], ...]


class PlannedCommand(Part):
    """A command that is planned."""

    drives: str | None = Field(
        default=None, description="Actuator to whose force the command is added"
    )
    low: Law | None = Field(default=None, description="Least command")
    high: Law | None = Field(default=None, description="Largest command")
    rate: Law | None = Field(default=None, description="Largest change of the command per second")
    target: Law = Field(default=0.0, description="Value of the command with zero cost")
    weight: Number = Field(default=0.0, description="Weight of (command - target)**2")
    rate_weight: Number = Field(
        default=0.0, description="Weight of the squared rate of the command"
    )
    start: Number = Field(default=0.0, description="Command until the first one comes")
    unit: str = Field(default="", description="Unit of the command")


class TrackedValue(Part):
    """A value that should track a setpoint."""

    value: Law = Field(description="Tracked value: a name or an expression")
    setpoint: Law = Field(default=0.0, description="Setpoint; an expression of time is predicted")
    weight: Number = Field(default=1.0, description="Weight of (value - setpoint)**2")
    final: Number | None = Field(
        default=None,
        description="Weight of (value - setpoint)**2 at the end of the horizon (default: weight times step)",
    )


class LimitedValue(Part):
    """A value with soft limits."""

    value: Law = Field(description="What is limited")
    low: Law | None = Field(default=None, description="Least value")
    high: Law | None = Field(default=None, description="Largest value")
    soft: Number = Field(
        default=1e6, description="Weight of the squared violation of a limit (soft limits may be violated)"
    )  # fmt: skip


class PredictiveController(Controlled):
    """Model-predictive control: commands that optimise the predicted motion over a horizon,
    computed anew at every sample.

    The model is the mechanism itself: sum of weight (value - setpoint)**2 and of the costs of
    commands over `horizon` steps, by Gauss-Newton steps (real-time iterations) with bounds of
    commands, rates and values.
    """

    kind: Literal["predictive"] = "predictive"
    commands: dict[str, PlannedCommand] = Field(
        min_length=1, description="Planned commands; several commands are called NAME.COMMAND"
    )
    track: tuple[TrackedValue, ...] = Field(
        min_length=1, description="Values that should follow setpoints"
    )
    limits: tuple[LimitedValue, ...] = Field(
        default=(), description="Values that should stay within limits"
    )
    horizon: int = Field(default=20, ge=1, le=500, description="Number of prediction steps")
    step: Number | None = Field(
        default=None, description="Length of a prediction step (default: the period) [s]"
    )
    parts: int = Field(
        default=1, ge=1, le=1000, description="Number of integration steps per prediction step"
    )
    iterations: int = Field(
        default=1, ge=1, le=100, description="Gauss-Newton iterations at every sample"
    )
    terminal: Matrix | None = Field(
        default=None,
        description="Symmetric matrix of weights at the end of the horizon, by the tracked values, in the place of `final`",
    )
    observer: str | None = Field(
        default=None,
        description="Observer whose estimates are used as the present state (default: the true state)",
    )
    parameters: dict[str, Law] = Field(
        default_factory=dict,
        description="Parameters with other values in the prediction model, such as estimates",
    )
