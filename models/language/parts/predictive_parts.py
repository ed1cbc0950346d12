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
    target: Law = Field(default=0.0, description="Where the command costs nothing")
    weight: Number = Field(default=0.0, description="Of (command - target)**2")
    rate_weight: Number = Field(default=0.0, description="Of the square of the command's rate")
    start: Number = Field(default=0.0, description="Command until the first one comes")
    unit: str = Field(default="", description="Unit of the command")


class TrackedValue(Part):
    """A value that should track a setpoint."""

    value: Law = Field(description="What is tracked")
    setpoint: Law = Field(default=0.0, description="What it should be; a law of time is foreseen")
    weight: Number = Field(default=1.0, description="Of (value - setpoint)**2")
    final: Number | None = Field(
        default=None,
        description="Of the same at the end of the horizon; left out: weight times step",
    )


class LimitedValue(Part):
    """A value with soft limits."""

    value: Law = Field(description="What is limited")
    low: Law | None = Field(default=None, description="Least value")
    high: Law | None = Field(default=None, description="Largest value")
    soft: Number = Field(
        default=1e6, description="Weight of the square of what exceeds a limit: it may, where nothing else is possible"
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
        min_length=1, description="What is commanded; of several the values are NAME.COMMAND"
    )
    track: tuple[TrackedValue, ...] = Field(
        min_length=1, description="What should follow setpoints"
    )
    limits: tuple[LimitedValue, ...] = Field(default=(), description="What should stay in limits")
    horizon: int = Field(default=20, ge=1, le=500, description="Steps that are looked ahead")
    step: Number | None = Field(
        default=None, description="Length of such a step [s]; left out: the period"
    )
    parts: int = Field(default=1, ge=1, le=1000, description="Parts in which a step is predicted")
    iterations: int = Field(default=1, ge=1, le=100, description="Improvements at every sample")
    terminal: Matrix | None = Field(
        default=None,
        description="Symmetric matrix of weights at the end of the horizon, by the tracked values, in the place of `final`",
    )
    observer: str | None = Field(
        default=None,
        description="Observer whose estimates are the state from which it plans; left out: the state itself",
    )
    parameters: dict[str, Law] = Field(
        default_factory=dict,
        description="Parameters of which the model has other values, such as estimates",
    )
