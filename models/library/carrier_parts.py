"""Parts of both carrier variants: bodies, joints, ground, cradle, preparation, outputs."""

from __future__ import annotations

from typing import Any

from kinetree.models.library import (
    carrier_compensation,
    carrier_cradle,
    carrier_drives,
    carrier_modules,
)
from kinetree.models.library.argument_checks import Argument, switch
from kinetree.models.library.carrier_parameters import (
    GUIDES,
    HELIX,
    HYDRAULIC_JACKS,
    PACKS,
    Rows,
    Table,
    parameters,
)
from kinetree.models.library.chain import count

MOST_MODULES = 50
MOST_PACKS = 2
FRONT = ([1.7, 0, 0], (3.0, 2.2, 0.8))  # centre of mass in the vehicle's frame, and size
REAR = ([-1.6, 0, 0], (3.4, 2.2, 0.7))
FRAME = ([-0.5, 0, 0.5], (2.4, 1.8, 0.3))
RING = [-0.5, 0, 0.8]  # slewing ring, where the platform's frame stands
HINGE = carrier_cradle.HINGE
BALANCE = ([0.6, 0.5, 0.2], [1.2, 0.5, -0.1])  # eyes of the balancing cylinder
WHEELS = {
    "front_left": (2.4, 1.1),
    "front_right": (2.4, -1.1),
    "rear_left": (-2.4, 1.1),
    "rear_right": (-2.4, -1.1),
}
JACKS = {
    "front_left": (2.9, 1.9),
    "front_right": (2.9, -1.9),
    "rear_left": (-2.9, 1.9),
    "rear_right": (-2.9, -1.9),
}  # where parameters leave them
STANDING = "max(jack_extension + 0.4 - jack_travel, tyre_radius + 0.7 - tyre_travel)"  # height in which jacks or tyres hold the base, nearly [m]
DRAWN_IN = 0.5  # extension at which the jacks hang free [m]
SWITCHES = (
    *("full", "hydraulic", "soil", "contacts", "outside", "drives", "cylinders", "forward"),
    "helical",
    "flexible",
    "replan",
    "estimated",
    "blast_field",
)


ORDERS = ("by rows", "outer ones first", "inner ones first", "both sides in turn")
ARGUMENTS = {
    "modules": Argument("number of modules", 1, MOST_MODULES),
    "packs": Argument(
        "packs in which the modules lie, side by side", 1, MOST_PACKS, ("one", "two")
    ),
    "order": Argument("order of the departures", 0, 3, ORDERS),
    "full": switch("surge, sway and yaw of the base; six degrees of freedom per module"),
    "hydraulic": switch("jacks as closed double-acting cylinders instead of a piecewise law"),
    "soil": switch("soft soil under the jacks"),
    "contacts": switch("guide pin in its groove and bearing band in its tube, with clearance"),
    "drives": Argument(
        "drives that slew and luff",
        0,
        3,
        (
            "locked",
            "hydraulic, position control inside",
            "hydraulic, openings of the valves are inputs",
            "electric, position control inside",
        ),
    ),
    "outside": switch("actuators for drives outside; without drives"),
    "cylinders": switch("slewing by two cylinders instead of a motor, with drives or outside"),
    "forward": switch("openings of the valves over the time of a departure, with drives = 1"),
    "known_order": Argument(
        "order that the compensation of the drives foresees", -1, 3, ("the true one", *ORDERS)
    ),
    "helical": switch("helical grooves turn the modules once in helix_pitch of their way"),
    "flexible": switch("boom and cradle bend"),
    "replan": switch("each departure is planned by what the last one has shown, with drives = 1"),
    "estimated": switch("an observer tells the drives mass and push of a module, with drives = 1"),
    "blast_field": switch(
        "the load after a departure depends on distance and attitude of the module"
    ),
}


