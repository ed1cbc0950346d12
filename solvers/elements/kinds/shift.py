"""Joint element `shift`: a constant shift."""

from kinetree.solvers.elements.kinds import Kind

KIND = Kind("SHIFT", 0, "constant vector", "shift.CONSTANT", shifts=True, back="SHIFT")
