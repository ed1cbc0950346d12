"""Wires written out: interface derivatives, power bonds, crossed signs, units that refuse."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.scripts.cli import main
from kinetree.scripts.cosim.export_ssp import links_of_scenario, links_of_wires
from kinetree.scripts.cosim.fmu_slave import FmuSlave
from kinetree.scripts.cosim.hydraulic_drive import Drive
from kinetree.scripts.cosim.jacobian import InterfaceJacobian
from kinetree.scripts.cosim.masters import Wire
from kinetree.scripts.cosim.pack_drives import build_drive_fmu
from kinetree.scripts.cosim.scenario import read_scenario, scenario_of
from kinetree.scripts.cosim.scenario_verdict import run_coupled
from kinetree.scripts.cosim.valve_cylinder import Cylinder, Valve
from kinetree.scripts.cosim.wired_scenario import run_wired, wire_of
from kinetree.scripts.terminal.error_messages import BadInput

HOLD = "4256.454355978347"  # force that holds the boom of the library at its start [N]
LENGTH = "1.8632196"  # of the cylinder there, to 1e-7 m
BOOM = f"""
stop_time = 0.1
step_size = 0.002
scheme = "{{scheme}}"
[units.boom]
{{boom}}
[units.oil]
{{oil}}
start = {{{{ load = {HOLD}, length = {{length}} }}}}
[[wires]]
from = "boom.lift.speed"
to = "oil.speed"
bond = "lift"
factor = {{first}}
[[wires]]
from = "oil.force"
to = "boom.lift.force"
bond = "lift"
factor = {{second}}
"""
OIL = """[units.oil.drive]
profile = [[0.0, 0.0], [0.02, 0.4]]
cylinder = { area_a = 50e-4, area_b = 32e-4, shortest = 1.35, longest = 2.35, volume_a = 0.5e-3, volume_b = 0.5e-3 }
"""


def boom_length() -> float:
    from kinetree.scripts.cosim.slave import MechanismSlave

    slave = MechanismSlave(load("lib:boom"))
    slave.start({})
    return slave.get("lift.length")


def scenario(
    folder: Path,
    scheme: str = "jacobian",
    first: float = 1.0,
    second: float = 1.0,
    boom: str = 'description = "lib:boom"',
) -> Path:
    text = BOOM.format(
        scheme=scheme, first=first, second=second, boom=boom, oil="", length=boom_length()
    )
    text = text.replace("[units.oil]\n\n", "[units.oil]\n") + OIL
    path = folder / "wires.toml"
    path.write_text(text)
    return path


@pytest.fixture(
    scope="module",
    params=[("native", 2), ("native", 3), ("python", 3)],
    ids=["FMI 2", "FMI 3", "FMI 3 in Python"],
)
def archive(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    backend, fmi = request.param
    return build_fmu(
        load("lib:boom"), tmp_path_factory.mktemp("boom") / "boom.fmu", backend=backend, fmi=fmi
    )


@pytest.mark.parametrize("ramp", [True, False])
def test_directional_derivatives_are_those_of_the_step(archive: Path, ramp: bool):
    """Against central differences over repeated steps of 20 ms: their error is that of the FMU's own, 1e-5, on a motion that is smooth."""
    slave = FmuSlave(archive, "boom")
    if ramp and "lift.force" not in slave.ramped:
        pytest.skip("takes no slopes at communication points")
    slave.start({})
    h, nudge, names = 0.02, 100.0, ["lift.length", "lift.speed", "lift.acceleration"]
    found = slave.ramp_response("lift.force", names, h, ramp)
    hold, state, ends = slave.get("lift.acceleration"), slave.save(), []
    base = 4256.454355978347
    for sign in (1.0, -1.0):
        slave.restore(state)
        slave.set(
            "lift.force",
            base if ramp else base + 0.5 * sign * nudge,
            sign * nudge / h if ramp else 0.0,
        )
        slave.step(0.0, h)
        ends.append([slave.get(name) for name in names])
    slave.close()
    assert abs(hold) < 1e-6 and found is not None
    differences = (np.array(ends[0]) - np.array(ends[1])) / (2.0 * nudge)
    assert np.abs(np.array(found) / differences - 1.0).max() < 1e-3


