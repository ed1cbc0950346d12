"""Import of a system structure (SSP) as a scenario: FMUs, connections and start values."""

from __future__ import annotations

from pathlib import Path

from kinetree.scripts.cosim.coupling_plan import MASTERS
from kinetree.scripts.cosim.scenario import Connection, Scenario, UnitSpec
from kinetree.scripts.ssp.archive import unpack
from kinetree.scripts.ssp.read import read_ssd
from kinetree.scripts.terminal.error_messages import BadInput

DEFAULT_STOP, STEPS = 1.0, 1000  # of experiments that say nothing


def scenario_of_ssp(path: Path, folder: Path) -> Scenario:
    """Unpack an archive into a folder and read it."""
    if not path.exists():
        raise FileNotFoundError(2, "no such file", str(path))
    structure = read_ssd(unpack(path, folder), str(path))
    if structure.start_time != 0.0:
        raise BadInput(
            f"{path}: the experiment starts at {structure.start_time:g} s; masters start at 0"
        )
    units = tuple(
        UnitSpec(c.name, fmu=str(folder / c.source), start=dict(c.values))
        for c in structure.components
    )
    wires = tuple(
        Connection(
            f"{link.start}.{link.start_connector}", f"{link.end}.{link.end_connector}", f"{link.start}.{link.slope}" if link.slope else "",
            link.factor, link.offset, link.mean, link.hold, link.bond,
        )
        for link in structure.links
    )  # fmt: skip
    stop = structure.stop_time or DEFAULT_STOP
    scheme = structure.scheme if structure.scheme in MASTERS else "held"
    step = structure.step_size or stop / STEPS
    return Scenario(
        str(path), structure.name, units, None, wires, (), stop, step, scheme, notes=structure.notes
    )
