"""Derived columns: accelerations, rates, reactions, forces and angles of closing joints, evaluated
on demand from stored states.

A row of the result contains coordinates, speeds and states; its parameters, inputs and locked
coordinates are stored whenever they change.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.compilation.element_states import states_of
from kinetree.models.description.joint_units import Units, joint_units, rate_unit
from kinetree.models.description.names import reaction_names
from kinetree.models.engine.compiled import Compiled
from kinetree.models.engine.flat_blocks import AT_WORK, model_fields
from kinetree.models.engine.instance import Instance
from kinetree.models.language.parts.coupling_parts import rows_of
from kinetree.models.system.closing_coordinates import closing_coordinates, names_of_closings
from kinetree.models.system.joint_reactions import closing_joints, joint_reactions
from kinetree.solvers import layout as L
from kinetree.solvers.fields import REGISTERS, WORK

if TYPE_CHECKING:
    from kinetree.models.run.simulation_unit import Run, Unit

REACTION_UNITS = ("N", "N", "N", "N.m", "N.m", "N.m")


class DerivedColumns:
    """Evaluates recorded rows again and computes all derived columns at once."""

    def __init__(self, unit: Unit):
        self.unit = unit
        recorded = {column.name for column in unit.columns}
        self.units = {
            name: text for name, text in evaluable_columns(unit).items() if name not in recorded
        }
        self._given: list[
            tuple[int, int, np.ndarray]
        ] = []  # from this row on, in this stage: values of the kept registers
        self._contacts = [contact_places(c) for c in unit.compiled]
        self._places = [
            kept_registers(c) for c in unit.compiled
        ]  # where a run has them, and where all bodies are there
        self._there = [kept_registers(c) for c in unit.whole]
        self._kept: dict[
            int, np.ndarray
        ] = {}  # where in the work block of a run they stand, by stage

    def keep(self, run: Run, row: int) -> None:
        """Store those data of a row that are not states."""
        stage = int(run.head.stage)
        if stage not in self._kept:
            places = np.concatenate([REGISTERS + self._places[stage], self._contacts[stage]])
            self._kept[stage] = int(run.unit.header.at_workspace) + places
        values = run.work[self._kept[stage]]
        if (
            self._given
            and self._given[-1][1] == stage
            and np.array_equal(self._given[-1][2], values, equal_nan=True)
        ):
            return
        self._given.append((row, stage, values))

    def assume(self, columns: Mapping[str, np.ndarray], rows: int) -> None:
        """Reconstruct rows read from a file: parameters and inputs of the description, locked
        coordinates from columns.
        """
        if any(
            c.contacts for c in self.unit.compiled
        ):  # a file does not tell which of them are closed
            self.units = {}
        stages = np.asarray(columns.get("stage", np.zeros(rows))).astype(int)
        for row in np.flatnonzero(np.diff(stages, prepend=-1)):
            stage = int(stages[row])
            instance = Instance(self.unit.whole[stage])
            for name, register in instance.compiled.registers.items():
                if name.startswith("locked(") and name[7:-1] in columns:
                    instance.ws.val[register] = columns[name[7:-1]][row]
            kept = [instance.ws.val[self._there[stage]], np.zeros(self._contacts[stage].size)]
            self._given.append((int(row), stage, np.concatenate(kept)))

    def visit(
        self, time: np.ndarray, columns: Mapping[str, np.ndarray], rows: Iterable[int]
    ) -> Iterator[tuple[int, int, Instance]]:
        """Yield every requested row with its stage and an evaluated instance; rows must ascend."""
        firsts = [row for row, _, _ in self._given]
        instances: dict[int, Instance] = {}
        states: dict[int, list[np.ndarray]] = {}
        present = -1
        for row in rows:
            k = bisect_right(firsts, row) - 1
            _, stage, values = self._given[k]
            if stage not in instances:
                c = self.unit.whole[stage]
                instances[stage] = Instance(c)
                states[stage] = [
                    np.array([columns[name] for name in names]).reshape(-1, time.size)
                    for names in (c.coordinates, c.speeds, c.states)
                ]
            instance = instances[stage]
            if k != present:
                present = k
                instance.ws.val[self._there[stage]] = values[: self._there[stage].size]
                instance.call("prepare")
            ws = instance.ws
            if len(self.unit.compiled[stage].contacts):
                restore_contacts(instance, values[self._there[stage].size :])
            ws.q[:], ws.u[:], ws.x[:] = (part[:, row] for part in states[stage])
            instance.call("outputs", 0, float(time[row]))
            yield row, stage, instance

    def evaluate(
        self, time: np.ndarray, columns: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """Return all derived columns; NaN where the structure of a row lacks them."""
        found = {name: np.full(time.size, np.nan) for name in self.units}
        wanted: dict[int, tuple[list[tuple[str, int]], ...]] = {}
        for row, stage, instance in self.visit(time, columns, range(time.size)):
            c, ws = instance.compiled, instance.ws
            if stage not in wanted:
                rates, second = (
                    [(f"der({name})", k) for k, name in enumerate(names) if f"der({name})" in found]
                    for names in (c.speeds, c.states)
                )
                forces = [
                    (name, c.registers[name])
                    for name in found
                    if name.startswith("force(") and name in c.registers
                ]
                held = [
                    (key, at)
                    for row, at in holding_forces(c).items()
                    if (key := f"force('{row}')") in found and key not in c.registers
                ]
                wanted[stage] = rates, second, forces, held
            for names, source in zip(
                wanted[stage], (ws.udot, ws.xdot, ws.val, ws.loop_lam), strict=True
            ):
                for name, k in names:
                    found[name][row] = source[k]
            joints = self.unit.stages[stage].description.joints
            for name, value in closing_coordinates(instance, joints).items():
                if name in found:
                    found[name][row] = value
            for joint, wrench in joint_reactions(instance, joints).items():
                for name, value in zip(
                    reaction_names(joint), (np.linalg.norm(wrench[:3]), *wrench), strict=True
                ):
                    if name in found:
                        found[name][row] = value
        for stage, c in zip(self.unit.stages, self.unit.whole, strict=True):
            for _, angles, _ in names_of_closings(c, stage.description.joints):
                found |= {name: np.unwrap(found[name]) for name in angles if name in found}
        return found


def contact_places(compiled: Compiled) -> np.ndarray:
    """Return the workspace indices of contact modes and slip directions."""
    names = [field.name for field in WORK]
    at = [
        int(compiled.ints[AT_WORK + names.index(name) + k])
        for name in ("c_mode", "c_dir")
        for k in (0, 1)
    ]
    return np.array([*range(at[0], at[1]), *range(at[2], at[3])], dtype=np.int64)


def restore_contacts(instance: Instance, values: np.ndarray) -> None:
    """Set the contact modes stored with a row; contact forces start from zero."""
    ws = instance.ws
    count = ws.c_mode.size
    ws.c_mode[:], ws.c_dir[:] = values[:count], values[count:]
    ws.c_lam[:], ws.c_slip[:], ws.c_hold[:], ws.c_friction[:] = 0.0, 0.0, 1.0, 1.0


def kept_registers(c: Compiled) -> np.ndarray:
    """Return the registers of parameters, inputs, the start of the stage and locked coordinates."""
    first = len(c.parameters) + len(c.inputs) + 2  # after t
    locked = [register for name, register in c.registers.items() if name.startswith("locked(")]
    return np.array([*range(1, first), *locked], dtype=np.int64)


def holding_forces(c: Compiled) -> dict[str, int]:
    """Return the names of coupling rows and the indices of their multipliers."""
    fields = model_fields(c.ints, c.floats)
    return {
        row: int(fields.l_row[g])
        for g, row in enumerate(c.loops)
        if fields.l_kind[g] == L.Loop.COUPLING
    }


def evaluable_columns(unit: Unit) -> dict[str, str]:
    """Return the units, by name, of everything that can be evaluated, over all stages."""
    found: dict[str, str] = {}
    seen: dict[int, Units] = {}
    for stage, c in zip(unit.stages, unit.whole, strict=True):
        d = stage.description
        known = joint_units(d.joints, seen)
        found |= {f"der({name})": rate_unit(known.get(name, ("", ""))[0]) for name in c.speeds}
        found |= {f"der({name})": rate_unit(states_of(d)[name].unit) for name in c.states}
        for _, angles, rates in names_of_closings(c, d.joints):
            found |= {name: known[name][0] for name in (*angles, *rates)}
        joints = [*(joint for joint, _ in c.all_joints), *closing_joints(c)]
        for joint in (joint for joint in joints if f"reaction('{joint}')" not in found):
            found |= dict(zip(reaction_names(joint), ("N", *REACTION_UNITS), strict=True))
        angles = {name for name, (text, _) in known.items() if text == "rad"}
        for label, force in d.forces.items():
            if f"force('{label}')" in c.registers:
                found[f"force('{label}')"] = (
                    "N.m" if getattr(force, "coordinate", None) in angles else "N"
                )
        lengths = {
            row
            for label, coupling in d.couplings.items()
            if coupling.value is None
            for row in rows_of(label, coupling)
        }
        found |= {
            key: "N" if row in lengths else ""
            for row in holding_forces(c)
            if (key := f"force('{row}')") not in found
        }
    return found
