"""Terrain: heights over the place of a contact have the normal of their own gradient, do no work by themselves, and have slopes at rest."""

import numpy as np
import pytest

from kinetree.models import ModelError, load

G, SLOPE = 9.81, 0.3


def slider(
    height: str | float = 0.0, start=(0.0, 0.0), speed=(0.0, 0.0), force: dict | None = None, **more
) -> dict:
    """A mass that moves along x and z over a ground without friction or damping."""
    shifts = [
        {"shift": a, "coordinate": a, "start": s, "speed": v}
        for a, s, v in zip("xz", start, speed, strict=True)
    ]
    contact = {"kind": "contact", "body": "m", "stiffness": 1e5, "height": height} | (force or {})
    return {
        "format": "kinetree/1",
        "bodies": {"m": {"mass": 2.0}},
        "joints": {"j": {"child": "m", "transforms": shifts}},
        "forces": {"c": contact},
        "outputs": {
            "E": {"quantity": "energy"},
            **{f"f{k}": {"quantity": "force", "force": "c", "axis": k} for k in "xz"},
        },
    } | more


def run(d: dict, stop=1.0):
    return load(d).compile().simulate(stop_time=stop, output_step=0.01, tolerance=1e-10)


HILLS = [
    "0.3*ground.x",
    "0.2*sin(3*ground.x)",
    "0.1*ground.x**2 - 0.05*ground.x",
    'table("hill", ground.x)',
]
TABLE = {
    "hill": {
        "x": [-3, -1, 0, 1, 3, 6],
        "y": [0.3, 0.1, 0, 0.2, 0.1, 0.6],
        "method": "cubic",
        "outside": "extrapolated",
    }
}


@pytest.mark.parametrize("height", HILLS)
def test_elastic_terrain_conserves_energy(height):
    """Without friction and damping the energy of a mass that slides and hops over hills stays: the spring law is the potential."""
    r = run(slider(height, (0.1, 0.3), (2.0, 0.0), tables=TABLE), 2.0)
    assert np.ptp(r["E"]) < 2e-7 * np.abs(r["E"]).max() + 1e-6
    assert r["fz"].max() > 2.0 * G, "never touches"


def test_slope_given_by_height_equals_slope_given_by_normal():
    """z = 0.3 x as a height over the place, and as a plane whose normal is (-0.3, 0, 1): the same depth, load and motion, friction too."""
    law = {"damping": 40.0, "friction": 0.2, "friction_speed": 1e-2}
    tilted = run(slider(0.0, (1.0, SLOPE), (0.5, 0.0), law | {"normal": [-SLOPE, 0, 1]}))
    terrain = run(slider(f"{SLOPE}*ground.x", (1.0, SLOPE), (0.5, 0.0), law))
    for name in ("x", "z", "fx", "fz"):
        assert terrain[name] == pytest.approx(
            tilted[name], abs=1e-6 * np.abs(tilted[name]).max()
        ), name


def test_sliding_down_a_slope_matches_formula():
    """A mass at rest in its depth slides with g sin(a) along the slope."""
    a = np.arctan(SLOPE)
    depth = 2.0 * G * np.cos(a) / 1e5
    r = run(slider(f"{SLOPE}*ground.x", (-depth * -np.sin(a), -depth * np.cos(a))))
    assert np.hypot(r["x"] - r["x"][0], r["z"] - r["z"][0])[-1] == pytest.approx(
        0.5 * G * np.sin(a), rel=1e-6
    )


