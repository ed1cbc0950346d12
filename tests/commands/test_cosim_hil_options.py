"""`kinetree cosim`, `hil`, `check`, `modelica` and `import`: options that reach what they name, and what is written and said."""

import json
import socket
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from plant_stand_in import scenario as loop_scenario

from kinetree import models
from kinetree.scripts import cli
from kinetree.scripts.commands import cosim, hil
from kinetree.scripts.cosim import cosim_report as report
from kinetree.scripts.cosim import export_ssp, scenario_units, scenario_verdict, wired_scenario
from kinetree.scripts.cosim import import_ssp as imported_ssp
from kinetree.scripts.cosim import scenario as scenarios
from kinetree.scripts.hil import realtime_loop as clock
from kinetree.scripts.hil import scenario as loops
from kinetree.scripts.hil import shared_memory as mailbox
from kinetree.scripts.terminal import progress
from kinetree.scripts.terminal.error_messages import BadInput


@dataclass(frozen=True)
class Coupled:
    """What the command takes of a scenario."""

    name: str = "arm"
    scheme: str = "held"
    step_size: float = 0.25
    stop_time: float = 2.0
    extrapolation: int = 0
    control: Any = None
    coupling: Any = "drive"


@pytest.fixture
def coupled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """What is run, written and shown; a scenario of wires by that name."""
    monkeypatch.chdir(tmp_path)
    log: list[Any] = []
    outcome = SimpleNamespace(trace=SimpleNamespace(message=""))
    monkeypatch.setattr(
        scenarios,
        "read_scenario",
        lambda file: Coupled(name=file, coupling=None if file == "wires" else "drive"),
    )
    monkeypatch.setattr(
        imported_ssp, "scenario_of_ssp", lambda file, folder: Coupled(name=f"{file} unpacked")
    )
    monkeypatch.setattr(
        progress,
        "progress",
        lambda *given: (log.append(("progress", *given)), nullcontext("told"))[1],
    )

    def run(which: str) -> Any:
        def found(scenario: Coupled, scheme: str, *given: Any) -> Any:
            outcome.trace.message = "stopped: it diverged" if scheme == "repeat" else "whole"
            log.append((which, scenario, scheme, *given))
            return outcome

        return found

    monkeypatch.setattr(scenario_verdict, "run_coupled", run("coupled"))
    monkeypatch.setattr(wired_scenario, "run_wired", run("wired"))
    monkeypatch.setattr(
        scenario_verdict, "write_json", lambda outcome, path: log.append(("json", path.name))
    )
    monkeypatch.setattr(report, "write_csv", lambda outcome, path: log.append(("csv", path.name)))
    monkeypatch.setattr(report, "write_plot", lambda outcome, path: log.append(("plot", path.name)))
    monkeypatch.setattr(
        report, "show", lambda outcome, paths: log.append(("show", [path.name for path in paths]))
    )
    return log


def test_cosim_options_override_scenario(coupled: list[Any], capsys: pytest.CaptureFixture):
    """What is not given is the scenario's; a run that stopped is a failure."""
    assert cli.main(["cosim", "s.toml"]) == 0
    s = Coupled("s.toml")
    assert coupled == [
        ("progress", "s.toml", 2.0, False),
        ("coupled", s, "held", 0.25, 2.0, "native", "told"),
        ("show", []),
    ]
    coupled.clear()
    files = ["--json", "a.json", "-o", "a.csv", "--plot", "a.png", "-q"]
    assert (
        cli.main(
            [
                "cosim",
                "wires",
                "--scheme",
                "SLOPE",
                "--step-size",
                "0.5",
                "--stop-time",
                "3",
                "--units",
                "Python",
                *files,
            ]
        )
        == 0
    )
    assert coupled == [
        ("progress", "wires", 3.0, True), ("wired", Coupled("wires", coupling=None), "slope", 0.5, 3.0, "python", "told"),
        ("json", "a.json"), ("csv", "a.csv"), ("plot", "a.png"),
    ]  # fmt: skip
    coupled.clear()
    assert (
        cli.main(
            [
                "cosim",
                "a.ssp",
                "--json",
                "a.json",
                "--scheme",
                "repeat",
                "--extrapolation",
                "2",
                "--tolerance",
                "1e-3",
            ]
        )
        == 1
    )
    _, (_, found, scheme, *_), written, shown = coupled
    assert (found.name, scheme, found.extrapolation, found.control.tolerance) == (
        "a.ssp unpacked",
        "repeat",
        2,
        1e-3,
    )
    assert (written, shown) == (("json", "a.json"), ("show", ["a.json"]))
    for words, said in (
        ("--extrapolation 3", "--extrapolation 3: expected one of"), ("--tolerance 0", "--tolerance"), ("--step-size 0", "--step-size"),
        ("--stop-time -1", "--stop-time"), ("--scheme none", "--scheme none: expected one of"), ("--units none", "--units none: expected one of"),
    ):  # fmt: skip
        assert cli.main(["cosim", "s.toml", *words.split()]) == 2 and said in " ".join(
            capsys.readouterr().err.split()
        ), words


