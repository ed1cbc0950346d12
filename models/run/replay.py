"""What a run can tell besides its columns: accelerations, rates of states, reactions and forces, evaluated from the stored states when asked for.

A row of the result holds coordinates, speeds and states; the parameters, inputs and locked coordinates that belong to it are kept where they change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.compilation.additions import states_of
from kinetree.models.description.joint_units import joint_units, rate_unit
from kinetree.models.description.joints import joint_elements
from kinetree.models.description.schema import Description
from kinetree.models.run.instance import Instance
from kinetree.models.system.joint_reactions import joint_reactions
from kinetree.solvers import unit_layout as U

if TYPE_CHECKING:
    from kinetree.models.run.unit import Run, Unit

WORK_HEAD = 64  # registers follow the head of a structure's workspace
REACTION_UNITS = ("N", "N", "N", "N.m", "N.m", "N.m")


class Replay:
    """Evaluates rows of a result again, all additional columns at once."""

    def __init__(self, unit: Unit):
        self.unit = unit
        recorded = {column.name for column in unit.columns}
        self.units = {name: text for name, text in catalogue(unit).items() if name not in recorded}
        self._given: list[tuple[int, int, np.ndarray]] = []  # from this row on, in this stage: values of the kept registers
        self._places = [kept_registers(unit, k) for k in range(len(unit.stages))]

    def keep(self, run: Run, row: int) -> None:
        """Remember what a row depends on besides the states."""
        stage = int(run.work[U.V_STAGE])
        values = run.work[int(run.unit.ints[U.U_BASE]) + WORK_HEAD + self._places[stage]]
        if self._given and self._given[-1][1] == stage and np.array_equal(self._given[-1][2], values, equal_nan=True):
            return
        self._given.append((row, stage, values))

    def evaluate(self, time: np.ndarray, columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """All additional columns; what the present structure of a row lacks is not a number."""
        found = {name: np.full(time.size, np.nan) for name in self.units}
        ends = [row for row, _, _ in self._given[1:]] + [time.size]
        instances: dict[int, Instance] = {}
        for (first, stage, values), end in zip(self._given, ends, strict=True):
            if stage not in instances:
                instances[stage] = Instance(self.unit.compiled[stage])
            instance = instances[stage]
            instance.ws.val[self._places[stage]] = values
            instance.call("prepare")
            self._rows(found, instance, stage, time, columns, range(first, min(end, time.size)))
        return found

    def _rows(self, found: dict[str, np.ndarray], instance: Instance, stage: int, time: np.ndarray, columns: Mapping[str, np.ndarray], rows: range):
        """Evaluate some rows of one stage."""
        c, ws, joints = instance.compiled, instance.ws, self.unit.stages[stage].description.joints
        state = [np.array([columns[name] for name in names]).reshape(-1, time.size) for names in (c.coordinates, c.speeds, c.states)]
        rates = [(f"der({name})", k) for k, name in enumerate(c.speeds)]
        second = [(f"der({name})", k) for k, name in enumerate(c.states)]
        forces = [(name, c.registers[name]) for name in self.units if name.startswith("force(") and name in c.registers]
        for row in rows:
            ws.q[:], ws.u[:], ws.x[:] = (part[:, row] for part in state)
            instance.call("outputs", 0, float(time[row]))
            for names, source in ((rates, ws.udot), (second, ws.xdot), (forces, ws.val)):
                for name, k in names:
                    if name in found:
                        found[name][row] = source[k]
            for joint, wrench in joint_reactions(instance, joints).items():
                for name, value in zip(reaction_names(joint), (np.linalg.norm(wrench[:3]), *wrench), strict=True):
                    if name in found:
                        found[name][row] = value


def kept_registers(unit: Unit, stage: int) -> np.ndarray:
    """Registers of parameters, inputs, the beginning of the stage and locked coordinates."""
    c = unit.compiled[stage]
    first = len(c.parameters) + len(c.inputs) + 2  # after t
    locked = [register for name, register in c.registers.items() if name.startswith("locked(")]
    return np.array([*range(1, first), *locked], dtype=np.int64)


def reaction_names(joint: str) -> list[str]:
    """Magnitude of the force, then force and moment in the axes of the child."""
    return [f"reaction('{joint}')", *(f"reaction('{joint}')[{k}]" for k in range(1, 7))]


def catalogue(unit: Unit) -> dict[str, str]:
    """Units by name of everything that can be evaluated, over all stages."""
    found: dict[str, str] = {}
    for stage, c in zip(unit.stages, unit.compiled, strict=True):
        d = stage.description
        known = joint_units(d.joints)
        found |= {f"der({name})": rate_unit(known.get(name, ("", ""))[0]) for name in c.speeds}
        found |= {f"der({name})": rate_unit(states_of(d)[name].unit) for name in c.states}
        for joint, _ in c.all_joints:
            found |= dict(zip(reaction_names(joint), ("N", *REACTION_UNITS), strict=True))
        found |= {f"force('{label}')": force_unit(d, label) for label in d.forces if f"force('{label}')" in c.registers}
    return found


def force_unit(description: Description, label: str) -> str:
    """N.m for what acts along an angle, else N."""
    coordinate = getattr(description.forces[label], "coordinate", None)
    for name, joint in description.joints.items():
        if coordinate in joint_elements(joint, name).coordinates:
            return "N.m" if joint_units({name: joint})[coordinate][0] == "rad" else "N"
    return "N"
