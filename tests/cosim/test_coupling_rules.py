"""Small rules of couplings: what is as good as solved, what units are packed with, who is closed, how a report is written."""

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from test_master_steps import Sum

from kinetree.models import load
from kinetree.scripts.cosim import monolithic_reference as monolithic
from kinetree.scripts.cosim import pack_drives, scenario_verdict, wired_scenario
from kinetree.scripts.cosim.cosim_report import plot_columns, steps_of
from kinetree.scripts.cosim.hydraulic_drive import Drive
from kinetree.scripts.cosim.jacobian import InterfaceJacobian
from kinetree.scripts.cosim.masters import GaussSeidel, Wire
from kinetree.scripts.cosim.position_controller import Controller, Pid
from kinetree.scripts.cosim.run_master import Trace
from kinetree.scripts.cosim.scenario import Connection, Scenario, UnitSpec
from kinetree.scripts.cosim.scenario_verdict import Outcome
from kinetree.scripts.cosim.slave import MechanismSlave
from kinetree.scripts.cosim.step_size_control import ControlSpec, StepControl
from kinetree.scripts.cosim.valve_cylinder import Cylinder, Valve
from kinetree.scripts.terminal.error_messages import BadInput


class Jump(Sum):
    """Whatever it is given, its output jumps by so much in a step."""

    jump = 0.0

    def step(self, t: float, h: float) -> None:
        self.x += self.jump
        self.told.append("step")


@pytest.mark.parametrize(
    ("begins", "enough"),
    [((0.0,), 1e-12), ((0.5,), 5e-10), ((1000.0,), 1e-6), ((0.0, 1000.0), 1e-9), ((0.5, 1e-4), 5e-10), ((-40.0, 3.0), 4e-8)],
)  # fmt: skip
def test_an_interface_is_solved_to_a_billionth_of_its_values(
    begins: tuple[float, ...], enough: float
):
    """Of what is on the wire, or of a thousandth of the largest value, which is one at least; differences are of a millionth of that."""
    for part, steps in ((0.95, 1), (1.1, 3)):
        units = [Jump(f"u{k}", x) for k, x in enumerate(begins)]
        units[0].jump = part * enough
        InterfaceJacobian(units, [Wire(unit, "y", unit, "u") for unit in units]).step(0.0, 0.5)  # type: ignore[arg-type]
        assert units[0].told.count("step") == steps
    reached = [
        value + 0.5 * slope for value, slope in (each for each in units[0].told if each != "step")
    ]
    assert reached[1] - reached[0] == pytest.approx(1e3 * enough, rel=1e-3)


def test_units_are_packed_with_their_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    made: list[Any] = []
    monkeypatch.setattr(pack_drives, "load", lambda raw: raw)
    monkeypatch.setattr(
        pack_drives,
        "build_fmu",
        lambda raw, path, backend: made.append((raw, path, backend)) or path,
    )
    drive, controller = Drive(Cylinder(), Valve()), Controller(Pid())
    pack_drives.build_drive_fmu(drive, tmp_path)
    pack_drives.build_drive_fmu(drive, tmp_path, True, "python", 0.5)
    pack_drives.build_controller_fmu(controller, tmp_path)
    pack_drives.build_controller_fmu(controller, tmp_path, "rad", "python", 0.5)
    assert [backend for _, _, backend in made] == ["native", "python"] * 2
    assert [raw["parameters"]["horizon"]["value"] for raw, _, _ in made[:2]] == [0.0, 0.5]
    assert [raw["parameters"]["load"]["unit"] for raw, _, _ in made[:2]] == ["N", "N.m"]
    assert [raw["parameters"]["period"]["value"] for raw, _, _ in made[2:]] == [0.01, 0.5]
    assert [raw["inputs"]["measured"]["unit"] for raw, _, _ in made[2:]] == ["m", "rad"]


