"""The drives of the carriers: locked, external on actuators, or internal hydraulic drives with
position control and load compensation.

Slewing: a hydraulic motor along the angle (slew_drive), or two cylinders between base and platform
(slew_left, slew_right). Luffing: a cylinder between platform and cradle (luff_drive). Inside, each
drive has a proportional valve, two volumes of oil, relief and make-up valves. With drives = 2 the
opening of every valve is an input (DRIVE_opening); drives = 3 are electric (`carrier_electric`).
With drives = 1 the set value of every angle is an input (slew_set, luff_set; initially the
commanded angles), and the valve opening is

    gain (set value - angle) + advance (rate of the known load)/(rate of the force with the valve fully open) + forward

where the first term is a controller (slew_control, luff_control), so that stability margins of its
loop can be computed.

`forward` is an opening over the time since a push and since a departure, interpolated between knots
every FORWARD s (parameters *_forward_1, ...). The known load of a departure follows from the tables
of push and blast forces, the mass of a module and the schedule; it passes a lag `known_lag`. While
a run is prepared, stiff springs (`lock` = 1) keep the commanded angles. For external drives the
states *_load store the spring force, which the drive takes over at the start; for internal ones,
pressures controlled by the angle (`hold` = 1) take it over. The run thus starts from equilibrium
under full load.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kinetree.models.library import (
    carrier_compensation,
    carrier_cradle,
    carrier_electric,
    carrier_observer,
    carrier_replan,
)
from kinetree.models.library.carrier_parameters import Rows, Table

if TYPE_CHECKING:
    from kinetree.models.library.carrier_parts import Settings

HINGE = carrier_cradle.HINGE
LIFT = ([0.8, 0, 0.2], [1.6, 0, -0.1])  # eyes of the luffing cylinder on platform and cradle
SLEW = (
    [1.8, 0.9, 0.0],
    [0.3, 0.8, 0.0],
)  # eyes of the left slewing cylinder from the ring, on base and platform; the right one is its mirror image
LEAD = 0.01  # of the pressures that hold the angles, more than the lag of their oil [s]
RATE = 10.0  # of states that follow while the run is prepared [1/s]

COMMON: Rows = {
    "slew_friction": (4e4, "N.m.s/rad", "viscous friction of the slewing ring and its drive"),
    "luff_friction": (4e4, "N.m.s/rad", "viscous friction of the hinge and the luffing drive"),
    "lock": (0.0, "1", "1 while springs keep the angles before the run"),
    "lock_stiffness": (2e8, "N.m/rad", "stiffness of these springs"),
}
OIL: Rows = {
    "hold": (0.0, "1", "1 while pressures keep the angles before the run"),
    "hold_stiffness": (
        1e9,
        "N/m",
        "change of a drive's force per change of its length meanwhile, in N.m/rad at the motor",
    ),
    "supply": (210e5, "Pa", "pressure of the supply"),
    "tank": (5e5, "Pa", "pressure of the tank"),
    "relief": (280e5, "Pa", "pressure at which relief valves open"),
    "protection": (1e-9, "m3/(s.Pa)", "flow of relief and make-up valves per pressure"),
    "drive_modulus": (7e8, "Pa", "bulk modulus of the oil with its hoses"),
    "rated_flow": (7.5e-5, "m3/s", "flow of a fully open valve at 35 bar over an edge"),
    "valve_lag": (0.01, "s", "time constant of the spools"),
}
CONTROL: Rows = {
    "slew_gain": (
        16.0,
        "1/rad",
        "opening of the slewing valves per error of the angle; 0 keeps them shut",
    ),
    "luff_gain": (
        96.0,
        "1/rad",
        "opening of the luffing valve per error of the angle; 0 keeps it shut",
    ),
    **carrier_compensation.ADVANCE,
}
FULLY_OPEN = 0.99  # opening from which on a valve counts as fully open
LUFF: Rows = {
    "luff_area_a": (40e-4, "m2", "piston of the luffing cylinder"),
    "luff_area_b": (28e-4, "m2", "ring of the luffing cylinder"),
    "luff_oil": (4e-3, "m3", "oil on either side besides the stroke"),
}
MOTOR: Rows = {
    "slew_area_a": (2e-3, "m3/rad", "displacement of the slewing motor"),
    "slew_area_b": (2e-3, "m3/rad", "the same of the other side"),
    "slew_oil": (2e-3, "m3", "oil on either side of it"),
}
PAIR: Rows = {
    "slew_area_a": (25e-4, "m2", "piston of a slewing cylinder"),
    "slew_area_b": (18e-4, "m2", "ring of a slewing cylinder"),
    "slew_oil": (2e-3, "m3", "oil on either side besides the stroke"),
}
STROKES = {
    "luff_drive": (0.72, 2.15),
    "slew_left": (0.75, 2.2),
    "slew_right": (0.75, 2.2),
}  # lengths of the cylinders between their stops [m]


@dataclass(frozen=True)
class Drive:
    """One drive: label, driven axis, attachment points (none for the motor), length as a function
    of the angle, sign.
    """

    label: str
    axis: str  # slew or luff
    eyes: tuple[Table, Table] | None = None
    sense: int = 1

    @property
    def stroke(self) -> tuple[float, float]:
        """Return the shortest and longest length [m] of the drive's cylinder between its stops."""
        return STROKES[self.label]

    def length(self, angle: str) -> str:
        """Return the length of the drive as an expression of the angle of its axis."""
        if self.eyes is None:
            return angle
        x, y = self.planar(angle)
        return f"sqrt(({x})**2 + ({y})**2)"

    def lever(self, angle: str) -> str:
        """Return the lever arm d(length)/d(angle) as an expression."""
        if self.eyes is None:
            return "1"
        x, y = self.planar(angle)
        a, b = self.inner
        return f"(({x})*(-({a!r})*sin({angle}) - ({b!r})*cos({angle})) + ({y})*(({a!r})*cos({angle}) - ({b!r})*sin({angle})))/{self.length(angle)}"

    @property
    def inner(self) -> tuple[float, float]:
        """Return the attachment point on the rotating part, in the plane of rotation about its
        axis.
        """
        return (
            (LIFT[1][0], LIFT[1][2])
            if self.axis == "luff"
            else (SLEW[1][0], self.sense * SLEW[1][1])
        )

    def planar(self, angle: str) -> tuple[str, str]:
        """Return the vector from the fixed to the moving attachment point as expressions, in the
        plane of rotation.
        """
        (a, b), standing = (
            self.inner,
            (LIFT[0][0] - HINGE[0], LIFT[0][2] - HINGE[2])
            if self.axis == "luff"
            else (SLEW[0][0], self.sense * SLEW[0][1]),
        )
        return (
            f"{a!r}*cos({angle}) - {b!r}*sin({angle}) - {standing[0]!r}",
            f"{a!r}*sin({angle}) + {b!r}*cos({angle}) - {standing[1]!r}",
        )


