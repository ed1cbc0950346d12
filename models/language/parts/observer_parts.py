"""Tables of observers: measurements, estimated quantities, and their standard deviations."""

from __future__ import annotations

from pydantic import Field

from kinetree.models.language.numbers_and_expressions import Law, Number
from kinetree.models.language.parts.base_table import Named, Part


class Reading(Part):
    """A measurement that the observer processes at every sample."""

    value: Law = Field(description="What is read, as the model of the observer has it")
    reads: Law | None = Field(
        default=None,
        description="What comes in its place, such as the value of a sensor; left out: the same. Not a number: lost",
    )
    noise: Number = Field(description="Standard deviation of the noise")
    bias: Number = Field(default=0.0, description="Standard deviation of an unknown offset")
    bias_walk: Number = Field(default=0.0, description="Its drift, per root of a second")


class EstimatedNumber(Part):
    """A parameter or an unknown force that is estimated."""

    start: Number | None = Field(
        default=None, description="First guess; left out: the parameter's number, of a force 0"
    )
    std: Number = Field(description="Standard deviation of the first guess")
    walk: Number = Field(
        default=0.0, description="Density of its random walk, per root of a second"
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
    readings: tuple[Reading, ...] = Field(min_length=1, description="What sensors tell")
    estimates: dict[str, Law] = Field(
        default_factory=dict,
        description="Values at the estimated state, by names of their own: laws of coordinates, speeds, states",
    )
    parameters: dict[str, EstimatedNumber] = Field(
        default_factory=dict, description="Parameters that are estimated"
    )
    unknowns: dict[str, EstimatedForce] = Field(
        default_factory=dict, description="Unknown forces, or unknown inputs of that name"
    )
    start: dict[str, Number] = Field(
        default_factory=dict,
        description="Where the estimate begins: coordinates, speeds, states; left out: as the mechanism does",
    )
    initial: dict[str, Number] = Field(
        default_factory=dict,
        description="Standard deviations of these at the beginning; left out: 0.01",
    )
    process: dict[str, Number] = Field(
        default_factory=dict,
        description="Noise on speeds and states, per root of a second, by name or `speeds` for all speeds; left out: 0.01 on speeds",
    )
