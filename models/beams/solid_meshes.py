"""Solid meshes from files: tetrahedra and bricks of any order as scikit-fem objects; STEP files are
meshed by gmsh.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

TETRAHEDRA = {"tetra": 4, "tetra10": 10}  # corners and middles that count, by the name of meshio
BRICKS = {"hexahedron": 8, "hexahedron20": 8, "hexahedron27": 8}  # only corners: straight edges
FLAT = ("vertex", "line", "triangle", "quad")  # beginnings of the names of what is no solid


def solid_mesh(source: str, size: float | None = None, length: float = 1.0) -> Any:
    """Return the mesh of a file: linear or curved tetrahedra (MeshTet, MeshTet2) or bricks with
    straight edges (MeshHex).

    Unused nodes are left out. `length` is the file's unit of length [m]; STEP files define their
    own.
    """
    if Path(source).suffix.lower() in (".step", ".stp"):
        with tempfile.TemporaryDirectory() as folder:
            return read_solids(meshed(source, Path(folder) / "body.msh", size))
    return read_solids(source, length)


def read_solids(source: str, length: float = 1.0) -> Any:
    """Return the solid elements of a file that meshio can read."""
    import meshio
    from skfem.io.meshio import from_meshio

    try:
        read = meshio.read(source)
    except SystemExit:  # of files whose content it cannot read
        raise ValueError("no mesh: its content is not what its name says") from None
    except Exception as error:
        raise ValueError(f"no mesh that meshio reads: {error}") from None
    kinds = {block.type for block in read.cells if not block.type.startswith(FLAT)}
    known = TETRAHEDRA | BRICKS
    if len(kinds) != 1 or not kinds <= set(known):
        what = ", ".join(sorted(kinds)) or "no solids"
        raise ValueError(f"a mesh of {what}: expected one kind of {', '.join(known)}")
    kind = kinds.pop()
    cells = np.concatenate([block.data for block in read.cells if block.type == kind])
    cells = cells[:, : known[kind]]
    used, numbered = np.unique(cells, return_inverse=True)
    kind = "hexahedron" if kind in BRICKS else kind
    own = meshio.Mesh(length * read.points[used, :3], [(kind, numbered.reshape(cells.shape))])
    return from_meshio(own)


def meshed(source: str, target: Path, size: float | None) -> str:
    """Mesh a STEP file [mm] with tetrahedra in metres and return the path of the mesh."""
    import gmsh

    gmsh.initialize()
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.option.setString("Geometry.OCCTargetUnit", "M")
        gmsh.model.occ.importShapes(source)
        gmsh.model.occ.synchronize()
        if size is not None:
            gmsh.option.setNumber("Mesh.MeshSizeMax", size)
        gmsh.model.mesh.generate(3)
        gmsh.write(str(target))
    finally:
        gmsh.finalize()
    return str(target)
