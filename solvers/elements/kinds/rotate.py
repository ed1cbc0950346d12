"""Joint element `rotate`: a constant rotation."""

from kinetree.solvers.elements.kinds import Kind

KIND = Kind("ROTATE", 1, "constant rotation", "rotation.CONSTANT", turns=True, back="ROTATE")
