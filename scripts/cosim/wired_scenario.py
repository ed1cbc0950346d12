"""Runs scenarios with explicit wires between any units or FMUs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from kinetree.scripts.cosim.coupling_plan import Plan, of_wires
from kinetree.scripts.cosim.masters import Wire
from kinetree.scripts.cosim.power_bonds import bonds_of, suspected
from kinetree.scripts.cosim.run_master import cosimulate
from kinetree.scripts.cosim.scenario import Connection, Scenario
from kinetree.scripts.cosim.scenario_units import unit_of
from kinetree.scripts.cosim.scenario_verdict import Outcome
from kinetree.scripts.cosim.slave import Slave
from kinetree.scripts.cosim.step_size_control import StepControl
from kinetree.scripts.terminal.error_messages import BadInput


def run_wired(
    scenario: Scenario,
    scheme: str,
    step_size: float,
    stop_time: float,
    units: str = "process",
    progress: Callable[[float], None] | None = None,
) -> Outcome:
    """Run all units of a scenario with explicit wires; there is no monolithic reference."""
    scenario = replace(scenario, step_size=step_size)
    names = [spec.name for spec in scenario.units]
    targets = {parted(wire.target, names) for wire in scenario.connections}
    master_name, order = of_wires(scheme, names, targets, scenario.file)
    with TemporaryDirectory(prefix="kinetree-cosim-") as folder:
        slaves = {
            spec.name: unit_of(spec, scenario, units, Path(folder)) for spec in scenario.units
        }
    try:
        wires = [wire_of(connection, slaves, scenario.file) for connection in scenario.connections]
        notes = [*scenario.notes, *unconnected(scenario, slaves, wires)]
        for spec in scenario.units:
            slaves[spec.name].start(spec.start)
        master = Plan(master_name, tuple(slaves[name] for name in order), tuple(wires)).make(
            scenario.extrapolation
        )
        shown = [end_of(name, slaves, scenario.file, "outputs") for name in scenario.outputs]
        recorded = [(slaves[unit], name) for unit, name in shown] or [
            (wire.source, wire.output) for wire in wires
        ]
        control = StepControl(scenario.control, step_size) if scenario.control else None
        bonds = [*bonds_of(wires), *suspected(wires)]
        if control and not bonds:
            raise BadInput(
                f'{scenario.file}: step_control needs power bonds: give bond = "NAME" to the wire of the effort and to that of the flow'
            )
        began = time.perf_counter()
        trace = cosimulate(
            master, stop_time, step_size, list(dict.fromkeys(recorded)), bonds, progress, control
        )
        wall = time.perf_counter() - began
    finally:
        for slave in slaves.values():
            slave.close()
    return Outcome(
        scenario.name,
        scheme,
        step_size,
        stop_time,
        trace,
        {},
        float("nan"),
        wall,
        notes + trace.warnings,
        controlled=control is not None,
    )


def parted(text: str, units: Iterable[str]) -> tuple[str, str]:
    """Split UNIT.NAME into the name of the unit, "" if there is no such unit, and that of the
    variable; both may contain dots.
    """
    for unit in sorted(units, key=len, reverse=True):
        if text.startswith(f"{unit}.") and len(text) > len(unit) + 1:
            return unit, text[len(unit) + 1 :]
    return "", text


def end_of(text: str, units: Iterable[str], file: str, place: str) -> tuple[str, str]:
    """Return unit and variable of UNIT.NAME; raise BadInput if there is no such unit."""
    unit, name = parted(text, units)
    if not unit:
        raise BadInput(
            f"{file}: {place}: '{text}': expected UNIT.NAME with one of the units {', '.join(units)}"
        )
    return unit, name


def wire_of(connection: Connection, slaves: dict[str, Slave], file: str) -> Wire:
    source, output = end_of(connection.source, slaves, file, "wires.from")
    target, given = end_of(connection.target, slaves, file, "wires.to")
    slope = end_of(connection.slope, slaves, file, "wires.slope")[1] if connection.slope else ""
    c = connection
    return Wire(
        slaves[source],
        output,
        slaves[target],
        given,
        slope,
        c.factor,
        c.offset,
        c.mean,
        c.hold,
        c.bond,
    )


def unconnected(scenario: Scenario, slaves: dict[str, Slave], wires: Sequence[Wire]) -> list[str]:
    """Return the inputs without a wire; raise BadInput for an input with two."""
    fed = [(wire.target.name, wire.input) for wire in wires]
    for end in fed:
        if fed.count(end) > 1:
            raise BadInput(f"{scenario.file}: wires: two wires lead to {'.'.join(end)}")
    return [
        f"input {spec.name}.{name} is never connected and keeps its start value; give it in units.{spec.name}.start if that is meant"
        for spec in scenario.units
        for name in slaves[spec.name].inputs
        if (spec.name, name) not in fed
        and name not in spec.start
        and not (spec.drive and name == "control")
    ]
