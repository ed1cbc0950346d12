"""A STEP file made by gmsh: a beam with two pin holes and a pin, and a ball, in millimetres."""

import math
from pathlib import Path

import pytest

BEAM = 4 * 0.12 * 0.2 - math.pi * 0.12 * (0.04**2 + 0.03**2) + math.pi * 0.02**2 * 0.05  # m3
BALL = 4 / 3 * math.pi * 0.05**3


def write_step(path: Path) -> None:
    """Write the file; the test is skipped where gmsh is not installed."""
    gmsh = pytest.importorskip("gmsh")
    gmsh.initialize(interruptible=False)
    gmsh.option.setNumber("General.Terminal", 0)
    occ = gmsh.model.occ
    beam = [(3, occ.addBox(0, -60, -100, 4000, 120, 200))]
    holes = [(3, occ.addCylinder(x, -70, 0, 0, 140, 0, r)) for x, r in ((100, 40), (3900, 30))]
    occ.fuse(occ.cut(beam, holes)[0], [(3, occ.addCylinder(2000, 60, 0, 0, 50, 0, 20))])
    occ.addSphere(0, 0, 1000, 50)
    occ.synchronize()
    gmsh.write(str(path))
    gmsh.finalize()