def fitted(on: Settings, base: str, ring: list[float]) -> list[Drive]:
    """Return the slew and luff drives of the carrier."""
    if on.electric:
        return [Drive("slew_drive", "slew"), Drive("luff_drive", "luff")]
    luffing = Drive(
        "luff_drive",
        "luff",
        ({"body": "platform", "point": LIFT[0]}, carrier_cradle.boom_place(on, LIFT[1])),
    )
    if not on.cylinders:
        return [Drive("slew_drive", "slew"), luffing]
    sides = []
    for label, sense in (("slew_left", 1), ("slew_right", -1)):
        outer, inner = ([x, sense * y, z] for x, y, z in SLEW)
        eyes = (
            {"body": base, "point": [a + b for a, b in zip(ring, outer, strict=True)]},
            {"body": "platform", "point": inner},
        )
        sides.append(Drive(label, "slew", eyes, sense))
    return [*sides, luffing]


def drives(on: Settings, base: str, ring: list[float]) -> Table:
    """Return the forces and further tables of the drives."""
    if on.outside:
        return outside(fitted(on, base, ring))
    if on.electric:
        found = carrier_electric.motors(fitted(on, base, ring), on)
        forces = standing() | found.pop("forces")
        return {"forces": forces, "inputs": set_values(), **found}
    if on.drives:
        return hydraulic(on, fitted(on, base, ring))
    holds = {
        f"{axis}_hold": {
            "coordinate": axis,
            "stiffness": f"{axis}_stiffness",
            "damping": f"{axis}_damping",
            "length": f"{axis}_command",
        }
        for axis in ("slew", "luff")
    }
    return {"forces": holds}


