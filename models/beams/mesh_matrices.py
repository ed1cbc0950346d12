"""Stiffness and mass of a meshed body: tetrahedra with quadratic displacements, by scikit-fem; STEP files are meshed by gmsh."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

MATERIALS = {"steel": (2.1e11, 0.3, 7850.0), "aluminium": (7.0e10, 0.33, 2700.0)}  # E, nu, density


def moduli_of(text: str) -> tuple[float, float, float]:
    """Young's modulus, Poisson's ratio and density of a name, or of three numbers."""
    if text in MATERIALS:
        return MATERIALS[text]
    try:
        young, poisson, density = (float(each) for each in text.split(","))
    except ValueError:
        known = ", ".join(MATERIALS)
        raise ValueError(f"material {text!r}: expected {known}, or E,nu,density") from None
    if young <= 0.0 or density <= 0.0 or not -1.0 < poisson < 0.5:
        raise ValueError(f"material {text!r}: E and density above 0, nu between -1 and 0.5")
    return young, poisson, density


def assemble(source: str, material: str, size: float | None = None) -> tuple[Any, Any, np.ndarray]:
    """Return stiffness, mass and nodes (N, 3) of a mesh of tetrahedra, or of a STEP file."""
    from skfem import Basis, BilinearForm, ElementTetP2, ElementVector, MeshTet
    from skfem.helpers import dot
    from skfem.models.elasticity import lame_parameters, linear_elasticity

    young, poisson, density = moduli_of(material)
    if Path(source).suffix.lower() in (".step", ".stp"):
        with tempfile.TemporaryDirectory() as folder:
            mesh = MeshTet.load(meshed(source, Path(folder) / "body.msh", size))
    else:
        mesh = MeshTet.load(source)
    basis = Basis(mesh, ElementVector(ElementTetP2()), intorder=4)
    K = linear_elasticity(*lame_parameters(young, poisson)).assemble(basis)

    @BilinearForm
    def inertia(u, v, w):
        return density * dot(u, v)

    M = inertia.assemble(basis)
    corners, middles = np.asarray(basis.nodal_dofs), np.asarray(basis.edge_dofs)
    order = np.concatenate((corners.T.ravel(), middles.T.ravel()))
    return K[order][:, order], M[order][:, order], basis.doflocs[:, order[::3]].T


def meshed(source: str, target: Path, size: float | None) -> str:
    """Mesh a STEP file [mm] with tetrahedra, in metres."""
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