@pytest.mark.parametrize(("stop", "longest"), [(0.1, 0.005), (0.2, 0.01), (4.0, 0.01)])
def test_monolithic_reference_stops_at_command_jumps(
    monkeypatch: pytest.MonkeyPatch, stop: float, longest: float
):
    """Twenty steps at least, none longer than 10 ms; a mechanism at rest would wait for nothing."""
    asked: dict[str, Any] = {}
    system = SimpleNamespace(simulate=lambda **options: asked.update(options))
    monkeypatch.setattr(monolithic, "load", lambda raw: SimpleNamespace(compile=lambda: system))
    monkeypatch.setattr(monolithic, "with_drive", lambda *given: given)
    monolithic.reference({}, "lift", Drive(Cylinder(), Valve()), None, stop, 0.25)
    assert asked == {
        "stop_time": stop,
        "output_step": 0.25,
        "tolerance": 1e-9,
        "largest_step": pytest.approx(longest),
    }


def test_free_air_expansion_is_limited_to_a_hundredth_of_atmospheric_pressure():
    oil = Cylinder(air=0.01)
    assert oil.modulus(-1e5) == oil.modulus(0.0) == oil.modulus(1e3) < oil.modulus(1.001e3)
    gas = Cylinder(air=1e6)  # next to no oil: a polytropic gas of exponent 1.4
    assert gas.modulus(2e5) == pytest.approx(1.4 * 2e5, rel=1e-3) and Cylinder(air=1.0).modulus(
        1e5
    ) == pytest.approx(2.0 * 1.4e5, rel=1e-3)


def test_mechanism_slave_uses_last_inputs():
    """A value is known before the step, with its slope; what was, after a state has been put back. Half a second of 3 N + 4 N/s on 2 kg."""
    block = {
        "format": "kinetree/1", "gravity": [0, 0, 0], "bodies": {"b": {"mass": 2.0}}, "actuators": {"lift": {"coordinate": "s"}},
        "joints": {"j": {"child": "b", "transforms": [{"shift": "x", "coordinate": "s"}]}},
    }  # fmt: skip
    slave = MechanismSlave(load(block), "m")
    slave.start({"lift.force": 1.0})
    assert (
        slave.get("lift.acceleration") == 0.5
        and slave.ramped == slave.inputs
        and slave.units["lift.force"] == "N"
    )
    state = slave.save()
    slave.set("lift.force", 3.0, 4.0)
    assert slave.get("lift.acceleration") == 1.5
    slave.step(0.0, 0.5)
    assert slave.get("lift.speed") == pytest.approx((3.0 * 0.5 + 4.0 * 0.125) / 2.0, rel=1e-9)
    assert slave.get("lift.length") == pytest.approx(
        (3.0 * 0.125 + 4.0 * 0.125 / 6.0) / 2.0, rel=1e-9
    )
    slave.set("lift.force", 9.0)
    slave.restore(state)
    assert (slave.get("lift.force"), slave.get("lift.acceleration"), slave.get("lift.speed")) == (
        1.0,
        0.5,
        0.0,
    )
    with pytest.raises(
        BadInput, match="m has no variable 'lift.forse' to start with; did you mean 'lift.force'"
    ):
        slave.start({"lift.forse": 1.0})


class Closing(Sum):
    """Notes what it starts with, and that it has been closed."""

    inputs = ("u", "k.stiffness")

    def start(self, values: Any) -> None:
        self.told.append(dict(values))

    def close(self) -> None:
        self.told.append("closed")


