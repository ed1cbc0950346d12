"""Scenarios key by key, and the units that are made of them: loads, starts at rest, wires between names, inputs that nothing feeds."""

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kinetree.models import ModelError
from kinetree.models.language.errors import shown
from kinetree.scripts.cosim import scenario_units
from kinetree.scripts.cosim.hydraulic_drive import Drive
from kinetree.scripts.cosim.masters import Wire
from kinetree.scripts.cosim.position_controller import Controller, Pid
from kinetree.scripts.cosim.scenario import (
    Connection,
    ControllerSpec,
    Coupling,
    DriveSpec,
    Scenario,
    UnitSpec,
    positive,
    read_scenario,
    scenario_of,
    spanned,
)
from kinetree.scripts.cosim.scenario_file import FILE_NAME
from kinetree.scripts.cosim.schemes import SCHEMES
from kinetree.scripts.cosim.schemes.scheme_kind import Scheme
from kinetree.scripts.cosim.slave import (
    ControllerSlave,
    CosimError,
    DriveSlave,
    ProgramSlave,
    known,
)
from kinetree.scripts.cosim.step_size_control import ControlSpec
from kinetree.scripts.cosim.valve_cylinder import Cylinder, Valve
from kinetree.scripts.cosim.wired_scenario import parted, unconnected
from kinetree.scripts.terminal.error_messages import BadInput

FILE = "folder/s.toml"
DRIVE = {
    "cylinder": {"air": 0.25, "leakage": 1e-12},
    "valve": {"overlap": 0.5},
    "profile": [[0.0, 1.0], [0.0, 2], [3.0, 4.0]],
    "rotary": True,
}
CONTROL = {"pid": {"gain": 2.0}, "profile": [[1.0, 2.0]], "unit": "rad"}


def test_every_scenario_key_is_read():
    raw = {
        "name": "n", "stop_time": 2.0, "step_size": 0.25, "scheme": "repeat", "extrapolation": 2, "outputs": ["a.y"],
        "step_control": {"tolerance": 0.5, "smallest": 1e-3, "largest": 0.125},
        "units": {
            "a": {"fmu": "a.fmu", "start": {"p": 1.5}}, "d": {"drive": DRIVE}, "c": {"controller": CONTROL},
            "m": {"description": "lib:boom", "settings": {"k": 2.0}},
        },
        "wires": [{"from": "a.y", "to": "d.speed", "slope": "a.r", "factor": 2, "offset": 3.0, "mean": True, "hold": True, "bond": "b"}],
    }  # fmt: skip
    profile = ((0.0, 1.0), (0.0, 2.0), (3.0, 4.0))
    expected = Scenario(
        FILE, "n",
        (
            UnitSpec("a", fmu="a.fmu", start={"p": 1.5}),
            UnitSpec("d", drive=DriveSpec(Cylinder(air=0.25, leakage=1e-12), Valve(overlap=0.5), profile, True)),
            UnitSpec("c", controller=ControllerSpec(Pid(gain=2.0), ((1.0, 2.0),), "rad")), UnitSpec("m", "lib:boom", settings={"k": 2.0}),
        ),
        None, (Connection("a.y", "d.speed", "a.r", 2.0, 3.0, True, True, "b"),), ("a.y",), 2.0, 0.25, "repeat", 2, ControlSpec(0.5, 1e-3, 0.125),
    )  # fmt: skip
    found = scenario_of(raw, FILE)
    assert (
        found == expected and found.folder == Path("folder") and found.unit("c") is found.units[2]
    )
    with pytest.raises(BadInput, match="there is no unit 'x'; units: a, d, c, m"):
        found.unit("x")
    coupled = scenario_of(
        {
            "units": {"m": {"description": "lib:boom"}, "d": {"drive": {}}},
            "coupling": {"mechanism": "m", "drive": "d"},
        },
        FILE,
    )
    assert coupled == Scenario(
        FILE,
        "s",
        (UnitSpec("m", "lib:boom"), UnitSpec("d", drive=DriveSpec())),
        Coupling("m", "lift", "d", ""),
        scheme="told",
    )
    assert DriveSpec() == DriveSpec(
        Cylinder(), Valve(), ((0.0, 0.0),), False
    ) and ControllerSpec() == ControllerSpec(Pid(), (), "m")
    assert Scenario("f", "n", ()) == Scenario(
        "f", "n", (), None, (), (), 1.0, 0.01, "held", 0, None, ()
    )


