"""Tables of observers: measurements, estimated quantities, and their standard deviations."""

from __future__ import annotations

from pydantic import Field

from kinetree.models.language.numbers_and_expressions import Law, Number
from kinetree.models.language.parts.base_table import Named, Part


class Reading(Part):
    """A measurement that the observer processes at every sample."""

    value: Law = Field(
        description="Expected value: an expression evaluated in the observer's model"
    )
    reads: Law | None = Field(
        default=None,
        description="Measured value, such as a sensor (default: the same expression); NaN means a lost measurement",
    )
    noise: Number = Field(description="Standard deviation of the noise")
    bias: Number = Field(default=0.0, description="Standard deviation of an unknown offset")
    bias_walk: Number = Field(
        default=0.0, description="Drift of the offset, per square root of a second"
    )


class EstimatedNumber(Part):
    """A parameter or an unknown force that is estimated."""

    start: Number | None = Field(
        default=None,
        description="Initial estimate (default: the value of the parameter; 0 for a force)",
    )
    std: Number = Field(description="Standard deviation of the initial estimate")
    walk: Number = Field(
        default=0.0,
        description="Standard deviation of its random walk, per square root of a second",
    )
    min: Number | None = Field(default=None, description="Least value")
    max: Number | None = Field(default=None, description="Largest value")


class EstimatedForce(EstimatedNumber):
    """An unmeasured force or moment, along a coordinate or on a body; an unknown input of the
    mechanism needs neither.
    """

    coordinate: str | None = Field(default=None, description="Coordinate along which it acts")


class Observer(Named):
    """An extended Kalman filter with the mechanism as its model, sampled during the simulation:
    values NAME.ESTIMATE and NAME.ESTIMATE.std.

    `NAME.nis` is the mean squared normalised innovation of the last sample, 1 on average for a
    filter that is consistent.
    """

    period: Number = Field(description="Sampling period [s]")
    readings: tuple[Reading, ...] = Field(min_length=1, description="Measured values")
    estimates: dict[str, Law] = Field(
        default_factory=dict,
        description="Named expressions of coordinates, speeds and states, evaluated at the estimated state",
    )
    parameters: dict[str, EstimatedNumber] = Field(
        default_factory=dict, description="Parameters that are estimated"
    )
    unknowns: dict[str, EstimatedForce] = Field(
        default_factory=dict, description="Estimated unknown forces, or unknown inputs of that name"
    )
    start: dict[str, Number] = Field(
        default_factory=dict,
        description="Initial estimates of coordinates, speeds, states (default: the start of the mechanism)",
    )
    initial: dict[str, Number] = Field(
        default_factory=dict,
        description="Standard deviations of the initial estimates (default: 0.01)",
    )
    process: dict[str, Number] = Field(
        default_factory=dict,
        description="Process noise of speeds and states, per square root of a second, by name or `speeds` for all speeds (default: 0.01 on speeds)",
    )