def test_cosim_writes_ssp_and_fmus_for_other_hosts(
    coupled: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture,
):
    """FMUs into a folder, a structure by the scheme that suits every host; both said unless silence is wanted."""
    made = [
        SimpleNamespace(path="a.fmu", start={"x": 1.0}),
        SimpleNamespace(path="b.fmu", start={}),
    ]
    monkeypatch.setattr(
        scenario_units,
        "pack_scenario",
        lambda scenario, scheme, kind, folder: (
            coupled.append((scenario.step_size, scheme, kind, folder.name)),
            made,
        )[1],
    )
    monkeypatch.setattr(
        export_ssp, "export_ssp", lambda *given: (coupled.append(given[1:]), ["a note"])[1]
    )
    line = ["cosim", "s.toml", "--step-size", "0.5"]
    assert (
        cli.main([*line, "--fmus", str(tmp_path / "new" / "folder")]) == 0
        and (tmp_path / "new" / "folder").is_dir()
    )
    assert coupled == [(0.5, "held", "native", "folder")]
    assert capsys.readouterr().out.splitlines() == [
        "wrote a.fmu, to start with {'x': 1.0}",
        "wrote b.fmu",
    ]
    coupled.clear()
    assert (
        cli.main([*line, "--ssp", "a.ssp", "--ssp-version", "2.0"])
        == 0
        == cli.main(["cosim", "wires", "--ssp", "a.ssp", "-q"])
    )
    assert coupled == [
        (export_ssp.FOR_HOSTS, 0.5, 2.0, Path("a.ssp"), "native", "2.0"),
        ("held", 0.25, 2.0, Path("a.ssp"), "native", "1.0"),
    ]
    assert capsys.readouterr().out.splitlines() == [
        f"wrote a.ssp: s.toml, scheme {export_ssp.FOR_HOSTS}, step 0.5 s, SSP 2.0",
        "a note",
    ]
    assert (
        cli.main([*line, "--ssp", "a.ssp", "--scheme", "told", "-q"]) == 0
        and coupled[-1][0] == "told"
        and not capsys.readouterr().out
    )
    for words in (
        ["--units", "process", "--ssp", "a.ssp"],
        ["--ssp", "a.zip"],
        ["--ssp", "a.ssp", "--ssp-version", "3.0"],
    ):
        assert cli.main([*line, *words]) == 2, words
    with pytest.raises(BadInput, match="--units process has no FMUs to write"):
        cosim.export(Coupled(), "", 0.5, 1.0, None, tmp_path, "process", "1.0", True)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "made"),
    [
        ("", ["shown"]),
        ("-q", []),
        ("--simulated", ["shown"]),
        ("-o r.csv -q", [("rows", "r.csv")]),
        ("--report r.html -q", [("page", "r.html")]),
    ],
)
def test_hil_results_are_saved_and_printed(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture,
    words: str,
    made: list[Any],
):
    from kinetree.scripts.hil import loop_run as loop
    from kinetree.scripts.hil import report as pages

    monkeypatch.chdir(tmp_path)
    log: list[Any] = []
    asked = loop_scenario()
    monkeypatch.setattr(loops, "read_scenario", lambda path: asked)
    monkeypatch.setattr(
        progress, "progress", lambda *given: (log.append(given), nullcontext("told"))[1]
    )
    for module, name in ((clock, "run"), (loop, "simulate")):
        monkeypatch.setattr(
            module, name, lambda scenario, told, name=name: (log.append((name, told)), "record")[1]
        )
    monkeypatch.setattr(hil, "keep", lambda record, path: log.append(("rows", path.name)))
    monkeypatch.setattr(pages, "write_report", lambda record, path: log.append(("page", path.name)))
    monkeypatch.setattr(hil, "show", lambda record: log.append("shown"))
    monkeypatch.setattr(hil, "told_of", lambda record: {"told": record})
    assert cli.main(["hil", "s.toml", *words.split()]) == 0
    run = "simulate" if "--simulated" in words else "run"
    assert log == [("hil s", 1.5, "-q" in words), (run, "told"), *made]
    log.clear()
    assert cli.main(["hil", "s.toml", "--json"]) == 0 and json.loads(capsys.readouterr().out) == {
        "told": "record"
    }
    assert log == [("hil s", 1.5, True), ("run", "told")]
    asked.loops.clear()
    assert (
        cli.main(["hil", "s.toml", "--simulated"]) == 2
        and "--simulated needs [[loops]] or a [controller]" in capsys.readouterr().err
    )
    asked.controller["fmu"] = "c.fmu"
    assert cli.main(["hil", "s.toml", "--simulated", "-q"]) == 0
    assert cli.main(["hil", "s.toml", "--generic", "-q"]) == 0 and asked.specialised is False
    asked.fmu = Path("plant.fmu")  # whose code is what it is
    assert cli.main(["hil", "s.toml", "--specialised"]) == 2
    assert "plant.fmu" in capsys.readouterr().err