def outside(fitted: list[Drive]) -> Table:
    """Return the actuators of external drives, the springs that hold their angles before the run,
    and the actuators' preloads.
    """
    actuators, states = {}, {}
    for drive in fitted:
        actuators[drive.label] = (
            {"coordinate": drive.axis} if drive.eyes is None else {"between": list(drive.eyes)}
        )
        shared = len(fitted) - 1 if drive.axis == "slew" else 1
        force = f"lock_stiffness*({drive.axis}_command - {drive.axis})/({shared}*({drive.lever(drive.axis)}))"
        states[f"{drive.label}_load"] = {
            "rate": f"lock*{RATE}*({force} - {drive.label}_load)", "unit": "N.m" if drive.eyes is None else "N",
            "text": f"Force of {drive.label} in the state of rest where the run begins",
        }  # fmt: skip
    return {"forces": standing(), "actuators": actuators, "states": states}


def standing() -> Table:
    """Return the friction of both axes, and the springs that hold the angles before the run."""
    forces: Table = {}
    for axis in ("slew", "luff"):
        forces[f"{axis}_rub"] = {"coordinate": axis, "viscous": f"{axis}_friction"}
        forces[f"{axis}_lock"] = {
            "coordinate": axis,
            "stiffness": "lock*lock_stiffness",
            "length": f"{axis}_command",
        }
    return forces


def hydraulic(on: Settings, fitted: list[Drive]) -> Table:
    """Return the hydraulic circuits, the commands of their valves, and their energy accounts."""
    circuit: Table = {"supply_line": {"pressure": "supply"}, "return_line": {"pressure": "tank"}}
    states: Table = {}
    found: Table = {"forces": standing(), "hydraulics": circuit, "states": states}
    if on.controlled:
        found |= controlled()
        states |= targets() | carrier_compensation.known_states(on)
        states |= carrier_replan.states() if on.replan else {}
    else:
        found["inputs"] = {
            opening(drive): {
                "min": -1, "max": 1, "unit": "1",
                "text": f"opening of the valve of {drive.label}: oil to its side a where it is positive",
            } for drive in fitted
        }  # fmt: skip
    for drive in fitted:
        command = opening(drive)
        if on.controlled:
            known = f"(({carrier_compensation.known_force(drive, len(fitted), on)}) - {drive.label}_known)/known_lag"
            states[f"{drive.label}_known"] = {
                "rate": known,
                "unit": "N.m" if drive.eyes is None else "N",
            }
            command = (
                f"{drive.sense}*{drive.axis}_control + {carrier_compensation.ahead(drive, known)}"
                + (f" + {carrier_compensation.forward(drive)}" if on.forward else "")
            )
        circuit |= circuit_of(drive, command)
    if on.estimated:
        found["controllers"] |= carrier_observer.sensors(on, labels(on))
        found["observers"] = carrier_observer.observers(on, labels(on))
    fed = [f"max({drive.label}_valve.flow_{side}, 0)" for drive in fitted for side in "ab"]
    work = [
        f"{drive.label}.force*"
        + (f"der({drive.axis})" if drive.eyes is None else f"{drive.label}.speed")
        for drive in fitted
    ]
    for name, text, power in (
        ("drive_energy", "Energy taken from the supply", f"supply*({' + '.join(fed)})"), ("drive_work", "Work of the drives", " + ".join(work)),
    ):  # fmt: skip
        states[name] = {
            "rate": f"if(lock + hold > 0, -{RATE}*{name}, {power})",
            "unit": "J",
            "text": text,
        }
    return found


def opening(drive: Drive) -> str:
    """Return the name of the input that opens a valve."""
    return f"{drive.label}_opening"


def targets() -> Table:
    """Return the states for the start angles, which the pressures hold."""
    return {
        f"{axis}_target": {
            "rate": f"(lock + hold)*{RATE}*({axis} - {axis}_target)",
            "start": f"{axis}_command",
            "unit": "rad",
        }
        for axis in ("slew", "luff")
    }


def controlled() -> Table:
    """Return the position controllers of both angles, with set values as inputs; during preparation
    the set values are the commanded angles.
    """
    controllers = {
        f"{axis}_control": {
            "measure": axis,
            "setpoint": f"{axis}_target + if(lock + hold > 0, 0, {axis}_set - {axis}_command)",
            "kp": f"{axis}_gain",
        }
        for axis in ("slew", "luff")
    }
    return {"inputs": set_values(), "controllers": controllers}