def test_interface_jacobian_uses_directional_derivatives(archive: Path, tmp_path: Path):
    """Both FMUs give them: the same answer as with difference quotients on both sides."""
    drive = Drive(Cylinder(shortest=1.35, longest=2.35), Valve(), ((0.0, 0.0), (0.02, 0.4)))
    path = build_drive_fmu(drive, tmp_path / "drive.fmu")
    ends, counts = [], []
    for derives in (True, False):
        slaves = [FmuSlave(archive, "boom"), FmuSlave(path, "oil")]
        for slave in slaves:
            slave.derives = derives
        slaves[0].start({})
        slaves[1].start({"load": float(HOLD), "length": boom_length()})
        wires = [
            Wire(slaves[0], "lift.speed", slaves[1], "speed"),
            Wire(slaves[1], "force", slaves[0], "lift.force"),
        ]
        master = InterfaceJacobian(slaves, wires)
        for k in range(40):
            master.step(0.005 * k, 0.005)
        ends.append(slaves[1].get("pressure_a"))
        counts.append((master.derived, master.differences))
        for slave in slaves:
            slave.close()
    assert counts[0][0] > 0 == counts[0][1] and counts[1][0] == 0 < counts[1][1]
    # both solve the interface to 1e-9 of its values in every step
    assert ends[0] == pytest.approx(ends[1], rel=40 * 1e-7)


def test_energy_of_every_bond_is_reported(tmp_path: Path):
    report = tmp_path / "report.json"
    assert (
        main(["cosim", str(scenario(tmp_path)), "--units", "process", "--json", str(report), "-q"])
        == 0
    )
    facts = json.loads(report.read_text())
    assert (
        facts["stable"] and list(facts["energy_residuals_J"]) == ["lift"] and facts["steps"] == 50
    )
    assert abs(facts["energy_residuals_J"]["lift"]) < 1e-6


@pytest.mark.parametrize("scheme", ["held", "slope", "sequential", "repeat", "jacobian"])
@pytest.mark.parametrize(("first", "second"), [(-1.0, 1.0), (1.0, -1.0)])
def test_crossed_signs_are_detected_before_run(
    tmp_path: Path, scheme: str, first: float, second: float, capsys: pytest.CaptureFixture
):
    path = scenario(tmp_path, scheme, first, second)
    assert main(["cosim", str(path), "--units", "process", "--step-size", "0.0005"]) == 1
    said = capsys.readouterr().out
    assert (
        "crossed signs: bond 'lift' feeds every motion" in said
        and "oil.force -> boom.lift.force" in said
        and "factor = -1" in said
    )


def test_two_sign_errors_cancel(tmp_path: Path):
    """Both signs turned: both sides mean the other direction, and power flows as before. Only the force at rest is then of the wrong sign."""
    trace = run_wired(
        read_scenario(str(scenario(tmp_path, "jacobian", -1.0, -1.0))), "jacobian", 0.002, 0.002
    ).trace
    assert "crossed" not in trace.message


def test_power_bond_needs_opposite_wires(tmp_path: Path, capsys: pytest.CaptureFixture):
    path = scenario(tmp_path)
    path.write_text(path.read_text().replace('to = "oil.speed"\nbond = "lift"', 'to = "oil.speed"'))
    assert main(["cosim", str(path), "--units", "process"]) == 2
    assert "bond 'lift': expected two wires in opposite directions" in capsys.readouterr().err


