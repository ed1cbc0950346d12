"""Controller tables written by tuning.

The command of an actuator becomes a controller NAME_control that drives it, in place of the
actuator's own force. A command that is an input of the description is replaced by a controller of
the same name.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from kinetree.models.description.reading.read_source import Source, read
from kinetree.models.foreign.toml_text import toml_text
from kinetree.scripts.terminal.error_messages import BadInput

DIGITS = 10
WHOLE = 1e-9  # of a step, by which a whole number of them is missed
WORD = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
GAINS = ("kp", "ki", "kd", "speed_forward", "acceleration_forward")
Blocks = dict[str, dict[str, Any]]


def rounded(value: Any) -> Any:
    """Return floats rounded to DIGITS significant digits, also inside lists."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return value


def place_of(
    command: str, actuators: Mapping[str, Any], inputs: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Return the controller's name for a command, and the key by which it is applied."""
    label, _, key = command.rpartition(".")
    if key == "force" and label in actuators:
        return f"{label}_control", {"drives": label}
    if command in inputs:
        return command, {}
    raise BadInput(
        f"'{command}' is neither the force of an actuator nor an input of the description: no controller can give it"
    )


def sampling_of(step: float, delay: float, jitter: float) -> dict[str, float]:
    """Return sample period, delay and jitter of a controller in a scenario."""
    late = step + 2.0 * delay
    beyond = late - step * math.floor(late / step + WHOLE)
    if beyond + jitter >= step:  # commands would overtake each other: always the latest
        return {"period": step, "delay": late + jitter}
    return {"period": step, "delay": late} | ({"jitter": jitter} if jitter else {})


def pid_blocks(
    name: str,
    table: Mapping[str, Any],
    numbers: Mapping[str, float],
    more: Mapping[str, Any],
    notch: Mapping[str, float] | None,
) -> Blocks:
    """Return the tables of a PID controller with anti-windup, behind a notch filter if given."""
    sampling = {key: more[key] for key in ("period",) if key in more}
    keys = {key: table[key] for key in ("setpoint", "offset", "low", "high") if key in table}
    block = {
        "measure": table["measure"],
        **keys,
        **{key: value for key, value in numbers.items() if value},
        **more,
    }
    if numbers.get("ki") and ("low" in keys or "high" in keys):
        kp, ki, kd = (abs(numbers.get(key, 0.0)) for key in ("kp", "ki", "kd"))
        block["tracking"] = math.sqrt(kd / ki) if kd else kp / ki
    if notch is None:
        return {name: block}
    first = {"kind": "notch", "measure": f"-({table['measure']})", **notch, **sampling}
    return {f"{name}_notch": first, name: block | {"measure": f"{name}_notch"}}


def block_text(blocks: Blocks, remarks: list[str]) -> str:
    """Return the tables of [controllers] as TOML text."""
    return toml_text(
        {
            "controllers": {
                name: {key: rounded(value) for key, value in block.items()}
                for name, block in blocks.items()
            }
        },
        remarks,
    )


def with_blocks(source: Source, blocks: Blocks, parameters: Mapping[str, float]) -> dict[str, Any]:
    """Return the description of a mechanism in which controllers replace the inputs that they
    command.
    """
    raw, _ = read(source)
    named, gains = parameters_of_gains(blocks)
    steps = raw.get("run", {}).get("prepare")
    if steps:
        named, more = parameters_of_feedback(named)
        gains |= more
    made = {**raw, "controllers": {**raw.get("controllers", {}), **named}}
    made["parameters"] = {**raw.get("parameters", {}), **gains}
    made["inputs"] = {
        name: table for name, table in raw.get("inputs", {}).items() if name not in blocks
    }
    if not made["inputs"]:
        del made["inputs"]
    driven = {
        label
        for block in blocks.values()
        for label in (*block.get("commands", ()), *([block["drives"]] if "drives" in block else []))
    }
    made["actuators"] = {
        name: {**table, "force": 0.0} if name in driven else table
        for name, table in raw.get("actuators", {}).items()
    }
    if not made["actuators"]:
        del made["actuators"]
    for name, value in parameters.items():
        table = raw["parameters"][name]
        made["parameters"] = {
            **made["parameters"],
            name: {**table, "value": value} if isinstance(table, dict) else value,
        }
    if steps:
        made["run"] = {**raw["run"], "prepare": [held(step, gains) for step in steps]}
    forces = " ".join(
        str(table.get("force", ""))
        for name, table in raw.get("actuators", {}).items()
        if name in driven
    )
    return without_idle(made, forces, set(parameters))


def held(step: Mapping[str, Any], gains: Mapping[str, Any]) -> dict[str, Any]:
    """Return a preparation step in which all controller gains are 0, so that commands stay at their
    offsets and do not work against the values that the step sets.
    """
    return {**step, "set": {**step.get("set", {}), **dict.fromkeys(gains, 0)}}


def without_idle(made: dict[str, Any], text: str, kept: set[str]) -> dict[str, Any]:
    """Return the description without parameters that were used only by a removed expression."""
    parameters, waiting = dict(made["parameters"]), WORD.findall(text)
    while waiting:
        name = waiting.pop()
        others = {
            **made,
            "parameters": {key: value for key, value in parameters.items() if key != name},
        }
        if name in parameters and name not in kept and name not in WORD.findall(json.dumps(others)):
            waiting += WORD.findall(json.dumps(parameters.pop(name)))
    return {**made, "parameters": parameters}


def parameters_of_feedback(blocks: Blocks) -> tuple[Blocks, dict[str, Any]]:
    """Return state-feedback blocks with their gains as parameters CONTROLLER.gain1,
    CONTROLLER.gain2, ..., since state names may not be valid parameter names.
    """
    named, gains = dict(blocks), {}
    for name, block in blocks.items():
        if "gains" not in block:
            continue
        keys = {state: f"{name}.gain{k}" for k, state in enumerate(block["gains"], 1)}
        named[name] = {**block, "gains": keys}
        for state, key in keys.items():
            gains[key] = {"value": rounded(block["gains"][state]), "tunable": True}
    return named, gains


def parameters_of_gains(blocks: Blocks) -> tuple[Blocks, dict[str, Any]]:
    """Return the blocks with their gains as parameters CONTROLLER.GAIN, which runs, studies and
    optimisations may change.
    """
    named, gains = {}, {}
    for name, block in blocks.items():
        named[name] = rounded_block(block)
        for key in GAINS:
            if isinstance(block.get(key), float):
                named[name][key] = f"{name}.{key}"
                gains[f"{name}.{key}"] = {"value": rounded(block[key]), "tunable": True}
    return named, gains


def rounded_block(block: Mapping[str, Any]) -> dict[str, Any]:
    return {key: rounded(value) for key, value in block.items()}