def test_hil_connections_open_by_udp_or_shared_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """A socket that is connected and does not wait, to the own partner or one outside; or a mailbox, in a folder of its own or where it is named."""
    started: list[Any] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        address = other.getsockname()
        monkeypatch.setattr(
            clock,
            "own_partner",
            lambda scenario, folder, box, token: (
                started.append((folder.is_dir(), box, token)),
                nullcontext(address),
            )[1],
        )
        for outside in (False, True):
            scenario = loop_scenario()
            scenario.partner = address if outside else None
            with clock.connected(scenario, 7) as door:
                assert (
                    isinstance(door, socket.socket)
                    and door.getpeername() == address
                    and not door.getblocking()
                )
            assert door.fileno() == -1 and started == [(True, None, 7)]
        scenario.partner, scenario.shared = None, tmp_path / "box"
        with clock.connected(scenario) as door:
            with closing(mailbox.Mailbox(tmp_path / "box", plant=False)) as partner:
                door.send(b"measures")
                partner.send(b"commands")
                assert partner.recv(64) == b"measures" and door.recv(64) == b"commands"
        assert len(started) == 1
        scenario.shared = Path()
        with clock.connected(scenario) as door:
            assert isinstance(door, mailbox.Mailbox)
        (_, (there, box, _)) = started
        assert there and box.name == "mailbox" and not box.parent.exists()