def test_step_control_needs_bonds(tmp_path: Path, capsys: pytest.CaptureFixture):
    path = scenario(tmp_path)
    path.write_text(
        path.read_text()
        .replace('bond = "lift"\n', "")
        .replace('to = "oil.speed"', 'to = "oil.control"')
    )
    assert main(["cosim", str(path), "--units", "process", "--tolerance", "0.01"]) == 2
    assert "step_control needs power bonds" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            ("stop_time", "extrapolation = 5\nstop_time"),
            "extrapolation: found 5, expected one of 0, 1, 2",
        ),
        (
            ("stop_time", "step_control = { tolerence = 0.1 }\nstop_time"),
            "step_control.tolerence: unknown key; did you mean 'tolerance'?",
        ),
        (
            ("stop_time", "step_control = { tolerance = 0 }\nstop_time"),
            "step_control.tolerance: found 0, expected a positive number",
        ),
        (("factor = 1.0", 'factor = "x"'), "wires[0].factor: found 'x', expected a number"),
        (("[0.02, 0.4]", "[0.02]"), "units.oil.drive.profile: expected points [time, value]"),
        (("[0.02, 0.4]", "[-0.02, 0.4]"), "units.oil.drive.profile: times must ascend"),
        (("load =", "laod ="), "oil has no variable 'laod' to start with; did you mean 'load'?"),
        (
            ("[[wires]]", "[units.pid.controller]\npid = { gain = 0 }\n[[wires]]"),
            "units.pid.controller.pid: the controller's gain is 0",
        ),
        (
            ("[[wires]]", "[units.pid.controller]\npid = { gian = 1 }\n[[wires]]"),
            "units.pid.controller.pid.gian: unknown key; did you mean 'gain'?",
        ),
    ],
)
def test_scenario_mistakes_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture, change: tuple[str, str], said: str
):
    path = scenario(tmp_path)
    path.write_text(path.read_text().replace(*change, 1))
    assert main(["cosim", str(path), "--units", "process"]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("first", "step", "stop", "said"),
    [
        (1.0, 0.002, 1.0, "unstable: until t ="),
        (-1.0, 0.0005, 0.01, "crossed signs: bond 'oil.force'"),
    ],
)
def test_suspected_bonds_are_monitored(
    tmp_path: Path, first: float, step: float, stop: float, said: str
):
    """Force one way and speed the other between the same units: what goes wrong is told, and the run goes on to its end or to that of the stroke."""
    report, path = tmp_path / "report.json", scenario(tmp_path, "held", first)
    path.write_text(path.read_text().replace('bond = "lift"\n', ""))
    options = [
        "--units",
        "process",
        "--json",
        str(report),
        "-q",
        "--step-size",
        str(step),
        "--stop-time",
        str(stop),
    ]
    main(["cosim", str(path), *options])
    facts = json.loads(report.read_text())
    assert any(note.startswith(said) for note in facts["notes"]) and list(
        facts["energy_residuals_J"]
    ) == ["oil.force"]
    assert facts["stable"] is (first < 0.0) and facts["reached_s"] == stop


def test_stable_suspected_bond_causes_no_error(tmp_path: Path):
    report, path = tmp_path / "report.json", scenario(tmp_path, "jacobian")
    path.write_text(path.read_text().replace('bond = "lift"\n', ""))
    assert (
        main(
            [
                "cosim",
                str(path),
                "--units",
                "process",
                "--json",
                str(report),
                "-q",
                "--stop-time",
                "1",
            ]
        )
        == 0
    )
    facts = json.loads(report.read_text())
    assert facts["stable"] and not any(
        "unstable" in note or "crossed" in note for note in facts["notes"]
    )


@pytest.mark.parametrize("units", ["process", "native", "python"])
def test_integers_can_be_recorded(tmp_path: Path, units: str):
    """The stage of a mechanism that lets its load fall at 0.5 s."""
    from kinetree.scripts.cosim.scenario import SCENARIOS

    path, result = tmp_path / "stages.toml", tmp_path / "result.csv"
    mechanism = SCENARIOS / "mechanisms" / "staged.toml"
    path.write_text(
        f'stop_time = 0.6\nstep_size = 0.1\noutputs = ["boom.stage"]\n[units.boom]\ndescription = "{mechanism}"'
    )
    assert main(["cosim", str(path), "--units", units, "-o", str(result), "-q"]) == 0
    stages = [float(line.split(",")[1]) for line in result.read_text().splitlines()[1:]]
    assert stages[0] == stages[4] and stages[-1] == stages[0] + 1


