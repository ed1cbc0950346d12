"""Contacts of convex polygons: a cam and a Geneva drive in closed form, colliding and resting plates, the same motion in FMUs of all kinds."""

from pathlib import Path

import numpy as np
import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.scripts.fmi.verify import verify

PLATE = [[-0.3, -0.2], [0.35, -0.25], [0.3, 0.3], [-0.2, 0.25]]
KITE = [[0.0, 0.4], [0.3, 0.1], [0.2, -0.3], [-0.2, -0.3], [-0.3, 0.1]]  # clockwise
SQUARE = [[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]]


def plates(first: dict, second: dict, **law) -> dict:
    """Two bodies that move in a plane without weight and meet."""
    body = {"mass": 2.0, "inertia": [0.1, 0.2, 0.25, 0, 0, 0]}
    joints = {
        "ja": {"child": "a", "type": "planar", "start": [0.9, 0.1, 0], "speed": [-1.5, 0, 0.6]},
        "jb": {"child": "b", "type": "planar", "speed": [0.2, 0, -0.4]},
    }
    force = {"body": "a", "shape": first, "against": {"body": "b", **second}, "stiffness": 2e3}
    return {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"a": body, "b": body},
        "joints": joints,
        "forces": {"hit": force | law},
        "outputs": {
            "depth": "hit.penetration",
            "energy": {"quantity": "energy"},
            "spin": {"quantity": "angular_momentum", "axis": "z"},
        },
        "run": {"stop_time": 0.8, "output_step": 0.01, "tolerances": 1e-9},
    }


@pytest.mark.parametrize("first", [{"sphere": 0.1}, {"polygon": PLATE}], ids=["circle", "plate"])
def test_elastic_collision_keeps_energy_and_momenta(first: dict):
    result = load(plates(first, {"polygon": KITE})).compile().simulate(largest_step=0.01)
    assert result["depth"].max() > 0.02 and result["depth"][-1] < 0.0
    assert result["energy"] == pytest.approx(np.full(81, result["energy"][0]), rel=1e-6)
    assert result["spin"] == pytest.approx(np.full(81, result["spin"][0]), abs=1e-9)
    assert result["der(ja.x)"] + result["der(jb.x)"] == pytest.approx(np.full(81, -1.3), abs=1e-9)


def test_corner_order_of_polygons_does_not_matter():
    systems = [
        load(plates({"polygon": PLATE[::one]}, {"polygon": KITE[::other]})).compile()
        for one, other in ((1, 1), (-1, 1), (1, -1))
    ]
    q = np.array([0.5, 0.1, 0.2, 0.0, 0.0, -0.1])
    found = [system.accelerations(0.0, q, np.zeros(6)) for system in systems]
    assert np.abs(found[0]).max() > 1.0
    assert found[1] == pytest.approx(found[0], abs=1e-9)
    assert found[2] == pytest.approx(found[0], abs=1e-9)


def test_polygon_penetration_matches_corner_depth():
    """At random places: the deepest corner of either below the edges of the other one, by brute force."""
    system = load(plates({"polygon": PLATE}, {"polygon": KITE})).compile()
    rng = np.random.default_rng(3)
    plain = [np.array(PLATE), np.array(KITE)[::-1]]
    inside = 0
    for _ in range(60):
        q = rng.uniform(-0.6, 0.6, 6)
        placed = []
        for points, (x, y, angle) in zip(plain, (q[:3], q[3:]), strict=True):
            c, s = np.cos(angle), np.sin(angle)
            placed.append(points @ np.array([[c, s], [-s, c]]) + [x, y])
        deepest = []
        for one, other in (placed, placed[::-1]):
            side = np.roll(other, -1, axis=0) - other
            out = np.stack([side[:, 1], -side[:, 0]], axis=1) / np.hypot(*side.T)[:, None]
            heights = np.einsum("kij,ij->ki", one[:, None] - other[None], out)
            deepest.append((-heights.max(axis=1)).max())
        inside += max(deepest) > 0.0
        found = system.outputs(0.0, q, np.zeros(6))["depth"]
        assert found == pytest.approx(max(deepest), abs=1e-12)
    assert 10 < inside < 55


