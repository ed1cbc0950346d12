"""Writes a system structure as an archive: SystemStructure.ssd, one file of values per component, FMUs as resources.

Namespace prefixes are the customary ones, since some hosts compare prefixes instead of namespaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from kinetree.fmu.archive.build import identifier_of
from kinetree.scripts.ssp.structure import (
    MAIN,
    OMS,
    OSP,
    OURS,
    OWN,
    SET,
    SSC,
    SSD,
    SSV,
    Base,
    Component,
    Link,
    Structure,
    Value,
)

WIDTH, HEIGHT, GAP = 40.0, 30.0, 30.0  # of components in a drawing [mm]
OMS_SPACE = "https://raw.githubusercontent.com/OpenModelica/OMSimulator/master/schema/oms.xsd"
OSP_SPACE = "https://opensimulationplatform.com/SSP/OSPAnnotations"
SPACES = {
    "xmlns:ssd": SSD,
    "xmlns:ssc": SSC,
    "xmlns:ssv": SSV,
    "xmlns:oms": OMS_SPACE,
    "xmlns:osp": OSP_SPACE,
    "xmlns:kinetree": OWN,
}


def write_ssp(
    structure: Structure, path: Path, fmus: Mapping[str, Path], ssp_version: str = "1.0"
) -> Path:
    """Write the archive with `fmus` by component name; names become identifiers for hosts such as
    OMSimulator.
    """
    names = identifiers([component.name for component in structure.components])
    fmus = {names[name]: fmu for name, fmu in fmus.items()}
    structure = replace(
        structure,
        components=tuple(
            replace(c, name=names[c.name], source=f"resources/{names[c.name]}.fmu")
            for c in structure.components
        ),
        links=tuple(
            replace(link, start=names[link.start], end=names[link.end]) for link in structure.links
        ),
    )
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.writestr(MAIN, text_of(description(structure, ssp_version)))
        for component in structure.components:
            if component.values:
                archive.writestr(
                    values_name(component), text_of(values(component, structure.units, ssp_version))
                )
            archive.write(fmus[component.name], component.source, ZIP_STORED)
    return path


def identifiers(names: Iterable[str]) -> dict[str, str]:
    """Return a unique identifier for each name."""
    found: dict[str, str] = {}
    for name in sorted(names, key=lambda name: name != identifier_of(name)):
        word, count = identifier_of(name), 1
        while word in found.values():
            word, count = f"{identifier_of(name)}_{count}", count + 1
        found[name] = word
    return found


def values_name(component: Component) -> str:
    return f"resources/{Path(component.source).stem}.ssv"


def text_of(root: Element) -> bytes:
    indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="utf-8")


def made(ssp_version: str, name: str) -> dict[str, str]:
    """Return the common attributes of a file's root element: version, name, tool and time."""
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "version": ssp_version,
        "name": name,
        "generationTool": f"Kinetree {version('kinetree')}",
        "generationDateAndTime": stamp,
    }


def description(structure: Structure, ssp_version: str) -> Element:
    """Return SystemStructure.ssd as XML text."""
    root = Element(
        "ssd:SystemStructureDescription", SPACES | made(ssp_version, identifier_of(structure.name))
    )
    if structure.name:
        root.set("description", structure.name)
    system = SubElement(
        root,
        "ssd:System",
        {"name": "system"} | ({"description": structure.text} if structure.text else {}),
    )
    elements = SubElement(system, "ssd:Elements")
    for place, component in enumerate(structure.components):
        write_component(elements, component, place)
    if structure.links:
        connections = SubElement(system, "ssd:Connections")
        for link in structure.links:
            write_link(connections, link)
    if structure.step_size is not None:
        notes = SubElement(
            annotation(SubElement(system, "ssd:Annotations"), OMS), "oms:Annotations"
        )
        facts = {
            "description": "oms-ma",
            "stepSize": repr(structure.step_size),
            "absoluteTolerance": "0.0001",
            "relativeTolerance": "0.0001",
        }
        SubElement(SubElement(notes, "oms:SimulationInformation"), "oms:FixedStepMaster", facts)
    write_units(
        root,
        "ssd",
        structure.units,
        {c.unit for component in structure.components for c in component.connectors},
    )
    write_experiment(root, structure)
    return root


def annotation(parent: Element, kind: str) -> Element:
    return SubElement(parent, "ssc:Annotation", type=kind)


