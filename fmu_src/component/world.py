"""The interfaces of FMI 3.0 as the draft layered standard fmi-ls-wasm writes them in WIT, package fmi:fmi3@3.0.0.

Read in November 2026, at version 0.1.0 of the draft. Order and names must agree with the draft:
hosts look up interfaces, methods and fields by name.
"""

from __future__ import annotations

import re
from typing import NamedTuple

DRAFT = "0.1.0"  # its version
PACKAGE = "fmi:fmi3/{}@3.0.0"

# types of the interface `types`, each after what it is made of
TYPES = {
    "value-reference": "u32",
    "status": "enum ok, warning, discard, error, fatal",
    "fmu-state": "list<u8>",
    "interval-qualifier": "enum interval-not-yet-known, interval-unchanged, interval-changed",
    "interval-fraction": "record counter: u64, resolution: u64",
    "dependency-kind": "enum dependent, constant, fixed, tunable, discrete",
    "variable-dependency": "record dependent-value-reference: value-reference, element-index-of-dependent: u32, "
    "independent-value-reference: value-reference, element-index-of-independent: u32, kind: dependency-kind",
    "discrete-states-info": "record new-discrete-states-needed: bool, terminate-simulation: bool, "
    "nominals-of-continuous-states-changed: bool, values-of-continuous-states-changed: bool, "
    "next-event-time-defined: bool, next-event-time: f64",
}
LOG_MESSAGE = "instance-name: string, status: status, category: string, message: string"

REFERENCES = "value-references: list<value-reference>"
SENSITIVITY = "unknowns: list<value-reference>, knowns: list<value-reference>, seed: list<f64> -> result<list<f64>, status>"
VALUE_TYPES = {
    "float32": "f32",
    "float64": "f64",
    "int8": "s8",
    "int16": "s16",
    "int32": "s32",
    "int64": "s64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "boolean": "bool",
    "string": "string",
    "binary": "list<u8>",
    "clock": "bool",
}
# methods that both kinds of instances have
SHARED = {
    "set-debug-logging": "logging-on: bool, categories: list<string> -> status",
    "enter-initialization-mode": "tolerance: option<f64>, start-time: f64, stop-time: option<f64> -> status",
    "exit-initialization-mode": "-> status",
    "enter-event-mode": "-> status",
    "update-discrete-states": "-> result<discrete-states-info, status>",
    "terminate": "-> status",
    "reset": "-> status",
    "enter-configuration-mode": "-> status",
    "exit-configuration-mode": "-> status",
    **{
        f"get-{name}": f"{REFERENCES} -> result<list<{kind}>, status>"
        for name, kind in VALUE_TYPES.items()
    },
    **{
        f"set-{name}": f"{REFERENCES}, values: list<{kind}> -> status"
        for name, kind in VALUE_TYPES.items()
    },
    "get-number-of-variable-dependencies": "vr: value-reference -> result<u64, status>",
    "get-variable-dependencies": "dependent: value-reference -> result<list<variable-dependency>, status>",
    "get-fmu-state": "-> result<fmu-state, status>",
    "set-fmu-state": "state: fmu-state -> status",
    "get-directional-derivative": SENSITIVITY,
    "get-adjoint-derivative": SENSITIVITY,
    "get-interval-decimal": f"{REFERENCES} -> result<list<tuple<f64, interval-qualifier>>, status>",
    "get-interval-fraction": f"{REFERENCES} -> result<list<tuple<interval-fraction, interval-qualifier>>, status>",
    "get-shift-decimal": f"{REFERENCES} -> result<list<f64>, status>",
    "get-shift-fraction": f"{REFERENCES} -> result<list<interval-fraction>, status>",
    "set-interval-decimal": f"{REFERENCES}, intervals: list<f64> -> status",
    "set-interval-fraction": f"{REFERENCES}, intervals: list<interval-fraction> -> status",
    "set-shift-decimal": f"{REFERENCES}, shifts: list<f64> -> status",
    "set-shift-fraction": f"{REFERENCES}, shifts: list<interval-fraction> -> status",
    "evaluate-discrete-states": "-> status",
}
OUTPUT_DERIVATIVES = "requests: list<tuple<value-reference, u32>> -> result<list<f64>, status>"


class Interface(NamedTuple):
    """An exported interface with one resource: its own types, the parameters of the instantiation,
    and the methods.
    """

    name: str
    types: dict[str, str]
    instantiation: str
    methods: dict[str, str]

    @property
    def resource(self) -> str:
        return f"{self.name}-instance"

    @property
    def instantiate(self) -> str:
        return f"instantiate-{self.name}"


BEGIN = "instance-name: string, instantiation-token: string, resource-path: string, visible: bool, logging-on: bool"
INTERFACES = (
    Interface(
        "model-exchange",
        {
            "completed-step-result": "record enter-event-mode: bool, terminate-simulation: bool",
        },
        BEGIN,
        {
            **SHARED,
            "enter-continuous-time-mode": "-> status",
            "enter-step-mode": "-> status",
            "set-time": "time: f64 -> status",
            "set-continuous-states": "continuous-states: list<f64> -> status",
            "get-continuous-state-derivatives": "-> result<list<f64>, status>",
            "get-event-indicators": "-> result<list<f64>, status>",
            "get-continuous-states": "-> result<list<f64>, status>",
            "get-nominals-of-continuous-states": "-> result<list<f64>, status>",
            "get-number-of-event-indicators": "-> result<u64, status>",
            "get-number-of-continuous-states": "-> result<u64, status>",
            "completed-integrator-step": "no-set-fmu-state-prior-to-current-point: bool -> result<completed-step-result, status>",
            "get-output-derivatives": OUTPUT_DERIVATIVES,
        },
    ),
    Interface(
        "co-simulation",
        {
            "do-step-result": "record last-successful-time: f64, event-handling-needed: bool, "
            "terminate-simulation: bool, early-return: bool",
        },
        f"{BEGIN}, event-mode-used: bool, early-return-allowed: bool, "
        "required-intermediate-variables: list<value-reference>",
        {
            **SHARED,
            "set-input-derivatives": "requests: list<tuple<value-reference, u32>>, values: list<f64> -> status",
            "get-output-derivatives": OUTPUT_DERIVATIVES,
            "do-step": "current-communication-point: f64, communication-step-size: f64, "
            "no-set-fmu-state-prior-to-current-point: bool -> result<do-step-result, status>",
            "enter-step-mode": "-> status",
        },
    ),
)


def split_at_commas(text: str) -> list[str]:
    """Return the parts of a text between commas outside brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "<") - (letter == ">")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def fields(text: str) -> list[tuple[str, str]]:
    """Return pairs (name, type) from `name: type, name: type`."""
    pairs = (re.fullmatch(r"([a-z0-9-]+): (.+)", part) for part in split_at_commas(text))
    return [(pair[1], pair[2]) for pair in pairs if pair]