def set_values() -> Table:
    """Return the inputs for the set values of both angles, initially the commanded ones."""
    return {
        f"{axis}_set": {
            "start": f"{axis}_command",
            "unit": "rad",
            "min": limits[0],
            "max": limits[1],
            "text": f"set value of the {axis} angle",
        }
        for axis, limits in (("slew", (-0.7, 0.7)), ("luff", (-0.05, 0.9)))
    }


def circuit_of(drive: Drive, command: str) -> Table:
    """Return valve, oil volumes, protection and cylinder or motor of one drive, and the sources
    that set its pressures before the run.
    """
    label, axis, middle = drive.label, drive.axis, "(tank + 0.25*(supply - tank))"
    a, b, now = f"{label}_a", f"{label}_b", axis if drive.eyes is None else f"{label}.length"
    rate = f"der({axis})" if drive.eyes is None else f"{label}.speed"
    sag = f"hold_stiffness*({drive.length(f'{axis}_command')} - {now} - {LEAD}*{rate})"
    found: Table = {
        a: {"volume": f"{axis}_oil", "bulk_modulus": "drive_modulus", "start": f"{middle}*{axis}_area_b/{axis}_area_a"},
        b: {"volume": f"{axis}_oil", "bulk_modulus": "drive_modulus", "start": middle},
        f"{label}_valve": {
            "supply": "supply_line", "tank": "return_line", "a": a, "b": b, "rated_flow": "rated_flow", "time_constant": "valve_lag",
            "command": command,
        },
        f"{label}_held_a": {"pressure": f"(hold*{sag} + {middle}*{axis}_area_b)/{axis}_area_a"},
        f"{label}_held_b": {"pressure": middle},
    }  # fmt: skip
    for side in "ab":
        place = f"{label}_{side}"
        found[f"{place}_relief"] = {
            "path": [place, "return_line"],
            "opens": "relief - tank",
            "gain": "protection",
        }
        found[f"{place}_make_up"] = {
            "path": ["return_line", place],
            "opens": 0.0,
            "gain": "protection",
        }
        setting = {
            "rated_flow": 2.0,
            "laminar": 1e10,
            "opening": "lock + hold",
        }  # proportional to the difference of the pressures
        found[f"{place}_setting"] = {"path": [f"{label}_held_{side}", place], **setting}
    if drive.eyes is None:
        return found | {
            label: {"coordinate": axis, "a": a, "b": b, "displacement": f"{axis}_area_a"}
        }
    shortest, longest = STROKES[label]
    areas = {f"area_{side}": f"{axis}_area_{side}" for side in "ab"}
    return found | {
        label: {
            "between": list(drive.eyes),
            "a": a,
            "b": b,
            **areas,
            "shortest": shortest,
            "longest": longest,
        }
    }


def rows(on: Settings) -> Rows:
    """Return the parameters of drives that are not locked."""
    if on.outside:
        return COMMON
    if not on.drives:
        return {}
    if on.electric:
        return COMMON | carrier_electric.MOTORS | carrier_electric.CONTROL
    found = COMMON | OIL | LUFF | (PAIR if on.cylinders else MOTOR)
    if on.controlled:
        found |= CONTROL
    if on.forward:
        found |= carrier_compensation.rows()
    if on.replan:
        found |= carrier_replan.REPLAN
    if on.estimated:
        found |= carrier_observer.SENSORS
    return found


def outputs(on: Settings) -> Table:
    """Return outputs: angle errors, valve commands, flows and pressures."""
    if not on.drives:
        return {}
    if on.electric:
        return carrier_electric.outputs(labels(on))
    found: Table = {}
    if on.controlled:
        found |= {
            f"{axis}_error": {"value": f"{axis}_target - {axis}", "unit": "rad"}
            for axis in ("slew", "luff")
        }
    for drive in labels(on):
        found[f"{drive}_saturation"] = {
            "value": f"if(abs({drive}_valve.spool) > {FULLY_OPEN}, 1, 0)",
            "unit": "1",
            "text": f"1 while the valve of {drive} is fully open, so that it gives no more",
        }
    return found


def labels(on: Settings) -> list[str]:
    """Return the labels of the drives."""
    return [*(("slew_left", "slew_right") if on.cylinders else ("slew_drive",)), "luff_drive"]
