"""The sampled block of an observer: the mechanism as its model, with estimated registers, and the numbers of the filter."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinetree.models.controllers.expansion import expanded, values_of
from kinetree.models.controllers.laws import brace
from kinetree.models.controllers.observers import unknown_forces, values_given
from kinetree.models.description.output_parts import Output
from kinetree.models.description.schema import Description
from kinetree.models.engine.compiled import Compiled
from kinetree.models.engine.instance import Instance
from kinetree.models.expressions.parse import evaluate_constant
from kinetree.models.forces.kinds import KINDS
from kinetree.models.language.errors import suggestion
from kinetree.models.language.parts.observer_parts import EstimatedNumber, Observer
from kinetree.models.language.parts.value_parts import Input
from kinetree.models.run.sampled_blocks import Block, needed_outputs, shared_registers, state_sizes
from kinetree.solvers.model_records import HEADER
from kinetree.solvers.sampled import block_layout as B

OWN = "expected"  # outputs of the inner model are NAME.expected1, ...
START_DEVIATION, SPEED_NOISE = 1e-2, 1e-2  # where none is given
NONE = 1e300


def bias_of(name: str, k: int) -> str:
    """Return the name of the input that is the bias of reading k."""
    return f"{name}.bias{k}"


def biased_readings(observer: Observer) -> list[int]:
    """Return the numbers of the readings with an unknown offset."""
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
    """Return the mechanism that an observer has as its model: commands of sampled controllers are inputs."""
    broken = [
        key for key, controller in written.controllers.items() if controller.period is not None
    ]
    model = expanded(written, rest=True, broken=broken)
    texts = []
    for k, reading in enumerate(observer.readings, 1):
        offset = f" + '{bias_of(name, k)}'" if k in biased_readings(observer) else ""
        texts.append(brace(reading.value) + offset)
    texts += [brace(text) for text in values_given(observer).values()]
    own = {f"{name}.{OWN}{k}": Output.model_validate({"value": text}) for k, text in enumerate(texts, 1)}  # fmt: skip
    forces = {
        f"unknown {key}": KINDS["coordinate"].table.model_validate({"coordinate": observer.unknowns[key].coordinate, "value": key})
        for key in unknown_forces(observer)
    }  # fmt: skip
    inputs = {key: Input() for key in (*unknown_forces(observer), *(bias_of(name, k) for k in biased_readings(observer)))}  # fmt: skip
    kept = needed_outputs(model, texts)
    outputs = {key: each for key, each in model.outputs.items() if key in kept}
    result = model.model_copy(
        update={
            "outputs": outputs | own,
            "inputs": model.inputs | inputs,
            "forces": model.forces | forces,
        }
    )
    result._made, result._written, result._rests = model._made, model._written, model._rests
    result._beginning = None
    return result


def observer_block(
    name: str,
    observer: Observer,
    written: Description,
    event: int,
    outer: Compiled,
    model: Compiled,
) -> Block:
    """Return the block of an observer."""
    refuse_structure(name, model)
    entries = (*model.coordinates, *model.speeds, *model.states)
    known = values_of(written)
    own = estimated_registers(name, observer)
    values = values_given(observer)
    n, w, readings = len(entries), len(own), len(observer.readings)
    registers = {column.name: column.register for column in model.outputs}
    outside = {**outer.registers, **{column.name: column.register for column in outer.outputs}}
    outputs = [registers[f"{name}.{OWN}{k}"] for k in range(1, 1 + readings + len(values))]
    y = {key: k for k, key in enumerate((*outer.coordinates, *outer.speeds, *outer.states))}
    gives = [y[f"{name}.{key}{end}"] for key in values for end in ("", ".std")] + [y[f"{name}.nis"]]
    return Block(
        B.OBSERVER_BLOCK, event, 0, model,
        {"n": n, "w": w, "readings": readings, "outputs_count": len(outputs)},
        {"estimated": [model.registers[key] for key in own] or [0], "outputs": outputs},
        filter_numbers(name, observer, entries, model, known),
        B.OBSERVER_PARTS,
        {
            "n": n, "w": w, "N": n + w, "no": len(outputs), "inner": int(HEADER.of(model.ints).work_size),
            "scratch": max(2 * (n + len(outputs)), 2 * n * n),
        },
        shared_registers(outside, model, {key: key for key in model.inputs if key not in own and key in outside}, own),
        [outside[f"{name}.reading{k}"] for k in range(1, 1 + readings)],
        gives,
    )  # fmt: skip


def refuse_structure(name: str, model: Compiled) -> None:
    """Raise ValueError for mechanisms whose states an observer inside them cannot estimate yet."""
    if model.quaternions:
        raise ValueError(
            f"observers.{name}: ball and free joints have no observer inside a mechanism yet: take three "
            "revolute joints in their place, or kinetree observe on a record"
        )
    if model.loops:
        raise ValueError(
            f"observers.{name}: closed loops ({', '.join(model.loops)}) have no observer inside a mechanism yet: "
            "kinetree observe on a record takes them"
        )


def filter_numbers(
    name: str,
    observer: Observer,
    entries: tuple[str, ...],
    model: Compiled,
    known: Mapping[str, float],
) -> np.ndarray:
    """Return sizes, starts, deviations, densities, noise of readings and limits, as the kernel takes them."""

    def number(value: float | str | None, otherwise: float) -> float:
        return otherwise if value is None else float(evaluate_constant(value, dict(known)))

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
    ws, nq, nu = Instance(model).ws, len(model.coordinates), len(model.speeds)
    first = [
        ws.val[at + k]
        for at, count in (
            (model.start_q, nq),
            (model.start_u, nu),
            (model.start_x, len(model.states)),
        )
        for k in range(count)
    ]
    starts = [
        number(observer.start.get(key), float(value))
        for key, value in zip(entries, first, strict=True)
    ]
    deviations = [number(observer.initial.get(key), START_DEVIATION) for key in entries]
    general = number(observer.process.get("speeds"), SPEED_NOISE)
    densities = [
        number(observer.process.get(key), general if nq <= k < nq + nu else 0.0)
        for k, key in enumerate(entries)
    ]
    limits: list[float] = []
    each: EstimatedNumber
    for key, each in (*observer.parameters.items(), *observer.unknowns.items()):
        starts.append(number(each.start, known.get(key, 0.0)))
        deviations.append(number(each.std, 0.0))
        densities.append(number(each.walk, 0.0))
        limits += [number(each.min, -NONE), number(each.max, NONE)]
    for k in biased_readings(observer):
        reading = observer.readings[k - 1]
        starts.append(0.0)
        deviations.append(number(reading.bias, 0.0))
        densities.append(number(reading.bias_walk, 0.0))
        limits += [-NONE, NONE]
    n = len(entries)
    sizes = state_sizes(model) + [1.0] * (
        len(starts) - n
    )  # slopes by registers are taken as they are
    noise = [number(reading.noise, 0.0) for reading in observer.readings]
    return np.array([*sizes, *starts, *deviations, *densities, *noise, *limits])
