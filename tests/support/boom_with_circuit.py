"""The boom of the library with the circuit of lib:servo-drive in one system, beside which couplings of both are measured."""

from copy import deepcopy
from typing import Any

from kinetree.models import load
from kinetree.models.checks.loader import read


def one_system() -> Any:
    """The boom and the circuit of lib:servo-drive in one description."""
    boom, drive = (deepcopy(read(name)[0]) for name in ("lib:boom", "lib:servo-drive"))
    boom["parameters"] |= drive["parameters"]
    boom |= {
        "hydraulics": drive["hydraulics"],
        "tables": drive["tables"],
        "inputs": {"command": 0.0},
    }
    lift = boom["hydraulics"]["lift"]
    del lift["length"], lift["rate"]
    lift["between"] = boom["actuators"].pop("lift")["between"]
    return (
        load(boom)
        .compile()
        .simulate(1.2, output_step=0.001, integrator="radau", tolerance=1e-9, largest_step=0.01)
    )
