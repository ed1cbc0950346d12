"""The sampled blocks of an observer, one per stage: the mechanism as inner model, estimated
registers, and the settings of the filter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.controllers.expansion import values_of
from kinetree.models.controllers.laws import brace
from kinetree.models.controllers.observers import unknown_forces, values_given
from kinetree.models.description.schema import Description
from kinetree.models.engine.compiled import Compiled
from kinetree.models.engine.instance import Instance
from kinetree.models.expressions.parse import evaluate_constant
from kinetree.models.forces.kinds import KINDS
from kinetree.models.language.errors import suggestion
from kinetree.models.language.parts.observer_parts import EstimatedNumber, Observer
from kinetree.models.language.parts.value_parts import Input
from kinetree.models.run.sampled_blocks import (
    Block,
    inner_description,
    shared_registers,
    state_sizes,
)
from kinetree.solvers.sampled import block_layout as B

if TYPE_CHECKING:
    from kinetree.models.run.simulation_unit import Unit

OWN = "expected"  # outputs of the inner model are NAME.expected1, ...
START_DEVIATION, SPEED_NOISE = 1e-2, 1e-2  # where none is given
NO_BOUND = 1e300


def bias_of(name: str, k: int) -> str:
    """Return the name of the input that is the bias of measurement k."""
    return f"{name}.bias{k}"


def biased_readings(observer: Observer) -> list[int]:
    """Return the numbers of the measurements with an unknown bias."""
    return [k for k, reading in enumerate(observer.readings, 1) if reading.bias != 0.0]


def estimated_registers(name: str, observer: Observer) -> list[str]:
    """Return the names of the estimated registers of the inner model."""
    return [
        *observer.parameters,
        *observer.unknowns,
        *(bias_of(name, k) for k in biased_readings(observer)),
    ]


def inner_description_of_observer(
    written: Description, name: str, observer: Observer
) -> Description:
    """Return the inner mechanism of an observer, in which commands of sampled controllers and
    estimates are inputs.
    """
    broken = [
        *(key for key, controller in written.controllers.items() if controller.period is not None),
        *written.observers,
    ]
    texts = []
    for k, reading in enumerate(observer.readings, 1):
        offset = f" + '{bias_of(name, k)}'" if k in biased_readings(observer) else ""
        texts.append(brace(reading.value) + offset)
    texts += [brace(text) for text in values_given(observer).values()]
    forces = {
        f"unknown {key}": KINDS["coordinate"].table.model_validate({"coordinate": observer.unknowns[key].coordinate, "value": key})
        for key in unknown_forces(observer)
    }  # fmt: skip
    inputs = {key: Input() for key in (*unknown_forces(observer), *(bias_of(name, k) for k in biased_readings(observer)))}  # fmt: skip
    own = {f"{name}.{OWN}{k}": text for k, text in enumerate(texts, 1)}
    return inner_description(written, broken, own, inputs, forces)


def observer_blocks(
    name: str,
    observer: Observer,
    written: Description,
    event: int,
    outer: Sequence[Compiled],
    model: Unit,
) -> list[Block]:
    """Return the blocks of an observer, one for each stage; they share the inner model and its
    memory.
    """
    numbers = FilterNumbers(name, observer, model.compiled, values_of(written))
    own, values = estimated_registers(name, observer), values_given(observer)
    outputs = len(observer.readings) + len(values)
    registers = [[*own, *locked_in(inner)] for inner in model.compiled]
    n, w = max(len(entries_of(inner)) for inner in model.compiled), max(map(len, registers))
    sizes = {
        "n": n, "w": w, "N": n + w, "no": outputs, "inner": model.work_size, "scratch": max(2 * (n + outputs + w), 2 * n * n),
    }  # fmt: skip
    found = []
    for stage, (there, inner) in enumerate(zip(outer, model.compiled, strict=True)):
        places = {column.name: column.register for column in inner.outputs}
        mine, w = registers[stage], len(registers[stage])
        before = stage and [*entries_of(model.compiled[stage - 1]), *registers[stage - 1]]
        outside = {**there.registers, **{column.name: column.register for column in there.outputs}}
        y = {key: k for k, key in enumerate(entries_of(there))}
        gives = [y[f"{name}.{key}{end}"] for key in values for end in ("", ".std")]
        block = Block(
            B.OBSERVER_BLOCK, event, stage, model,
            {"n": len(entries_of(inner)), "w": w, "readings": len(observer.readings), "outputs_count": outputs},
            {
                "estimated": [inner.registers[key] for key in mine] or [0],
                "origins": [before.index(origin_of(key, before)) for key in mine] if before else [0],
                "outputs": [places.get(f"{name}.{OWN}{k}", -1) for k in range(1, 1 + outputs)],
                "starts": [*numbers.start_registers(stage, there), *[-1] * w],
            },
            numbers.of(stage), B.OBSERVER_PARTS, sizes,
            shared_registers(outside, inner, {key: key for key in inner.inputs if key not in own and key in outside}, mine),
            [outside.get(f"{name}.reading{k}", -1) for k in range(1, 1 + len(observer.readings))],
            [*gives, y[f"{name}.nis"]],
        )  # fmt: skip
        found.append(block)
    return found


def locked_in(compiled: Compiled) -> list[str]:
    """Return the registers of coordinates that a stage has locked; their values are estimated too."""
    return [name for name in compiled.registers if name.startswith("locked(")]


def origin_of(register: str, before: Sequence[str]) -> str:
    """Return what an estimated register was in the stage before: the same register, or a coordinate
    that was locked there.
    """
    return register if register in before else register.removeprefix("locked(").removesuffix(")")


def entries_of(compiled: Compiled) -> tuple[str, ...]:
    """Return the names of the entries of a state: coordinates, speeds, first-order states."""
    return (*compiled.coordinates, *compiled.speeds, *compiled.states)


class FilterNumbers:
    """Settings of an observer in the layout of the kernel: scales, start values, standard
    deviations, densities, measurement noise and limits.
    """

    def __init__(
        self,
        name: str,
        observer: Observer,
        stages: Sequence[Compiled],
        known: Mapping[str, float],
    ):
        self.observer, self.stages, self.known = observer, stages, known
        first = stages[0]
        self.sizes = dict(zip(entries_of(first), state_sizes(first), strict=True))
        self.first = self.first_state()
        entries = list(dict.fromkeys(key for each in stages for key in entries_of(each)))
        for table, key in (
            (observer.start, "start"),
            (observer.initial, "initial"),
            (observer.process, "process"),
        ):
            for entry in table:
                if entry not in entries and not (key == "process" and entry == "speeds"):
                    raise ValueError(
                        f"observers.{name}.{key}.{entry}: no coordinate, speed or state; {suggestion(entry, entries)}"
                    )

    def number(self, value: float | str | None, otherwise: float) -> float:
        """Return the value of a constant expression, or `otherwise` if it is missing."""
        return otherwise if value is None else float(evaluate_constant(value, dict(self.known)))

    def first_state(self) -> dict[str, float]:
        """Return the start values of the description by name."""
        first = self.stages[0]
        ws = Instance(first).ws
        counts = (
            (first.start_q, len(first.coordinates)),
            (first.start_u, len(first.speeds)),
            (first.start_x, len(first.states)),
        )
        values = [float(ws.val[at + k]) for at, count in counts for k in range(count)]
        return dict(zip(entries_of(first), values, strict=True))

    def start_registers(self, stage: int, outer: Compiled) -> list[int]:
        """Return the registers of the outer mechanism with its start values; -1 where the observer
        has values of its own.
        """
        entries = entries_of(self.stages[stage])
        if stage > 0:
            return [-1] * len(entries)
        places = {
            key: at + k
            for at, keys in (
                (outer.start_q, outer.coordinates),
                (outer.start_u, outer.speeds),
                (outer.start_x, outer.states),
            )
            for k, key in enumerate(keys)
        }
        return [-1 if key in self.observer.start else places.get(key, -1) for key in entries]

    def of(self, stage: int) -> np.ndarray:
        """Return the settings for one stage."""
        observer, number, compiled = self.observer, self.number, self.stages[stage]
        entries, nq, nu = entries_of(compiled), len(compiled.coordinates), len(compiled.speeds)
        real = {compiled.coordinates[at] for at in compiled.quaternions}
        starts = [
            number(observer.start.get(key), self.first.get(key, float(key in real)))
            for key in entries
        ]
        deviations = [number(observer.initial.get(key), START_DEVIATION) for key in entries]
        general = number(observer.process.get("speeds"), SPEED_NOISE)
        densities = [
            number(observer.process.get(key), general if nq <= k < nq + nu else 0.0)
            for k, key in enumerate(entries)
        ]
        sizes = [self.sizes.get(key, 1.0) for key in entries]
        noise = [number(reading.noise, 0.0) for reading in observer.readings]
        limits: list[float] = []
        locked = [(0.0, 0.0, 0.0, -NO_BOUND, NO_BOUND)] * len(locked_in(compiled))
        for start, deviation, density, low, high in (*self.registers(), *locked):
            starts.append(start)
            deviations.append(deviation)
            densities.append(density)
            sizes.append(max(abs(start), deviation) or 1.0)
            limits += [low, high]
        return np.array([*sizes, *starts, *deviations, *densities, *noise, *limits])

    def registers(self) -> list[tuple[float, float, float, float, float]]:
        """Return start value, standard deviation, noise density and limits of every estimated
        register.
        """
        observer, number, found = self.observer, self.number, []
        each: EstimatedNumber
        for key, each in (*observer.parameters.items(), *observer.unknowns.items()):
            start = number(each.start, self.known.get(key, 0.0))
            limits = number(each.min, -NO_BOUND), number(each.max, NO_BOUND)
            found.append((start, number(each.std, 0.0), number(each.walk, 0.0), *limits))
        for k in biased_readings(observer):
            reading = observer.readings[k - 1]
            sizes = number(reading.bias, 0.0), number(reading.bias_walk, 0.0)
            found.append((0.0, *sizes, -NO_BOUND, NO_BOUND))
        return found
