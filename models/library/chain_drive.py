"""Span of a chain drive of n links with six coordinates each between two sprockets ([GG11], figure
3): a [chain] with block tridiagonal stiffness.

lib:chain_drive with links; parameters amplitude and omega: the first sprocket moves laterally as
amplitude*sin(omega*t), as the polygon of the links does. Stiffness as in `chains.chain_drive`:
axial, transverse of the string (tension/pitch), rotations held by the pins.
"""

from typing import Any

import numpy as np

from kinetree.models.library import chains
from kinetree.models.library.argument_checks import Argument, whole

MOST_LINKS = 60
ARGUMENTS = {"links": Argument("number of links", 2, MOST_LINKS)}
AXES = ("x", "y", "z", "rx", "ry", "rz")


def describe(links: int = 12) -> dict[str, Any]:
    """Return the description; link i has coordinates x{i} (along), y{i}, z{i} and rotations rx{i},
    ry{i}, rz{i}.
    """
    n = whole("links", links, 2, MOST_LINKS)
    mass, damping, stiffness = chains.chain_drive(n, damping=2e-6)
    across = float(np.abs(stiffness[1, 7]))
    middle = (n + 1) // 2
    return {
        "format": "kinetree/1",
        "name": f"Chain drive of {n} links",
        "text": f"Span of {n} links between sprockets, six coordinates per link, shaken across",
        "parameters": {
            "amplitude": {
                "value": 2e-4,
                "unit": "m",
                "text": "motion of the first sprocket across the span",
                "tunable": True,
            },
            "omega": {
                "value": 90.0,
                "unit": "rad/s",
                "text": "its angular frequency",
                "tunable": True,
            },
        },
        "chain": {
            "mass": mass.tolist(),
            "stiffness": stiffness.tolist(),
            "damping": damping.tolist(),
            "names": [f"{axis}{i}" for i in range(1, n + 1) for axis in AXES],
            "forces": {"y1": f"{across!r}*amplitude*sin(omega*t)"},
        },
        "outputs": {"deflection": {"value": f"y{middle}", "unit": "m"}},
        "run": {"stop_time": 0.5, "output_step": 5e-4},
    }
