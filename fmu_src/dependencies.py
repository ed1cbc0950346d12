"""Dependencies of outputs and derivatives on inputs and states, a conservative analysis of the
register programs.

Without declared dependencies hosts assume algebraic loops, and a missing dependency would give
wrong results: every dependency that cannot be excluded is declared.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from kinetree.models.engine.flat_blocks import model_fields
from kinetree.solvers import layout as L
from kinetree.solvers import unit_layout as U
from kinetree.solvers.model_records import FORCE, HEADER, PROBE, SENSOR
from kinetree.solvers.records import Named
from kinetree.solvers.sensors.kinds import BY_CODE as SENSORS

UNARY = {
    L.Op.COPY,
    L.Op.NEG,
    L.Op.NOT,
    L.Op.SQRT,
    L.Op.ABS,
    L.Op.SIGN,
    L.Op.FLOOR,
    L.Op.CEIL,
    *range(L.Op.SIN, L.Op.ATAN + 1),
    *range(L.Op.SINH, L.Op.LOG + 1),
}
TERNARY = {L.Op.IF, L.Op.MUL_ADD, L.Op.MUL_SUB, L.Op.SUB_MUL, L.Op.GATE}
TABLES = {
    L.Op.TABLE1: 1,
    L.Op.TABLE1_D: 1,
    L.Op.TABLE1_DD: 1,
    L.Op.TABLE2: 2,
    L.Op.TABLE2_DX: 2,
    L.Op.TABLE2_DY: 2,
}


def feedthrough(unit: Any) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the inputs and states on which every output and state rate depends, as bit masks."""
    count = len(unit.columns)
    result = [(0, 0)] * count
    rates = [(0, 0)] * len(unit.states)
    inputs = {given.register: 1 << k for k, given in enumerate(unit.inputs)}
    for stage in range(int(unit.header.stages)):
        record = U.STAGE.of(unit.ints, U.UNIT.size + U.STAGE.size * stage)
        masks, whole = stage_masks(unit, record, inputs)
        add_rates(rates, unit, record, masks, whole)
        registers = unit.ints[int(record.columns) :][:count].tolist()
        for c, register in enumerate(registers):
            if register >= 0:
                mask = masks[register]
                result[c] = (result[c][0] | mask[0], result[c][1] | mask[1])
    return result, rates


def add_rates(
    rates: list[tuple[int, int]],
    unit: Any,
    record: Named,
    masks: list[tuple[int, int]],
    whole: tuple[int, int],
) -> None:
    """Add the dependencies of the state rates of one stage."""
    ints = unit.ints[int(record.ints) :]
    header = HEADER.of(ints)
    nq, nu = int(header.nq), int(header.nu)
    x_rates = model_fields(ints, unit.floats[int(record.floats) :]).x_rate.tolist()
    for k, y in enumerate(unit.ints[int(record.states) :][: len(rates)].tolist()):
        if y < 0:
            continue
        mask = (0, whole[1]) if y < nq else whole if y < nq + nu else masks[x_rates[y - nq - nu]]
        rates[k] = (rates[k][0] | mask[0], rates[k][1] | mask[1])


def stage_masks(
    unit: Any, record: Named, inputs: dict[int, int]
) -> tuple[list[tuple[int, int]], tuple[int, int]]:
    """Return the dependencies of every register of one stage, and those of its accelerations."""
    ints = unit.ints[int(record.ints) :]
    model = model_fields(ints, unit.floats[int(record.floats) :])
    header = HEADER.of(ints)
    masks = [(0, 0)] * int(header.registers)
    for register, bit in inputs.items():
        masks[register] = (bit, 0)
    q_bits, u_bits = state_bits(unit, record, ints, masks)
    code = model.code.reshape(-1, L.INSTRUCTION).tolist()
    starts = header.phase.tolist()
    sensors = list(SENSOR.rows(model.sensors.tolist()))
    for sensor in sensors:
        kind = SENSORS[sensor.kind]
        if not kind.late:
            mark(masks, sensor, (0, q_bits | u_bits if kind.speeds else q_bits))
    for instruction in code[starts[0] : starts[3]]:
        follow(masks, instruction)
    loads = everything(model, masks, ints)
    whole = (loads[0], loads[1] | q_bits | u_bits)
    for sensor in sensors:
        if SENSORS[sensor.kind].late:
            mark(masks, sensor, whole)
    for probe in PROBE.rows(model.probes.tolist()):
        masks[probe.mass] = (0, q_bits)
    for instruction in code[starts[3] : starts[4]]:
        follow(masks, instruction)
    return masks, whole


def mark(masks: list[tuple[int, int]], sensor: Named, mask: tuple[int, int]) -> None:
    """Set the dependencies of the registers of a sensor."""
    for register in range(sensor.register, sensor.register + (3 if sensor.axis == L.WHOLE else 1)):
        masks[register] = mask


def state_bits(
    unit: Any, record: Named, ints: np.ndarray, masks: list[tuple[int, int]]
) -> tuple[int, int]:
    """Mark the registers of states; return the bits of all coordinates and of all speeds."""
    header = HEADER.of(ints)
    nq, nu = int(header.nq), int(header.nu)
    places = unit.ints[int(record.states) :][: int(unit.header.states)].tolist()
    q_bits = u_bits = 0
    for k, y in enumerate(places):
        if y < 0:
            continue
        if y < nq:
            register, q_bits = int(header.r_q) + y, q_bits | 1 << k
        elif y < nq + nu:
            register, u_bits = int(header.r_u) + y - nq, u_bits | 1 << k
        else:
            register = int(header.r_x) + y - nq - nu
        masks[register] = (0, 1 << k)
    return q_bits, u_bits


def follow(masks: list[tuple[int, int]], instruction: list[int]) -> None:
    """Set the dependencies of an instruction's result to those of its arguments."""
    code, dst, a, b, c = instruction
    op = L.Op(code)
    if op in TABLES:
        arguments = (b, c)[: TABLES[op]]
    elif op in UNARY:
        arguments = (a,)
    else:
        arguments = (a, b, c) if op in TERNARY else (a, b)
    by_input = by_state = 0
    for register in arguments:
        by_input |= masks[register][0]
        by_state |= masks[register][1]
    masks[dst] = (by_input, by_state)


def everything(
    model: SimpleNamespace, masks: list[tuple[int, int]], ints: np.ndarray
) -> tuple[int, int]:
    """Return the dependencies of accelerations on inputs and states by force elements, besides
    coordinates and speeds.
    """
    by_input = by_state = 0
    for record in FORCE.rows(model.forces.tolist()):
        for register in force_registers(record):
            if 0 <= register < len(masks):
                by_input |= masks[register][0]
                by_state |= masks[register][1]
    return by_input, by_state


def force_registers(force: Named) -> list[int]:
    """Return the registers on which the effect of a force element depends."""
    if force.kind in (L.Force.COORDINATE, L.Force.LINE):
        return [force.value]
    return [first + k for first in (force.force, force.moment) for k in range(3) if first >= 0]
