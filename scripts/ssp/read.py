"""Reads a system structure; features that Kinetree does not support are refused by name.

Subsystems are flattened: their components get the names SYSTEM.COMPONENT, and connections through
their connectors become direct ones.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote
from xml.etree.ElementTree import Element, ParseError, fromstring

from kinetree.scripts.ssp.archive import is_inside
from kinetree.scripts.ssp.structure import (
    INTEGERS,
    MAIN,
    OMS,
    OSP,
    OURS,
    OWN,
    REALS,
    SSC,
    SSD,
    SSM,
    SSV,
    Base,
    Component,
    Connector,
    Link,
    Structure,
    Value,
    own_name,
)
from kinetree.scripts.ssp.wiring import Edge, Ends, direct
from kinetree.scripts.terminal.error_messages import BadInput
from kinetree.scripts.terminal.foreign_archives import LONGEST_NAME

FMU = "application/x-fmu-sharedlibrary"
PARAMETERS = "application/x-ssp-parameter-set"
DEEPEST = 50  # systems inside one another


def read_ssd(folder: Path, name: str) -> Structure:
    """Return the structure of an unpacked archive; `name` is used in messages."""
    return Reader(folder, f"{name}: {MAIN}").structure()


class Reader:
    """The reader of one SystemStructure.ssd file."""

    def __init__(self, folder: Path, place: str):
        self.folder, self.place = folder, place
        self.root = self.parsed(folder / MAIN)
        self.components: list[Component] = []
        self.edges: list[Edge] = []
        self.systems: set[str] = set()
        self.notes: list[str] = []
        self.units = self.read_units(self.root.find(f"{{{SSD}}}Units"))

    def refuse(self, text: str) -> BadInput:
        return BadInput(f"{self.place}: {text}")

    def parsed(self, path: Path) -> Element:
        """Return the root element of an XML file; declared entities are refused (protection from
        expansion attacks).
        """
        try:
            content = path.read_bytes()
            if b"<!ENTITY" in content:
                raise self.refuse(f"{path.name} declares entities")
            return fromstring(content)
        except (ParseError, ValueError, LookupError) as error:
            raise self.refuse(f"{path.name} is not well-formed XML: {error}") from error
        except OSError as error:
            raise self.refuse(f"{path.name} cannot be read: {error.strerror}") from error

    def inside(self, source: str, what: str) -> Path:
        """Return the path of a file in the archive that a source names."""
        if not is_inside(self.folder, source):
            raise self.refuse(f"{what}: source '{source[:100]}' is not inside the archive")
        if not os.path.isfile(self.folder / source):  # no name is too long for it
            raise self.refuse(f"{what}: the archive has no '{source[:100]}'")
        return self.folder / source

    def structure(self) -> Structure:
        root = self.root
        if root.tag != f"{{{SSD}}}SystemStructureDescription":
            raise self.refuse(
                f"the root is <{root.tag}>, expected <SystemStructureDescription> of {SSD} (SSP 1.0 or 2.0)"
            )
        number = root.get("version", "")
        if number.split(".")[0] not in ("1", "2"):
            raise self.refuse(f"version '{number}' of SSP is not known, expected 1.0 or 2.0")
        system = root.find(f"{{{SSD}}}System")
        if system is None:
            raise self.refuse("there is no <System>")
        self.read_system(system, "")
        if not self.components:
            raise self.refuse("the system has no components")
        experiment = root.find(f"{{{SSD}}}DefaultExperiment")
        times = {} if experiment is None else experiment.attrib
        facts, wires = own_facts(experiment)
        links = tuple(
            self.link(edge, wires)
            for edge in direct(
                self.edges,
                self.ends(),
                {c.name for c in self.components},
                self.systems,
                self.refuse,
            )
        )
        step, stop = facts.get("stepSize") or other_step(self.root), times.get("stopTime")
        return Structure(
            own_name(root.attrib), tuple(self.components), links, self.units, self.real(times.get("startTime", "0")),
            None if stop is None else self.real(stop), None if step is None else self.real(step), facts.get("scheme", ""),
            system.get("description", ""), tuple(self.notes),
        )  # fmt: skip

    def real(self, text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise self.refuse(f"found '{text}', expected a finite number")
        return value

    # -- systems --------------------------------------------------------------------------------------------------------------------------
    def read_system(self, system: Element, path: str) -> None:
        """Read elements and connections of a system; `path` is its prefix."""
        self.systems.add(path.rstrip("."))
        for element in system.findall(f"{{{SSD}}}Elements/*"):
            kind, name = element.tag.rpartition("}")[2], element.get("name", "")
            if not name or len(path) + len(name) > LONGEST_NAME:
                raise self.refuse(
                    f"<{kind}> '{(path + name)[:60]}': expected a name of 1 to {LONGEST_NAME} characters"
                )
            if path.count(".") > DEEPEST:
                raise self.refuse(f"systems more than {DEEPEST} deep inside one another")
            if kind == "System":
                self.read_system(element, f"{path}{name}.")
            elif kind == "Component":
                self.read_component(element, f"{path}{name}")
            else:
                raise self.refuse(
                    f"<{kind}> '{path}{name}' is not supported, only components and systems"
                )
        for connection in system.findall(f"{{{SSD}}}Connections/{{{SSD}}}Connection"):
            self.edges.append(self.edge(connection, path))
        if system.find(f"{{{SSD}}}ParameterBindings") is not None:
            self.bind(system, path)

    def read_component(self, element: Element, name: str) -> None:
        kind, source = element.get("type", FMU), unquote(element.get("source", ""))
        if kind != FMU:
            raise self.refuse(
                f"component '{name}' is of type {kind}; only FMUs ({FMU}) are supported"
            )
        if element.get("implementation") == "ModelExchange":
            raise self.refuse(
                f"component '{name}' asks for model exchange; masters step co-simulation FMUs only"
            )
        self.inside(source, f"component '{name}'")
        connectors = tuple(
            self.connector(c, name)
            for c in element.findall(f"{{{SSD}}}Connectors/{{{SSD}}}Connector")
        )
        self.components.append(Component(name, source, connectors, {}))
        if element.find(f"{{{SSD}}}ParameterBindings") is not None:
            self.bind(element, f"{name}.")

    def connector(self, element: Element, component: str) -> Connector:
        types = (child for child in element if child.tag.startswith(f"{{{SSC}}}"))
        if (
            element.find(f"{{{SSC}}}Dimension") is not None
            or element.find(f"{{{SSD}}}Dimension") is not None
        ):
            raise self.refuse(
                f"connector {component}.{element.get('name')} is an array; only scalars are supported"
            )
        found = next(types, None)
        name = "" if found is None else found.tag.rpartition("}")[2]
        return Connector(
            element.get("name", ""),
            element.get("kind", ""),
            name,
            "" if found is None else found.get("unit", ""),
        )

    def edge(self, element: Element, path: str) -> Edge:
        def end(which: str) -> tuple[str, str]:
            inner = element.get(f"{which}Element")
            return f"{path}{inner}" if inner else path.rstrip("."), element.get(
                f"{which}Connector", ""
            )

        factor, offset = self.transformation(
            element, f"connection {'.'.join(end('start'))} -> {'.'.join(end('end'))}"
        )
        return Edge(
            end("start"),
            end("end"),
            factor,
            offset,
            element.get("suppressUnitConversion") in ("true", "1"),
        )

    def transformation(self, element: Element, what: str) -> tuple[float, float]:
        """Return the factor and offset of a connection or a mapping."""
        factor, offset = 1.0, 0.0
        for child in element:
            kind = child.tag.rpartition("}")[2]
            if kind == "LinearTransformation":
                factor, offset = (
                    self.real(child.get("factor", "1")),
                    self.real(child.get("offset", "0")),
                )
            elif kind.endswith("Transformation"):
                raise self.refuse(f"{what}: <{kind}> is not supported, only LinearTransformation")
        return factor, offset

    def ends(self) -> Ends:
        return {
            (component.name, c.name): c
            for component in self.components
            for c in component.connectors
        }

    def read_units(self, units: Element | None) -> dict[str, Base]:
        """Return the definitions of units."""
        found = {}
        for unit in [] if units is None else units.findall(f"{{{SSC}}}Unit"):
            base = unit.find(f"{{{SSC}}}BaseUnit")
            facts = {} if base is None else dict(base.attrib)
            factor, offset = (
                self.real(facts.pop("factor", "1")),
                self.real(facts.pop("offset", "0")),
            )
            if factor == 0.0:
                raise self.refuse(f"unit '{unit.get('name', '')}' has the factor 0")
            found[unit.get("name", "")] = Base(
                {key: self.whole(text) for key, text in facts.items() if self.whole(text)},
                factor,
                offset,
            )
        return found

    def whole(self, text: str) -> int:
        value = self.real(text)
        if value != int(value):
            raise self.refuse(f"found '{text}', expected a whole number")
        return int(value)

    def link(self, edge: Edge, wires: Mapping[str, Mapping[str, str]]) -> Link:
        """Return a direct connection with its unit conversion and Kinetree's own attributes."""
        (start, output), (end, given), ends = edge.start, edge.end, self.ends()
        for place in (edge.start, edge.end):
            kind = ends[place].type if place in ends else ""
            if kind and kind not in (*REALS, *INTEGERS, "Boolean"):
                raise self.refuse(
                    f"connector {'.'.join(place)} is of type {kind}; numbers and booleans are supported"
                )
        factor, offset = edge.factor, edge.offset
        units = [
            self.units.get(ends[place].unit) if place in ends else None
            for place in (edge.start, edge.end)
        ]
        if units[0] and units[1] and not edge.plain:
            if dict(units[0].exponents) != dict(units[1].exponents):
                raise self.refuse(
                    f"connection {start}.{output} -> {end}.{given}: {ends[edge.start].unit} cannot become {ends[edge.end].unit}"
                )
            # first the conversion, then the transformation
            factor, offset = (
                factor * units[0].factor / units[1].factor,
                factor * (units[0].offset - units[1].offset) / units[1].factor + offset,
            )
        more = wires.get(f"{end}.{given}", {})
        ways = {key: more.get(key) == "true" for key in ("mean", "hold")}
        return Link(
            start,
            output,
            end,
            given,
            factor,
            offset,
            more.get("slope", ""),
            bond=more.get("bond", ""),
            **ways,
        )

    # -- values ---------------------------------------------------------------------------------------------------------------------------
    def bind(self, element: Element, path: str) -> None:
        """Read the parameter values that an element sets for its components."""
        place = path.rstrip(".") or "the system"
        for binding in element.findall(f"{{{SSD}}}ParameterBindings/{{{SSD}}}ParameterBinding"):
            if (
                binding.get("type", PARAMETERS) != PARAMETERS
                or binding.get("sourceBase", "SSD") != "SSD"
            ):
                raise self.refuse(
                    f"values of '{place}': only sets inside the archive ({PARAMETERS}) are supported"
                )
            root = self.part(binding, f"{{{SSD}}}ParameterValues/{{{SSV}}}ParameterSet")
            if root is None:
                raise self.refuse(f"values of '{place}': neither a source nor a ParameterSet")
            units = self.read_units(root.find(f"{{{SSV}}}Units"))
            entries = self.mapping(binding.find(f"{{{SSD}}}ParameterMapping"), place)
            for parameter in root.findall(f"{{{SSV}}}Parameters/{{{SSV}}}Parameter"):
                name = binding.get("prefix", "") + parameter.get("name", "")
                if not len(parameter):
                    raise self.refuse(f"values of '{place}': '{name}' has none")
                for target, factor, offset in (
                    [(name, 1.0, 0.0)] if entries is None else entries.get(name, [])
                ):
                    self.assign(path + target, parameter[0], units, factor, offset)

    def part(self, element: Element, inline: str) -> Element | None:
        """Return an inline child of an element, or the root of the file that the element names."""
        source = element.get("source")
        return (
            element.find(inline)
            if source is None
            else self.parsed(self.inside(unquote(source), "values"))
        )

    def mapping(
        self, element: Element | None, place: str
    ) -> dict[str, list[tuple[str, float, float]]] | None:
        """Return (target, factor, offset) entries by the name of a value; None without a mapping."""
        if element is None:
            return None
        root = self.part(element, f"{{{SSM}}}ParameterMapping")
        if root is None or element.get("sourceBase", "SSD") != "SSD":
            raise self.refuse(
                f"values of '{place}': a ParameterMapping without a source in the archive"
            )
        entries: dict[str, list[tuple[str, float, float]]] = {}
        for entry in root.findall(f"{{{SSM}}}MappingEntry"):
            factor, offset = self.transformation(entry, f"values of '{place}'")
            entries.setdefault(entry.get("source", ""), []).append(
                (entry.get("target", ""), factor, offset)
            )
        return entries

    def assign(
        self, name: str, value: Element, units: Mapping[str, Base], factor: float, offset: float
    ) -> None:
        """Assign a parameter value to its component; values of outer systems take precedence."""
        owner = next(
            (k for k, c in enumerate(self.components) if name.startswith(f"{c.name}.")), None
        )
        if owner is None:
            self.notes.append(f"value '{name}' belongs to no component and is ignored")
            return
        component = self.components[owner]
        own = name.removeprefix(f"{component.name}.")
        kind, text = value.tag.rpartition("}")[2], value.get("value", "")
        if kind in REALS:
            connector = component.connector(own)
            given, wanted = (
                units.get(value.get("unit", "")),
                self.units.get(connector.unit) if connector else None,
            )
            number = self.real(text)
            if given and wanted and connector and given != wanted:
                if dict(given.exponents) != dict(wanted.exponents):
                    raise self.refuse(
                        f"value '{name}': {value.get('unit')} cannot become {connector.unit}"
                    )
                number = (given.factor * number + given.offset - wanted.offset) / wanted.factor
            found: Value = factor * number + offset
        elif kind in INTEGERS:
            found = self.whole(repr(factor * self.real(text) + offset))
        elif kind in ("Boolean", "String") and (factor, offset) == (1.0, 0.0):
            found = text in ("true", "1") if kind == "Boolean" else text
        else:
            raise self.refuse(
                f"value '{name}' is of type {kind}; numbers, booleans and strings are supported, a LinearTransformation is for numbers"
            )
        self.components[owner] = Component(
            component.name, component.source, component.connectors, {**component.values, own: found}
        )


def own_facts(experiment: Element | None) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Return coupling scheme, step and wire attributes from the annotations that Kinetree writes."""
    for note in [] if experiment is None else experiment.iter(f"{{{SSC}}}Annotation"):
        ours = note.find(f"{{{OWN}}}CoSimulation") if note.get("type") == OURS else None
        if ours is not None:
            return dict(ours.attrib), {
                wire.get("to", ""): dict(wire.attrib) for wire in ours.findall(f"{{{OWN}}}Wire")
            }
    return {}, {}


def other_step(root: Element) -> str | None:
    """Return the step size declared for OMSimulator or libcosim."""
    for note in root.iter(f"{{{SSC}}}Annotation"):
        for element in note.iter():
            kind = element.tag.rpartition("}")[2]
            if note.get("type") == OMS and kind == "FixedStepMaster":
                return element.get("stepSize")
            if note.get("type") == OSP and kind == "FixedStepAlgorithm":
                return element.get("baseStepSize")
    return None
