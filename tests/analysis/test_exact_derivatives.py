"""The service for slopes: dual numbers against differences, corners, closed loops in motion."""

import numpy as np
import pytest
from system_slopes import compiled, slopes_of

from kinetree.models import load

pytestmark = compiled


@pytest.mark.parametrize(
    "name", ["regulator", "boom", "four-bar", "heavy-top", "chain6", "boom-drive", "carrier"]
)
def test_exact_derivatives_match_difference_quotients(name: str):
    """Rates of states and outputs too, quaternions in rotation vectors, closed loops in motion, where the tangent turns with the position.

    Differences of fourth order are good to about 1e-8 of the largest entry of their column.
    """
    system = load(f"lib:{name}").compile()
    rng = np.random.default_rng(3)
    q, u = system.start()
    q, u = q + 0.02 * rng.normal(size=q.size), u + 0.1 * rng.normal(size=u.size)
    for k in system.compiled.quaternions:
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    slopes = slopes_of(system, q, u)
    exact, near = slopes.matrix(), slopes.by_differences()
    assert slopes.exact and exact.shape == near.shape
    scale = np.maximum(np.abs(near).max(axis=0), 1e-6 * np.abs(near).max(initial=0.0))
    assert (np.abs(exact - near).max(axis=0) <= 3e-6 * scale + 1e-9).all()


def slider(law: str, **more):
    body = {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}
    joints = {k: {"child": k, "transforms": [{"shift": "x", "coordinate": f"x{k}"}]} for k in "ab"}
    return load(
        {
            "gravity": [0, 0, 0],
            "bodies": {"a": body, "b": body},
            "joints": joints,
            "forces": {"f": {"coordinate": "xa", "value": law}},
            **more,
        }
    )


@pytest.mark.parametrize(
    "law, right",
    [
        ("max(xa - 2*xb, 0) + min(xa - 2*xb, 0)", (1.0, -2.0)),
        ("max(0, xa - 2*xb) + min(xa - 2*xb, 0)", (1.0, -2.0)),
        ("max(xa, xb) + min(xb, xa)", (1.0, 1.0)),
        ("max(3*xb, 0) - max(-3*xb, 0)", (0.0, 3.0)),
        ("abs(xa) - max(xa, -xa)", (0.0, 0.0)),
        ("sqrt(xa**2 + xb**2)*xa", (0.0, 0.0)),
        ("atan2(xa*xa, xb*xb)*0", (0.0, 0.0)),
    ],
)
def test_derivatives_at_kinks_are_one_sided(law: str, right: tuple[float, float]):
    """At a tie max and min both took the slopes of their first argument: their sum, which is smooth, doubled. All of them lean to one side now.

    So a volume of oil at rest, whose rate is max(rate, 0) + fade min(rate, 0), was twice as stiff as it is.
    """
    system = slider(law).compile()
    found = slopes_of(system, np.zeros(2), np.zeros(2)).matrix()
    assert found[0, :2] == pytest.approx(right, abs=1e-12)


def test_frictional_contact_in_equilibrium_has_derivatives():
    """The root of a sum of squares at 0: 0/0 in the chain rule. Upwards the stiffness over the mass, sideways the friction's slope at rest.

    friction 2 N/friction_speed along the speed, N = m g, default friction_speed read back.
    """
    body = {"mass": 2.0, "inertia": [1, 1, 1, 0, 0, 0]}
    foot = {
        "kind": "contact",
        "body": "a",
        "point": [0, 0, -0.1],
        "stiffness": 1e4,
        "friction": 0.5,
        "friction_speed": 0.01,
    }
    system = load(
        {
            "bodies": {"a": body},
            "joints": {"J": {"child": "a", "type": "free"}},
            "forces": {"g": foot},
        }
    ).compile()
    q = np.array([0, 0, 0.1 - 2 * 9.81e-4, 1, 0, 0, 0.0])
    D = system.derivatives(0.0, q, np.zeros(6))
    assert all(np.isfinite(getattr(D, name)).all() for name in D._fields)
    assert D.q[2, 2] == pytest.approx(-1e4 / 2.0, rel=1e-9)
    assert D.u[0, 0] < 0.0


def test_infinite_derivative_falls_back_to_differences():
    """|x|^(1/2) at 0: no slope is finite, and the service says that it did not come from dual numbers."""
    slopes = slopes_of(slider("sqrt(abs(xa))").compile(), np.zeros(2), np.zeros(2))
    assert np.isfinite(slopes.matrix()).all() and not slopes.exact
