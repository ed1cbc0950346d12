"""Helical spring as rings, one rigid ring per turn joined by the compliance of the wire ([GG11], figure 5): a [chain] with full blocks of 6 x 6.

lib:helical_spring with turns; parameter rise; input load along the axis at the free end. Stiffness as in `chains.helical_spring`.
"""

from typing import Any

from kinetree.models.library import chains
from kinetree.models.library.argument_checks import Argument, whole

MOST_TURNS = 40
ARGUMENTS = {"turns": Argument("number of turns", 1, MOST_TURNS)}
AXES = ("x", "y", "z", "rx", "ry", "rz")


def describe(turns: int = 8) -> dict[str, Any]:
    """Return the description of rings with displacements x, y, z and rotations rx, ry, rz; the near
    end is clamped.
    """
    n = whole("turns", turns, 1, MOST_TURNS)
    mass, damping, stiffness = chains.helical_spring(n, damping=2e-6)
    return {
        "format": "kinetree/1",
        "name": f"Helical spring of {n} turns",
        "text": f"Steel spring of {n} turns as rings, clamped at one end, loaded along its axis at the other",
        "parameters": {
            "rise": {
                "value": 0.02,
                "unit": "s",
                "min": 1e-6,
                "text": "time in which the load grows",
                "tunable": True,
            }
        },
        "inputs": {"load": {"start": 10.0, "unit": "N"}},
        "chain": {
            "mass": mass.tolist(),
            "stiffness": stiffness.tolist(),
            "damping": damping.tolist(),
            "names": [f"{axis}{i}" for i in range(1, n + 1) for axis in AXES],
            "look": "coil",
            "forces": {f"z{n}": "load*sin(pi/2*min(t/rise, 1))**2"},
        },
        "outputs": {
            "travel": {"value": f"z{n}", "unit": "m"},
            "twist": {"value": f"rz{n}", "unit": "rad"},
        },
        "run": {"stop_time": 0.5, "output_step": 1e-3},
    }
