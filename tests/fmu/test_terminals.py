"""Terminals of FMI 3.0: what belongs to one physical connection, by the names under which the other side knows it."""

import zipfile
from pathlib import Path
from xml.etree import ElementTree

import fmpy
import pytest
from lxml import etree

from kinetree.fmu.archive.build import build_fmu
from kinetree.fmu.archive.terminals import terminal_entries, terminals
from kinetree.fmu.unit import fmu_unit
from kinetree.fmu.variables import Table, variable_table
from kinetree.models import load
from kinetree.models.checks.loader import read
from kinetree.scripts.cosim.drive_description import drive_description
from kinetree.scripts.cosim.hydraulic_drive import Drive
from kinetree.scripts.cosim.valve_cylinder import Cylinder, Valve

OIL = {
    "area_a": 50e-4,
    "area_b": 32e-4,
    "volume_a": 5e-4,
    "volume_b": 5e-4,
    "shortest": 0.4,
    "longest": 4.0,
}


def table(source: dict | str) -> Table:
    return variable_table(fmu_unit(load(source)))


def boom(chambers: dict | None = None) -> Table:
    raw = read("lib:boom")[0]
    if chambers:
        raw["actuators"]["lift"]["chambers"] = chambers
    return table(raw)


def ways(found: Table) -> dict[str, dict[str, str]]:
    """Causality of every member of every terminal."""
    return {
        each.name: {member: v.causality for member, v in each.members.items()}
        for each in terminals(found)
    }


def test_actuator_and_drive_terminals_match():
    """What both know goes opposite ways, so that a host can connect all of it at once; the drive's own way to look ahead has no counterpart."""
    (mechanism,), (drive,) = (
        ways(boom()).values(),
        ways(table(drive_description(Drive(Cylinder(), Valve())))).values(),
    )
    shared = set(mechanism) & set(drive)
    assert {"force", "speed", "stiffness", "damping"} <= shared
    assert all(mechanism[member] != drive[member] for member in shared - {"length"})
    assert mechanism["force"] == "input" and drive["force"] == "output"


def test_oil_in_the_mechanism_gives_two_port_terminals():
    found = ways(boom(OIL))
    assert {"lift", "lift.side_a", "lift.side_b"} == set(found)
    assert found["lift.side_a"] == {"pressure": "output", "flow": "input"}
    names = {
        each.name: each.members["flow"].name for each in terminals(boom(OIL)) if each.icon == "oil"
    }
    assert names == {"lift.side_a": "lift.flow_a", "lift.side_b": "lift.flow_b"}


def test_incomplete_pairs_form_no_terminals():
    """A drive that holds its oil gives flows and pressures both: nothing can be connected there."""
    assert all(
        each.icon != "oil"
        for each in terminals(table(drive_description(Drive(Cylinder(), Valve()))))
    )
    assert terminals(table("lib:regulator")) == []


@pytest.mark.parametrize("source", ["regulator", "boom", "chambers"])
def test_terminals_file_is_valid(source):
    found = boom(OIL) if source == "chambers" else table(f"lib:{source}")
    entries = terminal_entries(found)
    root = etree.fromstring(entries["terminalsAndIcons/terminalsAndIcons.xml"])
    folder = Path(fmpy.__file__).parent / "schema" / "fmi3"
    etree.XMLSchema(etree.parse(str(folder / "fmi3TerminalsAndIcons.xsd"))).assertValid(root)
    names = {v.name for v in found.variables}
    assert {member.get("variableName") for member in root.iter("TerminalMemberVariable")} <= names
    for picture in root.iter("TerminalGraphicalRepresentation"):
        assert entries[f"terminalsAndIcons/{picture.get('iconBaseName')}.png"].startswith(
            b"\x89PNG"
        )
    kinds = {
        (member.get("memberName"), member.get("variableKind"))
        for member in root.iter("TerminalMemberVariable")
    }
    assert source == "regulator" or {("force", "inflow"), ("speed", "signal")} <= kinds


def test_archive_contains_terminals(tmp_path):
    with zipfile.ZipFile(build_fmu(load("lib:boom"), tmp_path / "b.fmu", "native", 3)) as archive:
        root = ElementTree.fromstring(archive.read("terminalsAndIcons/terminalsAndIcons.xml"))
        assert [each.get("name") for each in root.iter("Terminal")] == ["lift"]
        assert {"terminalsAndIcons/icon.png", "terminalsAndIcons/flange.png"} <= set(
            archive.namelist()
        )
