"""The sampled block of a predictive controller: the mechanism as inner model, with the commands as
inputs.

The model represents other controllers by their equilibrium variant, and has additional outputs for
errors, limited values and settings.
"""

from __future__ import annotations

import numpy as np

from kinetree.models.controllers.expansion import commands_of, values_of
from kinetree.models.controllers.laws import brace
from kinetree.models.description.schema import Description
from kinetree.models.engine.compiled import Compiled
from kinetree.models.expressions.parse import ExpressionError, evaluate_constant
from kinetree.models.language.parts.predictive_parts import PredictiveController
from kinetree.models.run.sampled_blocks import (
    Block,
    inner_description,
    shared_registers,
    state_sizes,
)
from kinetree.solvers.model_records import HEADER
from kinetree.solvers.sampled import block_layout as B

NO_BOUND = 1e300  # a bound that is none
OWN = "predicted"  # outputs of the inner model are NAME.predicted1, ...


def settings_of(name: str, c: PredictiveController) -> tuple[list[str], list[str], list[str]]:
    """Return the expressions of errors, limited values and settings, in the order of the kernels."""

    def bound(value: float | str | None, none: float) -> str:
        return brace(none if value is None else value)

    step = c.period if c.step is None else c.step
    errors = [f"{brace(each.value)} - {brace(each.setpoint)}" for each in c.track]
    limited = [brace(each.value) for each in c.limits]
    settings = [brace(c.period), brace(step), brace(c.delay)]
    for each in c.commands.values():
        settings += [
            bound(each.low, -NO_BOUND),
            bound(each.high, NO_BOUND),
            bound(each.rate, NO_BOUND),
        ]
        settings += [brace(each.target), brace(each.weight), brace(each.rate_weight)]
    for each in c.track:
        final = f"{brace(each.weight)}*{brace(step)}" if each.final is None else brace(each.final)
        settings += [brace(each.weight), final]
    for each in c.limits:
        settings += [bound(each.low, -NO_BOUND), bound(each.high, NO_BOUND), brace(each.soft)]
    return errors, limited, settings


def inner_of_predictive(written: Description, name: str, c: PredictiveController) -> Description:
    """Return the inner mechanism of a predictive controller."""
    texts = [text for group in settings_of(name, c) for text in group]
    own = {f"{name}.{OWN}{k}": text for k, text in enumerate(texts, 1)}
    return inner_description(written, name, own)


def predictive_block(
    written: Description,
    name: str,
    c: PredictiveController,
    event: int,
    stage: int,
    outer: Compiled,
    model: Compiled,
) -> Block:
    """Return the sampled block of a predictive controller for one stage."""
    errors, limited, settings = settings_of(name, c)
    commands = commands_of(name, c)
    entries = (*model.coordinates, *model.speeds, *model.states)
    registers = {column.name: column.register for column in model.outputs}
    own = [registers[f"{name}.{OWN}{k}"] for k in range(1, 1 + len(errors + limited + settings))]
    n, m, N, outputs = len(entries), len(commands), c.horizon, len(errors) + len(limited)
    z, p = N * m, N * len(limited)
    sizes = {
        "n": n, "m": m, "N": N, "z": z, "p": p, "no": outputs, "ns": len(settings),
        "inner": int(HEADER.of(model.ints).work_size),
        "scratch": max(z * z + 4 * z + 15 * (2 * z + p), 2 * (n + outputs), 2 * n * n),
    }  # fmt: skip
    terminal = [] if c.terminal is None else [float(v) for row in c.terminal for v in row]
    outside = {**outer.registers, **{column.name: column.register for column in outer.outputs}}
    y = {key: k for k, key in enumerate((*outer.coordinates, *outer.speeds, *outer.states))}
    return Block(
        B.PREDICTIVE_BLOCK, event, stage, model,
        {
            "n": n, "m": m, "horizon": N, "parts": c.parts, "errors": len(errors), "limits": len(limited),
            "passes": c.iterations, "set": len(settings), "terminal": int(bool(terminal)),
        },
        {"commands": [model.registers[each] for each in commands], "outputs": own[:outputs], "settings": own[outputs:]},
        np.array([*state_sizes(model), *command_sizes(written, c), *terminal]),
        B.PREDICTIVE_PARTS, sizes, shared_registers(outside, model, {key: f"{name}.model.{key}" for key in c.parameters}, commands),
        state_registers(name, c, written, entries, outside) + [outer.registers[f"{each}.plan"] for each in commands],
        [y[f"{each}.plan"] for each in commands] + [y[f"{name}.work"]],
    )  # fmt: skip


def command_sizes(description: Description, c: PredictiveController) -> list[float]:
    """Return the scales of the commands: their bounds if these are numbers, else 1."""
    values = values_of(description)
    found = []
    for each in c.commands.values():
        bounds = [abs(constant_value(bound, values)) for bound in (each.low, each.high)]
        found.append(max([size for size in bounds if 0.0 < size < NO_BOUND] or [1.0]))
    return found


def constant_value(text: float | str | None, values: dict[str, float]) -> float:
    """Return the value of a constant expression, 0 if it is not constant."""
    try:
        return 0.0 if text is None else float(evaluate_constant(text, dict(values)))
    except ExpressionError:
        return 0.0


def state_registers(
    name: str,
    c: PredictiveController,
    written: Description,
    entries: tuple[str, ...],
    outside: dict[str, int],
) -> list[int]:
    """Return the registers from which the controller takes the state: those of the mechanism
    itself, or the estimates of an observer.
    """
    if c.observer is None:
        return [outside.get(each, -1) for each in entries]
    estimates = written.observers[c.observer].estimates
    known = {str(text): f"{c.observer}.{key}" for key, text in estimates.items()}
    missing = [each for each in entries if each not in known]
    if missing:
        raise ValueError(
            f"controllers.{name}.observer: '{c.observer}' does not estimate {', '.join(missing)}: "
            "all coordinates, speeds and states must be among its estimates"
        )
    return [outside[known[each]] for each in entries]