def test_wired_scenario_runs(monkeypatch: pytest.MonkeyPatch):
    """Units in the order of the scheme, all started and closed; recorded is what is asked for, else every source once."""
    made: dict[str, Closing] = {}
    asked: dict[str, Any] = {}
    clock = iter([3.0, 5.5] * 4)

    def unit_of(spec: UnitSpec, scenario: Scenario, units: str, folder: Path) -> Closing:
        made[spec.name] = Closing(spec.name, 1.0)
        assert units == "process" and scenario.step_size == 0.25
        return made[spec.name]

    def cosimulate(
        master: Any, stop: float, h: float, recorded: Any, bonds: Any, progress: Any, control: Any
    ) -> Trace:
        asked.update(
            master=master,
            recorded=[(slave.name, name) for slave, name in recorded],
            bonds=bonds,
            control=control,
            times=(stop, h),
        )
        return Trace(np.zeros(1), {}, warnings=["a warning"])

    monkeypatch.setattr(wired_scenario, "unit_of", unit_of)
    monkeypatch.setattr(wired_scenario, "cosimulate", cosimulate)
    monkeypatch.setattr(wired_scenario, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    plain = {"slope": "", "factor": 1.0, "offset": 0.0, "mean": False, "hold": False, "bond": ""}
    wires = tuple(
        Connection(a, b, **plain)
        for a, b in (("a.y", "b.k.stiffness"), ("a.y", "b.u"), ("b.rate", "a.u"))
    )
    units = (UnitSpec("a", fmu="a", start={"u": 2.0}), UnitSpec("b", fmu="b"))
    scenario = Scenario("s.toml", "s", units, None, wires, (), extrapolation=1, notes=("a note",))
    found = wired_scenario.run_wired(scenario, "told", 0.25, 2.0)
    assert type(asked["master"]) is GaussSeidel and [
        slave.name for slave in asked["master"].slaves
    ] == ["b", "a"]
    assert (
        asked["master"].extrapolation == 1
        and asked["recorded"] == [("a", "y"), ("b", "rate")]
        and asked["times"] == (2.0, 0.25)
    )
    assert made["a"].told == [{"u": 2.0}, "closed"] and made["b"].told == [{}, "closed"]
    assert found.wall_time == 2.5 and found.notes == ["a note", "input a.k.stiffness is never connected and keeps its start value; give it in "
                                                      "units.a.start if that is meant", "a warning"]  # fmt: skip
    assert (
        math.isnan(found.peak_pressure_error) and not found.controlled and asked["control"] is None
    )
    shown = Scenario("s.toml", "s", units, None, wires, ("b.y", "a.rate"), control=ControlSpec(0.5))
    with pytest.raises(BadInput, match="step_control needs power bonds"):
        wired_scenario.run_wired(shown, "held", 0.25, 2.0)
    assert made["a"].told[-1] == made["b"].told[-1] == "closed"
    monkeypatch.setattr(wired_scenario, "suspected", lambda wires: ["a bond"])
    controlled = wired_scenario.run_wired(shown, "held", 0.25, 2.0)
    assert (
        asked["recorded"] == [("b", "y"), ("a", "rate")]
        and controlled.controlled
        and asked["bonds"] == ["a bond"]
    )
    assert isinstance(asked["control"], StepControl) and (
        asked["control"].smallest,
        asked["control"].largest,
    ) == (2.5e-4, 2.5)


def test_cosim_report_is_written_as_csv_rows(tmp_path: Path):
    """One key each; wall times to a tenth of a millisecond; a run that never began has no steps."""
    outcome = Outcome(
        "s",
        "held",
        0.5,
        1.0,
        Trace(np.zeros(1), {}, False, "no"),
        {},
        math.nan,
        0.12346,
        controlled=True,
    )
    scenario_verdict.write_json(outcome, tmp_path / "r.json")
    lines = (tmp_path / "r.json").read_text().splitlines()
    assert lines[:2] == ["{", ' "scenario": "s",'] and len(lines) == 2 + len(outcome.report())
    told = json.loads("".join(lines))
    assert (
        told["wall_time_s"] == 0.1235
        and told["steps"] == 0
        and told["smallest_step_s"] is None
        and told["peak_pressure_bar"] is None
    )
    assert steps_of(outcome) == "0 communication steps of 0 to 0 s" and (
        told["energy_residual_J"],
        told["energy_residuals_J"],
    ) == (0.0, {})


def test_empty_plot_has_one_row(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    drawn: list[Any] = []
    monkeypatch.setattr(
        Figure,
        "savefig",
        lambda figure, path, **options: (drawn.append(figure), Path(path).touch()),
    )
    plot_columns(
        Outcome("s", "held", 0.5, 1.0, Trace(np.zeros(1), {}), {}, math.nan, 0.0),
        tmp_path / "x.png",
    )
    assert len(drawn[0].axes) == 1
