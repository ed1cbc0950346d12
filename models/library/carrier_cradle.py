"""The luffing part of the carriers: one rigid cradle, or a boom and a cradle that bend.

Rigid: the body `cradle` on its hinge. Flexible: the beam `boom` from the hinge to the eye of the
luffing cylinder and the beam `cradle` from there to the mouths of the rails. Their axes lie AXIS
above the hinge. The rigid body `pack` carries the rails: it is hinged at the root of the cradle and
supported at its tip by the spring `front_support`, so that each end carries its share of a module's
weight. Mass, centre of mass and inertia of all three are those of the rigid cradle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kinetree.models.library.carrier_parameters import Rows, Table

if TYPE_CHECKING:
    from kinetree.models.library.carrier_parts import Settings

HINGE = [-1.5, 0, 0.7]  # hinge of the cradle on the platform
CENTRE = 2.0  # of mass, before the hinge [m]
AXIS = 0.3  # height of the centre of mass, and of the axes of the beams, above the hinge [m]
MOUTH = [4.0, 0, AXIS]  # middle of the mouths of the rails, from the hinge [m]
SIZE = (4.2, 2.4, 0.8)  # of the box whose inertia the cradle has [m]
SEAT = 1.6  # of the cradle on the boom, before the hinge [m]
LENGTHS = {"boom": SEAT, "cradle": MOUTH[0] - SEAT}  # of the beams [m]

FLEXIBLE: Rows = {
    "boom_mass": (500.0, "kg", "mass of the boom, part of that of the cradle"),
    "boom_height": (0.45, "m", "height of the box section of the boom"),
    "boom_width": (0.6, "m", "width of that section"),
    "boom_wall": (0.012, "m", "thickness of its walls"),
    "frame_beam_mass": (1200.0, "kg", "mass of the bending part of the cradle, part of its mass"),
    "cradle_height": (0.3, "m", "height of the box section of the cradle"),
    "cradle_width": (0.5, "m", "width of that section"),
    "cradle_wall": (0.008, "m", "thickness of its walls"),
    "steel_modulus": (2.1e11, "Pa", "Young's modulus of boom and cradle"),
    "support_stiffness": (1e8, "N/m", "stiffness of the front support of the rails on the cradle"),
    "support_damping": (1e5, "N.s/m", "damping of that support"),
    "bend_damping": (0.02, "1", "damping ratio of the first mode of boom and of cradle"),
}
MASSES = {"boom": "boom_mass", "cradle": "frame_beam_mass"}


def size(on: Settings) -> tuple[Any, Any, Any]:
    """Return length, width and height [m] of the box whose inertia the cradle has; it is as wide
    as two packs of three columns where there are two.
    """
    x, y, z = SIZE
    return x, y if on.packs == 1 else "(pack_distance + 3*module_pitch)", z


def rail_place(on: Settings, point: list[Any]) -> Table:
    """Return the body that carries the rails, and a point on it, given relative to the hinge."""
    if not on.flexible:
        return {"body": "cradle", "point": point}
    x, y, z = point
    along = f"{x} - {SEAT}" if isinstance(x, str) else x - SEAT
    return {"body": "pack", "point": [along, y, f"{z} - {AXIS}"]}


def boom_place(on: Settings, point: list[Any]) -> Table:
    """Return the body that cylinders act on, and a point on it, given relative to the hinge."""
    if not on.flexible:
        return {"body": "cradle", "point": point}
    x, y, z = point
    return {"body": "boom", "station": x, "point": [0, y, f"{z} - {AXIS}"]}


def luffing_part(on: Settings, turn: Table, rigid: Table) -> Table:
    """Return bodies, beams, materials and joints of the luffing part; `rigid` is its body if
    nothing bends.
    """
    hinge = {"parent": "platform", "child": "cradle", "transforms": [{"shift": HINGE}, turn]}
    if not on.flexible:
        return {"bodies": {"cradle": rigid}, "joints": {"hinge": hinge}}
    hinge |= {"child": "boom", "transforms": [*hinge["transforms"], {"shift": "z", "by": AXIS}]}
    seat = {"parent": "boom", "station": SEAT, "child": "cradle", "type": "rigid"}
    turns = [{"rotate": axis, "coordinate": f"pack_{axis}"} for axis in "yz"]
    rear = {"parent": "cradle", "station": 0.0, "child": "pack", "transforms": turns}
    return {
        "bodies": {"pack": pack()},
        "beams": {name: beam(name) for name in LENGTHS},
        "materials": {f"{name}_steel": material(name) for name in LENGTHS},
        "joints": {"hinge": hinge, "seat": seat, "rear_support": rear},
        "forces": {"front_support": front_support()},
    }


def front_support() -> Table:
    """Return the spring between the tip of the cradle and the pack, perpendicular to the cradle."""
    size = LENGTHS["cradle"]
    return {
        "kind": "bushing",
        "between": [{"body": "cradle", "station": size}, {"body": "pack", "point": [size, 0, 0]}],
        **{
            key: [f"support_{key}" if k in (1, 2) else 0 for k in range(6)]
            for key in ("stiffness", "damping")
        },
    }


def beam(name: str) -> Table:
    """Return the boom or cradle as a beam: a box section of a steel whose density gives the mass of
    the part.
    """
    sizes = [f"{name}_{size}" for size in ("height", "width", "wall")]
    return {
        "length": LENGTHS[name],
        "section": {"box": sizes},
        "material": f"{name}_steel",
        "segments": 2,
        "damping": "bend_damping",
    }


def material(name: str) -> Table:
    """Return the material of boom or cradle, whose density gives the mass of the part."""
    wall = f"{name}_wall"
    area = f"2*{wall}*({name}_height + {name}_width - 2*{wall})"
    return {
        "density": f"{MASSES[name]}/({area}*{LENGTHS[name]!r})",
        "youngs_modulus": "steel_modulus",
        "shear_modulus": "steel_modulus/2.6",
    }


def pack() -> Table:
    """Return the body `pack`: the rigid cradle minus the two beams, about the cradle's root."""
    middles = {"boom": 0.5 * SEAT, "cradle": 0.5 * (SEAT + MOUTH[0])}
    mass = f"(cradle_mass - {' - '.join(MASSES.values())})"
    moment = " - ".join(f"{middles[name]!r}*{MASSES[name]}" for name in LENGTHS)
    centre = f"(({CENTRE!r}*cradle_mass - {moment})/{mass})"
    x, y, z = SIZE
    rods = " + ".join(
        f"{MASSES[name]}*{LENGTHS[name] ** 2 / 12 + (middles[name] - CENTRE) ** 2!r}"
        for name in LENGTHS
    )
    gone = f"({rods} + {mass}*({centre} - {CENTRE!r})**2)"
    whole = [f"cradle_mass*{(a * a + b * b) / 12!r}" for a, b in ((y, z), (x, z), (x, y))]
    return {
        "mass": mass,
        "com": [f"{centre} - {SEAT!r}", 0, 0],
        "inertia": [whole[0], *(f"{each} - {gone}" for each in whole[1:]), 0, 0, 0],
        "shape": {"box": [2.4, y, z], "at": [f"{centre} - {SEAT!r}", 0, 0]},
    }


def outputs(on: Settings) -> Table:
    """Return outputs: deflections of boom and cradle, stresses at their roots, and the direction of
    the rails relative to the base.
    """
    if not on.flexible:
        return {}
    rails = {"quantity": "angles", "body": "pack"}
    found: Table = {
        "rail_angles": {**rails, "reference": {"body": "platform"}, "unit": "rad"},
        "rail_luff": {
            "value": "-rail_angles[2]",
            "unit": "rad",
            "text": "luff angle of the rails: that of the hinge and what boom and cradle bend",
        },
        "rail_slew": {
            "value": "slew + rail_angles[3]",
            "unit": "rad",
            "text": "slew angle of the rails: that of the ring and what boom and cradle bend",
        },
    }
    for name, length in LENGTHS.items():
        at = {"beam": name, "station": length}
        found[f"{name}_sag"] = {"quantity": "deflection", **at, "axis": "z", "unit": "mm"}
        found[f"{name}_sway"] = {"quantity": "deflection", **at, "axis": "y", "unit": "mm"}
        found[f"{name}_stress"] = {
            "quantity": "stress",
            "beam": name,
            "station": 0.0,
            "unit": "MPa",
        }
    return found
