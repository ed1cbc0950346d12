"""Stiffness, mass and geometric stiffness matrices of a meshed body: tetrahedra or bricks with
quadratic shape functions, by scikit-fem.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.models.beams.body_surfaces import skin_of
from kinetree.models.beams.solid_meshes import solid_mesh

CHUNK = 2000  # elements whose slopes are in memory at once
MATERIALS = {"steel": (2.1e11, 0.3, 7850.0), "aluminium": (7.0e10, 0.33, 2700.0)}  # E, nu, density


def moduli_of(text: str) -> tuple[float, float, float]:
    """Return Young's modulus, Poisson's ratio and density of a named material, or from three
    numbers.
    """
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


class MeshMatrices:
    """Finite-element matrices with three displacements per node for a mesh of tetrahedra or bricks,
    or for a STEP file.
    """

    def __init__(self, source: str, material: str, size: float | None = None, length: float = 1.0):
        self.young, self.poisson, self.density = moduli_of(material)
        self.mesh = solid_mesh(source, size, length)
        self.bricks = self.mesh.t.shape[0] == 8
        basis = self.basis(4)
        dofs = (basis.nodal_dofs, basis.edge_dofs, basis.facet_dofs, basis.interior_dofs)
        of_nodes = [np.asarray(each).T.ravel() for each in (dofs if self.bricks else dofs[:2])]
        self.order = np.concatenate(of_nodes)
        self.corners = len(of_nodes[0]) // 3
        self.nodes = basis.doflocs[:, self.order[::3]].T

    @property
    def element(self) -> Any:
        """Return the element with quadratic displacements."""
        from skfem import ElementHex2, ElementTetP2, ElementVector

        return ElementVector(ElementHex2() if self.bricks else ElementTetP2())

    def basis(self, order: int, elements: np.ndarray | None = None) -> Any:
        """Return the basis of quadratic displacements with quadrature exact to polynomial degree
        `order`.
        """
        from skfem import Basis

        return Basis(self.mesh, self.element, intorder=order, elements=elements)

    def matrices(self) -> tuple[Any, Any]:
        """Return stiffness and mass matrix in the order of the nodes."""
        from skfem import BilinearForm
        from skfem.helpers import dot
        from skfem.models.elasticity import lame_parameters, linear_elasticity

        basis = self.basis(4)
        K = linear_elasticity(*lame_parameters(self.young, self.poisson)).assemble(basis)

        @BilinearForm
        def inertia(u, v, w):
            return self.density * dot(u, v)

        M = inertia.assemble(basis)
        return K[self.order][:, self.order], M[self.order][:, self.order]

    def stiffening(self, fields: np.ndarray, shapes: np.ndarray) -> np.ndarray:
        """Return the geometric stiffness between shapes (3 N, n) under the stresses of displacement
        fields (r, 3 N): (r, n, n).
        """
        from skfem.models.elasticity import lame_parameters

        first, shear = lame_parameters(self.young, self.poisson)
        n = shapes.shape[1]
        found = np.zeros((len(fields), n, n))
        count = self.mesh.t.shape[1]
        for elements in np.array_split(np.arange(count), -(-count // CHUNK)):
            basis = self.basis(3, elements)
            slopes = np.array([self.slopes(basis, shape) for shape in shapes.T])
            for k, field in enumerate(fields):
                slope = self.slopes(basis, field)
                strain = 0.5 * (slope + np.swapaxes(slope, 0, 1))
                stress = 2.0 * shear * strain
                stress += first * np.eye(3)[:, :, None] * np.einsum("iip->p", strain)
                pulled = np.einsum("ijp,kcip->kcjp", stress * basis.dx.ravel(), slopes)
                found[k] += pulled.reshape(n, -1) @ slopes.reshape(n, -1).T
        return 0.5 * (found + np.swapaxes(found, 1, 2))

    def surface(self) -> np.ndarray:
        """Return the triangles (T, 3) of the boundary by corner indices, counterclockwise seen from
        outside.
        """
        facets = self.mesh.boundary_facets()
        found = self.mesh.facets[:, facets].T.copy()
        own = self.mesh.t[:, self.mesh.f2t[0, facets]]
        if self.bricks:
            found = np.concatenate((found[:, [0, 1, 2]], found[:, [0, 2, 3]]))
            own = np.concatenate((own, own), axis=1)
        middle = self.mesh.p[:, own].mean(axis=1).T
        a, b, c = (self.mesh.p[:, found[:, k]].T for k in range(3))
        inward = np.einsum("ti,ti->t", np.cross(b - a, c - a), a - middle) < 0.0
        found[inward] = found[inward][:, ::-1]
        return found

    def stresses(self, shapes: np.ndarray) -> np.ndarray:
        """Return stresses xx, yy, zz, xy, yz, xz at the nodes for shapes (3 N, n), averaged over
        the elements at each corner: (n, N, 6); NaN at other nodes.
        """
        from skfem import Basis
        from skfem.models.elasticity import lame_parameters

        first, shear = lame_parameters(self.young, self.poisson)
        corners = self.mesh.elem.refdom.p
        each = corners.shape[1]
        basis = Basis(
            self.mesh, self.element, quadrature=(corners.astype(float), np.full(each, 1.0 / each))
        )
        at = self.mesh.t[:each].T.ravel()
        found = np.full((shapes.shape[1], len(self.nodes), 6), np.nan)
        share = np.bincount(at, minlength=self.corners)
        for k, shape in enumerate(shapes.T):
            slope = self.slopes(basis, shape)
            strain = 0.5 * (slope + np.swapaxes(slope, 0, 1))
            stress = 2.0 * shear * strain
            stress += first * np.eye(3)[:, :, None] * np.einsum("iip->p", strain)
            for n, (i, j) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))):
                sums = np.bincount(at, stress[i, j], minlength=self.corners)
                found[k, : self.corners, n] = sums / share
        return found

    def skin(self, nodes: np.ndarray, shapes: np.ndarray) -> dict[str, Any]:
        """Return the arrays of the surface with the stresses of all modes; shapes (N, 3, n)."""
        stresses = self.stresses(shapes.reshape(3 * len(nodes), -1))
        return skin_of(nodes, shapes, self.surface(), stresses)

    def slopes(self, basis: Any, field: np.ndarray) -> np.ndarray:
        """Return the gradient of a displacement field at all integration points: component,
        direction, point.
        """
        own = np.zeros(basis.N)
        own[self.order] = field
        return np.asarray(basis.interpolate(own).grad).reshape(3, 3, -1)