class Settings:
    """Structural arguments: number and order of the modules, switches."""

    def __init__(
        self,
        modules: float,
        order: Any,
        known_order: Any = -1,
        packs: float = 1,
        **switches: float,
    ):
        for name, value in switches.items():
            if value not in (allowed := (0, 1, 2, 3) if name == "drives" else (0, 1)):
                raise ValueError(
                    f"{name} is {value!r}, expected {', '.join(map(str, allowed[:-1]))} or {allowed[-1]}"
                )
        self.n = count("modules", modules, MOST_MODULES)
        self.packs = count("packs", packs, MOST_PACKS)
        if self.n < self.packs:
            raise ValueError(
                f"packs is {self.packs} but modules is {self.n}: each pack holds a module at least"
            )
        self.order = carrier_modules.departures(self.n, order, self.packs)
        self.known_order = (
            self.order
            if known_order in (-1, -1.0)
            else carrier_modules.departures(self.n, known_order, self.packs)
        )
        (
            self.full,
            self.hydraulic,
            self.soil,
            self.contacts,
            self.outside,
            self.drives,
            self.cylinders,
            self.forward,
            self.helical,
            self.flexible,
            self.replan,
            self.estimated,
            self.blast_field,
        ) = (bool(switches.get(k, 0)) for k in SWITCHES)
        self.electric = switches["drives"] == 3
        self.controlled = switches["drives"] in (1, 3)  # position control inside, too
        if self.flexible and self.packs > 1:
            raise ValueError(
                f"flexible is 1 but packs is {self.packs}: a boom and a cradle that bend hold one pack (packs = 1)"
            )
        if self.outside and self.drives:
            raise ValueError(
                "outside and drives are both 1: the drives are either outside or inside"
            )
        if self.electric and self.cylinders:
            raise ValueError(
                "cylinders is 1 but drives is 3: electric drives slew by a motor (cylinders = 0)"
            )
        if self.replan and (switches["drives"] != 1 or self.cylinders):
            raise ValueError(
                f"replan is 1 but drives is {switches['drives']!r} and cylinders {int(self.cylinders)}: "
                "it changes the compensation of drives with position control (drives = 1, cylinders = 0)"
            )
        if self.estimated and self.replan:
            raise ValueError(
                "estimated and replan are both 1: one of them tells the drives what comes next"
            )
        if self.estimated and switches["drives"] != 1:
            raise ValueError(
                f"estimated is 1 but drives is {switches['drives']!r}: loads are estimated for hydraulic drives with position control (drives = 1)"
            )
        if self.forward and switches["drives"] != 1:
            raise ValueError(
                f"forward is 1 but drives is {switches['drives']!r}: openings over time belong to drives with position control (drives = 1)"
            )


def box(mass: float | str, x: Any, y: Any, z: Any) -> list[Any]:
    """Return the inertia of a homogeneous box about its centre of mass."""
    return [f"{mass}*(({b})**2 + ({c})**2)/12" for b, c in ((y, z), (x, z), (x, y))] + [0, 0, 0]


def body(mass: str, com: list[Any], size: tuple[Any, Any, Any]) -> Table:
    """Return a homogeneous box-shaped body with given mass, centre and size."""
    return {
        "mass": mass,
        "com": com,
        "inertia": box(mass, *size),
        "shape": {"box": list(size), "at": com},
    }


def rotation(axis: str | list[int], coordinate: str, **more: Any) -> Table:
    return {"rotate": axis, "coordinate": coordinate, **more}


def vehicle_joint(child: str, full: bool) -> Table:
    """Return the joint of the vehicle: heave, pitch and roll, with the full setting also surge,
    sway and yaw.
    """
    steps: list[Table] = [{"shift": "z", "coordinate": "heave", "start": STANDING}]
    if full:
        steps += [
            {"shift": "x", "coordinate": "surge"},
            {"shift": "y", "coordinate": "sway"},
            rotation("z", "yaw"),
        ]
    return {"child": child, "transforms": [*steps, rotation("y", "pitch"), rotation("x", "roll")]}


