"""Export of a scenario as a system structure (SSP): FMUs, connectors, values, wires, experiment."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kinetree.models.language.units.unit_of_measure import UnitError, parse_unit
from kinetree.scripts.cosim.coupling_plan import of_wires
from kinetree.scripts.cosim.masters import Wire
from kinetree.scripts.cosim.scenario import Scenario
from kinetree.scripts.cosim.scenario_units import Packed, actuated, coupled, pack_scenario
from kinetree.scripts.cosim.schemes import couple
from kinetree.scripts.cosim.wired_scenario import end_of
from kinetree.scripts.ssp.structure import (
    INTEGERS,
    REALS,
    Base,
    Component,
    Connector,
    Link,
    Structure,
    Value,
)
from kinetree.scripts.ssp.write import write_ssp
from kinetree.scripts.terminal.error_messages import BadInput

KINDS = ("input", "output", "parameter")
FOR_HOSTS = "chambers"  # the scheme that stays stable where a host steps all units at once


def export_ssp(
    scenario: Scenario,
    scheme: str,
    step_size: float,
    stop_time: float,
    path: Path,
    units: str = "native",
    ssp_version: str = "1.0",
) -> list[str]:
    """Write the archive and return notes for hosts."""
    scenario = replace(scenario, step_size=step_size)
    with TemporaryDirectory(prefix="kinetree-ssp-") as place:
        folder = Path(place)
        links, master, order = (), scheme, [unit.name for unit in scenario.units]
        if scenario.coupling is None:
            links = links_of_scenario(scenario)
            master, order = of_wires(
                scheme, order, {(link.end, link.end_connector) for link in links}, scenario.file
            )
        made = {unit.name: unit for unit in pack_scenario(scenario, scheme, units, folder)}
        packed = [made[name] for name in order]
        if scenario.coupling is not None:
            slaves = coupled(scenario, scheme, actuated(scenario), "process", folder)
            plan = couple(scheme, slaves[0], slaves[1], scenario.coupling.actuator, *slaves[2:])
            packed, master = [made[slave.name] for slave in plan.slaves], plan.master
            links = links_of_wires(plan.wires)
        known: dict[str, Base] = {}
        fed = {(link.end, link.end_connector) for link in links}
        components = tuple(component_of(unit, known, fed) for unit in packed)
        text = f"{scenario.name}, scheme {scheme}"
        structure = Structure(
            scenario.name, components, links, known, 0.0, stop_time, step_size, master, text
        )
        write_ssp(structure, path, {unit.name: unit.path for unit in packed}, ssp_version)
    return notes_on(scheme, master, scenario.coupling is not None)


def notes_on(scheme: str, master: str, coupled: bool) -> list[str]:
    """Return notes on how a scheme behaves in hosts that step all units in parallel."""
    if scheme == FOR_HOSTS or master == "held":
        return []
    way = (
        f"{FOR_HOSTS} stays stable there"
        if coupled
        else "`kinetree cosim FILE.ssp --scheme held` shows at which steps they are stable"
    )
    return [f"hosts that step all units at once turn {scheme} into held values; {way}"]


def links_of_wires(wires: Sequence[Wire]) -> tuple[Link, ...]:
    return tuple(
        Link(
            w.source.name,
            w.output,
            w.target.name,
            w.input,
            w.factor,
            w.offset,
            w.slope,
            w.mean,
            w.hold,
            w.bond,
        )
        for w in wires
    )


def links_of_scenario(scenario: Scenario) -> tuple[Link, ...]:
    names = [spec.name for spec in scenario.units]
    found = []
    for c in scenario.connections:
        start, output = end_of(c.source, names, scenario.file, "wires.from")
        end, given = end_of(c.target, names, scenario.file, "wires.to")
        slope = end_of(c.slope, names, scenario.file, "wires.slope")[1] if c.slope else ""
        found.append(
            Link(start, output, end, given, c.factor, c.offset, slope, c.mean, c.hold, c.bond)
        )
    return tuple(found)


def component_of(unit: Packed, known: dict[str, Base], fed: Set[tuple[str, str]]) -> Component:
    """Return the component of an FMU: inputs, outputs and parameters with values; its units of
    measure are added to `known`.
    """
    from fmpy import read_model_description

    variables = [
        v
        for v in read_model_description(str(unit.path), validate=False).modelVariables
        if v.causality in KINDS
    ]
    if not variables:
        raise BadInput(f"{unit.path} has no inputs, outputs or parameters to connect")
    connectors, values = [], {}
    for v in variables:
        kind = (
            "Real"
            if v.type in REALS
            else "Integer"
            if v.type in INTEGERS
            else "Boolean"
            if v.type == "Boolean"
            else "String"
        )
        if v.type == "Enumeration" or v.dimensions:
            continue  # arrays and enumerations are no connectors of a system of scalars
        if kind == "String" and v.causality == "output":
            continue  # OMSimulator knows texts as parameters only
        connectors.append(Connector(v.name, v.causality, kind, base_of(v, known)))
        if v.start is not None and (
            v.causality == "parameter"
            or (v.causality == "input" and (unit.name, v.name) not in fed)
        ):
            values[v.name] = value_of(kind, v.start)
    kinds = {c.name: c.type for c in connectors}
    values |= {name: value_of(kinds.get(name, "Real"), value) for name, value in unit.start.items()}
    return Component(unit.name, f"resources/{unit.name}.fmu", tuple(connectors), values)


def value_of(kind: str, value: Any) -> Value:
    """Convert a value of a model description, which may be a text, to its type."""
    if kind == "Boolean":
        return value in (True, "true", "1")
    return float(value) if kind == "Real" else int(value) if kind == "Integer" else str(value)


def base_of(variable: Any, known: dict[str, Base]) -> str:
    """Return the unit name of a variable if it can be reduced to base units, and add the unit to
    `known`.
    """
    name = variable.unit or getattr(variable.declaredType, "unit", None) or ""
    if name and name not in known:
        try:
            unit = parse_unit(name)
        except UnitError:
            return ""
        known[name] = Base(unit.base, unit.factor, unit.offset)
    return name