def test_check_prints_counts_of_valid_description(tmp_path: Path, capsys: pytest.CaptureFixture):
    """Bodies, freedoms and controllers; beside them what is unused, left out, on the ground by default, and fixed in FMUs."""
    block = {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}
    table = [{"shift": axis, "coordinate": axis} for axis in "xy"]
    one: dict[str, Any] = {
        "name": "table",
        "parameters": {"spare": 1.0, "pace": {"value": 0.01, "tunable": True}},
        "bodies": {"b": block},
        "joints": {"j": {"child": "b", "transforms": table}},
        "run": {"step": "pace"},
    }
    path = tmp_path / "m.json"

    def checked(description: dict[str, Any], *more: str) -> tuple[list[str], str]:
        path.write_text(json.dumps(description))
        assert cli.main(["check", str(path), *more]) == 0
        out, err = capsys.readouterr()
        return out.splitlines(), err

    (counts, fixed), warned = checked(one)
    assert counts == f"{path}: OK: 1 body, 2 degrees of freedom"
    assert fixed.startswith("in FMUs: ") and "'pace'" in fixed
    assert warned.startswith("warning: ") and "spare" in warned and warned.count("\n") == 1
    two = one | {
        "bodies": {"b": block, "c": block},
        "joints": one["joints"]
        | {"i": {"child": "c", "transforms": [{"shift": "x", "coordinate": "u"}]}},
        "actuators": {"p": {"coordinate": "x"}, "r": {"coordinate": "u"}},
        "controllers": {
            "a": {"measure": "x", "kp": 1.0, "drives": "p"},
            "b": {"kind": "notch", "measure": "u", "drives": "r", "frequency": 3.0},
        },
    }
    lines, _ = checked(two)
    assert lines[0].endswith("2 bodies, 3 degrees of freedom, controllers a (pid), b (notch)")
    assert "ground" in lines[1] and lines[1].endswith("joints j, i"), "none names its parent"
    lines, warned = checked(two, "--json", "--set", "spare=2")
    told = json.loads("\n".join(lines))
    assert (told["file"], told["good"], warned) == (str(path), True, "")
    assert "spare" in told["warnings"][0] and "'pace'" in told["in_fmus"][0]
    assert (told["bodies"], told["freedoms"], told["left_out"]) == (2, 3, [])
    assert told["controllers"] == {"a": "pid", "b": "notch"}
    assert told["without_parent"] == ["j", "i"]
    lines, _ = checked({"name": "train", "chain": {"mass": [1.0, 1.0], "stiffness": 1.0}})
    assert lines == [f"{path}: OK: a chain of 2 masses"]
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    arm = (
        f'<link name="arm"><inertial><mass value="1"/>{inertia}</inertial></link><link name="tip"/>'
    )
    turn = '<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/></joint>'
    held = '<joint name="held" type="continuous"><parent link="arm"/><child link="tip"/></joint>'
    robot = tmp_path / "r.urdf"
    robot.write_text(f'<robot name="r"><link name="base"/>{arm}{turn}{held}</robot>')
    assert cli.main(["check", str(robot)]) == 0
    counts, left = capsys.readouterr().out.splitlines()
    assert counts == f"{robot}: OK: 1 body, 1 degree of freedom"
    assert left.startswith("left out: ") and "'held'" in left


def test_modelica_command_writes_model_around_fmu(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
):
    """Actuators that have a length, with it at the start; names that Modelica takes."""
    from kinetree.fmu import modelica
    from kinetree.fmu import unit as units_of
    from kinetree.scripts.fmi import in_process_reference as in_process

    monkeypatch.chdir(tmp_path)
    asked: list[Any] = []
    description = SimpleNamespace(name="My arm", actuators={"lift": 1, "swing": 2})
    unit = SimpleNamespace(
        description=description,
        columns=[SimpleNamespace(name="lift.length"), SimpleNamespace(name="swing.angle")],
    )
    monkeypatch.setattr(models, "load", lambda source, **settings: None)
    monkeypatch.setattr(units_of, "fmu_unit", lambda mechanism: unit)
    started = SimpleNamespace(get=lambda names: [float(len(name)) for name in names])
    monkeypatch.setattr(
        in_process, "InProcess", lambda unit: SimpleNamespace(start=lambda: started)
    )
    monkeypatch.setattr(
        modelica, "wrapper_text", lambda *given: (asked.append(given[1:]), "text")[1]
    )
    made = f"My_arm{modelica.SUFFIX}"
    assert cli.main(["modelica", "m", "-o", "Arm.mo"]) == 0 and Path("Arm.mo").read_text() == "text"
    assert asked == [("Arm", made, {"lift": 11.0})] and capsys.readouterr().out.startswith(
        f"Arm.mo: model Arm around {made}, 1 actuators;"
    )
    description.actuators = {}
    assert (
        cli.main(["modelica", "m", "-o", "Arm.mo", "--block", "Inner", "-q"]) == 0
        and asked[-1] == ("Arm", "Inner", {})
        and not capsys.readouterr().out
    )
    for words, said in (
        ("-o Arm.txt", "expected a name that ends in .mo"), ("-o 1a.mo", "must be an identifier"), ("-o Ä.mo", "must be an identifier"),
        (f"-o {sorted(modelica.RESERVED)[0]}.mo", "must be an identifier"), ("-o Inner.mo --block Inner", "the imported block has this name"),
    ):  # fmt: skip
        assert cli.main(["modelica", "m", *words.split()]) == 2 and said in " ".join(
            capsys.readouterr().err.split()
        ), words
