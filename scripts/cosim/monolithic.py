"""The reference: mechanism and drive in one description, the pressures and the spool as first-order states beside the coordinates."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from kinetree.scripts.cosim.drive import Drive
from kinetree.scripts.cosim.oil import ATMOSPHERE, LEAST_PRESSURE, POLYTROPIC, Cylinder, Valve


def modulus(c: Cylinder, pressure: str) -> str:
    if c.air == 0.0:
        return f"{c.bulk_modulus!r}"
    squeezed = f"max({pressure}, {LEAST_PRESSURE!r})"
    bubbles = f"{c.air!r}*({ATMOSPHERE!r}/{squeezed})**{1.0 / POLYTROPIC!r}"
    return f"(1 + {bubbles})/({1.0 / c.bulk_modulus!r} + {bubbles}/({POLYTROPIC!r}*{squeezed}))"


def flow(v: Valve, pressure: str, opens: str, drains: str) -> str:
    """Flow into one side: from the supply through one edge, to the tank through the other, relief and make-up valves."""
    gain = v.rated_flow / v.rated_drop**0.5

    def orifice(source: float) -> str:
        return f"{gain!r}*({source!r} - {pressure})/(({source!r} - {pressure})**2 + {v.laminar**2!r})**0.25"

    return (
        f"max({opens} - {v.overlap!r}, 0)*{orifice(v.supply)} + max({drains} - {v.overlap!r}, 0)*{orifice(v.tank)}"
        f" + {v.make_up_gain!r}*max({v.tank!r} - {pressure}, 0) - {v.relief_gain!r}*max({pressure} - {v.relief!r}, 0)"
    )


def with_drive(source: dict[str, Any], actuator: str, drive: Drive) -> dict[str, Any]:
    """The description with its actuator replaced by a cylinder force and the drive's states; outputs drive.* and ACTUATOR.length stay readable."""
    d, c, v = deepcopy(source), drive.cylinder, drive.valve
    between = d["actuators"].pop(actuator)["between"]
    length, speed = f"{actuator}_length", f"{actuator}_speed"
    leak = f"{c.leakage!r}*(pressure_a - pressure_b)"
    d.setdefault("outputs", {}).update({
        length: {"quantity": "distance", "between": between},
        speed: {"quantity": "distance_rate", "between": between},
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
        "spool": {"rate": f'(table("command", t) - spool)/{v.time_constant!r}', "start": drive.spool},
    })  # fmt: skip
    d.setdefault("tables", {})["command"] = {"x": [point[0] for point in drive.profile], "y": [point[1] for point in drive.profile]}
    d.setdefault("forces", {})[actuator] = {"between": between, "value": f"{c.area_a!r}*pressure_a - {c.area_b!r}*pressure_b"}
    return d