def test_wired_stiffness_equals_told_scheme(tmp_path: Path):
    """The same masters over the same wires, whatever the order of the units in the file: only the load at the start is rounded, to 1e-9 N."""
    text = BOOM.format(
        scheme="told",
        boom='description = "lib:boom"',
        oil="",
        length=repr(boom_length()),
        first=1.0,
        second=1.0,
    )
    wires = """
[[wires]]
from = "oil.force"
to = "boom.lift.force"
slope = "oil.resting_rate"
mean = true
bond = "lift"
[[wires]]
from = "oil.stiffness"
to = "boom.lift.stiffness"
bond = "lift"
[[wires]]
from = "oil.damping"
to = "boom.lift.damping"
[[wires]]
from = "boom.lift.mean_speed"
to = "oil.speed"
mean = true
bond = "lift"
"""
    head = text[: text.index("[units.boom]")]
    start = f"[units.oil.start]\nload = {HOLD}\nlength = {boom_length()!r}\n"
    units = [f"{OIL}{start}", '[units.boom]\ndescription = "lib:boom"\n']
    found = []
    for k, order in enumerate((units, units[::-1])):
        path = tmp_path / f"told{k}.toml"
        path.write_text(f'outputs = ["oil.pressure_a"]\n{head}{"".join(order)}{wires}')
        found.append(run_wired(read_scenario(str(path)), "told", 0.02, 0.6).trace)
    assert (found[0]["oil.pressure_a"] == found[1]["oil.pressure_a"]).all()
    coupled = tmp_path / "coupled.toml"
    coupled.write_text(
        f'[units.mechanism]\ndescription = "lib:boom"\n{OIL.replace("oil", "drive")}[coupling]\n'
    )
    exact = run_coupled(read_scenario(str(coupled)), "told", 0.02, 0.6).trace
    assert (
        np.ptp(exact["pressure_a"]) > 1e5
        and np.abs(found[0]["oil.pressure_a"] - exact["pressure_a"]).max() < 1e-3
    )
    assert found[0].units == {"oil.pressure_a": "Pa"}


def test_plot_and_report_show_controlled_steps(tmp_path: Path, capsys: pytest.CaptureFixture):
    """The summary says how long the steps have become; recorded columns are drawn with their units."""
    path, report, picture = (
        scenario(tmp_path, "sequential"),
        tmp_path / "report.json",
        tmp_path / "run.png",
    )
    options = [
        "--units",
        "process",
        "--tolerance",
        "0.01",
        "--json",
        str(report),
        "--plot",
        str(picture),
    ]
    assert main(["cosim", str(path), *options]) == 0
    found = json.loads(report.read_text())
    assert 0.0 < found["smallest_step_s"] < found["largest_step_s"] <= 0.02
    said = f"{found['steps']} communication steps of {found['smallest_step_s']:.3g} to {found['largest_step_s']:.3g} s"
    assert said in capsys.readouterr().out and picture.stat().st_size > 10_000


def test_ssp_archive_has_the_wires_of_the_run():
    """Whatever is said of a wire or left to its default; names of units and of variables may have dots, the longest unit counts."""
    text = {
        "units": {name: {"description": "lib:pendulum"} for name in ("a", "a.b", "a.b.c")},
        "wires": [
            {"from": "a.x", "to": "a.b.y"},
            {
                "from": "a.b.c.x.y",
                "to": "a.u",
                "factor": -2.0,
                "offset": 0.5,
                "hold": True,
                "bond": "one",
            },
            {
                "from": "a.b.x",
                "to": "a.b.c.u[1]",
                "slope": "a.b.der(x)",
                "mean": True,
                "bond": "one",
            },
        ],
    }
    scenario = scenario_of(text, "s.toml")
    slaves = {spec.name: SimpleNamespace(name=spec.name) for spec in scenario.units}
    wires = [wire_of(each, slaves, "s.toml") for each in scenario.connections]  # pyright: ignore[reportArgumentType]
    links = links_of_scenario(scenario)
    assert links == links_of_wires(wires)
    assert [(link.start, link.start_connector, link.end, link.end_connector) for link in links] == [
        ("a", "x", "a.b", "y"), ("a.b.c", "x.y", "a", "u"), ("a.b", "x", "a.b.c", "u[1]"),
    ]  # fmt: skip
    assert [(link.factor, link.offset, link.slope, link.mean, link.hold, link.bond) for link in links] == [
        (1.0, 0.0, "", False, False, ""), (-2.0, 0.5, "", False, True, "one"), (1.0, 0.0, "der(x)", True, False, "one"),
    ]  # fmt: skip
    for wrong in (
        {"from": "b.x", "to": "a.y"},
        {"from": "a.x", "to": "y"},
        {"from": "a.x", "to": "a.y", "slope": "a."},
    ):
        with pytest.raises(
            BadInput, match="expected UNIT.NAME with one of the units a, a.b, a.b.c"
        ):
            links_of_scenario(scenario_of(text | {"wires": [wrong]}, "s.toml"))