UNIT = {"units": {"m": {"description": "lib:boom"}}}


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({}, "s.toml: units: at least one is needed"), ({"units": {}}, "at least one is needed"), ({"units": {"m": {}}}, "found none"),
        ({"units": {"m": {"fmu": "a.fmu", "drive": {}}}}, "found fmu, drive"),
        ({"units": {"m": {"fmu": "a", "settings": {"a": 1.0}}}}, "only a description"),
        (UNIT | {"coupling": {}, "wires": [{"from": "a.y", "to": "b.u"}]}, r"leave out either it or \[\[wires\]\]"),
        (UNIT | {"wires": [{"from": "a.y", "to": "b.u", "mean": 1}]}, "mean"), (UNIT | {"wires": [{"from": "", "to": "b.u"}]}, "from"),
        (UNIT | {"stop_time": 0.0}, "stop_time"), (UNIT | {"step_size": True}, "step_size"), (UNIT | {"extrapolation": 3}, "extrapolation"),
        ({"units": {"d": {"drive": {"profile": [[1.0, 0.0], [0.5, 0.0]]}}}}, "times must ascend"),
        ({"units": {"d": {"drive": {"profile": [[True, 0.0]]}}}}, "expected points"),
        ({"units": {"d": {"drive": {"profile": 3}}}}, "expected points"),
        ({"units": {"d": {"drive": {"profile": [[0.0, 1.0, 2.0]]}}}}, "expected points"),
        ({"units": {"d": {"drive": {"profile": [3]}}}}, "expected points"),
        ({"units": {"c": {"controller": {"profile": [["a", 0.0]]}}}}, "expected points"),
        ({"units": {"c": {"controller": {"profile": [[1.0, 0.0], [0.5, 0.0]]}}}}, "times must ascend"),
        ({"units": {"d": {"drive": {"valve": {"suply": 1.0}}}}}, "units.d.drive.valve.suply: unknown key; did you mean 'supply'"),
        ({"units": {"d": {"drive": {"valve": {"qqq": 1.0}}}}}, "expected one of laminar, make_up_gain, overlap"),
        ({"units": {"d": {"drive": {"cylinder": {"area_a": 0.0}}}}}, "units.d.drive.cylinder: the drive's area_a is 0"),
        ({"units": {"d": {"drive": {}}}, "coupling": {"drive": "d", "mechanism": "d"}}, "unit 'd' has no description"),
        ({"units": {"m": {"description": "a"}, "d": {"drive": {}}}, "coupling": {"mechanism": "m", "drive": "d", "controller": "d"}}, "no contr"),
        ({"bodies": {}}, "describes a mechanism"), ({"joints": {}, "units": {}}, "describes a mechanism"),
    ],
)  # fmt: skip
def test_meaningless_scenario_keys_are_refused(raw: dict[str, Any], said: str):
    with pytest.raises(BadInput, match=said):
        scenario_of(raw, "s.toml")


def named(name: str) -> dict[str, Any]:
    return {"units": {"m": {"description": "lib:boom"}, name: {"drive": {}}}}


@pytest.mark.parametrize(
    "name", ["2k", "a b", "a.b", "a..", "größe", "模" * 66, "k" * 200, "lambda", "a'b", "[red]"]
)
def test_unit_names_may_be_any_valid_file_name(name: str):
    assert [unit.name for unit in scenario_of(named(name), FILE).units] == ["m", name]


@pytest.mark.parametrize(
    "name",
    [
        "",
        " a",
        ".",
        "../evil",
        "/evil",
        "a/b",
        *(f"a{sign}b" for sign in '\\:*?"<>|\n\0'),
        "模" * 67,
        "k" * 201,
    ],
)
def test_unit_names_invalid_as_file_names_are_refused(name: str):
    """Its FMU is a file of that name: it would be written beside the folder that it belongs to, or not at all."""
    with pytest.raises(BadInput) as caught:
        scenario_of(named(name), "s.toml")
    assert str(caught.value) == f"s.toml: units: found the name {shown(name)}, expected {FILE_NAME}"


def test_scenario_consistency_rules():
    """Positive numbers, steps as long as the run, scenarios that ship; schemes stand as the docs list them, those without a place behind."""
    assert [positive(value, "x") for value in (1, 0.5, 1e-300)] == [1.0, 0.5, 1e-300]
    for wrong in (0, 0.0, -1.0, math.inf, math.nan, True, "1", None):
        with pytest.raises(BadInput, match="x: found .*expected a positive number"):
            positive(wrong, "x")
    spanned(1.0, 1.0)
    with pytest.raises(
        BadInput, match="a communication step of 1.5 s is longer than the run of 1 s"
    ):
        spanned(1.5, 1.0)
    assert read_scenario("lib:boom").units[0].name == "mechanism"
    with pytest.raises(BadInput, match="no scenario 'lib:bom'; there are lib:arm, lib:boom"):
        read_scenario("lib:bom")
    rows = (
        (Path(__file__).parents[2] / "docs" / "coupling.md")
        .read_text()
        .split("| scheme |")[1]
        .split("\n\n")[0]
        .splitlines()[2:]
    )
    assert list(SCHEMES) == [row.split("`")[1] for row in rows] and [
        scheme.place for scheme in SCHEMES.values()
    ] == [1, 2, 3, 4, 5, 6, 7]
    assert Scheme("x", "", SCHEMES["held"].plan).place > 7


