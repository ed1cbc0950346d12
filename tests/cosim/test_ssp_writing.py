"""What is written of a system structure, element by element, and what is read of it again; values and connectors by the variables of an FMU."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree.ElementTree import Element, fromstring
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import fmpy
import pytest

from kinetree.scripts.cosim.export_ssp import component_of, notes_on, value_of
from kinetree.scripts.cosim.scenario_units import Packed
from kinetree.scripts.ssp.archive import unpack
from kinetree.scripts.ssp.read import read_ssd
from kinetree.scripts.ssp.structure import (
    SSC,
    SSD,
    SSV,
    Base,
    Component,
    Connector,
    Link,
    Structure,
)
from kinetree.scripts.ssp.write import type_of, write_ssp, written
from kinetree.scripts.terminal.error_messages import BadInput

BAR = Base({"kg": 1, "m": -1, "s": -2}, 1e5)
WARM = Base({"K": 1}, 1.0, 273.15)
ONE = Component("unit one", "", (
    Connector("p", "output", "Real", "bar"), Connector("n", "output", "Integer"), Connector("q", "output"),
    Connector("T", "input", "Real", "degC"), Connector("on", "input", "Boolean"), Connector("k", "parameter", "Real", "bar"),
), {"k": 2.5, "T": 20.0, "on": True, "name": "a b", "count": 3, "free": 1.5})  # fmt: skip
TWO = Component(
    "two",
    "",
    (
        Connector("u", "input", "Real", "bar"),
        Connector("w", "input"),
        Connector("y", "output"),
        Connector("rate", "output"),
    ),
)
LINKS = (
    Link("unit one", "p", "two", "u", -2.0, 0.5, hold=True), Link("unit one", "q", "two", "w", 1.0, 0.25, bond="b"),
    Link("two", "y", "unit one", "T", slope="rate", mean=True, bond="b"), Link("two", "rate", "unit one", "on"),
)  # fmt: skip
WHOLE = Structure(
    "My system",
    (ONE, TWO),
    LINKS,
    {"bar": BAR, "degC": WARM, "mm": Base({"m": 1}, 1e-3)},
    0.0,
    2.5,
    0.125,
    "repeat",
    "a text",
)
D, C, V = f"{{{SSD}}}", f"{{{SSC}}}", f"{{{SSV}}}"


def made(structure: Structure, folder: Path) -> tuple[Path, dict[str, Element]]:
    """The archive and the roots of its files."""
    (folder / "unit.fmu").write_bytes(b"fmu" * 100)
    path = write_ssp(
        structure,
        folder / "x.ssp",
        {c.name: folder / "unit.fmu" for c in structure.components},
        "2.0",
    )
    with ZipFile(path) as archive:
        kept = {info.filename: info.compress_type for info in archive.infolist()}
        assert all(
            way == (ZIP_STORED if name.endswith(".fmu") else ZIP_DEFLATED)
            for name, way in kept.items()
        )
        return path, {
            name: fromstring(archive.read(name)) for name in kept if not name.endswith(".fmu")
        }


def test_written_ssp_reads_back(tmp_path: Path):
    """Names of components become identifiers; units that do not occur are left out."""
    path, _ = made(WHOLE, tmp_path)
    found = read_ssd(unpack(path, tmp_path / "in"), "x")
    assert (found.name, found.text, found.scheme, found.step_size, found.stop_time, found.start_time) == (
        "My system", "a text", "repeat", 0.125, 2.5, 0.0,
    )  # fmt: skip
    assert dict(found.units) == {"bar": BAR, "degC": WARM}
    assert [(c.name, c.source, c.connectors, dict(c.values)) for c in found.components] == [
        ("unit_one", "resources/unit_one.fmu", ONE.connectors, dict(ONE.values)), ("two", "resources/two.fmu", TWO.connectors, {}),
    ]  # fmt: skip
    assert all(
        type(found.components[0].values[name]) is type(value) for name, value in ONE.values.items()
    )
    named = {"unit one": "unit_one", "two": "two"}
    assert found.links == tuple(
        Link(named[link.start], link.start_connector, named[link.end], *tuple(vars(link).values())[3:]) for link in LINKS
    )  # fmt: skip


def test_ssp_layout_and_experiment_are_written(tmp_path: Path):
    """Components beside one another, inputs at their left and outputs at their right sides; the step three times, once per kind of reader."""
    _, files = made(WHOLE, tmp_path)
    root = files["SystemStructure.ssd"]
    assert set(files) == {"SystemStructure.ssd", "resources/unit_one.ssv"}
    assert (root.get("version"), root.get("name"), root.get("description")) == (
        "2.0",
        "My_system",
        "My system",
    )
    assert str(root.get("generationTool")).startswith("Kinetree ")
    boxes = [dict(element.attrib) for element in root.iter(f"{D}ElementGeometry")]
    assert boxes == [
        {"x1": "0", "y1": "0", "x2": "40", "y2": "30"},
        {"x1": "70", "y1": "0", "x2": "110", "y2": "30"},
    ], "30 mm apart"
    one, two = root.iter(f"{D}Component")
    places = {
        e.get("name"): [g.attrib for g in e.findall(f"{D}ConnectorGeometry")]
        for e in one.iter(f"{D}Connector")
    }
    assert places == {
        "p": [{"x": "1", "y": "0.75"}], "n": [{"x": "1", "y": "0.5"}], "q": [{"x": "1", "y": "0.25"}], "T": [{"x": "0", "y": "0.6667"}],
        "on": [{"x": "0", "y": "0.3333"}], "k": [],
    }  # fmt: skip
    types = {
        e.get("name"): (e.get("kind"), e[0].tag.removeprefix(C), e[0].get("unit"))
        for e in one.iter(f"{D}Connector")
    }
    assert (
        types["p"] == ("output", "Real", "bar")
        and types["n"] == ("output", "Integer", None)
        and types["on"] == ("input", "Boolean", None)
    )
    assert [e.get("source") for e in one.iter(f"{D}ParameterBinding")] == [
        "resources/unit_one.ssv"
    ] and not list(two.iter(f"{D}ParameterBinding"))
    changes = [[e.attrib for e in wire] for wire in root.iter(f"{D}Connection")]
    assert changes == [
        [{"factor": "-2.0", "offset": "0.5"}],
        [{"factor": "1.0", "offset": "0.25"}],
        [],
        [],
    ]
    steps = [
        (e.tag.rpartition("}")[2], e.get("stepSize") or e.get("baseStepSize"))
        for e in root.iter()
        if "tepSize" in " ".join(e.attrib)
    ]
    assert steps == [
        ("FixedStepMaster", "0.125"),
        ("CoSimulation", "0.125"),
        ("FixedStepAlgorithm", "0.125"),
    ]
    (experiment,) = root.iter(f"{D}DefaultExperiment")
    assert experiment.attrib == {"startTime": "0.0", "stopTime": "2.5"}
    wires = [dict(e.attrib) for e in root.iter() if e.tag.endswith("}Wire")]
    assert wires == [
        {"to": "two.u", "hold": "true"}, {"to": "two.w", "bond": "b"}, {"to": "unit_one.T", "slope": "rate", "mean": "true", "bond": "b"},
    ]  # fmt: skip
    units = {e.get("name"): e[0].attrib for e in root.iter(f"{C}Unit")}
    assert units == {
        "bar": {"kg": "1", "m": "-1", "s": "-2", "factor": "100000.0"},
        "degC": {"K": "1", "offset": "273.15"},
    }
    values = {
        e.get("name"): (e[0].tag.removeprefix(V), e[0].attrib)
        for e in files["resources/unit_one.ssv"].iter(f"{V}Parameter")
    }
    assert values == {
        "k": ("Real", {"value": "2.5", "unit": "bar"}), "T": ("Real", {"value": "20.0", "unit": "degC"}), "on": ("Boolean", {"value": "true"}),
        "name": ("String", {"value": "a b"}), "count": ("Integer", {"value": "3"}), "free": ("Real", {"value": "1.5"}),
    }  # fmt: skip
    assert {e.get("name") for e in files["resources/unit_one.ssv"].iter(f"{C}Unit")} == {
        "bar",
        "degC",
    }
    assert [(type_of(value), written(value)) for value in (False, 0, 0.0, "")] == [
        ("Boolean", "false"), ("Integer", "0"), ("Real", "0.0"), ("String", ""),
    ]  # fmt: skip


def test_missing_entries_are_not_written(tmp_path: Path):
    path, files = made(
        Structure("", (Component("a", "", (Connector("y", "output"),)),), ()), tmp_path
    )
    (root,) = files.values()
    assert root.get("description") is None and not [
        e for e in root.iter() if e.tag.startswith(f"{D}Connections") or e.tag == f"{D}Units"
    ]
    (system,) = root.iter(f"{D}System")
    (experiment,) = root.iter(f"{D}DefaultExperiment")
    assert system.attrib == {"name": "system"} and experiment.attrib == {"startTime": "0.0"}
    assert not [
        e for e in root.iter() if e.tag.endswith(("}Wire", "Master", "Algorithm"))
    ] and not list(system.iter(f"{D}Annotations"))
    (ours,) = (e for e in root.iter() if e.tag.endswith("}CoSimulation"))
    assert ours.attrib == {}
    found = read_ssd(unpack(path, tmp_path / "in"), "x")
    assert (found.step_size, found.stop_time, found.scheme, found.text, found.notes) == (
        None,
        None,
        "",
        "",
        (),
    )


def variable(
    name: str,
    kind: str,
    causality: str,
    start: Any = None,
    unit: str | None = None,
    dimensions: Any = (),
    declared: Any = None,
) -> Any:
    return SimpleNamespace(
        name=name,
        type=kind,
        causality=causality,
        start=start,
        unit=unit,
        dimensions=dimensions,
        declaredType=declared,
    )


def test_ssp_connectors_are_scalar_variables(monkeypatch: pytest.MonkeyPatch):
    """With values of parameters and of inputs that nothing feeds, in their own types, and over them what the unit starts with."""
    variables = [
        variable("x", "Real", "local", "1"), variable("y", "Float64", "output", "1"), variable("t", "String", "output"),
        variable("n", "Int32", "output"), variable("e", "Enumeration", "input", "1"), variable("v", "Real", "input", "1", dimensions=[3]),
        variable("u", "Real", "input", "2.5", "bar"),
        variable("w", "Float32", "input", "3", declared=SimpleNamespace(unit="mm")), variable("b", "Boolean", "input", "true"),
        variable("s", "String", "parameter", "text"), variable("k", "UInt8", "parameter", "4", "odd unit!"), variable("p", "Real", "parameter"),
        variable("i", "Integer", "parameter", "5", "bar"), variable("o", "Boolean", "parameter", "false"),
    ]  # fmt: skip
    monkeypatch.setattr(
        fmpy,
        "read_model_description",
        lambda path, validate: SimpleNamespace(modelVariables=variables),
    )
    known: dict[str, Base] = {"mm": Base({"m": 1}, 1e-3)}
    found = component_of(
        Packed("a", Path("x.fmu"), {"i": 6.0, "extra": 7, "o": 1}), known, {("a", "w"), ("b", "u")}
    )
    assert found.connectors == (
        Connector("y", "output"), Connector("n", "output", "Integer"), Connector("u", "input", "Real", "bar"), Connector("w", "input", "Real", "mm"),
        Connector("b", "input", "Boolean"), Connector("s", "parameter", "String"), Connector("k", "parameter", "Integer"),
        Connector("p", "parameter"), Connector("i", "parameter", "Integer", "bar"), Connector("o", "parameter", "Boolean"),
    )  # fmt: skip
    assert (
        found.values == {"u": 2.5, "b": True, "s": "text", "k": 4, "i": 6, "o": True, "extra": 7.0}
        and found.source == "resources/a.fmu"
    )
    assert [type(found.values[name]) for name in ("u", "b", "k", "i", "extra")] == [
        float,
        bool,
        int,
        int,
        float,
    ]
    assert set(known) == {"mm", "bar"} and (known["bar"].factor, known["bar"].offset) == (1e5, 0.0)
    assert dict(known["bar"].exponents) == {"kg": 1, "m": -1, "s": -2}
    del variables[1:]
    with pytest.raises(BadInput, match="no inputs, outputs or parameters"):
        component_of(Packed("a", Path("x.fmu"), {}), {}, set())
    assert [value_of("Boolean", value) for value in (True, "true", "1", False, "false", "0")] == [
        True
    ] * 3 + [False] * 3


def test_parallel_hosts_are_supported_by_export():
    assert notes_on("chambers", "sequential", True) == notes_on("held", "held", False) == []
    assert notes_on("told", "sequential", True) == [
        "hosts that step all units at once turn told into held values; chambers stays stable there"
    ]
    assert "--scheme held` shows at which steps" in notes_on("slope", "slope", False)[0]
