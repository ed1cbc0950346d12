"""The carrier and its drives as slaves by hand: which units there are, how they begin, what carries what, and what is recorded."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetree.scripts.studies import carrier_cosim
from kinetree.scripts.studies.carrier_cosim import LABELS, run_carrier, started, units

CONTROLS = [f"{label}_control" for label in LABELS]


class Unit:
    """Answers 1 for the first name that it is asked for, 2 for the next one, and so on; remembers how it began."""

    def __init__(self, name: str, outputs: tuple[str, ...] = ()):
        self.name, self.outputs, self.began, self.asked, self.closed = (
            name,
            outputs,
            None,
            list[str](),
            0,
        )

    def start(self, values: dict[str, float]) -> None:
        self.began = values

    def get(self, name: str) -> float:
        self.asked.append(name)
        return float(len(self.asked))

    def close(self) -> None:
        self.closed += 1


@pytest.mark.parametrize("backend", ["process", "native"])
def test_carrier_scenario_has_seven_units(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, backend: str
):
    """As FMUs in a folder, or as the programs that they would be made of, without files."""
    log: list[Any] = []
    monkeypatch.setattr(
        carrier_cosim,
        "load",
        lambda source, **settings: log.append((source, settings)) or "mechanism",
    )
    monkeypatch.setattr(
        carrier_cosim,
        "build_fmu",
        lambda mechanism, path, kind: log.append((mechanism, kind)) or path,
    )
    monkeypatch.setattr(
        carrier_cosim,
        "build_drive_fmu",
        lambda drive, path, told, kind, step: log.append((drive, told, kind, step)) or path,
    )
    monkeypatch.setattr(
        carrier_cosim,
        "build_controller_fmu",
        lambda law, path, unit, kind, step: log.append((law, unit, kind, step)) or path,
    )
    monkeypatch.setattr(
        carrier_cosim, "FmuSlave", lambda path, name: SimpleNamespace(made=path, name=name)
    )
    monkeypatch.setattr(
        carrier_cosim,
        "MechanismSlave",
        lambda mechanism, name: SimpleNamespace(made=mechanism, name=name),
    )
    monkeypatch.setattr(
        carrier_cosim, "DriveSlave", lambda drive, name: SimpleNamespace(made=drive, name=name)
    )
    monkeypatch.setattr(
        carrier_cosim,
        "ControllerSlave",
        lambda law, name, unit: SimpleNamespace(made=law, name=name, unit=unit),
    )
    monkeypatch.setattr(carrier_cosim, "drive_of", lambda label: f"drive of {label}")
    monkeypatch.setattr(carrier_cosim, "controller_of", lambda label: f"law of {label}")
    carrier, drives, controllers, files = units(tmp_path, backend, 0.25, {"modules": 2})
    assert log[0] == ("lib:carrier", {"outside": 1, "cylinders": 1, "modules": 2})
    assert carrier.name == "carrier" and list(drives) == list(controllers) == list(LABELS)
    assert [each.name for each in drives.values()] == list(LABELS) and [
        each.name for each in controllers.values()
    ] == CONTROLS
    names = ["carrier", *LABELS, *CONTROLS]
    assert files == (
        [] if backend == "process" else [tmp_path / f"{name}.fmu" for name in names]
    ) and len(log) == (1 if backend == "process" else 8)
    if backend == "native":
        assert log[1:3] == [("mechanism", "native"), ("drive of slew_left", False, "native", 0.25)]
        assert log[7] == ("law of luff_drive", "rad", "native", 0.25)


def test_carrier_drives_start_in_equilibrium(monkeypatch: pytest.MonkeyPatch):
    """And controllers where it stands; angles go to them, their commands, held, to the drives."""
    carrier: Any = Unit("carrier")
    drives: Any = {label: Unit(label) for label in LABELS}
    controllers: Any = {label: Unit(f"{label}_control") for label in LABELS}
    bond = lambda carrier, drive, label: SimpleNamespace(wires=[f"bond of {label}"])  # noqa: E731
    monkeypatch.setattr(carrier_cosim, "SCHEMES", {"told": SimpleNamespace(plan=bond)})
    plan: Any = started(carrier, drives, controllers)
    assert carrier.began == {} and carrier.asked == [
        name for label, axis in LABELS.items() for name in (f"{label}.length", f"{label}_load", axis)
    ]  # fmt: skip
    for k, label in enumerate(LABELS):
        assert drives[label].began == {"length": 3.0 * k + 1, "load": 3.0 * k + 2}
        assert controllers[label].began == {"measured": 3.0 * k + 3, "target": 3.0 * k + 3}
        bond, angle, command = plan.wires[3 * k : 3 * k + 3]
        assert bond == f"bond of {label}" and (angle.source, angle.output, angle.target, angle.input, angle.hold) == (
            carrier, LABELS[label], controllers[label], "measured", False
        )  # fmt: skip
        assert (command.source, command.output, command.target, command.input, command.hold) == (
            controllers[label], "command", drives[label], "control", True
        )  # fmt: skip


def test_coupled_run_and_reference_have_equal_length(
    monkeypatch: pytest.MonkeyPatch,
):
    carrier: Any = Unit("carrier", ("slew", "stage", "jack_load_front_left"))
    drives: Any = {label: Unit(label) for label in LABELS}
    controllers: Any = {label: Unit(f"{label}_control") for label in LABELS}
    asked: list[Any] = []
    reference = SimpleNamespace(time=np.array([0.0, 1.0, 3.0]), stage_names=["a"])
    system = SimpleNamespace(simulate=lambda **options: asked.append(options) or reference)
    monkeypatch.setattr(
        carrier_cosim,
        "load",
        lambda source, **settings: (
            asked.append((source, settings)) or SimpleNamespace(compile=lambda: system)
        ),
    )
    monkeypatch.setattr(
        carrier_cosim,
        "units",
        lambda folder, backend, step, settings: (
            carrier,
            drives,
            controllers,
            [folder, backend, step, settings],
        ),
    )
    monkeypatch.setattr(
        carrier_cosim, "started", lambda *given: SimpleNamespace(make=lambda: "master", wires=())
    )
    monkeypatch.setattr(carrier_cosim, "cosimulate", lambda *given: asked.append(given) or "trace")
    told = lambda done: None  # noqa: E731
    run = run_carrier(Path("here"), progress=told, modules=2)
    assert asked[:2] == [
        ("lib:carrier", {"drives": 1, "cylinders": 1, "modules": 2}),
        {"tolerance": 1e-9, "output_step": 2e-3},
    ]
    master, end, step, recorded, bonds, progress = asked[2]
    assert (master, end, step, progress, list(bonds)) == ("master", 3.0, 2e-3, told, [])
    names = ("pressure_a", "pressure_b", "spool", "force", "flow_a", "flow_b")
    expected = [(carrier, name) for name in carrier.outputs] + [
        (drive, name) for drive in drives.values() for name in names
    ]
    assert (
        recorded == expected
        and run.files == [Path("here"), "native", 2e-3, {"modules": 2}]
        and run.stage_names == ["a"]
    )
    assert [each.closed for each in (carrier, *drives.values(), *controllers.values())] == [
        1
    ] * 7 and 0.0 <= run.seconds < 10.0
