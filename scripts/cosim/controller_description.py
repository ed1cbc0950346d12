"""The position controller as a description: its FMU is built from this description by either back
end, and runs without Python.

An event takes a sample every `period`, just before its end, so that the sample of a master's step
is taken within that step. Until the first sample the command follows from the inputs, without
integral and derivative; the control laws are those of `position_controller.py`.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from kinetree.scripts.cosim.drive_description import points
from kinetree.scripts.cosim.position_controller import Controller

BEFORE = 1e-6  # part of the period by which a sample comes before the end of a step
SIGNED = ("gain", "feed_forward", "bias", "lower", "upper")  # numbers that may be negative
ELAPSED = "(t - stage_start)"


def units_of_controller(unit: str) -> dict[str, str]:
    """Return the units of all variables of the controller from the unit of the measurement."""
    times = {
        f"pid.{name}": "s"
        for name in ("integral_time", "derivative_time", "filter_time", "tracking_time")
    } | {"period": "s"}
    places = {
        "measured": unit,
        "target": unit,
        "target_speed": f"{unit}/s",
        "setpoint": unit,
        "error": unit,
        "integral": unit,
    }
    return times | {name: text for name, text in places.items() if unit}


def controller_description(
    controller: Controller, unit: str = "m", period: float = 0.01
) -> dict[str, Any]:
    """Return the controller as a description; `unit` is that of the measurement."""
    units, given = units_of_controller(unit), ("measured", "target", "target_speed")
    numbers = {
        name: {"value": value} | ({} if name in SIGNED else {"min": 0.0})
        for name, value in asdict(controller.pid).items()
    }
    parameters: dict[str, Any] = {f"pid.{name}": number for name, number in numbers.items()}
    parameters["period"] = {
        "value": period,
        "min": 0.0,
        "text": "Time between two samples: the communication step of the master",
    }
    inputs = {name: {"start": getattr(controller, name)} for name in given}
    held = {
        name: {"rate": 0, "start": 0.0}
        for name in ("integral", "derivative", "before", "held", "samples")
    }
    held["before"] |= {
        "start": controller.measured,
        "text": "The sample before; at the start what is measured there",
    }
    held["following"] = {"rate": 0, "start": "period"}
    now = f"stage_start + floor({ELAPSED}/period + 0.5)*period"
    derivative = "(pid.filter_time*derivative - pid.derivative_time*(measured - before))/(pid.filter_time + period)"
    wanted = wanted_at(now, f"integral + {derivative}")
    back = f"min(period/{or_one('if(pid.tracking_time > 0, pid.tracking_time, pid.integral_time)')}, 1)*({limited(wanted)} - ({wanted}))/pid.gain"
    integral = f"if(pid.integral_time > 0, integral + period/{or_one('pid.integral_time')}*({setpoint_at(now)} - measured) + {back}, 0)"
    outputs = {
        "command": {
            "value": f"if(samples > 0, held, {limited(wanted_at('t', '0'))})",
            "text": "Held from sample to sample",
        },
        "setpoint": {"value": setpoint_at("t")},
        "error": {"value": f"{setpoint_at('t')} - measured"},
    }
    sample = {
        "held": limited(wanted), "derivative": derivative, "before": "measured", "integral": integral, "samples": "samples + 1",
        "following": f"(floor({ELAPSED}/period + 0.5) + 1)*period",
    }  # fmt: skip
    text = "PID with feed-forward, limits, anti-windup and a filtered derivative"
    found: dict[str, Any] = {"format": "kinetree/1", "name": "Position controller", "text": text}
    for table in (parameters, inputs, held, outputs):
        for name, entry in table.items():
            entry |= {"unit": units[name]} if name in units else {}
    found["run"] = {
        "stop_time": 1.0,
        "output_step": period,
        "integrator": "rk4",
        "step": period,
    }  # between samples nothing moves
    return found | {
        "parameters": parameters, "inputs": inputs, "states": held, "outputs": outputs, "tables": {"setpoints": points(controller.profile)},
        "events": {"sample": {"when": f"{ELAPSED} > following - {BEFORE!r}*period", "set": sample}},
    }  # fmt: skip


def or_one(time: str) -> str:
    """Return an expression for a time used as divisor; it is 1 where the time is zero and the
    quotient has no effect.
    """
    return f"if({time} > 0, {time}, 1)"


def setpoint_at(t: str) -> str:
    return f'(table("setpoints", {t}) + target)'


def wanted_at(t: str, memory: str) -> str:
    """Return the expression of the command before its limits; the feed-forward is the mean speed of
    the setpoint until the next sample.
    """
    speed = f'((table("setpoints", {t} + period) - table("setpoints", {t}))/period + target_speed)'
    return (
        f"pid.bias + pid.feed_forward*{speed} + pid.gain*({setpoint_at(t)} - measured + {memory})"
    )


def limited(command: str) -> str:
    return f"min(max({command}, pid.lower), pid.upper)"
