"""Contacts of closed loops on runs of our own: the instant that is located lies on the dense output, which closing the loop moves by its error.

A touch that has been located happens, whatever gap the closed state has there: at ordinary tolerances it was none, and bodies went through walls.
"""

from typing import Any

import pytest

from kinetree.models import load
from kinetree.solvers.integrate.kinds import FIXED, NAMES

BALL = {"mass": 1.0, "inertia": [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]}
E = 0.5


def crank(**wall: Any) -> dict[str, Any]:
    """A slider on a rod whose crank turns freely; a wall stands in the slider's way."""
    turn = {"child": "crank", "transforms": [{"rotate": "z", "coordinate": "phi", "speed": 2.0}]}
    slide = {"child": "slider", "transforms": [{"shift": "x", "coordinate": "x", "start": -0.2}]}
    rod = {
        "between": [{"body": "crank", "point": [0.3, 0.0, 0.0]}, {"body": "slider"}],
        "length": 0.5,
    }
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"crank": BALL, "slider": BALL},
        "joints": {"turn": turn, "slide": slide},
        "couplings": {"rod": rod},
        "contacts": {
            "wall": {"body": "slider", "at": [-0.5, 0.0, 0.0], "normal": "x", "restitution": E}
            | wall
        },
        "outputs": {"gap": "wall.gap"},
    }


WAYS = [
    (name, tolerance)
    for name in NAMES
    if name != "auto"
    for tolerance in ([1e-6] if name in FIXED else [1e-4, 1e-5, 1e-6])
]


@pytest.mark.parametrize(("integrator", "tolerance"), WAYS)
def test_loop_contacts_are_not_passed_through(integrator: str, tolerance: float):
    """One freedom: behind the blow the motion goes back through the same places, slower by e, and never comes to the wall again."""
    result = (
        load(crank())
        .compile()
        .simulate(3.0, output_step=0.1, integrator=integrator, tolerance=tolerance, step=2e-3)
    )
    blows = [event for event in result.events if "wall" in event.cause]
    assert [event.after[1] / event.before[1] for event in blows] == [pytest.approx(-E, rel=1e-9)]
    assert result["gap"].min() > -tolerance


@pytest.mark.parametrize("integrator", ["adams", "radau", "rk4"])
def test_slider_on_loop_stays_at_rest(integrator: str):
    """Plastic, and pressed on by gravity: the slider stands at the wall."""
    model = crank(restitution=0.0) | {"gravity": [-9.81, 0, 0]}
    result = (
        load(model)
        .compile()
        .simulate(3.0, output_step=0.1, integrator=integrator, tolerance=1e-5, step=2e-3)
    )
    assert result["x"][-1] == pytest.approx(-0.5, abs=1e-9) and result["gap"].min() > -1e-8
