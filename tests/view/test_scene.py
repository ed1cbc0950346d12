"""What scenes hold: bodies where the equations have them, links as long as they are, outlines cut into as much area as they have."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinetree.models import ModelError, load
from kinetree.models.description.reading.read_source import library_names
from kinetree.models.scene.body_poses import of_columns, of_result
from kinetree.models.scene.make_scenes import run_data, start_scene
from kinetree.models.scene.scene import Scene
from kinetree.models.scene.shapes import along, distance_outside, extruded, matrix, part, quaternion

SHORT = {"carrier": 1.3, "carrier-detailed": 0.6, "gyroscope": 50.0}
CIRCUITS = ("servo-drive",)


@pytest.mark.parametrize("name", library_names())
def test_every_library_mechanism_has_drawn_shapes(name: str):
    mechanism = load(f"lib:{name}")
    chain = mechanism.description.chain is not None
    stop = SHORT.get(name, 0.05)
    data = run_data(
        mechanism.chain().simulate(stop) if chain else mechanism.compile().simulate(stop)
    )
    json.dumps(data)
    assert data["clips"][0]["poses"] or name in CIRCUITS
    for body in data["bodies"]:
        wire = any(
            line["kind"] == "turn" and line["b"]["body"] == body["name"] for line in data["lines"]
        )
        assert body["parts"] or wire, body["name"]
        sizes = [size for piece in body["parts"] for size in piece["size"]]
        assert all(0.0 <= size < 4.0 * data["size"] for size in sizes), (body["name"], sizes)


@pytest.mark.parametrize("name", ["puma560", "delta", "heavy-top", "carrier"])
def test_drawn_bodies_match_measured_points(name: str):
    """Poses are read from the kernels' rows; `System.point` evaluates the same state through another door."""
    system = load(f"lib:{name}").compile()
    result = system.simulate(0.3, output_step=0.1)
    motion = of_result(result)
    q, u = (
        np.array([result[each][2] for each in names])
        for names in (system.coordinates, system.speeds)
    )
    for body in system.bodies:
        found = system.point(float(result.time[2]), q, u, body)
        pose = motion.poses[body][2]
        scale = max(1.0, float(np.abs(found.position).max()))
        np.testing.assert_allclose(pose[:3], found.position, atol=1e-12 * scale)
        np.testing.assert_allclose(matrix(pose[3:]), found.rotation, atol=1e-12)


def test_scene_from_result_file_matches_run():
    """Through all stages: what a file tells is enough to pose the bodies, those that left among them."""
    system = load("lib:carrier", modules=2).compile()
    result = system.simulate(2.0)
    columns = {name: result[name] for name in (*result.names,)}
    again, first = of_columns(system, result.time, columns), of_result(result)
    assert set(again.poses) == set(first.poses) and len(np.unique(first.stages)) > 2
    for name, pose in first.poses.items():
        np.testing.assert_allclose(again.poses[name], pose, atol=1e-9, equal_nan=True)


def test_drawn_reactions_carry_the_weight():
    """A pendulum at rest: the reaction of its pivot in ground axes is its weight."""
    source = {
        "gravity": [0, 0, -10.0],
        "bodies": {"bob": {"mass": 3.0, "com": [0, 0, -1], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}},
        "joints": {"pivot": {"child": "bob", "transforms": [{"rotate": "y", "coordinate": "a"}]}},
    }
    system = load(source).compile()
    scene = start_scene(system)
    np.testing.assert_allclose(scene.motion.reactions["pivot"][0], [0, 0, 30.0], atol=1e-9)
    assert scene.size == pytest.approx(1.0) and scene.hangs(scene.places[0])


def test_joints_hold_both_bodies_together_in_every_frame():
    """The two points of a joint that does not slide coincide: constants before and after its freedoms are walked as the compiler walks them."""
    result = load("lib:puma560").compile().simulate(0.5)
    scene = Scene(result.replay.unit.description, of_result(result), result)
    for place in scene.places:
        if place.parent != "ground" and not place.count("slide"):
            a, b = scene.motion.poses[place.parent], scene.motion.poses[place.child]
            for k in range(0, len(a), 25):
                at = a[k, :3] + matrix(a[k, 3:]) @ place.on_parent
                np.testing.assert_allclose(
                    at, b[k, :3] + matrix(b[k, 3:]) @ place.on_child, atol=1e-12
                )


def test_distant_host_is_ignored_in_scale():
    """A gyroscope on an orbit of seven million metres is drawn by itself: with the ground's joint in the picture it was smaller than a pixel."""
    data = run_data(load("lib:gyroscope").compile().simulate(50.0))
    assert data["size"] < 2.0 and data["reach"] < 2.0 and data["clips"][0]["origin"] is not None


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0.3, 1.0), min_size=3, max_size=12))
def test_outline_triangulation_preserves_area(radii: list[float]):
    """Shoelace formula for the outline; the divergence theorem over the prism's triangles."""
    angles = 2 * np.pi * np.arange(len(radii)) / len(radii)
    corners = [np.array([r * np.cos(a), r * np.sin(a)]) for r, a in zip(radii, angles, strict=True)]
    x, y = np.array(corners).T
    area = 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))
    made = extruded(corners, 0.7)
    points = np.array(made["points"]).reshape(-1, 3)
    volume = sum(
        np.linalg.det(points[list(three)]) / 6.0
        for three in np.array(made["triangles"]).reshape(-1, 3)
    )
    assert volume == pytest.approx(0.7 * area, rel=1e-9)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.floats(-1, 1), min_size=4, max_size=4).filter(
        lambda e: sum(x * x for x in e) > 0.01
    )
)
def test_rotations_round_trip_through_quaternions(e: list[float]):
    q = np.array(e) / np.linalg.norm(e)
    R = matrix(q)
    np.testing.assert_allclose(matrix(quaternion(R)), R, atol=1e-14)
    np.testing.assert_allclose(along(R[:, 2]) @ [0, 0, 1], R[:, 2], atol=1e-12)


def test_distances_to_box_and_sphere_match_formulas():
    box = part("box", (2.0, 2.0, 2.0), np.zeros(3), np.eye(3))
    assert distance_outside(box, np.array([0.5, 0.5, 0.9])) == 0.0
    assert distance_outside(box, np.array([4.0, 5.0, 0.0])) == pytest.approx(5.0)


def test_mesh_file_is_read_with_units(tmp_path):
    """A tetrahedron in an .obj file, in millimetres."""
    (tmp_path / "tip.obj").write_text(
        "v 0 0 0\nv 1000 0 0\nv 0 1000 0\nv 0 0 1000\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    )
    (tmp_path / "m.toml").write_text(
        '[bodies.a]\nmass = 1\ninertia = [1, 1, 1, 0, 0, 0]\nshapes = [{ mesh = "tip.obj", scale = 1e-3 }]\n'
        '[joints.j]\nchild = "a"\ntype = "revolute"\n'
    )
    pieces = start_scene(load(tmp_path / "m.toml").compile()).parts["a"]
    assert max(pieces[0]["points"]) == pytest.approx(1.0) and len(pieces[0]["triangles"]) == 12
    (tmp_path / "m.toml").write_text(
        (tmp_path / "m.toml").read_text().replace("tip.obj", "gone.obj")
    )
    with pytest.raises(ModelError, match=r"gone\.obj"):
        start_scene(load(tmp_path / "m.toml").compile())
