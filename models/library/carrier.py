"""Mobile carrier, basic: a base on tyres and outrigger jacks, a slewing platform, a luffing cradle,
payload modules that leave their rails one by one.

    ground -(heave, pitch, roll)- base -(slew)- platform -(luff)- cradle -(s_i, tilt_i, turn_i)- module i, i = 1..modules

Tyres and jacks can lift off. Preparation: equilibria on the wheels, lifted on the jacks, and at the
commanded angles, from which the run starts. Schedule: rest; then for each module a push force from
a table breaks its latch, the module travels until it leaves its rail, the carrier swings freely,
and the module is removed. Modes of the standing carrier: 1 to 4 Hz. Arguments: modules (1..50);
order of departures (0 rows, 1 outer, 2 inner, 3 alternating, or a list); switches full (surge, sway
and yaw of the base, six degrees of freedom per module), hydraulic (jacks on locked oil), soil
(settles under the jacks), contacts (pin in its groove, bearing band in its tube, with clearance),
helical (helical grooves turn the modules once per helix_pitch of travel), drives (1: hydraulic with
position control instead of locked, set values are inputs; 2: the valve openings are inputs),
outside (external drives on actuators), cylinders (slewing by two cylinders instead of a motor),
forward (feed-forward valve openings over the time of a departure), replan (valve openings and pace
adapted after each departure), estimated (an observer gives the drives the mass and push force of a
module: `carrier_observer`); packs (2: the modules lie in two packs side by side, the right one has
the first half); blast_field (the load after a departure depends on the distance and the attitude of
the module instead of on time); known_order: the order that the load compensation assumes (-1: the
true one). The drives are described in `carrier_drives`.
"""

from __future__ import annotations

from typing import Any

from kinetree.models.library import carrier_parts as parts

ARGUMENTS = parts.ARGUMENTS


def describe(
    modules: int = 4,
    order: Any = 0,
    full: int = 0,
    hydraulic: int = 0,
    soil: int = 0,
    contacts: int = 0,
    drives: int = 0,
    outside: int = 0,
    cylinders: int = 0,
    forward: int = 0,
    known_order: Any = -1,
    helical: int = 0,
    flexible: int = 0,
    replan: int = 0,
    estimated: int = 0,
    packs: int = 1,
    blast_field: int = 0,
) -> dict[str, Any]:
    """Return the description of the basic carrier with the given number of modules."""
    on = parts.Settings(
        modules,
        order,
        known_order,
        packs,
        full=full,
        hydraulic=hydraulic,
        soil=soil,
        contacts=contacts,
        drives=drives,
        outside=outside,
        cylinders=cylinders,
        forward=forward,
        helical=helical,
        flexible=flexible,
        replan=replan,
        estimated=estimated,
        blast_field=blast_field,
    )
    rest = parts.upper(on, "base", parts.RING)
    turn = parts.rotation("z", "slew", start="slew_command")
    joints = {
        "base": parts.vehicle_joint("base", on.full),
        "ring": {
            "parent": "base",
            "child": "platform",
            "transforms": [{"shift": parts.RING}, turn],
        },
    }
    return {
        "format": "kinetree/1",
        "name": f"Carrier of {on.n} modules",
        "text": "Base on tyres and jacks, slewing platform, luffing cradle, modules that leave their rails one after another",
        "gravity": [0, 0, "-g"],
        "parameters": parts.all_parameters(on),
        "outputs": parts.outputs(on),
        "tables": parts.tables(on),
        "run": parts.run(on),
        **rest,
        "bodies": {"base": base(), **rest["bodies"]},
        "joints": {**joints, **rest["joints"]},
        "forces": {**parts.ground_forces("base", "base", on), **rest["forces"]},
    }


def base() -> dict[str, Any]:
    """Return front, rear and frame of the detailed variant combined to one body."""
    shares = [
        (mass, *part)
        for mass, part in zip(
            ("front_mass", "rear_mass", "frame_mass"),
            (parts.FRONT, parts.REAR, parts.FRAME),
            strict=True,
        )
    ]
    total = "(" + " + ".join(mass for mass, _, _ in shares) + ")"
    com = [
        "(" + " + ".join(f"{mass}*({at[k]})" for mass, at, _ in shares) + f")/{total}"
        for k in range(3)
    ]
    about = [
        " + ".join(terms) for terms in zip(*(shifted(*share) for share in shares), strict=True)
    ]
    return {
        "mass": total,
        "com": com,
        "inertia_at_origin": about,
        "shape": {"box": [6.5, 2.2, 0.7]},
    }


def shifted(mass: str, at: list[float], size: tuple[float, float, float]) -> list[str]:
    """Return the inertia of a box about the origin of the vehicle's frame, as expressions."""
    x, y, z = at
    own = parts.box(mass, *size)
    steiner = [y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z]
    return [f"{each} + {mass}*({part!r})" for each, part in zip(own, steiner, strict=True)]
