"""A box on a table that a given motion moves: where the acceleration of the table jumps what holds the box jumps with it, and it stays or slips."""

from typing import Any

import pytest
from contacts import G, system

INTEGRATORS = ("adams", "radau", "rk45", "tsit5", "verner65")


def carried(corner: float, before: float, after: float) -> dict[str, Any]:
    """The table has one acceleration up to a corner and another one from there on; friction of 0.3 carries the box with up to 0.3 g."""
    free = [{"shift": axis, "coordinate": axis} for axis in "xyz"]
    table = [
        {"shift": "x", "by": f"{before / 2}*t*t + {(after - before) / 2}*max(t - {corner}, 0)**2"}
    ]
    return {
        "bodies": {"table": {"mass": 1.0}, "box": {"mass": 2.0, "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {
            "drive": {"child": "table", "transforms": table},
            "move": {"child": "box", "transforms": free},
        },
        "contacts": {"floor": {"body": "box", "on": "table", "friction": 0.3}},
        "outputs": {"state": "floor.state", "drag": "floor.friction"},
    }


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("before, after", [(2.94, 2.5), (2.94, -2.5), (2.9, 0.0)])
@pytest.mark.parametrize("corner", [0.29, 0.3])
def test_resting_contact_survives_acceleration_corner(
    corner: float, before: float, after: float, integrator: str
):
    """Its margin jumps between two neighbouring numbers: halving the interval for what happens on the way has to end there."""
    found = system(carried(corner, before, after)).simulate(
        1.0, output_step=0.25, integrator=integrator
    )
    expected = before / 2 + (after - before) / 2 * (1 - corner) ** 2
    assert (
        not found.events
        and found["x"][-1] == pytest.approx(expected, abs=1e-9)
        and set(found["state"]) == {1.0}
    )
    assert found["drag"][[0, -1]] == pytest.approx([2.0 * abs(before), 2.0 * abs(after)], abs=1e-6)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("before, after", [(2.5, 3.2), (2.94, -3.3), (0.0, 3.5), (2.942, 2.944)])
@pytest.mark.parametrize("corner", [0.29, 0.3])
def test_contact_slips_from_corner_when_friction_is_exceeded(
    corner: float, before: float, after: float, integrator: str
):
    """The box goes on from the speed at the corner with 0.3 g."""
    found = system(carried(corner, before, after)).simulate(
        1.0, output_step=0.25, integrator=integrator
    )
    left, drag = 1 - corner, (0.3 if after > 0 else -0.3) * G
    expected = before * corner**2 / 2 + before * corner * left + drag * left**2 / 2
    assert [event.time for event in found.events] == [pytest.approx(corner, abs=1e-9)] and found[
        "state"
    ][-1] == 2.0
    assert found["x"][-1] == pytest.approx(expected, abs=1e-9)