def test_lanes_and_exact_slopes_agree_in_contact():
    """Accelerations of many states, and exact slopes against central differences."""
    law = {"damping": 3.0, "friction": 0.3}
    system = load(plates({"polygon": PLATE}, {"polygon": KITE}, **law)).compile()
    rng = np.random.default_rng(2)
    q, u = rng.uniform(-0.5, 0.5, (32, 6)), rng.normal(size=(32, 6))
    single = np.array([system.accelerations(0.0, *state) for state in zip(q, u, strict=True)])
    assert (np.abs(single).max(axis=1) > 1.0).sum() > 10
    assert system.accelerations_many(0.0, q, u) == pytest.approx(single, abs=1e-9)
    h = 1e-6
    for k in range(6):
        ends = [
            [system.accelerations(0.0, q[k] + way * h * each, u[k]) for each in np.eye(6)]
            for way in (1.0, -1.0)
        ]
        slopes = (np.array(ends[0]) - np.array(ends[1])).T / (2.0 * h)
        found = system.derivatives(0.0, q[k], u[k])[0]
        assert found == pytest.approx(slopes, abs=1e-9 * np.abs(slopes).max() + 1e-5)


def test_polygon_contacts_persist_through_stages():
    """A plate that rests on a step falls on when the step leaves."""
    wide = [[-1.0, -0.5], [1.0, -0.5], [1.0, 0.0], [-1.0, 0.0]]
    description = plates({"polygon": SQUARE}, {"polygon": wide}, stiffness=1e4, damping=300)
    description |= {"gravity": [0, -9.81, 0], "stages": [
        {"name": "on the step", "ends": {"at": 0.5}, "drop": ["b"]},
        {"name": "falls"},
    ]}  # fmt: skip
    description["joints"] = {
        "ja": {"child": "a", "type": "planar", "start": [0, 0.1, 0]},
        "jb": {"child": "b", "transforms": [{"shift": "y", "coordinate": "h"}]},
    }
    description["forces"]["foot"] = {"coordinate": "h", "stiffness": 1e6, "damping": 1e3}
    del description["outputs"]
    result = load(description).compile().simulate(0.8, output_step=0.1)
    assert result["ja.y"][4] == pytest.approx(0.1, abs=5e-3)
    fall = result["ja.y"][-1] - result["ja.y"][5]
    assert fall == pytest.approx(-0.5 * 9.81 * 0.3**2, abs=0.02)


def test_polygon_plate_rests_on_corners_of_both_bodies():
    """A square on a wider one: two corners bear half the weight each, m g/(2 k) below the edge."""
    wide = [[-1.0, -0.5], [1.0, -0.5], [1.0, 0.0], [-1.0, 0.0]]
    description = plates(
        {"polygon": SQUARE}, {"polygon": wide}, stiffness=1e4, damping=300, friction=0.5
    )
    description |= {"gravity": [0, -9.81, 0]}
    description["forces"]["hit"]["against"]["body"] = "ground"
    description["joints"] = {"ja": {"child": "a", "type": "planar", "start": [0, 0.11, 0.05]}}
    del description["bodies"]["b"]
    result = load(description).compile().simulate(1.5, output_step=0.1)
    assert result["ja.y"][-1] == pytest.approx(0.1 - 2.0 * 9.81 / 2e4, abs=1e-6)
    assert result["ja.angle"][-1] == pytest.approx(0.0, abs=1e-5)


def test_polygon_contact_ends_at_plate_thickness():
    """A ball over the face of a polygon with a thickness rests on it; without, the prism is endless."""
    description = plates({"sphere": 0.1}, {"polygon": KITE, "thickness": 0.2})
    description["joints"]["ja"] = {"child": "a", "type": "free", "start": [0, 0, 0.19, 1, 0, 0, 0]}
    depths = []
    for thickness in (0.2, None):
        against = {"body": "b", "polygon": KITE} | ({"thickness": 0.2} if thickness else {})
        description["forces"]["hit"]["against"] = against
        system = load(description).compile()
        q, u = system.start()
        depths.append(system.outputs(0.0, q, u)["depth"])
    # The nearest edge of the kite is 0.26 m to 0.3 m away.
    assert depths[0] == pytest.approx(0.01, abs=1e-12) and depths[1] > 0.3