BLOCK: dict[str, Any] = {
    "format": "kinetree/1", "gravity": [-8.0, 0, 0], "bodies": {"block": {"mass": 500.0}}, "parameters": {"k": 1.0},
    "actuators": {"lift": {"coordinate": "s", "force": "0", "chambers": {}}},
    "joints": {"rail": {"child": "block", "transforms": [{"shift": "x", "coordinate": "s", "start": 1.25, "speed": 0.0}]}},
}  # fmt: skip


def block(
    monkeypatch: pytest.MonkeyPatch,
    controller: str = "",
    start: dict[str, Any] | None = None,
    **more: Any,
) -> Scenario:
    """A block of 4 kN on a drive, perhaps under control."""
    monkeypatch.setattr(
        scenario_units,
        "read",
        lambda source: (BLOCK, SimpleNamespace(file="block.toml", place=lambda *_: "")),
    )
    specs = (
        UnitSpec("m", "block.toml"),
        UnitSpec("d", drive=DriveSpec()),
        UnitSpec("c", controller=ControllerSpec(**more), start=start or {}),
    )
    return Scenario("s.toml", "s", specs, Coupling("m", "lift", "d", controller))


def test_coupled_drive_carries_load_at_equilibrium(monkeypatch: pytest.MonkeyPatch):
    """4 kN at 1.25 m, found by two accelerations; the described force and oil make place for the drive's."""
    scenario = block(monkeypatch)
    raw = scenario_units.actuated(scenario)
    assert (
        raw["actuators"] == {"lift": {"coordinate": "s"}} and "force" in BLOCK["actuators"]["lift"]
    )
    drive, controller = scenario_units.settled(scenario, raw, False)
    assert (
        controller is None
        and (drive.length, drive.inside) == (1.25, False)
        and drive.force == pytest.approx(4000.0, rel=1e-12)
    )
    parts = scenario_units.parts_of(scenario, "told", raw)
    assert parts.start == {"lift.force": parts.drive.force} and not parts.drive.inside
    inside = scenario_units.parts_of(scenario, "chambers", raw)
    assert (
        inside.start == {"lift.force": 0.0}
        and inside.drive.inside
        and "chambers" not in raw["actuators"]["lift"]
    )
    mechanism, oil = scenario_units.coupled(scenario, "chambers", raw, "process", Path())
    assert (mechanism.get("lift.pressure_a"), mechanism.get("lift.pressure_b")) == (
        drive.pressure_a,
        drive.pressure_b,
    ) and oil.name == "d"
    mechanism, oil = scenario_units.coupled(scenario, "held", raw, "process", Path())
    assert (mechanism.get("lift.force"), oil.get("force")) == (
        drive.force,
        drive.force,
    ) and oil.units["force"] == "N"
    assert mechanism.get("lift.acceleration") == pytest.approx(0.0, abs=1e-11)
    with pytest.raises(BadInput, match="has no actuator 'tip'; actuators: lift"):
        scenario_units.actuated(replace(scenario, coupling=Coupling("m", "tip", "d")))
    narrow = replace(
        scenario,
        units=(
            scenario.units[0],
            UnitSpec("d", drive=DriveSpec(Cylinder(volume_a=1e-9, shortest=1.5, longest=2.0))),
        ),
    )
    with pytest.raises(BadInput, match="s.toml: units.d.drive: the cylinder's length is 1.25 m"):
        scenario_units.settled(narrow, raw, False)


def test_unresponsive_actuator_is_reported():
    for way in (0.0, -1e-3):
        given: list[float] = []
        stuck: Any = SimpleNamespace(
            set=lambda name, value, g=given: g.append(value),
            get=lambda name, g=given, w=way: w * g[-1],
        )
        with pytest.raises(BadInput, match="actuator 'lift' does not move with its force"):
            scenario_units.load_of(stuck, "lift")


