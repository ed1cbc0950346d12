"""Masses and inertia tensors that a rigid body can have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kinetree.models.description.checks import Checker

SHAPES = ("box", "cylinder", "sphere", "mesh")
ROUNDING = 1e-3  # of the trace: data rounded to three digits are not refused


def check_bodies(checker: Checker) -> None:
    tensors: list[tuple[str, str, tuple[float, ...]]] = []
    for name, body in checker.description.bodies.items():
        path = ("bodies", name)
        mass = checker.number(body.mass)
        if mass is not None and mass < 0.0:
            checker.complain((*path, "mass"), f"a negative mass, {mass:g}", "0 or more")
        if body.inertia is not None and body.inertia_at_origin is not None:
            checker.complain(path, "inertia and inertia_at_origin", "one of them")
        if (
            body.shape is not None
            and sum(value is not None for value in (body.shape.box, body.shape.cylinder, body.shape.sphere, body.shape.mesh)) != 1
        ):
            checker.complain((*path, "shape"), "several shapes or none", "one of " + ", ".join(SHAPES))
        key = "inertia" if body.inertia is not None else "inertia_at_origin"
        tensor, com = checker.numbers(getattr(body, key)), checker.numbers(body.com)
        if tensor is None or com is None or mass is None or mass < 0.0 or body.unphysical:
            continue
        tensors.append((name, key, tensor if key == "inertia" else about_com(tensor, mass, com)))
    if not tensors:
        return
    xx, yy, zz, xy, xz, yz = np.array([tensor for _, _, tensor in tensors]).T
    matrices = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]).transpose(2, 0, 1)
    for (name, key, _), moments in zip(tensors, np.linalg.eigvalsh(matrices), strict=True):
        smallest, middle, largest = (float(moment) for moment in moments)
        allowed = ROUNDING * abs(moments).sum()
        about = " about the centre of mass" if key == "inertia_at_origin" else ""
        if smallest < -allowed:
            checker.complain(("bodies", name, key), f"a negative principal moment{about}, {smallest:g}", "0 or more")
        elif smallest + middle < largest - allowed:
            found = f"principal moments{about} {smallest:g}, {middle:g}, {largest:g}"
            hint = "unphysical = true accepts reduced data as they are"
            checker.complain(("bodies", name, key), found, "each at most the sum of the other two", hint)


def about_com(tensor: tuple[float, ...], mass: float, com: tuple[float, ...]) -> tuple[float, ...]:
    """Parallel-axis theorem, from the origin of the body frame to the centre of mass."""
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
