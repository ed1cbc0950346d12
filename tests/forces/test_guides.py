"""Guides, ropes, bushings, latches and gears against closed forms: beads on curves, hoists, matrices of large turns, what breaks, backlash."""

import numpy as np
import pytest
from random_forces import random_mechanism
from scipy.spatial.transform import Rotation

from kinetree.models import ModelError, load

G = 9.81
BEAD = {
    "format": "kinetree/1", "bodies": {"bead": {"mass": 0.5}},
    "outputs": {"E": {"quantity": "energy"}},
}  # fmt: skip


def bead(guide: dict, start: list[float], speed: list[float], **more) -> dict:
    """A bead that flies but for its guide."""
    axes = zip("xyz", start, speed, strict=True)
    steps = [
        {"shift": axis, "coordinate": axis, "start": place, "speed": v} for axis, place, v in axes
    ]
    law = {
        "kind": "guide",
        "between": [{"body": "ground"}, {"body": "bead"}],
        "stiffness": 2e5,
        **guide,
    }
    return (
        BEAD
        | {"joints": {"free": {"child": "bead", "transforms": steps}}, "forces": {"g": law}}
        | more
    )


def ring(n: int, radius: float) -> list[list[float]]:
    """Points on a circle that stands in the plane of x and z."""
    angles = np.linspace(0, 2 * np.pi, n, endpoint=False)
    return [[float(radius * np.sin(a)), 0.0, float(-radius * np.cos(a))] for a in angles]


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_bead_on_a_hoop_is_a_pendulum(way: float):
    """Once around a closed spline of 24 points of a circle, without friction: energy, and the speed of a pendulum that turns over, both ways round.

    The spline is within 3e-6 of the circle; the bead presses the guide in by its load over 2e5 N/m, below 0.2 mm."""
    v0 = way * 7.0
    result = (
        load(bead({"points": ring(24, 1.0), "closed": True}, [0, 0, -1], [v0, 0, 0]))
        .compile()
        .simulate(1.5, output_step=0.005, tolerance=1e-10)
    )
    assert result["E"] == pytest.approx(result["E"][0], abs=1e-6)
    assert np.hypot(result["x"], result["z"]) == pytest.approx(1.0, abs=3e-4)
    speed = np.sqrt(result["der(x)"] ** 2 + result["der(z)"] ** 2)
    assert speed == pytest.approx(np.sqrt(v0**2 - 2 * G * (result["z"] + 1.0)), rel=1e-3)
    angle = np.unwrap(np.arctan2(result["x"], -result["z"]))
    assert abs(angle[-1]) > 2 * np.pi  # it came past the joint of the closed curve


def test_a_bead_runs_down_a_helix_with_constant_pitch():
    """Along the helix g sin α is the only thing: s = g sin(α) t²/2, tan α = pitch/(2π radius)."""
    radius, pitch = 0.5, 0.8
    d = bead(
        {"helix": {"radius": radius, "pitch": pitch, "begin": -60.0, "end": 60.0}},
        [radius, 0, 0],
        [0, 0, 0],
    )
    result = load(d).compile().simulate(1.5, output_step=0.01, tolerance=1e-10)
    sine = pitch / np.hypot(pitch, 2 * np.pi * radius)
    assert result["z"][-1] == pytest.approx(-0.5 * G * sine**2 * 1.5**2, rel=1e-3)
    assert result["E"] == pytest.approx(result["E"][0], abs=1e-6)


def test_guide_friction_stops_bead_at_formula_distance():
    """On a straight guide without weight: v²/2 = friction a s, with a from a given push against the guide."""
    d = bead(
        {"points": [[-1, 0, 0], [9, 0, 0]], "friction": 0.3, "friction_speed": 1e-4},
        [0, 0, 0],
        [2.0, 0, 0],
        gravity=[0, 0, -5.0],
    )
    result = load(d).compile().simulate(3.0, output_step=0.05, tolerance=1e-9)
    assert result["x"][-1] == pytest.approx(4.0 / (2 * 0.3 * 5.0), rel=5e-3)