def ground_forces(front: str, rear: str, on: Settings) -> Table:
    """Return tyres and jacks; `front` and `rear` are the bodies that carry them."""
    forces: Table = {}
    friction = {"friction": "grip"} if on.full else {}
    for name, (x, y) in WHEELS.items():
        forces[f"wheel_{name}"] = {
            "kind": "tyre", "body": front if x > 0 else rear, "point": [x, y, -0.7], "radius": "tyre_radius", "stiffness": "tyre_stiffness",
            "damping": "tyre_damping", **({"side_stiffness": "tyre_side"} if on.full else {}), **friction,
        }  # fmt: skip
    for name, (x, y) in JACKS.items():
        at = [
            "jack_front" if x > 0 else "-jack_rear",
            "jack_width" if y > 0 else "-jack_width",
            -0.4,
        ]
        forces[f"jack_{name}"] = {
            "kind": "jack", "body": front if x > 0 else rear, "point": at, "extension": f"jack_extension - jack_short_{name}",
            **leg(on.hydraulic), **({"side_stiffness": "jack_side"} if on.full else {}), **friction,
            **(soil() if on.soil else {}),
        }  # fmt: skip
    return forces


def leg(hydraulic: bool) -> Table:
    """Return the law of a jack's leg: piecewise linear stiffness with damping, or a locked cylinder
    whose oil cavitates under tension.
    """
    if not hydraulic:
        return {"law": "leg", "damping": f"jack_damping*{slender('jack_extension')}"}
    oil = {
        "area_a": "jack_area", "area_b": "jack_ring", "volume_a": "jack_oil", "volume_b": "jack_oil", "stroke": "jack_stroke",
        "bulk_modulus": "jack_modulus", "pressure_b": "jack_pressure",
    }  # fmt: skip
    return {"oil": oil, "damping": "jack_damping"}


def soil() -> Table:
    """Return the soil under a jack: elastic, with plastic settlement above its strength."""
    keys = ("strength", "hardening", "viscosity", "stiffness", "stiffening", "damping")
    return {"soil": {key: f"soil_{key}" for key in keys}}


def slender(extension: str) -> str:
    """Return the stiffness of a mechanical jack over its extension, relative to that at 0.95 m."""
    return f"(1 + jack_slenderness*(0.95 - max({extension}, {DRAWN_IN})))"


def upper(on: Settings, base: str, ring: list[float]) -> Table:
    """Return cradle, modules, their forces, and the drives between `base` and platform; the caller
    adds the platform's joint at `ring` on the base.
    """
    luff = rotation([0, -1, 0], "luff", start="luff_command")
    size = carrier_cradle.size(on)
    cradle = body("cradle_mass", [carrier_cradle.CENTRE, 0, carrier_cradle.AXIS], size)
    part = carrier_cradle.luffing_part(on, luff, cradle)
    bodies: Table = {"platform": body("platform_mass", [-0.3, 0, 0.3], (3.2, 2.0, 0.6))}
    bodies |= part.pop("bodies")
    joints: Table = part.pop("joints")
    forces: Table = part.pop("forces", {})
    for i in range(1, on.n + 1):
        bodies[f"module{i}"] = module(on.contacts)
        joints[f"rail{i}"] = carrier_modules.rail(i, on)
        forces |= carrier_modules.module_forces(i, on)
    forces |= carrier_modules.recoil(on)
    eyes = [{"body": "platform", "point": BALANCE[0]}, carrier_cradle.boom_place(on, BALANCE[1])]
    forces["balance"] = {
        "kind": "cylinder",
        "between": eyes,
        "area_a": "balance_area",
        "pressure_a": "balance_pressure",
    }
    drives = carrier_drives.drives(on, base, ring)
    return {
        **part,
        "bodies": bodies,
        "joints": joints,
        "forces": forces | drives.pop("forces"),
        "stages": carrier_modules.schedule(on),
        **drives,
    }


def module(contacts: bool) -> Table:
    """Return the body of a module; if pin and band carry it, its centre of mass is ahead of its
    middle.
    """
    found = body("module_mass", [0, 0, 0], ("module_length", "module_width", "module_width"))
    return found | ({"com": ["module_ahead", 0, 0]} if contacts else {})


def tables(on: Settings) -> Table:
    """Return the tables of jack, latch and push-force laws and of the drives' feed-forward."""
    first, second = (
        f"{name}*{slender('jack_extension')}" for name in ("jack_first", "jack_stiffness")
    )
    law = {
        "x": [0, "jack_play", "jack_play + 0.2"],
        "y": [0, f"{first}*jack_play", f"{first}*jack_play + 0.2*{second}"],
        "outside": "extrapolated",
    }
    return {"leg": law, **carrier_modules.tables(on), **carrier_compensation.tables(on)}


