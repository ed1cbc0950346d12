"""Writes modelDescription.xml for FMI 2.0 and 3.0 from the common table of variables."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from kinetree.fmu.variables import Access, Table, Type, Variable
from kinetree.models.language.units.unit_of_measure import UnitError, parse_unit

LOG_CATEGORIES = {
    "logEvents": "Events and changes of stage",
    "logStatusWarning": "Warnings",
    "logStatusDiscard": "Evaluations that failed and may be repeated with a smaller step",
    "logStatusError": "Errors",
    "logStatusFatal": "Failures that end the instance",
    "logAll": "All messages",
}
MOST_PAIRS = 200_000  # of unknowns and knowns of the initialization
CONTINUOUS_TYPE = {2: {Type.REAL: "Real", Type.INTEGER: "Integer", Type.STRING: "String"}}
CONTINUOUS_TYPE[3] = {Type.REAL: "Float64", Type.INTEGER: "Int32", Type.STRING: "String"}


@dataclass(frozen=True)
class Facts:
    """The content of a modelDescription apart from the variables."""

    name: str
    identifier: str
    token: str
    text: str = ""
    stop_time: float = 10.0
    start_time: float = 0.0
    step: float | None = (
        1e-3  # none for hosts that integrate: they would take steps of Euler's method of that size
    )
    tolerance: float = 1e-8
    kinds: dict[str, dict[str, str]] = field(
        default_factory=dict
    )  # ModelExchange, CoSimulation: capabilities, true and tested ones only
    sources: tuple[str, ...] = ()  # C files that a host compiles


def write_xml(table: Table, facts: Facts, fmi: int) -> bytes:
    """Return modelDescription.xml as text."""
    root = Element("fmiModelDescription", root_attributes(table, facts, fmi))
    for kind, capabilities in facts.kinds.items():
        element = SubElement(root, kind, {"modelIdentifier": facts.identifier} | capabilities)
        if facts.sources and fmi == 2:  # FMI 3.0 has a file of its own for them
            files = SubElement(element, "SourceFiles")
            for name in facts.sources:
                SubElement(files, "File", {"name": name})
    write_units(root, table)
    categories = SubElement(root, "LogCategories")
    for name, text in LOG_CATEGORIES.items():
        SubElement(categories, "Category", name=name, description=text)
    times = {
        "startTime": facts.start_time,
        "stopTime": facts.stop_time,
        "tolerance": facts.tolerance,
        "stepSize": facts.step,
    }
    SubElement(
        root,
        "DefaultExperiment",
        {key: number(value) for key, value in times.items() if value is not None},
    )
    variables = SubElement(root, "ModelVariables")
    if fmi == 2:
        index = indices(table)
        for vr in index:
            write_variable_2(variables, vr, table.variables[vr], index)
        write_structure_2(root, table, index)
    else:
        for vr, variable in table.numbered():
            write_variable_3(variables, vr, variable)
        write_structure_3(root, table)
    indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="utf-8")


def root_attributes(table: Table, facts: Facts, fmi: int) -> dict[str, str]:
    """Return the attributes of the root element."""
    common = {
        "modelName": facts.name,
        "description": facts.text,
        "generationTool": f"Kinetree {version('kinetree')}",
        "generationDateAndTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "variableNamingConvention": table.convention,
    }
    if fmi == 3:
        return {"fmiVersion": "3.0", "instantiationToken": facts.token} | common
    events = (
        {"numberOfEventIndicators": str(len(table.indicators))}
        if "ModelExchange" in facts.kinds
        else {}
    )
    return {"fmiVersion": "2.0", "guid": facts.token} | common | events


def number(value: float) -> str:
    """Return the shortest text that reads back as the same number."""
    return repr(float(value))


def write_units(root: Element, table: Table) -> None:
    """Write the units in use, with exponents of base units."""
    names = sorted({v.unit for v in table.variables if v.unit})
    if not names:
        return
    definitions = SubElement(root, "UnitDefinitions")
    for name in names:
        unit = SubElement(definitions, "Unit", name=name)
        try:
            known = parse_unit(name)
        except UnitError:
            continue
        base = {key: str(exponent) for key, exponent in known.base.items()}
        if known.factor != 1.0:
            base["factor"] = number(known.factor)
        if known.offset:
            base["offset"] = number(known.offset)
        SubElement(unit, "BaseUnit", base)
        for shown in sorted(
            {v.display_unit for v in table.variables if v.unit == name and v.display_unit}
        ):
            write_display(unit, shown)


def is_defined(unit: str) -> bool:
    """Return whether a unit is written in UnitDefinitions, with base units."""
    try:
        return bool(unit) and parse_unit(unit) is not None
    except UnitError:
        return False


def write_display(unit: Element, shown: str) -> None:
    """Write a display unit: display = factor SI + offset."""
    known = parse_unit(shown)
    attributes = {"name": shown, "factor": number(1.0 / known.factor)}
    if known.offset:
        attributes["offset"] = number(-known.offset / known.factor)
    SubElement(unit, "DisplayUnit", attributes)


def real_attributes(v: Variable) -> dict[str, str]:
    """Return the attributes unit, limits and nominal value of a variable."""
    attributes = {"unit": v.unit} if v.unit else {}
    if v.display_unit and is_defined(v.unit):  # hosts refuse one that UnitDefinitions does not have
        attributes["displayUnit"] = v.display_unit
    if math.isfinite(v.minimum):
        attributes["min"] = number(v.minimum)
    if math.isfinite(v.maximum):
        attributes["max"] = number(v.maximum)
    if v.nominal is not None:
        attributes["nominal"] = number(v.nominal)
    return attributes


def common_attributes(vr: int, v: Variable) -> dict[str, str]:
    attributes = {"name": v.name, "valueReference": str(vr)}
    if v.text:
        attributes["description"] = v.text
    attributes |= {"causality": v.causality, "variability": v.variability}
    if v.initial is not None and v.causality != "input":
        attributes["initial"] = v.initial
    return attributes


# -- FMI 2.0 ------------------------------------------------------------------------------------------------------------------------------------
def indices(table: Table) -> dict[int, int]:
    """Return the index of every variable in the file by value reference. FMI 2.0 needs no variable
    for time, which some tools cannot read.
    """
    return {
        vr: k
        for k, vr in enumerate(
            (vr for vr, v in table.numbered() if v.causality != "independent"), 1
        )
    }


def write_variable_2(parent: Element, vr: int, v: Variable, index: dict[int, int]) -> None:
    element = SubElement(parent, "ScalarVariable", common_attributes(vr, v))
    attributes = real_attributes(v) if v.type == Type.REAL else {}
    if v.start is not None:
        attributes["start"] = number(v.start)
    if v.derivative_of is not None:
        attributes["derivative"] = str(index[v.derivative_of])
    SubElement(element, CONTINUOUS_TYPE[2][v.type], attributes)


def write_structure_2(root: Element, table: Table, index: dict[int, int]) -> None:
    """Write the ModelStructure of FMI 2.0: Outputs, Derivatives, InitialUnknowns."""
    structure = SubElement(root, "ModelStructure")
    outputs = [vr for vr, v in table.numbered() if v.causality == "output"]
    for group, members in (("Outputs", outputs), ("Derivatives", table.derivatives)):
        if members:
            node = SubElement(structure, group)
            for vr in members:
                SubElement(
                    node,
                    "Unknown",
                    {"index": str(index[vr])} | known_attributes(table.variables[vr], index),
                )
    unknowns = table.initial_unknowns()
    if unknowns:
        node = SubElement(structure, "InitialUnknowns")
        knowns = initial_knowns(table)
        for vr in unknowns:
            SubElement(
                node,
                "Unknown",
                {"index": str(index[vr])} | initial_attributes(table, vr, knowns, index),
            )


def known_attributes(v: Variable, index: dict[int, int] | None = None) -> dict[str, str]:
    """Return the attributes dependencies and dependenciesKind; none if an unknown may depend on all
    knowns.
    """
    if v.dependencies is None:
        return {}
    places = [str(index[vr] if index else vr) for vr, _ in v.dependencies]
    return {
        "dependencies": " ".join(places),
        "dependenciesKind": " ".join(kind for _, kind in v.dependencies),
    }


def initial_knowns(table: Table) -> list[int] | None:
    """Return the value references of parameters and start values on which initial unknowns depend.

    None is returned if assembly of loops changes start values, or if the lists would make most of
    the file.
    """
    given = [
        vr
        for vr, v in table.numbered()
        if v.access in (Access.TUNABLE, Access.FIXED)
        or (v.access == Access.START and v.initial == "exact")
    ]
    return (
        None
        if table.assembled or len(given) * len(table.initial_unknowns()) > MOST_PAIRS
        else given
    )


def initial_attributes(
    table: Table, vr: int, knowns: list[int] | None, index: dict[int, int] | None = None
) -> dict[str, str]:
    """Return explicit dependencies of an initial unknown, since hosts assume dependence on all
    inputs where they are missing.
    """
    v = table.variables[vr]
    if knowns is None or v.dependencies is None or v.causality == "calculatedParameter":
        return {}
    inputs = [known for known, _ in v.dependencies if table.variables[known].causality == "input"]
    places = [str(index[known] if index else known) for known in sorted({*knowns, *inputs} - {vr})]
    return {"dependencies": " ".join(places)}


# -- FMI 3.0 ------------------------------------------------------------------------------------------------------------------------------------
def write_variable_3(parent: Element, vr: int, v: Variable) -> None:
    attributes = common_attributes(vr, v)
    if v.type == Type.REAL:
        attributes |= real_attributes(v)
    if v.derivative_of is not None:
        attributes["derivative"] = str(v.derivative_of)
    if v.start is not None:
        attributes["start"] = number(v.start)
    SubElement(parent, CONTINUOUS_TYPE[3][v.type], attributes)


def write_structure_3(root: Element, table: Table) -> None:
    """Write the ModelStructure of FMI 3.0: outputs, derivatives, initial unknowns, event
    indicators.
    """
    structure = SubElement(root, "ModelStructure")
    outputs = [vr for vr, v in table.numbered() if v.causality == "output"]
    for name, members in (("Output", outputs), ("ContinuousStateDerivative", table.derivatives)):
        for vr in members:
            SubElement(
                structure, name, {"valueReference": str(vr)} | known_attributes(table.variables[vr])
            )
    knowns = initial_knowns(table)
    for vr in table.initial_unknowns():
        SubElement(
            structure,
            "InitialUnknown",
            {"valueReference": str(vr)} | initial_attributes(table, vr, knowns),
        )
    for vr in table.indicators:
        SubElement(structure, "EventIndicator", valueReference=str(vr))
