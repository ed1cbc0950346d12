"""Shapes of bodies for display, from visuals of URDF and geoms of MJCF."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.models.foreign.robot import MATRIX_ROUNDING, numbers

BOX, CYLINDER, CAPSULE, SPHERE = 6, 5, 3, 2  # MuJoCo's kinds of geoms
MOST_SHAPES = 60  # of one body


def posed(shape: dict[str, Any], R: np.ndarray, r: np.ndarray) -> dict[str, Any]:
    """Return a shape rotated by R and moved to r."""
    from scipy.spatial.transform import Rotation

    with warnings.catch_warnings(action="ignore"):  # where two axes meet one of the angles is free
        angles = Rotation.from_matrix(R).as_euler("xyz")
    if r.any():
        shape["at"] = numbers(r)
    if (abs(angles) > MATRIX_ROUNDING).any():
        shape["rotate"] = numbers(angles)
    return shape


def hexadecimal(rgba: Any) -> dict[str, Any]:
    """Return colour and opacity as keys of a shape."""
    red, green, blue, alpha = (min(max(float(each), 0.0), 1.0) for each in rgba)
    colour: dict[str, Any] = {
        "colour": f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"
    }
    return colour | ({"opacity": alpha} if alpha < 1.0 else {})


def visual_shape(visual: Any, materials: dict[str, Any], folder: Path) -> dict[str, Any] | None:
    """Return one URDF visual in the axes of its link; None if its mesh file is missing."""
    geometry = visual.geometry
    if geometry is None:
        return None
    if geometry.box is not None:
        shape: dict[str, Any] = {"box": numbers(geometry.box.size)}
    elif geometry.cylinder is not None:
        shape = {"cylinder": numbers((geometry.cylinder.radius, geometry.cylinder.length))}
    elif geometry.sphere is not None:
        shape = {"sphere": float(geometry.sphere.radius)}
    elif (
        geometry.mesh is not None
        and (found := mesh_file(geometry.mesh.filename, folder)) is not None
    ):
        scale = geometry.mesh.scale
        shape = {"mesh": str(found)} | (
            {} if scale is None else {"scale": float(np.ravel(scale)[0])}
        )
    else:
        return None
    material = visual.material
    if material is not None and material.color is None and material.name in materials:
        material = materials[material.name]
    return shape | (
        hexadecimal(material.color.rgba)
        if material is not None and material.color is not None
        else {}
    )


def mesh_file(name: str, folder: Path) -> Path | None:
    """Return the path of a mesh file, next to the robot's file or in a package in a parent folder;
    None if it is missing.
    """
    plain = name.removeprefix("file://")
    if plain.startswith("package://"):
        plain = plain.removeprefix("package://")
        tries = [above / plain for above in (folder, *folder.parents)] + [
            above / plain.partition("/")[2] for above in (folder, *folder.parents)
        ]
    else:
        tries = [folder / plain]
    return next((path.resolve() for path in tries if path.is_file()), None)


def geom_shape(model: Any, geom: int) -> dict[str, Any] | None:
    """Return one MJCF geom in its own axes; None for planes, height fields and meshes."""
    kind, size = model.geom_type[geom], model.geom_size[geom]
    shapes: dict[int, dict[str, Any]] = {
        BOX: {"box": numbers(2.0 * size)},
        CYLINDER: {"cylinder": numbers((size[0], 2.0 * size[1]))},
        CAPSULE: {"capsule": numbers((size[0], 2.0 * size[1]))},
        SPHERE: {"sphere": float(size[0])},
    }
    return shapes[kind] | hexadecimal(model.geom_rgba[geom]) if kind in shapes else None