def test_guide_clearance_is_free_and_ends_release():
    """A bead falls through the clearance before it is carried, and leaves at the end of the curve."""
    d = bead(
        {"points": [[0, 0, 0], [1, 0, 0.1], [2, 0, 0]], "clearance": 0.02, "damping": 50.0},
        [0.5, 0, 0.07],
        [2.0, 0, 0],
    )
    d["outputs"] |= {
        "load": "force('g')",
        "s": "g.travel",
        "gap": {"quantity": "clearance", "force": "g"},
    }
    result = load(d).compile().simulate(1.2, output_step=0.002, tolerance=1e-9)
    assert result["load"][0] == 0.0 and result["gap"][0] == pytest.approx(0.02, abs=0.02)
    assert result["load"][result.time < 0.5].max() > 1.0
    gone = result["x"] > 2.05
    assert gone.any() and result["load"][gone].max() == 0.0
    assert np.diff(result["s"])[(result["x"] < 1.9)[1:]].min() > 0.0


@pytest.mark.parametrize("wound", [0.0, 0.5])
def test_hoist_over_a_sheave_matches_formula(wound: float):
    """A mass on a rope over a sheave to a drum: T is the weight at rest, the drum carries T r, the elongation is T/k."""
    d = {
        "format": "kinetree/1",
        "bodies": {"drum": {"mass": 5, "inertia": [1, 1, 1, 0, 0, 0]}, "load": {"mass": 100}},
        "joints": {
            "d": {"child": "drum", "at": [2, 0, 0], "transforms": [{"rotate": "y", "coordinate": "turn", "start": wound}]},
            "l": {"child": "load", "transforms": [{"shift": "z", "coordinate": "z", "start": -1.0}]},
        },
        "forces": {
            "rope": {
                "kind": "rope", "between": [{"body": "ground", "point": [2, 0, 0]}, {"body": "load"}],
                "over": [{"body": "ground", "point": [0, 0, 3]}],
                "length": float(np.hypot(2, 3) + 4.0), "stiffness": 5e4, "damping": 2e3, "drum": {"coordinate": "turn", "radius": 0.3},
            },
            "motor": {"coordinate": "turn", "stiffness": 1e6, "damping": 1e4, "length": wound},
        },
        "outputs": {"T": "force('rope')", "motor": "force('motor')", "e": "rope.elongation"},
    }  # fmt: skip
    rest = load(d).compile().equilibrium()
    values = rest.coordinates | rest.outputs
    assert values["T"] == pytest.approx(100 * G, rel=1e-9) and values["motor"] == pytest.approx(
        100 * G * 0.3, rel=1e-9
    )
    assert values["e"] == pytest.approx(100 * G / 5e4, rel=1e-9)
    assert values["z"] == pytest.approx(-1.0 + 0.3 * values["turn"] - 100 * G / 5e4, abs=1e-9)


def test_a_rope_over_two_sheaves_of_a_block_halves_the_load():
    """A moving block: the rope goes down to it, over its sheave and up again, so that each part carries half the weight."""
    d = {
        "format": "kinetree/1", "bodies": {"block": {"mass": 40}},
        "joints": {"l": {"child": "block", "transforms": [{"shift": "z", "coordinate": "z", "start": -2.0}, {"shift": "x", "coordinate": "x"}]}},
        "forces": {
            "rope": {
                "kind": "rope", "between": [{"body": "ground", "point": [-0.1, 0, 0]}, {"body": "ground", "point": [0.1, 0, 0]}],
                "over": [{"body": "block"}], "length": 4.0, "stiffness": 1e5,
            },
        },
        "outputs": {"T": "force('rope')"},
    }  # fmt: skip
    d["forces"]["rope"]["between"][1] = {"body": "block", "point": [0.2, 0, 0]}
    d["forces"]["rope"]["over"] = [
        {"body": "block", "point": [-0.1, 0, 0]},
        {"body": "ground", "point": [0.2, 0, 0]},
    ]
    rest = load(d).compile().equilibrium()
    x, z = rest.coordinates["x"], rest.coordinates["z"]
    ways = np.array([[-0.1 + x + 0.1, z], [0.2 - (x - 0.1), -z], [x + 0.2 - 0.2, z]])
    units = ways / np.linalg.norm(ways, axis=1)[:, None]
    pull = -units[0] + units[1] - units[2]
    assert rest.outputs["T"] * pull == pytest.approx([0.0, 40 * G], abs=1e-6)