def cam(corners: int = 60) -> dict:
    """An eccentric round cam as a polygon, and a roller on a spring that follows it."""
    e, big, roll = 0.01, 0.04, 0.01
    angles = 2.0 * np.pi * np.arange(corners) / corners
    outline = [[float(e + big * np.cos(a)), float(big * np.sin(a))] for a in angles]
    lift = [{"shift": "y", "coordinate": "y", "start": float(np.sqrt((big + roll) ** 2 - e**2))}]
    return {
        "format": "kinetree/1",
        "name": "Cam and roller",
        "gravity": [0, -9.81, 0],
        "bodies": {"cam": {"mass": 1.0, "inertia": [1e-3] * 3 + [0] * 3}, "roller": {"mass": 0.2}},
        "joints": {
            "turn": {"child": "cam", "transforms": [{"rotate": "z", "by": "3*t"}]},
            "guide": {"child": "roller", "transforms": lift},
        },
        "forces": {
            "spring": {"coordinate": "y", "stiffness": 500.0, "damping": 5.0},
            "touch": {
                "kind": "contact",
                "body": "roller",
                "shape": {"sphere": roll},
                "against": {"body": "cam", "polygon": outline},
                "stiffness": 1e6,
                "dissipation": 1.0,
            },
        },
        "run": {"stop_time": 2.1, "output_step": 0.02, "tolerances": 1e-6},
    }


def test_roller_follows_an_eccentric_cam():
    """y = e sin + sqrt((R + r)² - e² cos²): to the sag of the edges, R (1 - cos(pi/60)), and the roller's sinking."""
    result = load(cam()).compile().simulate()
    turned = 3.0 * result.time
    exact = 0.01 * np.sin(turned) + np.sqrt(0.05**2 - (0.01 * np.cos(turned)) ** 2)
    assert np.abs(result["y"] - exact).max() < 0.04 * (1 - np.cos(np.pi / 60)) + 1e-4


def geneva(angle: np.ndarray, slots: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the pin is well inside a slot: whether, and the wheel's angle."""
    near = (angle + np.pi) % (2.0 * np.pi) - np.pi
    turns = np.round((angle - near) / (2.0 * np.pi))
    crank = np.sin(np.pi / slots)
    within = np.arctan2(crank * np.sin(near), 1.0 - crank * np.cos(near))
    return np.abs(near) < 0.44 * np.pi - np.pi / slots, -within - (2 * turns + 1) * np.pi / slots


@pytest.mark.parametrize("slots", [4, pytest.param(6, marks=pytest.mark.slow)])
def test_geneva_drive_matches_closed_form(slots: int):
    """In the slot within play and yielding of the contacts, 0.2 mm at the mouth; between slots the wheel is held to the step."""
    result = load("lib:geneva", slots=slots).compile().simulate(stop_time=1.25)
    engaged, exact = geneva(result["theta"], slots)
    assert engaged.sum() > 40
    assert np.abs(result["phi"] - exact)[engaged].max() < np.radians(0.6)
    assert (-result["ratio"]).max() == pytest.approx(
        np.sin(np.pi / slots) / (1 - np.sin(np.pi / slots)), rel=0.03
    )
    held = (result["theta"] > np.pi) & (result["theta"] < 1.4 * np.pi)
    assert np.abs(result["phi"][held] + 2.0 * np.pi / slots).max() < np.radians(1.0)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["native", "python", "source"])
def test_polygon_contact_fmus_match_run(backend: str, tmp_path: Path):
    """By co-simulation and model exchange, where the archive has it: plates that collide, a roller on a cam."""
    soft = cam(12) | {"run": {"stop_time": 0.5, "output_step": 0.005, "tolerances": 1e-6}}
    soft["forces"]["touch"] |= {"stiffness": 3e4, "dissipation": 0.1}
    for k, description in enumerate((plates({"polygon": PLATE}, {"polygon": KITE}), soft)):
        report = verify(build_fmu(load(description), tmp_path / f"unit{k}.fmu", backend))
        assert report.good, [check for check in report.checks if not check.good]
