"""Data of a system structure: components, connectors, connections, values, units, experiment.

Names of elements and namespaces are those of SSP 1.0, which SSP 2.0 shares (Modelica Association,
ssp-standard.org).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SSP = "http://ssp-standard.org/SSP1/SystemStructure"
SSD, SSC, SSV, SSM = (
    f"{SSP}Description",
    f"{SSP}Common",
    f"{SSP}ParameterValues",
    f"{SSP}ParameterMapping",
)
VERSIONS = ("1.0", "2.0")
MAIN = "SystemStructure.ssd"
SET = "initialValues"  # name of every parameter set, so that a host applies all of them by one name
OURS, OMS, OSP = (
    "org.kinetree",
    "org.openmodelica",
    "com.opensimulationplatform",
)  # annotations that say how to step
OWN = "urn:kinetree:cosimulation"
REALS = ("Real", "Float64", "Float32")
INTEGERS = ("Integer", "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64")

Value = float | int | bool | str


@dataclass(frozen=True)
class Base:
    """value in base units = factor * value + offset, with exponents by base unit."""

    exponents: Mapping[str, int]
    factor: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Connector:
    """A visible variable; kind is input, output, inout, parameter or calculatedParameter."""

    name: str
    kind: str
    type: str = "Real"
    unit: str = ""


@dataclass(frozen=True)
class Component:
    """An FMU in the archive, and parameter values for its variables."""

    name: str
    source: str
    connectors: tuple[Connector, ...] = ()
    values: Mapping[str, Value] = field(default_factory=dict)

    def connector(self, name: str) -> Connector | None:
        return next((connector for connector in self.connectors if connector.name == name), None)


@dataclass(frozen=True)
class Link:
    """end = factor * start + offset; `slope` is the start element's output that is the time derivative.

    `mean` asks for the mean over a step, `hold` for the value at its beginning, `bond` names the power bond that the connection belongs to.
    """

    start: str
    start_connector: str
    end: str
    end_connector: str
    factor: float = 1.0
    offset: float = 0.0
    slope: str = ""
    mean: bool = False
    hold: bool = False
    bond: str = ""


@dataclass(frozen=True)
class Structure:
    """A flat system; components are in their stepping order."""

    name: str
    components: tuple[Component, ...]
    links: tuple[Link, ...]
    units: Mapping[str, Base] = field(default_factory=dict)
    start_time: float = 0.0
    stop_time: float | None = None
    step_size: float | None = None
    scheme: str = ""
    text: str = ""
    notes: tuple[str, ...] = ()

    def component(self, name: str) -> Component | None:
        return next((component for component in self.components if component.name == name), None)


def own_name(root: Mapping[str, str]) -> str:
    """Return the name of a system; archives of Kinetree store the user's name beside an identifier."""
    ours = root.get("generationTool", "").startswith("Kinetree")
    return (root.get("description") if ours else None) or root.get("name", "system")