def test_bushing_force_is_derivative_of_its_energy():
    """Large turns, a full matrix, skew axes: the generalised forces at rest are minus the slopes of z'Kz/2, z from scipy's rotation vectors."""
    rng = np.random.default_rng(4)
    root = rng.normal(size=(6, 6))
    K = root @ root.T + np.diag([50, 50, 50, 20, 20, 20])
    angles, turned = rng.normal(size=3), 0.4 * rng.normal(size=3)
    law = {
        "kind": "bushing", "between": [{"body": "a", "point": [0.1, 0.2, -0.1]}, {"body": "b", "point": [-0.2, 0.1, 0.3]}],
        "stiffness": K.tolist(), "rotate": angles.tolist(), "turned": turned.tolist(),
    }  # fmt: skip
    ball = {"mass": 1.0, "inertia": [0.1, 0.2, 0.15, 0, 0, 0]}
    turns = [
        [{"rotate": axis, "coordinate": f"{axis}{k}"} for axis in "xyz"]
        + [{"shift": "x", "coordinate": f"s{k}"}]
        for k in (1, 2)
    ]
    d = {
        "format": "kinetree/1", "gravity": [0, 0, 0], "bodies": {"a": ball, "b": ball},
        "joints": {name: {"child": name, "transforms": steps} for name, steps in zip("ab", turns, strict=True)},
        "forces": {"f": law}, "outputs": {"U": {"quantity": "stored_energy", "force": "f"}},
    }  # fmt: skip
    system = load(d).compile()

    def energy(q: np.ndarray) -> float:
        A, B = (Rotation.from_euler("XYZ", q[k : k + 3]) for k in (0, 4))
        S = A * Rotation.from_euler("XYZ", angles)
        place = B.apply([-0.2 + q[7], 0.1, 0.3]) - A.apply([0.1 + q[3], 0.2, -0.1])
        shift = S.inv().apply(place)
        neutral = A * Rotation.from_rotvec(turned)
        turn = S.inv().apply((B * neutral.inv()).as_rotvec())
        z = np.concatenate([shift, turn])
        return 0.5 * z @ K @ z

    for _ in range(4):
        q = rng.uniform(-1.0, 1.0, 8)
        u = np.zeros(8)
        assert system.outputs(0.0, q, u)["U"] == pytest.approx(energy(q), rel=1e-9)
        M, found = system.mass_matrix(0.0, q), system.accelerations(0.0, q, u)
        slopes = [(energy(q + 1e-6 * e) - energy(q - 1e-6 * e)) / 2e-6 for e in np.eye(8)]
        assert M @ found == pytest.approx(-np.array(slopes), rel=1e-6, abs=1e-5)


def test_bushing_damps_spherical_joint():
    """Turning about one axis it is a rotational damper: exponential decay; so any joint may be damped."""
    d = {
        "format": "kinetree/1", "gravity": [0, 0, 0], "bodies": {"a": {"mass": 1, "inertia": [0.5, 0.5, 0.5, 0, 0, 0]}},
        "joints": {"j": {"child": "a", "type": "spherical", "speed": [0.0, 0.0, 2.0]}},
        "forces": {"f": {"kind": "bushing", "between": [{"body": "ground"}, {"body": "a"}], "damping": [0, 0, 0, 0.3, 0.3, 0.3]}},
        "outputs": {"w": {"quantity": "angular_velocity", "body": "a", "axis": "z"}},
    }  # fmt: skip
    result = load(d).compile().simulate(2.0, output_step=0.1, tolerance=1e-10)
    assert result["w"] == pytest.approx(2.0 * np.exp(-0.3 / 0.5 * result.time), rel=1e-7)


def test_latch_opens_at_strength_and_stays_open():
    """Pulled ever harder it holds up to 50 N, opens, and does not hold when the mass comes back."""
    d = {
        "format": "kinetree/1", "gravity": [0, 0, 0], "bodies": {"b": {"mass": 2.0}},
        "joints": {"j": {"child": "b", "transforms": [{"shift": "x", "coordinate": "x", "start": 1.0}]}},
        "forces": {
            "hold": {
                "kind": "latch", "between": [{"body": "ground"}, {"body": "b"}], "stiffness": 1e4, "damping": 100.0, "length": 1.0, "strength": 50.0,
            },
            "pull": {"coordinate": "x", "value": "10*t"}, "back": {"coordinate": "x", "value": "if(t > 6, -200, 0)"},
        },
        "outputs": {"F": "force('hold')", "open": "hold.open", "lost": {"quantity": "dissipated_energy", "force": "hold"}},
    }  # fmt: skip
    result = load(d).compile().simulate(7.0, output_step=0.01, tolerance=1e-9)
    going = result.time[np.flatnonzero(result["open"] > 0.5)[0]]
    assert going == pytest.approx(5.0, abs=0.03) and np.abs(result["F"]).max() == pytest.approx(
        50.0, rel=0.01
    )
    after = result.time > going + 0.05
    assert (
        result["open"][after] == pytest.approx(1.0, abs=1e-9)
        and np.abs(result["F"][after]).max() < 1e-9
    )
    assert (
        result["lost"][-1] == pytest.approx(50.0**2 / 2e4, rel=0.05)
        and np.abs(result["energy_residual"]).max() < 1e-6
    )


