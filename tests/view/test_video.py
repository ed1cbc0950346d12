"""Pictures without a graphics card: what is near hides what is far, the eye sees points where projection puts them, films move."""

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.scene import software_renderer
from kinetree.models.scene.make_scenes import run_data
from kinetree.models.scene.overlays import face, ticks
from kinetree.models.scene.shapes import matrix, part
from kinetree.models.scene.software_renderer import Eye, fill, stencil
from kinetree.models.scene.triangle_meshes import surface, turn_of_wire
from kinetree.models.scene.video import Painter, write_video

VOLUMES = {
    "box": ((1.0, 2.0, 3.0), 6.0, 1e-12),
    "cylinder": ((0.5, 2.0), np.pi * 0.5, 0.02),
    "sphere": ((0.7,), 4 / 3 * np.pi * 0.7**3, 0.03),
    "capsule": ((0.5, 2.0), np.pi * 0.5 + 4 / 3 * np.pi * 0.125, 0.03),
}


@pytest.mark.parametrize("kind", VOLUMES)
def test_drawn_surfaces_are_closed_and_face_outwards(kind: str):
    """Divergence theorem: Σ det/6 over triangles that turn the right way; the polygons lie inside of round surfaces."""
    size, volume, less = VOLUMES[kind]
    corners, normals = surface(part(kind, size, np.zeros(3), np.eye(3)))
    found = float(np.linalg.det(corners).sum() / 6.0)
    assert volume * (1 - less) <= found <= volume * (1 + 1e-12)
    assert (np.einsum("nij,nij->ni", corners, normals) > -1e-12).all()


def test_projection_places_points():
    """An eye 10 m away with an opening of 90 degrees: 1 m beside the middle is a tenth of half the height from the centre."""
    eye = Eye(
        np.array([0.0, -10.0, 0.0]), np.zeros(3), np.array([0.0, 0.0, 1.0]), np.pi / 2, (400, 200)
    )
    np.testing.assert_allclose(
        eye.see(np.array([[0.0, 0, 0], [1.0, 0, 0], [0, 0, 1.0]])),
        [[200, 100, 0.1], [210, 100, 0.1], [200, 90, 0.1]],
    )
    assert eye.see(np.array([0.0, -11.0, 0.0]))[2] < 0.0, "what is behind the eye is not in front"


def test_nearer_triangle_hides_farther_one_in_any_order():
    red, blue = np.full((1, 3, 3), [1.0, 0, 0]), np.full((1, 3, 3), [0, 0, 1.0])
    far, near = (
        np.array([[[0, 0, 0.1], [20, 0, 0.1], [0, 20, 0.1]]]),
        np.array([[[0, 0, 0.2], [10, 0, 0.2], [0, 10, 0.2]]]),
    )
    pictures = []
    for order in (((far, red), (near, blue)), ((near, blue), (far, red))):
        image, nearness = np.zeros((20, 20, 3)), np.zeros((20, 20))
        for corners, colours in order:
            fill(image, nearness, corners.astype(float), colours)
        pictures.append(image)
    np.testing.assert_array_equal(*pictures)
    np.testing.assert_allclose(pictures[0][2, 2], [0, 0, 1.0])
    np.testing.assert_allclose(pictures[0][3, 14], [1.0, 0, 0])
    mask = np.zeros((20, 20), dtype=np.uint8)
    stencil(mask, far.astype(float))
    assert 0.9 < mask.sum() / 210 < 1.1


def test_ticks_are_round_numbers_inside():
    assert ticks(0.0, 1.0) == pytest.approx([0.0, 0.5, 1.0]) and ticks(
        -0.03, 0.05
    ) == pytest.approx([-0.02, 0.0, 0.02, 0.04])