def all_parameters(on: Settings) -> Table:
    """Return the parameters of all parts that are present."""
    short: Rows = {
        f"jack_short_{name}": (
            0.0,
            "m",
            f"what the jack {name.replace('_', ' ')} lacks of the common extension",
        )
        for name in JACKS
    }
    return parameters(
        on.n,
        short,
        PACKS if on.packs > 1 else {},
        HYDRAULIC_JACKS if on.hydraulic else {},
        GUIDES if on.contacts else {},
        HELIX if on.helical else {},
        carrier_cradle.FLEXIBLE if on.flexible else {},
        carrier_drives.rows(on),
    )


def preparation(on: Settings) -> list[Table]:
    """Return the equilibria before the start: on the wheels, on the jacks, at the commanded angles."""
    down = {"slew_command": 0, "luff_command": 0}
    jacks, wheels = ([f"{kind}_load_{name}" for name in WHEELS] for kind in ("jack", "wheel"))
    all_of = " and ".join(f"{name} > 0" for name in jacks)
    sentence = (
        f"every jack on the ground, or all of them drawn in (jack_extension up to {DRAWN_IN})"
    )
    jacked = {sentence: f"({all_of}) or jack_extension <= {DRAWN_IN}"}
    turned = {axis: f"{axis}_command" for axis in ("slew", "luff")}
    locked = {"lock": 1} if on.outside or on.drives else {}
    steps: list[Table] = [
        {"name": "on wheels", "set": {"jack_extension": DRAWN_IN} | down | locked},
        {"name": "on jacks", "set": down | locked, "guess": {"heave": STANDING}, "require": jacked},
        {"name": "at the commanded angles", "set": locked, "guess": turned, "require": jacked},
    ]
    steps[0]["require"] = {
        "every wheel on the ground": " and ".join(f"{name} > 0" for name in wheels)
    }
    if not on.drives:
        return steps
    return [*steps, {"name": "held by the drives", "set": {} if on.electric else {"hold": 1}}]


def run(on: Settings) -> Table:
    """Return the default settings of a run with all departures."""
    own = {} if on.outside else {"integrator": "radau" if on.flexible else "adams"}
    return {
        "stop_time": f"pause + {on.n}*(pace + {'patience + ' if on.replan else ''}0.7)",
        "output_step": 0.01,
        **own,
        "prepare": preparation(on),
    }


def outputs(on: Settings) -> Table:
    """Return the outputs besides coordinates and drives."""
    loads = {
        f"{kind}_load_{name}": {"quantity": "force", "force": f"{kind}_{name}"}
        for kind in ("wheel", "jack")
        for name in WHEELS
    }
    lifted = {
        f"{kind}s_off_ground": {
            "value": " + ".join(f"if({kind}_load_{name} > 0, 0, 1)" for name in WHEELS),
            "unit": "1",
        }
        for kind in ("wheel", "jack")
    }
    sides = [(side, name) for name in (JACKS if on.hydraulic else ()) for side in "ab"]
    pressures = {
        f"jack_pressure_{side}_{name}": {"value": f"jack_{name}.pressure_{side}", "unit": "Pa"}
        for side, name in sides
    }
    under = JACKS if on.soil else ()
    sunk = {
        f"soil_sinkage_{name}": {
            "value": f"jack_{name}.settlement + jack_{name}.deflection",
            "unit": "m",
        }
        for name in under
    }
    guided = {
        f"{force}_load{i}": {"quantity": "force", "force": f"{force}{i}"}
        for i in range(1, on.n * on.contacts + 1)
        for force in ("pin", "bearing")
    }
    heights = {
        f"module{i}_height": {"quantity": "position", "body": f"module{i}", "axis": "z"}
        for i in range(1, on.n + 1)
    }
    brow = {"quantity": "position", **carrier_cradle.rail_place(on, carrier_cradle.MOUTH)}
    return (
        loads
        | lifted
        | pressures
        | sunk
        | guided
        | heights
        | carrier_drives.outputs(on)
        | carrier_cradle.outputs(on)
        | carrier_modules.recoil_outputs(on)
        | {"brow": brow, "energy": {"quantity": "energy"}}
    )