@pytest.mark.parametrize("ratio", [2.0, -3.0])
def test_gear_contact_keeps_ratio(ratio: float):
    """Two discs in mesh, driven at one: together they accelerate as their reflected inertia says, on average over the ringing of the teeth."""
    disc = {"mass": 1.0, "inertia": [1, 1, 0.2, 0, 0, 0]}
    d = {
        "format": "kinetree/1", "gravity": [0, 0, 0], "bodies": {"a": disc, "b": disc | {"inertia": [1, 1, 0.8, 0, 0, 0]}},
        "joints": {
            name: {"child": name, "transforms": [{"rotate": "z", "coordinate": angle}]} for name, angle in (("a", "p"), ("b", "r"))
        },
        "forces": {"g": {"coordinate": "p", "other": "r", "ratio": ratio, "stiffness": 1e5, "damping": 80.0}, "m": {"coordinate": "p", "value": 4.0}},
        "outputs": {"tooth": "force('g')", "mesh": "g.mesh"},
    }  # fmt: skip
    result = load(d).compile().simulate(2.0, output_step=0.1, tolerance=1e-10)
    expected = 4.0 / (0.2 + 0.8 / ratio**2)
    assert result["der(p)"][-1] == pytest.approx(expected * 2.0, rel=1e-4)
    assert result["der(r)"][-1] == pytest.approx(-result["der(p)"][-1] / ratio, rel=1e-6)
    assert result["mesh"][-1] == pytest.approx(-result["tooth"][-1] / 1e5, rel=1e-6)


def test_gear_backlash_is_crossed_without_force():
    """The driven wheel stands until the play is gone: half of it from the middle."""
    disc = {"mass": 1.0, "inertia": [1, 1, 0.2, 0, 0, 0]}
    d = {
        "format": "kinetree/1", "gravity": [0, 0, 0], "bodies": {"a": disc, "b": disc},
        "joints": {
            "a": {"child": "a", "transforms": [{"rotate": "z", "coordinate": "p", "speed": 1.0}]},
            "b": {"child": "b", "transforms": [{"rotate": "z", "coordinate": "r"}]},
        },
        "forces": {"g": {"coordinate": "p", "other": "r", "ratio": 1.0, "stiffness": 1e4, "backlash": 0.1}},
    }  # fmt: skip
    result = load(d).compile().simulate(0.12, output_step=0.001, tolerance=1e-10)
    begun = result.time[np.flatnonzero(np.abs(result["der(r)"]) > 1e-9)[0]]
    assert begun == pytest.approx(0.05, abs=0.002)
    assert result["der(r)"][-1] == pytest.approx(-1.0, rel=1e-6)  # a central impact of equal discs


@pytest.mark.parametrize(
    "kind, change, wanted",
    [
        ("guide", {"helix": {"radius": 1.0, "pitch": 0.5, "end": 9.0}}, "points"), ("guide", {"points": [[0, 0, 0]]}, "points"),
        ("guide", {"points": [[0, 0, 0], [0, 0, 0], [1, 0, 0]]}, "same point"), ("bushing", {"stiffness": [1, 1, 1, 1, 1, -1]}, "negative"),
        ("bushing", {"stiffness": (np.eye(6) + np.eye(6, k=1)).tolist()}, "symmetric"), ("latch", {"stiffness": 0.0}, "stiffness"),
        ("gear", {"other": "nothing"}, "nothing"), ("rope", {"over": [{"body": "nobody"}]}, "nobody"),
    ],
)  # fmt: skip
def test_guide_description_mistakes_are_named(kind: str, change: dict, wanted: str):
    d = random_mechanism(kind, 1)
    with pytest.raises(ModelError, match=wanted):
        load(d | {"forces": {"f": d["forces"]["f"] | change}})