def test_videos_contain_moving_frames(tmp_path):
    from PIL import Image

    data = run_data(load("lib:four-bar").compile().simulate(0.6))
    painter = Painter(data, (320, 180))
    first, last = painter.picture(0), painter.picture(painter.time.size - 1)
    assert (
        first.shape == (180, 320, 3)
        and (np.abs(first.astype(int) - last).sum(axis=2) > 40).mean() > 0.002
    )
    assert (np.abs(first.astype(int) - first[2, 2]).sum(axis=2) > 40).mean() > 0.02
    write_video(data, tmp_path / "f.gif")
    with Image.open(tmp_path / "f.gif") as film:
        assert film.n_frames == 60 and film.size == (720, 405)  # 4 s at 15 frames a second


@pytest.mark.slow
def test_video_format_suits_common_players(tmp_path):
    import imageio_ffmpeg

    write_video(run_data(load("lib:pendulum").compile().simulate(1.0)), tmp_path / "f.mp4")
    frames, seconds = imageio_ffmpeg.count_frames_and_secs(str(tmp_path / "f.mp4"))
    assert frames == 120 and seconds == pytest.approx(4.0, abs=0.1)


def test_spring_turns_join_smoothly():
    line = {"radius": 1.1, "wire": 0.17, "axis": 2, "colour": "#2f8f8b"}
    poses = [
        np.r_[0.0, 0.0, -1.0, 1.0, 0.0, 0.0, 0.0],
        np.r_[0.1, 0.0, 0.2, 0.99, 0.1, 0.0, 0.1],
        np.r_[0.3, 0.1, 0.9, 1.0, 0.0, 0.0, 0.0],
    ]
    poses = [np.r_[pose[:3], pose[3:] / np.linalg.norm(pose[3:])] for pose in poses]
    (lower, _, _), (upper, normals, _) = (
        turn_of_wire(line, *pair) for pair in (poses[:2], poses[1:])
    )
    for pose in poses:  # what is at an end of the wire is on the ring that goes with the body
        ring = pose[:3] + line["radius"] * matrix(pose[3:])[:, 0]
        corners = np.concatenate([lower, upper]).reshape(-1, 3)
        assert abs(np.linalg.norm(corners - ring, axis=1).min() - line["wire"]) < 0.01
    faces = np.cross(upper[:, 1] - upper[:, 0], upper[:, 2] - upper[:, 0])
    assert np.einsum("ni,ni->n", faces, normals[:, 0]).min() > 0.0, "it looks outwards"


def test_names_are_drawn_with_accents_and_signs():
    letters = face(24)
    missing = bytes(letters.getmask("\ufffe"))
    assert all(bytes(letters.getmask(letter)) != missing for letter in "äñµ²Ω°–")


def test_triangle_rasterisation_matches_barycentric(monkeypatch: pytest.MonkeyPatch):
    """In plain Python: colours and nearness by barycentric coordinates, cut off at the border; what is behind the eye is not drawn."""
    monkeypatch.setattr(
        software_renderer,
        "seen",
        getattr(software_renderer.seen, "py_func", software_renderer.seen),
    )
    draw, cover = (getattr(each, "py_func", each) for each in (fill, stencil))
    a, b, c = np.array([[-2.0, 1.0, 0.5], [7.0, -1.0, 0.25], [3.0, 9.0, 0.75]])
    tints = np.random.default_rng(0).random((3, 3))
    behind, flat = np.array([a, b, [3.0, 9.0, -0.1]]), np.array([a, b, 0.5 * (a + b)])
    image, nearness, mask = np.zeros((6, 8, 3)), np.zeros((6, 8)), np.zeros((6, 8), dtype=np.uint8)
    for corners in (behind, flat, np.array([a, b, c])):
        draw(image, nearness, corners[None], tints[None])
        cover(mask, corners[None])
    seen = 0
    for y in range(6):
        for x in range(8):
            share = np.linalg.solve(
                np.array([[*a[:2], 1.0], [*b[:2], 1.0], [*c[:2], 1.0]]).T, [x, y, 1.0]
            )
            inside = bool((share >= 0.0).all())
            seen += inside
            assert mask[y, x] == inside and nearness[y, x] == pytest.approx(
                inside * share @ [a[2], b[2], c[2]]
            )
            assert image[y, x] == pytest.approx(inside * share @ tints)
    assert 10 < seen < 40
