"""Display of the ground of contacts: terrains as surfaces, strips of soil with the ruts that wheels
leave.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.models.description.schema import Description
from kinetree.models.expressions.functions import OPERATIONS
from kinetree.models.expressions.nodes import (
    Const,
    ExpressionError,
    Leaf,
    Lookup,
    Node,
    Operation,
    postorder,
)
from kinetree.models.expressions.parse import parse
from kinetree.models.scene.attachments import Numbers
from kinetree.models.scene.plotted_columns import packed
from kinetree.models.scene.shapes import Part, part

if TYPE_CHECKING:
    from kinetree.models.result.result import Result
    from kinetree.models.scene.scene import Scene

FLAT = 1e-6  # of the sides of the ground: what rises less is a plane
CELLS = 56  # of a terrain along its longer side
COLOUR = "#b9b29f"
STRIP = 0.03  # width of a rut by the size of the scene, where the soil tells none


def under(scene: Scene) -> Part | None:
    """Return the terrain mesh under and around the paths of all bodies."""
    places = scene.view.places
    if abs(scene.up[2]) < 0.999 or not places.size:
        return None
    low, high = places[:, :2].min(axis=0), places[:, :2].max(axis=0)
    found = terrain(scene.description, scene.numbers, low - scene.size, high + scene.size)
    if found is not None:
        scene.parts["ground"].append(found)
    return found


def terrain(
    description: Description, numbers: Numbers, low: np.ndarray, high: np.ndarray
) -> Part | None:
    """Return the terrain between two corners (x, y) as a mesh, if a contact has a height that
    depends on the position; only for z pointing up.
    """
    for force in description.forces.values():
        height, normal = getattr(force, "height", None), getattr(force, "normal", None)
        if not isinstance(height, str) or numbers.known(height) is not None or normal is None:
            continue
        n = numbers.vector(normal)
        if n[2] < 0.999 * np.linalg.norm(n):
            continue
        sides = high - low
        counts = np.maximum((CELLS * sides / sides.max()).astype(int), 4)
        x, y = np.meshgrid(
            np.linspace(low[0], high[0], counts[0] + 1),
            np.linspace(low[1], high[1], counts[1] + 1),
            indexing="ij",
        )
        try:
            z = surface(
                height,
                description,
                {**numbers.values, "t": 0.0, "ground.x": x, "ground.y": y, "ground.z": 0.0 * x},
            )
        except (ExpressionError, KeyError, ValueError):
            continue  # a height that inputs or states give moves; it is not drawn
        z = np.broadcast_to(z, x.shape)
        if np.ptp(z) < FLAT * sides.max():
            continue
        points = np.stack([x, y, z], axis=-1)
        return part(
            "mesh",
            (),
            np.zeros(3),
            np.eye(3),
            COLOUR,
            points=points.round(5).ravel().tolist(),
            triangles=faces(*counts),
        )
    return None


def surface(text: str, description: Description, values: Mapping[str, Any]) -> Any:
    """Return the values of an expression evaluated for arrays."""
    found: dict[Node, Any] = {}
    root = parse(text)
    for node in postorder((root,)):
        if isinstance(node, Const):
            found[node] = node.value
        elif isinstance(node, Leaf):
            found[node] = values[node.key]
        elif isinstance(node, Operation):
            found[node] = np.vectorize(OPERATIONS[node.op])(*(found[each] for each in node.args))
        elif isinstance(node, Lookup) and len(node.args) == 1:
            table = description.tables[node.table]
            found[node] = np.interp(
                found[node.args[0]], np.array(table.x, dtype=float), np.array(table.y, dtype=float)
            )
        else:
            raise ExpressionError("a table over two variables is not drawn")
    return found[root]


def faces(rows: int, columns: int) -> list[int]:
    """Return two triangles per grid cell, facing upwards."""
    i, j = (
        each.ravel() for each in np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    )
    a = i * (columns + 1) + j
    b = a + columns + 1
    return np.stack([a, b, b + 1, a, b + 1, a + 1], axis=1).ravel().tolist()


def strips(description: Description, numbers: Numbers, size: float) -> list[dict[str, Any]]:
    """Return the soil tracks with ruts: position and lateral direction of each cell."""
    found = []
    force: Any  # kinds with soil have a surface, too
    for label, force in description.forces.items():
        soil = getattr(force, "soil", None)
        track = getattr(soil, "track", None)
        if track is None:
            continue
        normal = numbers.vector(force.normal)
        normal = normal / (np.linalg.norm(normal) or 1.0)
        way = numbers.vector(track.along)
        way = way - (way @ normal) * normal
        way = way / (np.linalg.norm(way) or 1.0)
        first = numbers.vector(track.at)
        height = numbers.known(force.height)
        if height is not None:
            first = first + (height - first @ normal) * normal
        along = np.linspace(0.0, numbers.number(track.length), track.cells)
        width = numbers.number(getattr(soil, "width", None), 0.0) or STRIP * size
        places = first + along[:, np.newaxis] * way
        side = 0.5 * width * np.cross(normal, way)
        found.append(
            {
                "name": label,
                "left": (places + side).tolist(),
                "right": (places - side).tolist(),
                "normal": normal.tolist(),
            }
        )
    return found


def ruts(strip: Mapping[str, Any], result: Result | None, rows: np.ndarray) -> str | None:
    """Return the rut depth of every cell in every frame, as text; None if there is none."""
    names = [f"{strip['name']}.rut_{k + 1}" for k in range(len(strip["left"]))]
    if result is None or names[0] not in result:
        return None
    return packed(np.column_stack([np.asarray(result[name])[rows] for name in names]))
