"""The hydraulic drive as a description: its FMU is built from it by either back end, and runs
without Python.

    V(s)/E(p) dp/dt = flow in - area ds/dt - leakage      F = area_a p_a - area_b p_b + end stops      T dx/dt = command - x

`horizon` is the communication step of the master: `resting_rate` is the rate of force that the
flows will cause in the middle of the next step. Where the oil belongs to the mechanism, pressures
are inputs, and the outputs are the flows at the mean spool position since the last multiple of the
horizon.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from kinetree.scripts.cosim.hydraulic_drive import Drive
from kinetree.scripts.cosim.time_profile import Profile, value_at
from kinetree.scripts.cosim.valve_cylinder import ATMOSPHERE, LEAST_PRESSURE, POLYTROPIC

Table = dict[str, Any]
LINEAR = {
    "cylinder.area_a": "m2", "cylinder.area_b": "m2", "cylinder.volume_a": "m3", "cylinder.volume_b": "m3", "cylinder.shortest": "m",
    "cylinder.longest": "m", "cylinder.bulk_modulus": "Pa", "cylinder.leakage": "m3/(s.Pa)",
    "load": "N", "length": "m", "speed": "m/s",
    "force": "N", "stiffness": "N/m", "damping": "N.s/m", "force_rate": "N/s", "resting_rate": "N/s",
}  # fmt: skip
ROTARY = LINEAR | {
    "cylinder.area_a": "m3/rad", "cylinder.area_b": "m3/rad", "cylinder.shortest": "rad", "cylinder.longest": "rad", "load": "N.m",
    "length": "rad", "speed": "rad/s", "force": "N.m", "stiffness": "N.m/rad", "damping": "N.m.s/rad", "force_rate": "N.m/s",
    "resting_rate": "N.m/s",
}  # fmt: skip
VALVE = {
    "valve.supply": "Pa", "valve.tank": "Pa", "valve.rated_flow": "m3/s", "valve.rated_drop": "Pa", "valve.time_constant": "s",
    "valve.laminar": "Pa", "valve.relief": "Pa", "valve.relief_gain": "m3/(s.Pa)", "valve.make_up_gain": "m3/(s.Pa)",
    "pressure_a": "Pa", "pressure_b": "Pa", "flow_a": "m3/s", "flow_b": "m3/s", "horizon": "s",
}  # fmt: skip
SIGNED = (
    "cylinder.shortest",
    "cylinder.longest",
    "valve.overlap",
)  # parameters that may be negative
END_STOP = 10.0  # stiffness of the end stops over that of the oil in the dead volumes
MEAN_FROM = 1e-9  # part of the horizon after which the mean begins anew: not before the end of the step that the host reads


def units_of_drive(rotary: bool) -> dict[str, str]:
    """Return the units of all variables of a drive."""
    return (ROTARY if rotary else LINEAR) | VALVE


def drive_description(drive: Drive, rotary: bool = False, horizon: float = 0.0) -> Table:
    """Return the description of a drive; its values are parameters. `rotary`: lengths are angles,
    areas are volumes per radian.
    """
    units = units_of_drive(rotary)
    numbers = {f"cylinder.{name}": value for name, value in asdict(drive.cylinder).items()}
    numbers |= {f"valve.{name}": value for name, value in asdict(drive.valve).items()}
    parameters: Table = {name: bounded(name, value) for name, value in numbers.items()}
    parameters["load"] = {"value": 0.0, "text": "Force that the drive carries at the start"}
    parameters["horizon"] = {
        "value": horizon,
        "min": 0.0,
        "tunable": True,
        "text": "Communication step over which resting_rate is averaged",
    }
    inputs: Table = {
        "control": {"start": drive.control, "text": "Added to the profile of the command"}
    }
    outputs: Table = {
        "command": {
            "value": clipped('table("profile", t) + control'),
            "text": "Wanted position of the spool",
        }
    }
    states: Table = {
        "spool": {
            "rate": "(command - spool)/valve.time_constant",
            "start": 0.0,
            "text": "Position of the spool",
        }
    }
    found: Table = {
        "format": "kinetree/1",
        "name": "Hydraulic drive",
        "text": "Four-way valve and double-acting cylinder",
    }
    found |= {
        "parameters": parameters,
        "inputs": inputs,
        "states": states,
        "outputs": outputs,
        "tables": {"profile": points(drive.profile)},
    }
    found |= {"run": {"stop_time": 1.0, "output_step": horizon or 0.01}}
    (valve_alone if drive.inside else with_oil)(found, drive)
    for table in (parameters, inputs, states, outputs):
        for name, entry in table.items():
            entry |= {"unit": units[name]} if name in units else {}
    return found


def bounded(name: str, value: float) -> Table:
    return {"value": value} | ({} if name in SIGNED else {"min": 0.0})


def points(profile: Profile) -> Table:
    """Return a profile as a table over time; a single point becomes a constant."""
    found = profile if len(profile) > 1 else [(t, value_at(profile, t)) for t in (0.0, 1.0)]
    return {"x": [point[0] for point in found], "y": [point[1] for point in found]}


def clipped(command: str) -> str:
    return f"min(max({command}, -1), 1)"


def valve_alone(found: Table, drive: Drive) -> None:
    """Add inputs for pressures and outputs of the flows at the mean spool position of the step."""
    found["inputs"] |= {
        name: {"start": getattr(drive, name)} for name in ("pressure_a", "pressure_b")
    }
    found["states"] |= {
        "swept": {"rate": "spool", "start": 0.0},
        "begun": {"rate": 0, "start": 0.0},
        "following": {"rate": 0, "start": "horizon"},
    }
    mean = "if(t - stage_start - begun > 0, swept/max(t - stage_start - begun, 1e-12), spool)"
    found["outputs"]["mean_spool"] = {
        "value": f"if(horizon > 0, {mean}, spool)",
        "text": "Mean position of the spool over the step",
    }
    found["outputs"] |= flows("mean_spool")
    found["outputs"]["force"] = {"value": "cylinder.area_a*pressure_a - cylinder.area_b*pressure_b"}
    anew = f"horizon > 0 and t - stage_start > following + {MEAN_FROM!r}*horizon"
    set_to = {
        "begun": "t - stage_start",
        "swept": 0.0,
        "following": "(floor((t - stage_start)/max(horizon, 1e-9) + 0.5) + 1)*horizon",
    }
    found["events"] = {"step": {"when": anew, "set": set_to}}


def flows(spool: str) -> Table:
    return {
        f"flow_{side}": {"value": flow(side, spool), "text": "Flow into the cylinder"}
        for side in "ab"
    }


def flow(side: str, spool: str) -> str:
    """Return the flow into one side as an expression: supply edge, tank edge, relief and make-up
    valves.
    """
    pressure, opens, drains = (
        f"pressure_{side}",
        *((spool, f"-({spool})") if side == "a" else (f"-({spool})", spool)),
    )

    def orifice(source: str) -> str:
        return f"({source} - {pressure})/(({source} - {pressure})**2 + valve.laminar**2)**0.25"

    edges = f"max({opens} - valve.overlap, 0)*{orifice('valve.supply')} + max({drains} - valve.overlap, 0)*{orifice('valve.tank')}"
    protection = f"valve.make_up_gain*max(valve.tank - {pressure}, 0) - valve.relief_gain*max({pressure} - valve.relief, 0)"
    return f"valve.rated_flow/sqrt(valve.rated_drop)*({edges}) + {protection}"


def modulus(pressure: str, air: float) -> str:
    """Return the bulk modulus of oil with free air as an expression of the pressure."""
    if air == 0.0:
        return "cylinder.bulk_modulus"
    squeezed = f"max({pressure}, {LEAST_PRESSURE!r})"
    bubbles = f"cylinder.air*({ATMOSPHERE!r}/{squeezed})**{1.0 / POLYTROPIC!r}"
    return f"(1 + {bubbles})/(1/cylinder.bulk_modulus + {bubbles}/({POLYTROPIC!r}*{squeezed}))"


def with_oil(found: Table, drive: Drive) -> None:
    """Add states of both pressures and the length, starting in equilibrium with the load."""
    c = drive.cylinder
    found["parameters"]["end_stiffness"] = {
        "value": f"{END_STOP!r}*cylinder.bulk_modulus*({' + '.join(springs('cylinder.volume'))})",
        "text": "Of the end stops",
    }
    found["inputs"]["speed"] = {
        "start": drive.speed,
        "text": "Rate of the length, in a co-simulation its mean over the step",
    }
    middle = "valve.tank + 0.25*(valve.supply - valve.tank)"
    start_b = f"max({middle}, valve.tank - load/cylinder.area_b)"
    found["states"] |= {
        "length": {"rate": "speed", "start": drive.length, "text": "Length between the points"},
        "pressure_a": {
            "rate": "rising_a - squeeze_a*cylinder.area_a*speed",
            "start": f"(load + ({start_b})*cylinder.area_b)/cylinder.area_a",
        },
        "pressure_b": {"rate": "rising_b + squeeze_b*cylinder.area_b*speed", "start": start_b},
    }
    half = "0.5*horizon"
    ahead = clipped(f'table("profile", t + {half}/2) + control')
    found["outputs"] |= flows("spool") | {
        "squeeze_a": {"value": f"{modulus('pressure_a', c.air)}/{volume('a')}", "unit": "Pa/m3", "text": "Rise of the pressure per oil"},
        "squeeze_b": {"value": f"{modulus('pressure_b', c.air)}/{volume('b')}", "unit": "Pa/m3"},
        "leak": {"value": "cylinder.leakage*(pressure_a - pressure_b)", "unit": "m3/s", "text": "Flow past the piston"},
        "rising_a": {"value": "squeeze_a*(flow_a - leak)", "unit": "Pa/s", "text": "Rate of the pressure at rest"},
        "rising_b": {"value": "squeeze_b*(flow_b + leak)", "unit": "Pa/s"},
        "beyond": {"value": "length - min(max(length, cylinder.shortest), cylinder.longest)", "text": "Length beyond the stroke"},
        "force": {"value": "cylinder.area_a*pressure_a - cylinder.area_b*pressure_b - end_stiffness*beyond", "text": "Pushes the points apart"},
        "stiffness": {
            "value": f"-({' + '.join(f'cylinder.area_{s}**2*squeeze_{s}' for s in 'ab')}) - if(beyond == 0, 0, end_stiffness)",
            "text": "dF/ds with shut valves",
        },
        "damping": {"value": 0.0, "text": "dF/dv: oil between shut edges damps nothing"},
        "force_rate": {"value": "cylinder.area_a*der(pressure_a) - cylinder.area_b*der(pressure_b) - if(beyond == 0, 0, end_stiffness)*speed"},
        "spool_ahead": {"value": f"{ahead} + (spool - {ahead})*exp(-{half}/valve.time_constant)", "text": "Spool in the middle of the next step"},
        "resting_rate": {
            "value": f"cylinder.area_a*squeeze_a*({flow('a', 'spool_ahead')} - leak) - cylinder.area_b*squeeze_b*({flow('b', 'spool_ahead')} + leak)",
            "text": "Rate of the force that the flows alone make in the middle of the next step",
        },
    }  # fmt: skip


def springs(volumes: str) -> tuple[str, str]:
    """Return the stiffness of the oil on both sides, divided by its bulk modulus, as expressions."""
    return f"cylinder.area_a**2/{volumes}_a", f"cylinder.area_b**2/{volumes}_b"


def volume(side: str) -> str:
    """Return the oil volume of one side as an expression; the piston stops at the ends of its
    stroke.
    """
    stroke = (
        "length - beyond - cylinder.shortest"
        if side == "a"
        else "cylinder.longest - length + beyond"
    )
    return f"(cylinder.volume_{side} + cylinder.area_{side}*({stroke}))"