@pytest.mark.parametrize(
    ("start", "profile", "target"),
    [
        ({}, (), 1.25),
        ({"target": 0.5}, (), 0.5),
        ({}, ((0.0, 1.0),), 0.0),
        ({"target": 0.25}, ((0.0, 1.0),), 0.25),
    ],
)
def test_coupled_controller_starts_in_steady_state(
    monkeypatch: pytest.MonkeyPatch, start: dict, profile: Any, target: float
):
    """Without a setpoint it holds its place; its command is that of the drive from the start."""
    scenario = block(monkeypatch, "c", start, pid=Pid(gain=0.5), profile=profile, unit="rad")
    raw = scenario_units.actuated(scenario)
    drive, controller = scenario_units.settled(scenario, raw, False)
    assert controller is not None and (
        controller.measured,
        controller.before,
        controller.target,
    ) == (1.25, 1.25, target)
    assert drive.control == controller.command == 0.5 * ((1.0 if profile else 0.0) + target - 1.25)
    slaves = scenario_units.coupled(scenario, "held", raw, "process", Path())
    assert slaves[2].name == "c" and slaves[2].units["measured"] == "rad"


def test_settings_are_parameters_of_the_description(monkeypatch: pytest.MonkeyPatch):
    block(monkeypatch)
    made = scenario_units.raw_description(UnitSpec("m", "block.toml", settings={"k": 3.0}), Path())
    assert made["parameters"]["k"] in (3.0, {"value": 3.0}) and BLOCK["parameters"]["k"] == 1.0
    with pytest.raises(ModelError, match="kk"):
        scenario_units.raw_description(UnitSpec("m", "block.toml", settings={"kk": 3.0}), Path())


def test_unit_start_values_are_applied():
    """At 1.2 m and without a load where nothing is said; what no valve could hold is refused."""
    scenario = Scenario("s.toml", "s", ())
    drive = scenario_units.resting(
        UnitSpec("d", drive=DriveSpec(), start={"load": 1e4, "length": 1.5}), scenario
    )
    assert drive.length == 1.5 and drive.force == pytest.approx(1e4)
    drive = scenario_units.resting(UnitSpec("d"), scenario)
    assert drive.length == pytest.approx(1.2) and drive.force == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(BadInput, match="s.toml: units.d: the load of 1e.09 N needs"):
        scenario_units.resting(UnitSpec("d", start={"load": 1e9}), scenario)
    controller = scenario_units.controller_of(
        ControllerSpec(Pid(bias=0.25), ((0.0, 1.0),)), {"measured": 2}
    )
    assert (controller.measured, controller.target, controller.pid.bias, controller.profile) == (
        2.0,
        0.0,
        0.25,
        ((0.0, 1.0),),
    )
    assert (
        scenario_units.controller_of(ControllerSpec(), {"target": 3}).target == 3.0
        and scenario_units.controller_of(ControllerSpec(), {}).measured == 0.0
    )


def test_drives_and_controllers_are_units():
    """Values are attributes; a drive starts at rest under its load, a controller where it measures; other values go to inputs."""
    program: Any = SimpleNamespace(a=1.0, step=lambda h: math.sqrt(-h))
    plain = ProgramSlave(program, "p")
    plain.set("a", 2.0)
    assert plain.get("a") == 2.0 and plain.units == {}
    with pytest.raises(CosimError, match="p: at t = 0.5 s: math domain error"):
        plain.step(0.5, 1.0)
    assert program.time == 0.5
    drive = DriveSlave(Drive(Cylinder(), Valve()))
    drive.start({"load": 1e4, "length": 1.5, "speed": 0.25})
    assert (drive.get("length"), drive.program.speed, drive.program.acceleration) == (
        1.5,
        0.25,
        0.0,
    ) and drive.get("force") == pytest.approx(1e4)
    drive.set("speed", 0.5, 2.0)
    drive.set("control", 0.125, 3.0)
    assert (drive.program.speed, drive.program.acceleration, drive.program.control) == (
        0.5,
        2.0,
        0.125,
    )
    drive.start({})
    assert drive.get("force") == pytest.approx(0.0, abs=1e-9) and drive.get("length") == 1.5
    with pytest.raises(CosimError, match="drive: the load of"):
        drive.start({"load": 1e9})
    controller = ControllerSlave(Controller(Pid(gain=0.5)))
    controller.start({"measured": 1.0, "target": 1.5})
    assert controller.program.before == 1.0 and controller.get("command") == 0.25
    with pytest.raises(BadInput, match="p has no variable 'x' to start with$"):
        known("p", {"x": 1.0}, ["speed", "load"])