@pytest.mark.parametrize("kind", ["contact", "tyre", "jack"])
def test_terrain_load_is_gradient_of_its_potential(kind):
    """Force on a point over a hill = -dU/dr by central differences of the stored energy (error h² U'''/6), in three dimensions, for every contact."""
    force = {
        "kind": kind,
        "body": "m",
        "stiffness": 1e4,
        "exponent": 1.5,
        "height": "0.2*sin(ground.x) + 0.1*ground.x*ground.y + 0.05*ground.z",
    }
    force |= {"contact": {"radius": 0.2}, "tyre": {"radius": 0.3}, "jack": {"extension": 0.1}}[kind]
    outputs = {f"f{k}": {"quantity": "force", "force": "c", "axis": k} for k in "xyz"} | {
        "U": {"quantity": "stored_energy", "force": "c"}
    }
    shifts = [{"shift": a, "coordinate": a} for a in "xyz"]
    d = {
        "format": "kinetree/1",
        "bodies": {"m": {"mass": 2.0}},
        "joints": {"j": {"child": "m", "transforms": shifts}},
    }
    system, h = load(d | {"forces": {"c": force}, "outputs": outputs}).compile(), 1e-5
    for q in np.array([[0.3, 0.2, 0.05], [-1.0, 0.5, -0.3], [2.0, -0.4, 0.05]]):
        told = system.outputs(0.0, q, np.zeros(3))
        slope = [
            (
                system.outputs(0.0, q + e, np.zeros(3))["U"]
                - system.outputs(0.0, q - e, np.zeros(3))["U"]
            )
            / (2 * h)
            for e in h * np.eye(3)
        ]
        assert told["U"] > 0, "never touches"
        assert [told[f"f{k}"] for k in "xyz"] == pytest.approx(
            [-s for s in slope], rel=1e-6, abs=1e-4
        )


def test_moving_ground_lifts_body():
    """Height over t and a first-order state: the mass rides on it, and the damper knows the rate of both."""
    d = slider(
        "0.1*t + s",
        (0.0, -2.0 * G / 1e5),
        (0.0, 0.3),
        {"damping": 1e3},
        states={"s": {"rate": "0.2"}},
    )
    r = run(d, 0.5)
    assert r["z"] == pytest.approx(0.3 * r.time - 2.0 * G / 1e5, abs=1e-9)


@pytest.mark.parametrize(
    "height, said",
    [
        ("0.2*x", "a coordinate"),
        ("der(z)", "a speed"),
        ("E", "an output"),
        ("ground.w", "unknown name"),
    ],
)
def test_moving_terrain_is_refused(height, said):
    """A height over coordinates would carry the load without its reaction on them."""
    with pytest.raises(ModelError, match=said):
        load(slider(height))


def test_terrain_position_is_limited_to_heights():
    with pytest.raises(ModelError, match="unknown name 'ground.x'"):
        load(slider(outputs={"o": {"value": "ground.x"}}))
    with pytest.raises(ModelError, match="is the place of a contact"):
        load(slider(parameters={"ground.x": 1.0}))


def test_terrain_force_derivatives_are_finite_at_rest():
    """Friction at rest, a vector of length 0, a root at 0: the exact slopes are those of differences, or 0 where there is a corner."""
    free = {"child": "m", "type": "free", "start": [0, 0, 0.1 - 9.81e-4, 1, 0, 0, 0]}
    contact = {
        "body": "m",
        "point": [0, 0, -0.1],
        "stiffness": 1e4,
        "friction": 0.5,
        "height": "0.1*ground.x**2",
    }
    pull = {
        "kind": "wrench",
        "body": "m",
        "force": ["-sqrt(J.x**2 + J.y**2)", "-J.vx*sqrt(J.vx**2)", 0],
    }
    d = {
        "format": "kinetree/1",
        "bodies": {"m": {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {"J": free},
        "forces": {"g": contact, "p": pull},
    }
    found = load(d).compile().derivatives(0.0, np.array(free["start"], dtype=float), np.zeros(6))
    for key in ("q", "u", "tau"):
        assert np.isfinite(getattr(found, key)).all(), key
    assert found.u[0, 0] == pytest.approx(
        -2 * 0.5 * 9.81 / 1e-3, rel=1e-9
    )  # full friction over friction_speed, s (2 - s) at 0
