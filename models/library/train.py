"""Train of n cars on elastic couplings, pulled by its first car ([GG11], figure 2): a [chain] with tridiagonal stiffness.

lib:train with cars; parameters mass, locomotive (mass of the first car), coupling, damping (per coupling), ramp; input pull. M ẍ + F ẋ + C x = f.
"""

from typing import Any

from kinetree.models.library.argument_checks import Argument, whole

MOST_CARS = 2000
ARGUMENTS = {"cars": Argument("number of cars, the locomotive included", 2, MOST_CARS)}


def describe(cars: int = 20) -> dict[str, Any]:
    """Return the description of a train with cars x1 (the locomotive) to xn, free on the rails."""
    n = whole("cars", cars, 2, MOST_CARS)
    return {
        "format": "kinetree/1",
        "name": f"Train of {n} cars",
        "text": f"{n} cars on elastic couplings, pulled by the first one",
        "parameters": {
            "mass": {"value": 20e3, "unit": "kg", "min": 1, "text": "mass of a car"},
            "locomotive": {"value": 80e3, "unit": "kg", "min": 1, "text": "mass of the first car"},
            "coupling": {"value": 2e6, "unit": "N/m", "min": 1, "text": "stiffness of a coupling"},
            "damping": {"value": 2e4, "unit": "N.s/m", "min": 0, "text": "damping of a coupling"},
            "ramp": {
                "value": 5.0,
                "unit": "s",
                "min": 1e-3,
                "text": "time in which the pull grows",
                "tunable": True,
            },
        },
        "inputs": {"pull": {"start": 2e5, "unit": "N"}},
        "chain": {
            "mass": ["locomotive", *["mass"] * (n - 1)],
            "stiffness": "coupling",
            "damping": "damping",
            "forces": {"x1": "pull*sin(pi/2*min(t/ramp, 1))**2"},
        },
        "outputs": {
            "first_coupling": {
                "value": "coupling*(x1 - x2) + damping*(der(x1) - der(x2))",
                "unit": "N",
            },
            "last_coupling": {
                "value": f"coupling*(x{n - 1} - x{n}) + damping*(der(x{n - 1}) - der(x{n}))",
                "unit": "N",
            },
        },
        "run": {"stop_time": 60.0, "output_step": 0.1},
    }