def test_unit_names_may_share_a_prefix():
    assert [parted(text, ["a", "a.b"]) for text in ("a.x", "a.b.x", "a.b", "a.b.", "a.", "b.x", "ab.x")] == [
        ("a", "x"), ("a.b", "x"), ("a", "b"), ("a", "b."), ("", "a."), ("", "b.x"), ("", "ab.x"),
    ]  # fmt: skip


def test_unconnected_inputs_are_listed():
    """But for those with a start value, and the command of a drive, which may be its profile."""
    a, b, d = (
        SimpleNamespace(name=name, inputs=given)
        for name, given in (("a", ("u", "w")), ("b", ("u", "control")), ("d", ("speed", "control")))
    )
    specs = (
        UnitSpec("a", fmu="a", start={"w": 1.0}),
        UnitSpec("b", fmu="b"),
        UnitSpec("d", drive=DriveSpec()),
    )
    wire = Wire(a, "y", b, "u")  # type: ignore[arg-type]
    scenario: Any = Scenario("s.toml", "s", specs)
    told = unconnected(scenario, {"a": a, "b": b, "d": d}, [wire])  # type: ignore[dict-item]
    assert [note.split(" is never")[0] for note in told] == [
        "input a.u",
        "input b.control",
        "input d.speed",
    ]
    with pytest.raises(BadInput, match="s.toml: wires: two wires lead to b.u"):
        unconnected(scenario, {"a": a, "b": b, "d": d}, [wire, wire])  # type: ignore[dict-item]


def test_units_are_packed_with_start_values(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """By the back end that is asked for, for the communication step; a drive that has its oil carries the load, else the mechanism does."""
    built: list[tuple[Any, ...]] = []
    monkeypatch.setattr(
        scenario_units,
        "build_fmu",
        lambda made, path, backend: built.append((path.name, backend)) or path,
    )
    for name in ("build_drive_fmu", "build_controller_fmu"):
        monkeypatch.setattr(
            scenario_units,
            name,
            lambda made, path, *given: built.append((path.name, *given)) or path,
        )
    scenario = replace(
        block(monkeypatch, "c", {"target": 2.0}, pid=Pid(gain=0.5), unit="rad"), step_size=0.125
    )
    parts = scenario_units.parts_of(scenario, "told", scenario_units.actuated(scenario))
    told = scenario_units.pack_scenario(scenario, "told", "python", tmp_path)
    force, command = parts.drive.force, 0.375
    assert [(unit.name, unit.path, unit.start) for unit in told] == [
        ("m", tmp_path / "m.fmu", {"lift.force": force}), ("d", tmp_path / "d.fmu", {"control": command, "load": force, "length": 1.25}),
        ("c", tmp_path / "c.fmu", {"measured": 1.25, "target": 2.0}),
    ]  # fmt: skip
    expected = [
        ("m.fmu", "python"),
        ("d.fmu", False, "python", 0.125),
        ("c.fmu", "rad", "python", 0.125),
    ]
    assert built == expected
    inside = scenario_units.pack_scenario(scenario, "chambers", "native", tmp_path)
    assert [unit.start for unit in inside] == [
        {"lift.force": 0.0},
        {"control": command},
        {"measured": 1.25, "target": 2.0},
    ]
    built.clear()
    monkeypatch.setattr(scenario_units, "load", lambda raw: raw)
    written = scenario_units.pack_scenario(
        replace(scenario, coupling=None), "held", "python", tmp_path
    )
    assert built == expected and [unit.start for unit in written] == [{}, {}, {"target": 2.0}]
    foreign = UnitSpec("f", fmu="f.fmu", start={"p": 1.0})
    there = replace(scenario, file=str(tmp_path / "s.toml"))
    with pytest.raises(FileNotFoundError):
        scenario_units.pack_unit(foreign, there, "native", tmp_path)
    (tmp_path / "f.fmu").touch()
    assert scenario_units.pack_unit(
        foreign, there, "native", tmp_path / "x"
    ) == scenario_units.Packed("f", tmp_path / "f.fmu", {"p": 1.0})


@pytest.mark.parametrize(
    ("alias", "name"),
    [("jacobi", "held"), ("gauss-seidel", "sequential"), ("linear-implicit", "told")],
)
def test_scheme_aliases_from_the_literature_are_accepted(alias: str, name: str):
    wires = [{"from": "a.y", "to": "b.u"}]
    units = {"a": {"fmu": "a.fmu"}, "b": {"fmu": "b.fmu"}}
    raw = {"name": "n", "units": units, "wires": wires, "scheme": alias}
    assert scenario_of(raw, FILE).scheme == name
