"""Checks of masses and inertia tensors that a rigid body can have."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from kinetree.models.beams.reduced_bodies import ReducedBodyError, found_reduced
from kinetree.models.description.mass_properties import has_density
from kinetree.models.description.step_files import STEP
from kinetree.models.language.colours import COLOURS, rgb

if TYPE_CHECKING:
    from kinetree.models.checks.consistency_check import Checker
    from kinetree.models.description.schema import Body, Shape
    from kinetree.models.language.basic_checks import Path

SHAPES = ("box", "cylinder", "capsule", "sphere", "extrusion", "mesh")
CORNERS = 3  # of an outline, at least
LARGEST_MOMENT = 1e150  # kg.m2: their squares are still numbers
DIFFERENT = 0.2  # stated mass properties that differ by more from those of the shapes are told
INERTIA_ROUNDING = 1e-3  # of the trace: data rounded to three digits are not refused


def check_flexible(checker: Checker, path: Path, body: Body) -> None:
    """Report reduced bodies that cannot be read, and keys that a reduced body must not have."""
    if body.flexible is None:
        return
    try:
        found_reduced(checker.description, body)
    except ReducedBodyError as error:
        expected = "a file that `kinetree flexible` has written"
        checker.complain((*path, "flexible", "file"), str(error), expected)
    extra = {"mass", "com", "inertia", "density", "material"} & (
        checker.description.written.bodies[str(path[1])].model_fields_set
    )
    if extra:
        checker.complain(path, ", ".join(sorted(extra)), "none of these: the file has them")


def check_bodies(checker: Checker) -> None:
    for k, shape in enumerate(checker.description.scenery):
        check_shape(checker, ("scenery", k), shape)
        if shape.density is not None or shape.material is not None:
            checker.complain(("scenery", k), "a density", "none: scenery has no mass")
    tensors: list[tuple[str, str, tuple[float, ...]]] = []
    for name, body in checker.description.bodies.items():
        path = ("bodies", name)
        check_density(checker, path, body)
        check_flexible(checker, path, body)
        mass = checker.number(body.mass)
        if mass is not None and mass < 0.0:
            checker.complain((*path, "mass"), f"a negative mass, {mass:g}", "0 or more")
        if body.inertia is not None and body.inertia_at_origin is not None:
            checker.complain(path, "inertia and inertia_at_origin", "one of them")
        if body.shape is not None:
            check_shape(checker, (*path, "shape"), body.shape)
        elif body.at is not None:
            checker.warn(
                (*path, "at"),
                "a place",
                "a shape",
                "it places the one that is written as `shape`; `shapes` have each their own",
            )
        for k, shape in enumerate(body.shapes):
            check_shape(checker, (*path, "shapes", k), shape)
        key = "inertia" if body.inertia is not None else "inertia_at_origin"
        tensor, com = checker.numbers(getattr(body, key)), checker.numbers(body.com)
        if tensor is None or com is None or mass is None or mass < 0.0 or body.unphysical:
            continue
        moved = tensor if key == "inertia" else about_com(tensor, mass, com)
        if not all(abs(each) < LARGEST_MOMENT for each in moved):
            checker.complain(
                (*path, key),
                "moments too large to compute with",
                f"moments below {LARGEST_MOMENT:g} kg.m2 about the centre of mass",
            )
            continue
        tensors.append((name, key, moved))
    if not tensors:
        return
    xx, yy, zz, xy, xz, yz = np.array([tensor for _, _, tensor in tensors]).T
    matrices = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]).transpose(2, 0, 1)
    for (name, key, _), moments in zip(tensors, np.linalg.eigvalsh(matrices), strict=True):
        smallest, middle, largest = (float(moment) for moment in moments)
        allowed = INERTIA_ROUNDING * abs(moments).sum()
        about = " about the centre of mass" if key == "inertia_at_origin" else ""
        if smallest < -allowed:
            checker.complain(
                ("bodies", name, key),
                f"a negative principal moment{about}, {smallest:g}",
                "0 or more",
            )
        elif smallest + middle < largest - allowed:
            found = f"principal moments{about} {smallest:g}, {middle:g}, {largest:g}"
            hint = "unphysical = true accepts reduced data as they are"
            checker.complain(
                ("bodies", name, key), found, "each at most the sum of the other two", hint
            )


def check_density(checker: Checker, path: tuple, body: Body) -> None:
    """Report a body without mass and density; warn if both are given and disagree."""
    given = checker.description.weighed.get(path[1])
    if given is None:
        if "mass" not in body.model_fields_set and not has_density(body):
            hint = "or a density or material of its shapes"
            checker.complain((*path, "mass"), "nothing", "mass [kg]", hint)
        return
    stated = body.model_fields_set
    mass, own = checker.number(given.mass), checker.number(body.mass)
    com, place = checker.numbers(given.com), checker.numbers(body.com)
    tensor = checker.numbers(given.tensor)
    if mass is None or own is None or com is None or place is None or tensor is None:
        return
    if "mass" in stated and abs(own - mass) > DIFFERENT * mass:
        checker.warn((*path, "mass"), f"{own:g} kg", f"about the {mass:g} kg of its shapes")
    if not given.about_com:
        tensor = about_com(tensor, mass, com)
    radius = math.sqrt(max(0.0, sum(tensor[:3]) / (2.0 * mass)))  # of gyration, about the centre
    if "com" in stated and math.dist(com, place) > DIFFERENT * radius:
        checker.warn((*path, "com"), listed(place), f"about that of its shapes, {listed(com)}")
    key = "inertia" if "inertia" in stated else "inertia_at_origin"
    said = checker.numbers(getattr(body, key)) if key in stated else None
    if said is None:
        return
    if key == "inertia_at_origin":
        said = about_com(said, own, place)
    share = own / mass
    far = max(abs(a - share * b) for a, b in zip(said, tensor, strict=True))
    if far > DIFFERENT * share * max(tensor[:3]):
        expected = "about that of its shapes, " + listed(share * each for each in tensor)
        checker.warn((*path, key), listed(said) + " about the centre of mass", expected)


def listed(values: Iterable[float]) -> str:
    """Return a few numbers as text for messages."""
    return "[" + ", ".join(f"{each:.4g}" for each in values) + "]"


def check_shape(checker: Checker, path: tuple, shape: Shape) -> None:
    """Report a shape without exactly one kind, with sizes that are not positive, or an unknown
    colour.
    """
    kinds = [kind for kind in SHAPES if getattr(shape, kind) is not None]
    if len(kinds) != 1:
        checker.complain(path, " and ".join(kinds) or "no shape", "one of " + ", ".join(SHAPES))
        return
    kind = kinds[0]
    if shape.solid is not None and (shape.mesh is None or not shape.mesh.lower().endswith(STEP)):
        checker.complain((*path, "solid"), f"{shape.solid}", "none: it is of STEP files only")
    if shape.axis is not None and shape.rotate is not None:
        checker.complain(path, "axis and rotate", "one of them")
    if (shape.height is None) == (kind == "extrusion"):
        checker.complain(
            (*path, "height"),
            f"{'none' if shape.height is None else 'one'} with {kind}",
            "a height with an extrusion only",
        )
    if kind == "extrusion" and len(shape.extrusion or ()) < CORNERS:
        checker.complain(
            (*path, kind), f"{len(shape.extrusion or ())} corners", f"{CORNERS} or more"
        )
    sizes = {
        "box": shape.box,
        "cylinder": shape.cylinder,
        "capsule": shape.capsule,
        "sphere": (shape.sphere,),
        "mesh": (shape.scale,),
    }
    for size in sizes.get(kind, (shape.height,)) or ():
        value = None if size is None else checker.number(size)
        if value is not None and value < 0.0:
            checker.complain((*path, kind), f"a negative size, {value:g}", "0 or more")
    if shape.colour is not None and rgb(shape.colour) is None:
        checker.complain(
            (*path, "colour"), f"'{shape.colour}'", "#rrggbb or one of " + ", ".join(COLOURS)
        )


def about_com(tensor: tuple[float, ...], mass: float, com: tuple[float, ...]) -> tuple[float, ...]:
    """Return an inertia tensor about the body origin referred to the centre of mass (parallel-axis
    theorem).
    """
    xx, yy, zz, xy, xz, yz = tensor
    x, y, z = com
    return (
        xx - mass * (y * y + z * z),
        yy - mass * (x * x + z * z),
        zz - mass * (x * x + y * y),
        xy + mass * x * y,
        xz + mass * x * z,
        yz + mass * y * z,
    )
