"""The keys common to all controllers."""

from __future__ import annotations

from pydantic import Field

from kinetree.models.language.numbers_and_expressions import Law, Number
from kinetree.models.language.parts.base_table import Named


class Controlled(Named):
    """Keys of every controller: limits of the command, sampling, and sensor errors."""

    drives: str | None = Field(
        default=None, description="Actuator to whose force the command is added"
    )
    offset: Law = Field(default=0.0, description="Added to the command: a feed-forward")
    low: Number | None = Field(default=None, description="Least command")
    high: Number | None = Field(default=None, description="Largest command")
    rate: Number | None = Field(
        default=None, description="Largest change of the command per second"
    )
    lag: Number = Field(
        default=1e-3,
        description="Of a continuous controller: time constant with which the command follows inside its `rate`, "
        "and with which the integral stops at a limit [s]",
    )
    period: Number | None = Field(
        default=None, description="Sampling period [s]; left out: continuous"
    )
    delay: Number = Field(default=0.0, description="Delay from the sample to its command [s]")
    jitter: Number = Field(
        default=0.0, description="Largest additional delay, random for every sample [s]"
    )
    resolution: Number = Field(
        default=0.0, description="Resolution (quantisation step) of the measured values"
    )
    noise: Number = Field(
        default=0.0,
        description="Density of the sensors' noise [unit/Hz**0.5] up to half the sampling rate: variance noise**2/(2 period)",
    )
    seed: int | None = Field(
        default=None,
        ge=0,
        description="Of the noise and the jitter: the same seed gives the same numbers; "
        "left out: drawn from the controller's name, so that no two are alike",
    )
    start: Number = Field(
        default=0.0, description="Command of a sampled controller before its first sample"
    )
    unit: str = Field(default="", description="Unit of the command")