def write_component(parent: Element, component: Component, place: int) -> None:
    """Write one FMU component with connectors, drawing position and values."""
    facts = {
        "name": component.name,
        "type": "application/x-fmu-sharedlibrary",
        "source": component.source,
        "implementation": "CoSimulation",
    }
    element = SubElement(parent, "ssd:Component", facts)
    connectors = SubElement(element, "ssd:Connectors")
    kinds = [c.kind for c in component.connectors]
    seen = dict.fromkeys(kinds, 0)
    for c in component.connectors:
        connector = SubElement(connectors, "ssd:Connector", name=c.name, kind=c.kind)
        SubElement(connector, f"ssc:{c.type}", {"unit": c.unit} if c.unit else {})
        if c.kind in ("input", "output"):
            seen[c.kind] += 1
            y = 1.0 - seen[c.kind] / (kinds.count(c.kind) + 1)
            SubElement(
                connector,
                "ssd:ConnectorGeometry",
                x="0" if c.kind == "input" else "1",
                y=f"{y:.4g}",
            )
    left = place * (WIDTH + GAP)
    box = {"x1": left, "y1": 0.0, "x2": left + WIDTH, "y2": HEIGHT}
    SubElement(element, "ssd:ElementGeometry", {key: f"{value:g}" for key, value in box.items()})
    if component.values:
        bindings = SubElement(element, "ssd:ParameterBindings")
        SubElement(
            bindings,
            "ssd:ParameterBinding",
            type="application/x-ssp-parameter-set",
            source=values_name(component),
        )


def write_link(parent: Element, link: Link) -> None:
    ends = {
        "startElement": link.start,
        "startConnector": link.start_connector,
        "endElement": link.end,
        "endConnector": link.end_connector,
    }
    connection = SubElement(parent, "ssd:Connection", ends)
    if (link.factor, link.offset) != (1.0, 0.0):
        SubElement(
            connection,
            "ssc:LinearTransformation",
            factor=repr(link.factor),
            offset=repr(link.offset),
        )


def write_units(
    parent: Element, prefix: str, known: Mapping[str, Base], used: Iterable[str]
) -> None:
    """Write the definitions of the units that are used."""
    names = sorted(set(used) & set(known))
    if not names:
        return
    units = SubElement(parent, f"{prefix}:Units")
    for name in names:
        base = known[name]
        exponents = {key: str(exponent) for key, exponent in base.exponents.items()}
        scale = ({"factor": repr(base.factor)} if base.factor != 1.0 else {}) | (
            {"offset": repr(base.offset)} if base.offset else {}
        )
        SubElement(SubElement(units, "ssc:Unit", name=name), "ssc:BaseUnit", exponents | scale)


def write_experiment(root: Element, structure: Structure) -> None:
    """Write start and stop time and the step size."""
    times = {"startTime": repr(structure.start_time)} | (
        {} if structure.stop_time is None else {"stopTime": repr(structure.stop_time)}
    )
    notes = SubElement(SubElement(root, "ssd:DefaultExperiment", times), "ssd:Annotations")
    ours = SubElement(
        annotation(notes, OURS),
        "kinetree:CoSimulation",
        {"scheme": structure.scheme} if structure.scheme else {},
    )
    for link in structure.links:
        facts = {
            "slope": link.slope,
            "mean": "true" if link.mean else "",
            "hold": "true" if link.hold else "",
            "bond": link.bond,
        }
        if any(facts.values()):
            SubElement(
                ours,
                "kinetree:Wire",
                {"to": f"{link.end}.{link.end_connector}"}
                | {key: value for key, value in facts.items() if value},
            )
    if structure.step_size is not None:
        ours.set("stepSize", repr(structure.step_size))
        algorithm = SubElement(annotation(notes, OSP), "osp:Algorithm")
        SubElement(algorithm, "osp:FixedStepAlgorithm", baseStepSize=repr(structure.step_size))


def values(component: Component, known: Mapping[str, Base], ssp_version: str) -> Element:
    """Return the ParameterSet of a component as an XML element."""
    root = Element(
        "ssv:ParameterSet", {"xmlns:ssv": SSV, "xmlns:ssc": SSC} | made(ssp_version, SET)
    )
    parameters = SubElement(root, "ssv:Parameters")
    units = {c.name: c.unit for c in component.connectors if c.unit in known}
    for name, value in component.values.items():
        parameter = SubElement(parameters, "ssv:Parameter", name=name)
        unit = {"unit": units[name]} if name in units and isinstance(value, float) else {}
        SubElement(parameter, f"ssv:{type_of(value)}", {"value": written(value)} | unit)
    write_units(root, "ssv", known, units.values())
    return root


def type_of(value: Value) -> str:
    return {bool: "Boolean", int: "Integer", float: "Real"}.get(type(value), "String")


def written(value: Value) -> str:
    return (
        str(value).lower()
        if isinstance(value, bool)
        else str(value)
        if isinstance(value, str)
        else repr(value)
    )
