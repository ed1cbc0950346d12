"""The monolithic reference of a co-simulation: mechanism, drive and controller in one description,
with pressures, spool, integral and derivative as states beside the coordinates.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from kinetree.models import load
from kinetree.models.result.result import Result
from kinetree.models.run.keyboard_interrupt import raise_if_interrupted
from kinetree.scripts.cosim.drive_description import points
from kinetree.scripts.cosim.hydraulic_drive import Drive
from kinetree.scripts.cosim.position_controller import Controller
from kinetree.scripts.cosim.valve_cylinder import (
    ATMOSPHERE,
    LEAST_PRESSURE,
    POLYTROPIC,
    Cylinder,
    Valve,
)

BIT = 1e-6  # over which the slope of the setpoint is taken [s]


def modulus(c: Cylinder, pressure: str) -> str:
    if c.air == 0.0:
        return f"{c.bulk_modulus!r}"
    squeezed = f"max({pressure}, {LEAST_PRESSURE!r})"
    bubbles = f"{c.air!r}*({ATMOSPHERE!r}/{squeezed})**{1.0 / POLYTROPIC!r}"
    return f"(1 + {bubbles})/({1.0 / c.bulk_modulus!r} + {bubbles}/({POLYTROPIC!r}*{squeezed}))"


def flow(v: Valve, pressure: str, opens: str, drains: str) -> str:
    """Return the flow into one side as an expression: supply edge, tank edge, relief and make-up
    valves.
    """
    gain = v.rated_flow / v.rated_drop**0.5

    def orifice(source: float) -> str:
        return f"{gain!r}*({source!r} - {pressure})/(({source!r} - {pressure})**2 + {v.laminar**2!r})**0.25"

    return (
        f"max({opens} - {v.overlap!r}, 0)*{orifice(v.supply)} + max({drains} - {v.overlap!r}, 0)*{orifice(v.tank)}"
        f" + {v.make_up_gain!r}*max({v.tank!r} - {pressure}, 0) - {v.relief_gain!r}*max({pressure} - {v.relief!r}, 0)"
    )


def reference(
    raw: dict[str, Any],
    actuator: str,
    drive: Drive,
    controller: Controller | None,
    stop_time: float,
    output_step: float,
) -> Result:
    """Return mechanism, drive and controller as one system, integrated with error control."""
    longest = min(
        0.01, stop_time / 20.0
    )  # a system at rest would let the integrator step past the command
    whole = load(with_drive(raw, actuator, drive, controller))
    return raise_if_interrupted(
        whole.compile().simulate(
            stop_time=stop_time, output_step=output_step, tolerance=1e-9, largest_step=longest
        )
    )


def with_drive(
    source: dict[str, Any], actuator: str, drive: Drive, controller: Controller | None = None
) -> dict[str, Any]:
    """Return the description with its actuator replaced by a cylinder force and the drive's states;
    outputs drive.* and ACTUATOR.length stay readable.
    """
    d, c, v = deepcopy(source), drive.cylinder, drive.valve
    place = d["actuators"].pop(actuator)
    at = (
        {"between": place["between"]} if "between" in place else {"coordinate": place["coordinate"]}
    )
    length, speed = f"{actuator}_length", f"{actuator}_speed"
    leak = f"{c.leakage!r}*(pressure_a - pressure_b)"
    d.setdefault("outputs", {}).update({
        length: {"quantity": "distance", **at} if "between" in at else {"value": at["coordinate"]},
        speed: {"quantity": "distance_rate", **at} if "between" in at else {"value": f"der({at['coordinate']})"},
        "flow_a": {"value": flow(v, "pressure_a", "spool", "-spool"), "unit": "m3/s"},
        "flow_b": {"value": flow(v, "pressure_b", "-spool", "spool"), "unit": "m3/s"},
    })  # fmt: skip
    volume_a = f"({c.volume_a!r} + {c.area_a!r}*({length} - {c.shortest!r}))"
    volume_b = f"({c.volume_b!r} + {c.area_b!r}*({c.longest!r} - {length}))"
    d.setdefault("states", {}).update({
        "pressure_a": {
            "rate": f"{modulus(c, 'pressure_a')}/{volume_a}*(flow_a - {c.area_a!r}*{speed} - {leak})", "start": drive.pressure_a, "unit": "Pa"
        },
        "pressure_b": {
            "rate": f"{modulus(c, 'pressure_b')}/{volume_b}*(flow_b + {c.area_b!r}*{speed} + {leak})", "start": drive.pressure_b, "unit": "Pa"
        },
        "spool": {"rate": f"(command - spool)/{v.time_constant!r}", "start": drive.spool},
    })  # fmt: skip
    d.setdefault("tables", {})["commands"] = points(drive.profile)
    command = 'table("commands", t)'
    if controller is not None:
        add_controller(d, controller, length, speed)
        command += " + control"
    d["outputs"]["command"] = {"value": f"min(max({command}, -1), 1)"}
    d.setdefault("forces", {})[actuator] = {
        **at,
        "value": f"{c.area_a!r}*pressure_a - {c.area_b!r}*pressure_b",
    }
    return d


def add_controller(d: dict[str, Any], controller: Controller, length: str, speed: str) -> None:
    """Add the continuous controller, the limit of the sampled one for short periods."""
    p = controller.pid
    d["tables"]["setpoints"] = points(controller.profile)
    slope = f'(table("setpoints", t + {BIT!r}) - table("setpoints", t))/{BIT!r} + {controller.target_speed!r}'
    derivative = f"-{p.derivative_time!r}*({speed} - smooth_speed)"
    d["states"]["smooth_speed"] = {"rate": "0", "start": 0.0}
    if p.filter_time > 0.0:
        derivative = f"-{p.derivative_time!r}*smooth_speed"
        d["states"]["smooth_speed"]["rate"] = f"({speed} - smooth_speed)/{p.filter_time!r}"
    back = f" + (control - wanted)/{p.gain * p.tracking!r}" if p.integral_time > 0.0 else ""
    d["states"]["integral"] = {
        "rate": f"deviation/{p.integral_time!r}{back}" if p.integral_time > 0.0 else "0",
        "start": controller.integral,
    }
    d["outputs"].update({
        "deviation": {"value": f'table("setpoints", t) + {controller.target!r} - {length}'},
        "wanted": {"value": f"{p.bias!r} + {p.feed_forward!r}*({slope}) + {p.gain!r}*(deviation + integral + {derivative})"},
        "control": {"value": f"min(max(wanted, {p.lower!r}), {p.upper!r})"},
    })  # fmt: skip
