"""Which columns depend on which inputs and states: an analysis of the register programs of all stages, on the safe side.

Hosts take undeclared dependencies for algebraic loops, and a missing one for a wrong result: what cannot be excluded is declared.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from kinetree.models.compilation.blocks import model_fields
from kinetree.solvers import layout as L
from kinetree.solvers import unit_layout as U

POSITIONS = {L.Sensor.POSITION, L.Sensor.ORIENTATION, L.Sensor.DISTANCE, L.Sensor.POTENTIAL_ENERGY}
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
TABLES = {L.Op.TABLE1: 1, L.Op.TABLE1_D: 1, L.Op.TABLE1_DD: 1, L.Op.TABLE2: 2, L.Op.TABLE2_DX: 2, L.Op.TABLE2_DY: 2}


def feedthrough(unit: Any) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Per column and per rate of a state: bits of the inputs and bits of the states it depends on."""
    count = len(unit.columns)
    result = [(0, 0)] * count
    rates = [(0, 0)] * len(unit.states)
    inputs = {given.register: 1 << k for k, given in enumerate(unit.inputs)}
    for stage in range(int(unit.ints[U.U_STAGES])):
        record = unit.ints[U.UNIT_HEADER + U.STAGE * stage :]
        masks, whole = stage_masks(unit, record, inputs)
        add_rates(rates, unit, record, masks, whole)
        registers = unit.ints[int(record[U.S_COLUMNS]) :][:count].tolist()
        for c, register in enumerate(registers):
            if register >= 0:
                mask = masks[register]
                result[c] = (result[c][0] | mask[0], result[c][1] | mask[1])
    return result, rates


def add_rates(rates: list[tuple[int, int]], unit: Any, record: np.ndarray, masks: list[tuple[int, int]], whole: tuple[int, int]) -> None:
    """Dependencies of the rates of the states that one stage has."""
    ints = unit.ints[int(record[U.S_INTS]) :]
    nq, nu = int(ints[L.H_NQ]), int(ints[L.H_NU])
    x_rates = model_fields(ints, unit.floats[int(record[U.S_FLOATS]) :]).x_rate.tolist()
    for k, y in enumerate(unit.ints[int(record[U.S_STATES]) :][: len(rates)].tolist()):
        if y < 0:
            continue
        mask = (0, whole[1]) if y < nq else whole if y < nq + nu else masks[x_rates[y - nq - nu]]
        rates[k] = (rates[k][0] | mask[0], rates[k][1] | mask[1])


def stage_masks(unit: Any, record: np.ndarray, inputs: dict[int, int]) -> tuple[list[tuple[int, int]], tuple[int, int]]:
    """Dependencies of every register of one stage, and of its accelerations."""
    ints = unit.ints[int(record[U.S_INTS]) :]
    model = model_fields(ints, unit.floats[int(record[U.S_FLOATS]) :])
    masks = [(0, 0)] * int(ints[L.H_REGISTERS])
    for register, bit in inputs.items():
        masks[register] = (bit, 0)
    q_bits, u_bits = state_bits(unit, record, ints, masks)
    code = model.code.reshape(-1, L.INSTRUCTION).tolist()
    starts = ints[L.H_PHASE : L.H_PHASE + L.PHASES + 1].tolist()
    late = int(ints[L.H_LATE_SENSORS])
    sensors = model.sensors.reshape(-1, L.SENSOR).tolist()
    for kind, register, *_ in sensors[:late]:
        masks[register] = (0, q_bits if kind in POSITIONS else q_bits | u_bits)
    for instruction in code[starts[0] : starts[3]]:
        follow(masks, instruction)
    loads = everything(model, masks, ints)
    whole = (loads[0], loads[1] | q_bits | u_bits)
    for _, register, *_ in sensors[late:]:
        masks[register] = whole
    for _, _, effective_mass in model.probes.reshape(-1, L.PROBE).tolist():
        masks[effective_mass] = (0, q_bits)
    for instruction in code[starts[3] : starts[4]]:
        follow(masks, instruction)
    return masks, whole


def state_bits(unit: Any, record: np.ndarray, ints: np.ndarray, masks: list[tuple[int, int]]) -> tuple[int, int]:
    """Mark the registers of states; bits of all coordinates and of all speeds."""
    nq, nu = int(ints[L.H_NQ]), int(ints[L.H_NU])
    places = unit.ints[int(record[U.S_STATES]) :][: int(unit.ints[U.U_STATES])].tolist()
    q_bits = u_bits = 0
    for k, y in enumerate(places):
        if y < 0:
            continue
        if y < nq:
            register, q_bits = int(ints[L.H_R_Q]) + y, q_bits | 1 << k
        elif y < nq + nu:
            register, u_bits = int(ints[L.H_R_U]) + y - nq, u_bits | 1 << k
        else:
            register = int(ints[L.H_R_X]) + y - nq - nu
        masks[register] = (0, 1 << k)
    return q_bits, u_bits


def follow(masks: list[tuple[int, int]], instruction: list[int]) -> None:
    """The result of an instruction depends on what its arguments depend on."""
    op, dst, a, b, c = instruction
    if op in TABLES:
        arguments = (b, c)[: TABLES[op]]
    elif op in UNARY:
        arguments = (a,)
    else:
        arguments = (a, b, c) if op == L.Op.IF else (a, b)
    by_input = by_state = 0
    for register in arguments:
        by_input |= masks[register][0]
        by_state |= masks[register][1]
    masks[dst] = (by_input, by_state)


def everything(model: SimpleNamespace, masks: list[tuple[int, int]], ints: np.ndarray) -> tuple[int, int]:
    """What the accelerations depend on beyond coordinates and speeds: whatever the values of forces depend on."""
    by_input = by_state = 0
    records = model.forces.reshape(-1, L.FORCE).tolist()
    for record in records:
        for register in force_registers(record):
            if 0 <= register < len(masks):
                by_input |= masks[register][0]
                by_state |= masks[register][1]
    return by_input, by_state


def force_registers(record: list[int]) -> list[int]:
    """Registers the effect of a force element depends on."""
    kind, _, *a = record
    if kind == L.Force.COORDINATE:
        return [a[1]]
    if kind == L.Force.LINE:
        return [a[4]]
    if kind == L.Force.WRENCH:
        return [a[2] + k for k in range(3)] + [a[3] + k for k in range(3)]
    if kind == L.Force.PAIR:
        return [a[4] + k for k in range(3)] + [a[5] + k for k in range(3)]
    return a
