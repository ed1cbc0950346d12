"""Joints of closed loops that lock or let go: whichever joint is cut, before and after, inner impulses leave the moment of momentum as it was."""

from itertools import permutations

import pytest

from kinetree.models import load

PIVOT = [0.5, 0.2, 0.1]


def two_balls(order: tuple[str, ...], change: dict) -> dict:
    """A body on a ball joint to the ground and a second one on two ball joints to the first: it can turn about the line between them."""
    joints = {
        "foot": {"child": "a", "type": "spherical", "at": PIVOT, "speed": [0.3, 0.7, -0.4]},
        "left": {
            "parent": "a",
            "child": "b",
            "type": "spherical",
            "at": [0.2, 0.1, 0.0],
            "speed": [0.5, 0.0, 0.0],
        },
        "right": {
            "parent": "a",
            "child": "b",
            "type": "spherical",
            "at": [0.7, 0.1, 0.0],
            "child_at": [0.5, 0.0, 0.0],
        },
    }
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {
            "a": {
                "mass": 2.0,
                "com": [0.1, 0.2, 0.0],
                "inertia": [0.2, 0.3, 0.4, 0.01, 0.02, 0.03],
            },
            "b": {"mass": 1.0, "com": [0.2, 0.1, 0.3], "inertia": [0.1, 0.15, 0.12, 0, 0, 0]},
        },
        "joints": {name: joints[name] for name in order},
        "outputs": {
            "L": {"quantity": "angular_momentum", "point": PIVOT},
            "E": {"quantity": "kinetic_energy"},
        },
        "stages": [{"ends": {"at": 0.2}, **change}, {}],
    }


@pytest.mark.parametrize("order", list(permutations(("foot", "left", "right"))))
@pytest.mark.parametrize(
    "change",
    [{"lock": ["left"]}, {"lock": ["right"]}, {"free": ["left"]}, {"free": ["right"]}],
    ids=str,
)
def test_locks_inside_a_loop_conserve_angular_momentum(order, change):
    """A joint that locks may be cut no longer and another one in its place: the new half of the body that this cuts had no momentum.

    A joint that lets go takes nothing; a lock is plastic: the least change of the speeds, so that the energy after it does not depend on the cut.
    """
    result = (
        load(two_balls(order, change))
        .compile()
        .simulate(stop_time=0.3, output_step=0.1, tolerance=1e-11)
    )
    (there,) = result.stage_changes
    L = [f"L[{k}]" for k in (1, 2, 3)]
    # integration: the tolerance, over a few steps
    assert result.picked(there.after, L) == pytest.approx(result.picked(there.before, L), abs=1e-9)
    first = (
        load(two_balls(("foot", "left", "right"), change))
        .compile()
        .simulate(stop_time=0.3, output_step=0.1, tolerance=1e-11)
    )
    assert result["E"][-1] == pytest.approx(first["E"][-1], rel=1e-9)
    before, after = (result.picked(row, ["E"])[0] for row in (there.before, there.after))
    assert after == pytest.approx(before, rel=1e-9) if "free" in change else after < before - 1e-6
