"""terminalsAndIcons of FMI 3.0: actuators, drives and sides of cylinders as terminals, so that a
host connects all their variables at once.

Terminals fit one another by the names of their members (matching rule "plug"): the force of a drive and the speed of an actuator, the flow and the
pressure of one side. A flow is an inflow where the host sets it and an outflow where the FMU
computes it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from kinetree.fmu.variables import Table, Type, Variable
from kinetree.models.description.names import ACTUATOR

FOLDER = "terminalsAndIcons"
SIDES = ("a", "b")
FLOWS = ("force", "flow")  # what is conserved at a connection
KINDS = {"flange": "org.kinetree.flange", "shaft": "org.kinetree.shaft", "oil": "org.kinetree.oil"}
COLOURS = {
    "flange": (0, 127, 0),
    "shaft": (128, 128, 128),
    "oil": (255, 128, 0),
}  # along a line, about an axis, oil
SIZE = 20  # of a terminal in the drawing, whose model reaches from -100 to 100
PIXELS = 32


@dataclass(frozen=True)
class Terminal:
    """A terminal: its name, kind, and variables by member name."""

    name: str
    icon: str
    text: str
    members: dict[str, Variable]


def terminals(table: Table) -> list[Terminal]:
    """Return the terminals of a table: pairs of force and speed, or flow and pressure, in opposite
    directions.
    """
    known = {
        v.name: v
        for v in table.variables
        if v.type == Type.REAL and v.causality in ("input", "output")
    }
    prefixes = dict.fromkeys(name.rpartition(".")[0] for name in known)
    return [each for prefix in prefixes for each in of_prefix(prefix, known)]


def of_prefix(prefix: str, known: dict[str, Variable]) -> Iterable[Terminal]:
    """Yield the terminals whose variables begin with a prefix."""
    begin = f"{prefix}." if prefix else ""

    def members(**names: str) -> dict[str, Variable]:
        return {
            member: known[begin + name] for member, name in names.items() if begin + name in known
        }

    body = members(**{name: name for name in ACTUATOR})
    if opposite(body, "force", "speed"):
        rotary = body["speed"].unit == "rad/s"
        yield Terminal(
            prefix or "drive",
            "shaft" if rotary else "flange",
            f"{'Moment and rate' if rotary else 'Force and speed'}",
            body,
        )
    for side in SIDES:
        found = members(pressure=f"pressure_{side}", flow=f"flow_{side}")
        if opposite(found, "pressure", "flow"):
            yield Terminal(f"{begin}side_{side}", "oil", f"Oil of side {side}", found)


def opposite(members: dict[str, Variable], one: str, other: str) -> bool:
    """Return whether two members exist and one is an input and the other an output."""
    return (
        one in members and other in members and members[one].causality != members[other].causality
    )


def terminals_xml(table: Table) -> bytes:
    """Return terminalsAndIcons.xml as text."""
    root = Element("fmiTerminalsAndIcons", fmiVersion="3.0")
    picture = SubElement(root, "GraphicalRepresentation")
    SubElement(
        picture,
        "CoordinateSystem",
        x1="-100",
        y1="-100",
        x2="100",
        y2="100",
        suggestedScalingFactorTo_mm="0.1",
    )
    SubElement(picture, "Icon", x1="-100", y1="-100", x2="100", y2="100")
    found = terminals(table)
    group = SubElement(root, "Terminals") if found else root
    for k, terminal in enumerate(found):
        write(group, terminal, 100.0 - 200.0 * (k + 1) / (len(found) + 1))
    indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="utf-8")


def write(parent: Element, terminal: Terminal, y: float) -> None:
    """Write one terminal with its position at the left edge of the model's icon."""
    facts = {
        "name": terminal.name,
        "matchingRule": "plug",
        "terminalKind": KINDS[terminal.icon],
        "description": terminal.text,
    }
    element = SubElement(parent, "Terminal", facts)
    for member, v in terminal.members.items():
        kind = ("inflow" if v.causality == "input" else "outflow") if member in FLOWS else "signal"
        SubElement(
            element,
            "TerminalMemberVariable",
            variableName=v.name,
            memberName=member,
            variableKind=kind,
        )
    place = {"x1": -100 - SIZE / 2, "y1": y - SIZE / 2, "x2": -100 + SIZE / 2, "y2": y + SIZE / 2}
    colour = " ".join(map(str, COLOURS[terminal.icon]))
    SubElement(
        element, "TerminalGraphicalRepresentation", {key: f"{value:g}" for key, value in place.items()} | {"iconBaseName": terminal.icon},
        defaultConnectionColor=colour, defaultConnectionStrokeSize="1",
    )  # fmt: skip


def terminal_entries(table: Table) -> dict[str, bytes]:
    """Return the files of the terminals folder except the model's icon."""
    icons = sorted({each.icon for each in terminals(table)})
    return {f"{FOLDER}/terminalsAndIcons.xml": terminals_xml(table)} | {
        f"{FOLDER}/{name}.png": square(COLOURS[name]) for name in icons
    }


def square(colour: tuple[int, int, int]) -> bytes:
    """Return a PNG of a square in one colour with a dark edge."""
    edge = bytes(each // 2 for each in colour)
    full, inner = edge * PIXELS, edge * 2 + bytes(colour) * (PIXELS - 4) + edge * 2
    rows = b"".join(b"\0" + (full if y < 2 or y >= PIXELS - 2 else inner) for y in range(PIXELS))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", PIXELS, PIXELS, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )
